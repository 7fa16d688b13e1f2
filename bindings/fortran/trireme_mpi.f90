! trireme_mpi.f90 - trireme_mpi.h for Fortran 2018; see trireme.f90.  Written by
! bindings/fortran/generate.
!   comm is an INTEGER; of mpi_f08 it is comm%MPI_VAL.
module trireme_mpi
  use, intrinsic :: iso_c_binding
  use trireme
  implicit none
  public

  ! trs_mpi_over
  integer(c_int), parameter :: TRS_MPI_MIN = 0
  integer(c_int), parameter :: TRS_MPI_MEAN = 1
  integer(c_int), parameter :: TRS_MPI_MAX = 2

  type, bind(C) :: trs_mpi_options
    integer(c_size_t) :: struct_size = 88_c_size_t
    type(c_ptr) :: method = c_null_ptr
    integer(c_int) :: px = 0
    integer(c_int) :: py = 0
    integer(c_int) :: pz = 0
    integer(c_int) :: flat_trees = 0
    integer(c_int64_t) :: width = 0
    integer(c_int64_t) :: relax = 0
    integer(c_int) :: scattered = 0
    integer(c_int) :: scalar = 0
    type(c_ptr) :: invert = c_null_ptr
    real(c_double) :: timeout_seconds = 0.0_c_double
    integer(c_int64_t) :: nrhs = 0
    integer(c_int) :: in_turn = 0
  end type trs_mpi_options

  type, bind(C) :: trs_mpi_blocks
    integer(c_size_t) :: struct_size = 120_c_size_t
    integer(c_int) :: scalar = 0
    integer(c_int) :: index_bytes = 0
    integer(c_int) :: scale_bytes = 0
    integer(c_int) :: px = 0
    integer(c_int) :: py = 0
    integer(c_int64_t) :: n = 0
    integer(c_int64_t) :: nsupers = 0
    type(c_ptr) :: xsup = c_null_ptr
    type(c_ptr) :: perm_r = c_null_ptr
    type(c_ptr) :: perm_c = c_null_ptr
    type(c_ptr) :: R = c_null_ptr
    type(c_ptr) :: C = c_null_ptr
    type(c_ptr) :: L_index = c_null_ptr
    type(c_ptr) :: L_values = c_null_ptr
    type(c_ptr) :: U_index = c_null_ptr
    type(c_ptr) :: U_values = c_null_ptr
  end type trs_mpi_blocks

  type, bind(C) :: trs_mpi_rows
    integer(c_size_t) :: struct_size = 80_c_size_t
    integer(c_int64_t) :: n = 0
    integer(c_int64_t) :: first_row = 0
    type(c_ptr) :: L = c_null_ptr
    type(c_ptr) :: U = c_null_ptr
    integer(c_int) :: diag_L = 0
    integer(c_int) :: diag_U = 0
    type(c_ptr) :: row_perm = c_null_ptr
    type(c_ptr) :: col_perm = c_null_ptr
    type(c_ptr) :: row_scale = c_null_ptr
    type(c_ptr) :: col_scale = c_null_ptr
  end type trs_mpi_rows

  type, bind(C) :: trs_mpi_stats
    integer(c_size_t) :: struct_size = 320_c_size_t
    type(c_ptr) :: method = c_null_ptr
    type(c_ptr) :: invert = c_null_ptr
    integer(c_int) :: px = 0
    integer(c_int) :: py = 0
    integer(c_int) :: pz = 0
    integer(c_int64_t) :: supernodes = 0
    integer(c_int64_t) :: separators = 0
    integer(c_int64_t) :: inverted = 0
    real(c_double) :: inverted_bytes = 0.0_c_double
    integer(c_int64_t) :: solved = 0
    real(c_double) :: solve_s = 0.0_c_double
    real(c_double) :: inter_s(2) = 0.0_c_double
    real(c_double) :: intra_s(2) = 0.0_c_double
    real(c_double) :: flop_s(2) = 0.0_c_double
    real(c_double) :: flops(2) = 0.0_c_double
    real(c_double) :: inter_messages(2) = 0.0_c_double
    real(c_double) :: inter_bytes(2) = 0.0_c_double
    real(c_double) :: intra_messages(2) = 0.0_c_double
    real(c_double) :: intra_bytes(2) = 0.0_c_double
    real(c_double) :: leaf_entries = 0.0_c_double
    real(c_double) :: bytes = 0.0_c_double
    real(c_double) :: replicated = 0.0_c_double
    real(c_double) :: replicated_work = 0.0_c_double
    real(c_double) :: volume_bound = 0.0_c_double
    real(c_double) :: message_bound(2) = 0.0_c_double
    real(c_double) :: tree_sends(2) = 0.0_c_double
    type(c_ptr) :: backend = c_null_ptr
    type(c_ptr) :: solver = c_null_ptr
    integer(c_int) :: gpus = 0
    integer(c_int) :: ranks_on_gpu = 0
    real(c_double) :: transfer_s = 0.0_c_double
  end type trs_mpi_stats

  type, bind(C) :: trs_mpi_relax_info
    integer(c_size_t) :: struct_size = 48_c_size_t
    real(c_double) :: rows = 0.0_c_double
    real(c_double) :: blocks = 0.0_c_double
    real(c_double) :: halo_rows = 0.0_c_double
    real(c_double) :: messages = 0.0_c_double
    real(c_double) :: bytes = 0.0_c_double
  end type trs_mpi_relax_info

  interface
    function trs_mpi_distribute_c(plan, first_row, rows) bind(C, name="trs_mpi_distribute")
      import
      type(c_ptr), value :: plan
      integer(c_int64_t), value :: first_row
      integer(c_int64_t), value :: rows
      integer(c_int) :: trs_mpi_distribute_c
    end function trs_mpi_distribute_c

    function trs_mpi_set_stream(plan, stream) bind(C, name="trs_mpi_set_stream")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: stream
      integer(c_int) :: trs_mpi_set_stream
    end function trs_mpi_set_stream

    function trs_mpi_solve_c(plan, x, ldx, b, ldb, nrhs, layout) bind(C, name="trs_mpi_solve")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      type(c_ptr), value :: b
      integer(c_int64_t), value :: ldb
      integer(c_int64_t), value :: nrhs
      integer(c_int), value :: layout
      integer(c_int) :: trs_mpi_solve_c
    end function trs_mpi_solve_c

    function trs_mpi_refine_c(plan, x, ldx, error, taken, b, ldb, nrhs, layout, rows, steps) &
        bind(C, name="trs_mpi_refine")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      real(c_double), intent(out), optional :: error
      integer(c_int), intent(out), optional :: taken
      type(c_ptr), value :: b
      integer(c_int64_t), value :: ldb
      integer(c_int64_t), value :: nrhs
      integer(c_int), value :: layout
      type(c_ptr), value :: rows
      integer(c_int), value :: steps
      integer(c_int) :: trs_mpi_refine_c
    end function trs_mpi_refine_c

    subroutine trs_mpi_plan_destroy(plan) bind(C, name="trs_mpi_plan_destroy")
      import
      type(c_ptr), value :: plan
    end subroutine trs_mpi_plan_destroy

    function trs_mpi_get_stats(plan, stats, over) bind(C, name="trs_mpi_get_stats")
      import
      type(c_ptr), value :: plan
      type(trs_mpi_stats), intent(inout) :: stats
      integer(c_int), value :: over
      integer(c_int) :: trs_mpi_get_stats
    end function trs_mpi_get_stats

    function trs_mpi_relax_update(plan, A) bind(C, name="trs_mpi_relax_update")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: A
      integer(c_int) :: trs_mpi_relax_update
    end function trs_mpi_relax_update

    function trs_mpi_relax_update_bsr(plan, blocks) bind(C, name="trs_mpi_relax_update_bsr")
      import
      type(c_ptr), value :: plan
      type(trs_blocks), intent(in) :: blocks
      integer(c_int) :: trs_mpi_relax_update_bsr
    end function trs_mpi_relax_update_bsr

    function trs_mpi_relax_sweep_c(plan, x, ldx, b, ldb, nrhs, layout, options) bind(C, &
        name="trs_mpi_relax_sweep")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      type(c_ptr), value :: b
      integer(c_int64_t), value :: ldb
      integer(c_int64_t), value :: nrhs
      integer(c_int), value :: layout
      type(trs_sweep_options), intent(in), optional :: options
      integer(c_int) :: trs_mpi_relax_sweep_c
    end function trs_mpi_relax_sweep_c

    function trs_mpi_relax_get_info(plan, whole, info, over) bind(C, &
        name="trs_mpi_relax_get_info")
      import
      type(c_ptr), value :: plan
      type(trs_relax_info), intent(inout), optional :: whole
      type(trs_mpi_relax_info), intent(inout), optional :: info
      integer(c_int), value :: over
      integer(c_int) :: trs_mpi_relax_get_info
    end function trs_mpi_relax_get_info

    function trs_mpi_context_create_c(ctx, comm, where) bind(C, name="trs_mpi_context_create_f")
      import
      type(c_ptr), intent(out) :: ctx
      integer(c_int), value :: comm
      character(kind=c_char), dimension(*), intent(in), optional :: where
      integer(c_int) :: trs_mpi_context_create_c
    end function trs_mpi_context_create_c

    function trs_mpi_analyze(plan, comm, ctx, F, trans, options) bind(C, &
        name="trs_mpi_analyze_f")
      import
      type(c_ptr), intent(out) :: plan
      integer(c_int), value :: comm
      type(c_ptr), value :: ctx
      type(c_ptr), value :: F
      integer(c_int), value :: trans
      type(trs_mpi_options), intent(in), optional :: options
      integer(c_int) :: trs_mpi_analyze
    end function trs_mpi_analyze

    function trs_mpi_analyze_file_c(plan, comm, ctx, path, trans, options) bind(C, &
        name="trs_mpi_analyze_file_f")
      import
      type(c_ptr), intent(out) :: plan
      integer(c_int), value :: comm
      type(c_ptr), value :: ctx
      character(kind=c_char), dimension(*), intent(in) :: path
      integer(c_int), value :: trans
      type(trs_mpi_options), intent(in), optional :: options
      integer(c_int) :: trs_mpi_analyze_file_c
    end function trs_mpi_analyze_file_c

    function trs_mpi_analyze_blocks(plan, comm, ctx, blocks, trans, options) bind(C, &
        name="trs_mpi_analyze_blocks_f")
      import
      type(c_ptr), intent(out) :: plan
      integer(c_int), value :: comm
      type(c_ptr), value :: ctx
      type(trs_mpi_blocks), intent(in) :: blocks
      integer(c_int), value :: trans
      type(trs_mpi_options), intent(in), optional :: options
      integer(c_int) :: trs_mpi_analyze_blocks
    end function trs_mpi_analyze_blocks

    function trs_mpi_analyze_rows(plan, comm, ctx, rows, trans, options) bind(C, &
        name="trs_mpi_analyze_rows_f")
      import
      type(c_ptr), intent(out) :: plan
      integer(c_int), value :: comm
      type(c_ptr), value :: ctx
      type(trs_mpi_rows), intent(in), optional :: rows
      integer(c_int), value :: trans
      type(trs_mpi_options), intent(in), optional :: options
      integer(c_int) :: trs_mpi_analyze_rows
    end function trs_mpi_analyze_rows

    function trs_mpi_relax_create(plan, comm, ctx, A, block_size, options) bind(C, &
        name="trs_mpi_relax_create_f")
      import
      type(c_ptr), intent(out) :: plan
      integer(c_int), value :: comm
      type(c_ptr), value :: ctx
      type(c_ptr), value :: A
      integer(c_int), value :: block_size
      type(trs_relax_options), intent(in), optional :: options
      integer(c_int) :: trs_mpi_relax_create
    end function trs_mpi_relax_create

    function trs_mpi_relax_create_bsr(plan, comm, ctx, blocks, options) bind(C, &
        name="trs_mpi_relax_create_bsr_f")
      import
      type(c_ptr), intent(out) :: plan
      integer(c_int), value :: comm
      type(c_ptr), value :: ctx
      type(trs_blocks), intent(in) :: blocks
      type(trs_relax_options), intent(in), optional :: options
      integer(c_int) :: trs_mpi_relax_create_bsr
    end function trs_mpi_relax_create_bsr

    function trs_mpi_agree(comm, status) bind(C, name="trs_mpi_agree_f")
      import
      integer(c_int), value :: comm
      integer(c_int), value :: status
      integer(c_int) :: trs_mpi_agree
    end function trs_mpi_agree
  end interface

  interface trs_mpi_distribute
    procedure mpi_distribute_44, mpi_distribute_48, mpi_distribute_84, mpi_distribute_88
  end interface trs_mpi_distribute

  interface trs_mpi_solve
    procedure mpi_solve_444, mpi_solve_448, mpi_solve_484, mpi_solve_488, mpi_solve_844, &
        mpi_solve_848, mpi_solve_884, mpi_solve_888
  end interface trs_mpi_solve

  interface trs_mpi_refine
    procedure mpi_refine_444, mpi_refine_448, mpi_refine_484, mpi_refine_488, mpi_refine_844, &
        mpi_refine_848, mpi_refine_884, mpi_refine_888
  end interface trs_mpi_refine

  interface trs_mpi_relax_sweep
    procedure mpi_relax_sweep_444, mpi_relax_sweep_448, mpi_relax_sweep_484, &
        mpi_relax_sweep_488, mpi_relax_sweep_844, mpi_relax_sweep_848, mpi_relax_sweep_884, &
        mpi_relax_sweep_888
  end interface trs_mpi_relax_sweep

  private :: mpi_distribute_44, mpi_distribute_48, mpi_distribute_84, mpi_distribute_88, &
      mpi_solve_444, mpi_solve_448, mpi_solve_484, mpi_solve_488, mpi_solve_844, mpi_solve_848, &
      mpi_solve_884, mpi_solve_888, mpi_refine_444, mpi_refine_448, mpi_refine_484, mpi_refine_488, &
      mpi_refine_844, mpi_refine_848, mpi_refine_884, mpi_refine_888, mpi_relax_sweep_444, &
      mpi_relax_sweep_448, mpi_relax_sweep_484, mpi_relax_sweep_488, mpi_relax_sweep_844, &
      mpi_relax_sweep_848, mpi_relax_sweep_884, mpi_relax_sweep_888

contains

  function mpi_distribute_44(plan, first_row, rows) result(outcome)
    type(c_ptr), intent(in) :: plan
    integer(c_int32_t), intent(in) :: first_row
    integer(c_int32_t), intent(in) :: rows
    integer(c_int) :: outcome
    outcome = trs_mpi_distribute_c(plan, int(first_row, c_int64_t), int(rows, c_int64_t))
  end function mpi_distribute_44

  function mpi_distribute_48(plan, first_row, rows) result(outcome)
    type(c_ptr), intent(in) :: plan
    integer(c_int32_t), intent(in) :: first_row
    integer(c_int64_t), intent(in) :: rows
    integer(c_int) :: outcome
    outcome = trs_mpi_distribute_c(plan, int(first_row, c_int64_t), int(rows, c_int64_t))
  end function mpi_distribute_48

  function mpi_distribute_84(plan, first_row, rows) result(outcome)
    type(c_ptr), intent(in) :: plan
    integer(c_int64_t), intent(in) :: first_row
    integer(c_int32_t), intent(in) :: rows
    integer(c_int) :: outcome
    outcome = trs_mpi_distribute_c(plan, int(first_row, c_int64_t), int(rows, c_int64_t))
  end function mpi_distribute_84

  function mpi_distribute_88(plan, first_row, rows) result(outcome)
    type(c_ptr), intent(in) :: plan
    integer(c_int64_t), intent(in) :: first_row
    integer(c_int64_t), intent(in) :: rows
    integer(c_int) :: outcome
    outcome = trs_mpi_distribute_c(plan, int(first_row, c_int64_t), int(rows, c_int64_t))
  end function mpi_distribute_88

  function mpi_solve_444(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function mpi_solve_444

  function mpi_solve_448(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function mpi_solve_448

  function mpi_solve_484(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function mpi_solve_484

  function mpi_solve_488(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function mpi_solve_488

  function mpi_solve_844(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function mpi_solve_844

  function mpi_solve_848(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function mpi_solve_848

  function mpi_solve_884(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function mpi_solve_884

  function mpi_solve_888(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function mpi_solve_888

  function mpi_refine_444(plan, x, ldx, error, taken, b, ldb, nrhs, layout, rows, steps) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    real(c_double), intent(out), optional :: error
    integer(c_int), intent(out), optional :: taken
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr), intent(in) :: rows
    integer(c_int), intent(in) :: steps
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_refine_c(plan, at_x, int(ldx, c_int64_t), error, taken, at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout, rows, steps)
  end function mpi_refine_444

  function mpi_refine_448(plan, x, ldx, error, taken, b, ldb, nrhs, layout, rows, steps) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    real(c_double), intent(out), optional :: error
    integer(c_int), intent(out), optional :: taken
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr), intent(in) :: rows
    integer(c_int), intent(in) :: steps
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_refine_c(plan, at_x, int(ldx, c_int64_t), error, taken, at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout, rows, steps)
  end function mpi_refine_448

  function mpi_refine_484(plan, x, ldx, error, taken, b, ldb, nrhs, layout, rows, steps) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    real(c_double), intent(out), optional :: error
    integer(c_int), intent(out), optional :: taken
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr), intent(in) :: rows
    integer(c_int), intent(in) :: steps
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_refine_c(plan, at_x, int(ldx, c_int64_t), error, taken, at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout, rows, steps)
  end function mpi_refine_484

  function mpi_refine_488(plan, x, ldx, error, taken, b, ldb, nrhs, layout, rows, steps) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    real(c_double), intent(out), optional :: error
    integer(c_int), intent(out), optional :: taken
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr), intent(in) :: rows
    integer(c_int), intent(in) :: steps
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_refine_c(plan, at_x, int(ldx, c_int64_t), error, taken, at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout, rows, steps)
  end function mpi_refine_488

  function mpi_refine_844(plan, x, ldx, error, taken, b, ldb, nrhs, layout, rows, steps) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    real(c_double), intent(out), optional :: error
    integer(c_int), intent(out), optional :: taken
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr), intent(in) :: rows
    integer(c_int), intent(in) :: steps
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_refine_c(plan, at_x, int(ldx, c_int64_t), error, taken, at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout, rows, steps)
  end function mpi_refine_844

  function mpi_refine_848(plan, x, ldx, error, taken, b, ldb, nrhs, layout, rows, steps) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    real(c_double), intent(out), optional :: error
    integer(c_int), intent(out), optional :: taken
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr), intent(in) :: rows
    integer(c_int), intent(in) :: steps
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_refine_c(plan, at_x, int(ldx, c_int64_t), error, taken, at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout, rows, steps)
  end function mpi_refine_848

  function mpi_refine_884(plan, x, ldx, error, taken, b, ldb, nrhs, layout, rows, steps) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    real(c_double), intent(out), optional :: error
    integer(c_int), intent(out), optional :: taken
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr), intent(in) :: rows
    integer(c_int), intent(in) :: steps
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_refine_c(plan, at_x, int(ldx, c_int64_t), error, taken, at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout, rows, steps)
  end function mpi_refine_884

  function mpi_refine_888(plan, x, ldx, error, taken, b, ldb, nrhs, layout, rows, steps) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    real(c_double), intent(out), optional :: error
    integer(c_int), intent(out), optional :: taken
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr), intent(in) :: rows
    integer(c_int), intent(in) :: steps
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_refine_c(plan, at_x, int(ldx, c_int64_t), error, taken, at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout, rows, steps)
  end function mpi_refine_888

  function mpi_relax_sweep_444(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(trs_sweep_options), intent(in), optional :: options
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function mpi_relax_sweep_444

  function mpi_relax_sweep_448(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(trs_sweep_options), intent(in), optional :: options
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function mpi_relax_sweep_448

  function mpi_relax_sweep_484(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(trs_sweep_options), intent(in), optional :: options
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function mpi_relax_sweep_484

  function mpi_relax_sweep_488(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(trs_sweep_options), intent(in), optional :: options
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function mpi_relax_sweep_488

  function mpi_relax_sweep_844(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(trs_sweep_options), intent(in), optional :: options
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function mpi_relax_sweep_844

  function mpi_relax_sweep_848(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(trs_sweep_options), intent(in), optional :: options
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function mpi_relax_sweep_848

  function mpi_relax_sweep_884(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(trs_sweep_options), intent(in), optional :: options
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function mpi_relax_sweep_884

  function mpi_relax_sweep_888(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(trs_sweep_options), intent(in), optional :: options
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_mpi_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function mpi_relax_sweep_888

  function trs_mpi_context_create(ctx, comm, where) result(outcome)
    type(c_ptr), intent(out) :: ctx
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in), optional :: where
    character(kind=c_char, len=:), allocatable :: c_where
    integer(c_int) :: outcome
    if (present(where)) c_where = trs_terminated(where)
    outcome = trs_mpi_context_create_c(ctx, comm, c_where)
  end function trs_mpi_context_create

  function trs_mpi_analyze_file(plan, comm, ctx, path, trans, options) result(outcome)
    type(c_ptr), intent(out) :: plan
    integer(c_int), intent(in) :: comm
    type(c_ptr), intent(in) :: ctx
    character(len=*), intent(in) :: path
    integer(c_int), intent(in) :: trans
    type(trs_mpi_options), intent(in), optional :: options
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    c_path = trs_terminated(path)
    outcome = trs_mpi_analyze_file_c(plan, comm, ctx, c_path, trans, options)
  end function trs_mpi_analyze_file

end module trireme_mpi
