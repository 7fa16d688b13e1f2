! trireme.f90 - trireme.h for Fortran 2018.  Written by bindings/fortran/generate: change the header,
! then run it.  The header documents every function.
!   Compile this file with the compiler of the program; modules do not cross compilers.
!   Objects are type(c_ptr).  Arrays are of any type that the matrix has, and lie without gaps.
!   Numbers may be of 32 bits, as default integers are, or of 64, also those that come back, except
! bytes; what 32 bits do not hold comes back as huge(0).  Text ends at its last letter, or
! before c_null_char.  trs_solve_c and the like are the C functions behind the procedures that see to
! this.  An argument that is optional here is NULL in C when it is absent.
! struct_size is set; it is that of machines with 64-bit pointers.
!   A device address is passed as an array: call c_f_pointer(address, x, [n]).
module trireme
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! trs_status
  integer(c_int), parameter :: TRS_SUCCESS = 0
  integer(c_int), parameter :: TRS_ERROR_ARGUMENT = 1
  integer(c_int), parameter :: TRS_ERROR_MEMORY = 2
  integer(c_int), parameter :: TRS_ERROR_FILE = 3
  integer(c_int), parameter :: TRS_ERROR_FORMAT = 4
  integer(c_int), parameter :: TRS_ERROR_STRUCTURE = 5
  integer(c_int), parameter :: TRS_ERROR_ZERO_PIVOT = 6
  integer(c_int), parameter :: TRS_ERROR_NOT_FINITE = 7
  integer(c_int), parameter :: TRS_ERROR_UNSUPPORTED = 8
  integer(c_int), parameter :: TRS_ERROR_STALLED = 9
  integer(c_int), parameter :: TRS_ERROR_INTERNAL = 10
  integer(c_int), parameter :: TRS_ERROR_CANCELLED = 11
  integer(c_int), parameter :: TRS_ERROR_DEVICE = 12
  integer(c_int), parameter :: TRS_ERROR_BUSY = 13

  ! trs_context_kind
  integer(c_int), parameter :: TRS_KIND_NONE = 0
  integer(c_int), parameter :: TRS_KIND_AUTO = 1
  integer(c_int), parameter :: TRS_KIND_THREADS = 2
  integer(c_int), parameter :: TRS_KIND_GPU = 3
  integer(c_int), parameter :: TRS_KIND_GPUS = 4
  integer(c_int), parameter :: TRS_KIND_OPENCL = 5

  ! trs_scalar
  integer(c_int), parameter :: TRS_SCALAR_DEFAULT = 0
  integer(c_int), parameter :: TRS_FLOAT = 1
  integer(c_int), parameter :: TRS_DOUBLE = 2
  integer(c_int), parameter :: TRS_SCOMPLEX = 3
  integer(c_int), parameter :: TRS_DCOMPLEX = 4

  ! trs_format
  integer(c_int), parameter :: TRS_CSR = 0
  integer(c_int), parameter :: TRS_CSC = 1

  ! trs_uplo
  integer(c_int), parameter :: TRS_GENERAL = 0
  integer(c_int), parameter :: TRS_LOWER = 1
  integer(c_int), parameter :: TRS_UPPER = 2

  ! trs_trans
  integer(c_int), parameter :: TRS_NO_TRANS = 0
  integer(c_int), parameter :: TRS_TRANS = 1
  integer(c_int), parameter :: TRS_CONJ_TRANS = 2

  ! trs_diag
  integer(c_int), parameter :: TRS_NONUNIT = 0
  integer(c_int), parameter :: TRS_UNIT = 1

  ! trs_layout
  integer(c_int), parameter :: TRS_COL_MAJOR = 0
  integer(c_int), parameter :: TRS_ROW_MAJOR = 1

  ! trs_ownership
  integer(c_int), parameter :: TRS_COPY = 0
  integer(c_int), parameter :: TRS_BORROW = 1
  integer(c_int), parameter :: TRS_TAKE = 2

  ! constants
  integer(c_int), parameter :: TRS_PTR64 = 0
  integer(c_int), parameter :: TRS_PTR32 = 1
  integer(c_int), parameter :: TRS_IDX32 = 0
  integer(c_int), parameter :: TRS_IDX64 = 2
  integer(c_int), parameter :: TRS_BASE0 = 0
  integer(c_int), parameter :: TRS_BASE1 = 4

  ! trs_factor_kind
  integer(c_int), parameter :: TRS_FACTOR_LU = 0
  integer(c_int), parameter :: TRS_FACTOR_ILU0 = 1
  integer(c_int), parameter :: TRS_FACTOR_IC0 = 2
  integer(c_int), parameter :: TRS_FACTOR_TRIANGLE = 3
  integer(c_int), parameter :: TRS_FACTOR_BILU0 = 4
  integer(c_int), parameter :: TRS_FACTOR_BIC0 = 5
  integer(c_int), parameter :: TRS_FACTOR_DILU = 6

  ! trs_order
  integer(c_int), parameter :: TRS_ORDER_DEFAULT = 0
  integer(c_int), parameter :: TRS_ORDER_ND = 1
  integer(c_int), parameter :: TRS_ORDER_AMD = 2
  integer(c_int), parameter :: TRS_ORDER_NATURAL = 3
  integer(c_int), parameter :: TRS_ORDER_RCM = 4
  integer(c_int), parameter :: TRS_ORDER_COLOUR = 5
  integer(c_int), parameter :: TRS_ORDER_COLAMD = 6

  ! trs_content
  integer(c_int), parameter :: TRS_CONTENT_MATRIX = 0
  integer(c_int), parameter :: TRS_CONTENT_FACTORS = 1

  ! trs_store
  integer(c_int), parameter :: TRS_STORE_DEFAULT = 0
  integer(c_int), parameter :: TRS_STORE_MIXED = 1
  integer(c_int), parameter :: TRS_STORE_DOUBLE = 2
  integer(c_int), parameter :: TRS_STORE_FLOAT = 3
  integer(c_int), parameter :: TRS_STORE_HALF = 4
  integer(c_int), parameter :: TRS_STORE_BFLOAT = 5

  ! constants
  integer(c_int), parameter :: TRS_RELAX_MOST_BLOCK = 32

  ! trs_sweep_direction
  integer(c_int), parameter :: TRS_SWEEP_FORWARD = 0
  integer(c_int), parameter :: TRS_SWEEP_BACKWARD = 1
  integer(c_int), parameter :: TRS_SWEEP_SYMMETRIC = 2

  ! trs_range
  integer(c_int), parameter :: TRS_RANGE_FINITE = 0
  integer(c_int), parameter :: TRS_RANGE_RHS = 1
  integer(c_int), parameter :: TRS_RANGE_MATRIX = 2
  integer(c_int), parameter :: TRS_RANGE_PIVOT = 3
  integer(c_int), parameter :: TRS_RANGE_OVERFLOW = 4
  integer(c_int), parameter :: TRS_RANGE_UNEXPLAINED = 5

  type, bind(C) :: trs_error
    integer(c_int) :: status = 0
    integer(c_int64_t) :: row = 0
    type(c_ptr) :: message = c_null_ptr
  end type trs_error

  type, bind(C) :: trs_blocks
    integer(c_size_t) :: struct_size = 72_c_size_t
    integer(c_int) :: scalar = 0
    integer(c_int) :: block_size = 0
    integer(c_int64_t) :: nrows = 0
    integer(c_int64_t) :: ncols = 0
    integer(c_int) :: layout = 0
    integer(c_int) :: indexing = 0
    type(c_ptr) :: ptr = c_null_ptr
    type(c_ptr) :: idx = c_null_ptr
    type(c_ptr) :: val = c_null_ptr
    integer(c_int) :: ownership = 0
  end type trs_blocks

  type, bind(C) :: trs_matrix_info
    integer(c_size_t) :: struct_size = 104_c_size_t
    integer(c_int) :: format = 0
    integer(c_int) :: scalar = 0
    integer(c_int64_t) :: nrows = 0
    integer(c_int64_t) :: ncols = 0
    integer(c_int64_t) :: nnz = 0
    integer(c_int64_t) :: nlower = 0
    integer(c_int64_t) :: nupper = 0
    integer(c_int64_t) :: ndiagonal = 0
    integer(c_int64_t) :: missing_diagonal = 0
    integer(c_int64_t) :: longest_row = 0
    integer(c_int64_t) :: bytes = 0
    integer(c_int64_t) :: largest_part = 0
    integer(c_int) :: block_size = 0
  end type trs_matrix_info

  type, bind(C) :: trs_read_options
    integer(c_size_t) :: struct_size = 64_c_size_t
    type(c_ptr) :: context = c_null_ptr
    integer(c_int) :: allow_nonfinite = 0
    integer(c_int64_t) :: seed = 0
    integer(c_int) :: scalar = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: progress_user = c_null_ptr
    integer(c_int64_t) :: max_bytes = 0
  end type trs_read_options

  type, bind(C) :: trs_factor_options
    integer(c_size_t) :: struct_size = 80_c_size_t
    integer(c_int) :: kind = 0
    integer(c_int) :: order = 0
    integer(c_int) :: tree_leaves = 0
    real(c_double) :: pivot_threshold = 0.0_c_double
    integer(c_int) :: no_equilibration = 0
    integer(c_int) :: add_diagonal = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: progress_user = c_null_ptr
    integer(c_int) :: block_size = 0
    integer(c_int) :: uplo = 0
    real(c_double) :: shift = 0.0_c_double
    integer(c_int) :: levels = 0
  end type trs_factor_options

  type, bind(C) :: trs_pivots
    integer(c_size_t) :: struct_size = 24_c_size_t
    real(c_double) :: least_share = 0.0_c_double
    integer(c_int64_t) :: row = 0
  end type trs_pivots

  type, bind(C) :: trs_factors_info
    integer(c_size_t) :: struct_size = 176_c_size_t
    integer(c_int) :: kind = 0
    integer(c_int) :: order = 0
    integer(c_int) :: scalar = 0
    integer(c_int64_t) :: n = 0
    integer(c_int64_t) :: nnz_L = 0
    integer(c_int64_t) :: nnz_U = 0
    integer(c_int) :: diag_L = 0
    integer(c_int) :: diag_U = 0
    integer(c_int64_t) :: nsupernodes = 0
    integer(c_int64_t) :: tree_nodes = 0
    type(c_ptr) :: L = c_null_ptr
    type(c_ptr) :: U = c_null_ptr
    type(c_ptr) :: row_perm = c_null_ptr
    type(c_ptr) :: col_perm = c_null_ptr
    type(c_ptr) :: row_scale = c_null_ptr
    type(c_ptr) :: col_scale = c_null_ptr
    type(c_ptr) :: supernode_ptr = c_null_ptr
    type(c_ptr) :: tree_ptr = c_null_ptr
    type(c_ptr) :: tree_parent = c_null_ptr
    integer(c_int) :: block_size = 0
    real(c_double) :: shift = 0.0_c_double
    type(c_ptr) :: choice = c_null_ptr
    integer(c_int) :: levels = 0
  end type trs_factors_info

  type, bind(C) :: trs_options
    integer(c_size_t) :: struct_size = 80_c_size_t
    type(c_ptr) :: method = c_null_ptr
    integer(c_int) :: take_triangle = 0
    integer(c_int64_t) :: nrhs = 0
    integer(c_int64_t) :: solves = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: progress_user = c_null_ptr
    integer(c_int) :: store = 0
    integer(c_int) :: tune = 0
    type(c_ptr) :: stream = c_null_ptr
    integer(c_int) :: distributed = 0
    integer(c_int) :: launch_updates = 0
  end type trs_options

  type, bind(C) :: trs_plan_info
    integer(c_size_t) :: struct_size = 152_c_size_t
    type(c_ptr) :: backend = c_null_ptr
    type(c_ptr) :: method = c_null_ptr
    type(c_ptr) :: reason = c_null_ptr
    integer(c_int) :: threads = 0
    integer(c_int64_t) :: n = 0
    integer(c_int64_t) :: nnz = 0
    integer(c_int64_t) :: levels = 0
    integer(c_int64_t) :: min_parallelism = 0
    integer(c_int64_t) :: max_parallelism = 0
    real(c_double) :: parallelism = 0.0_c_double
    real(c_double) :: dependency = 0.0_c_double
    integer(c_int64_t) :: solve_bytes = 0
    integer(c_int64_t) :: plan_bytes = 0
    real(c_double) :: analysis_seconds = 0.0_c_double
    real(c_double) :: update_seconds = 0.0_c_double
    type(c_ptr) :: device = c_null_ptr
    real(c_double) :: device_seconds = 0.0_c_double
    integer(c_int) :: store = 0
  end type trs_plan_info

  type, bind(C) :: trs_plan_share
    integer(c_size_t) :: struct_size = 32_c_size_t
    integer(c_int64_t) :: nrows = 0
    integer(c_int64_t) :: first_column = 0
    integer(c_int64_t) :: ncolumns = 0
  end type trs_plan_share

  type, bind(C) :: trs_batch_options
    integer(c_size_t) :: struct_size = 32_c_size_t
    integer(c_int) :: take_triangle = 0
    integer(c_int64_t) :: nrhs = 0
    integer(c_int) :: hermitian = 0
  end type trs_batch_options

  type, bind(C) :: trs_batch_info
    integer(c_size_t) :: struct_size = 72_c_size_t
    integer(c_int64_t) :: n = 0
    integer(c_int64_t) :: nnz = 0
    integer(c_int64_t) :: count = 0
    integer(c_int) :: systems_at_once = 0
    integer(c_int) :: threads = 0
    integer(c_int64_t) :: bytes = 0
    type(c_ptr) :: method = c_null_ptr
    integer(c_int64_t) :: faults = 0
    integer(c_int64_t) :: first_fault = 0
  end type trs_batch_info

  type, bind(C) :: trs_relax_options
    integer(c_size_t) :: struct_size = 40_c_size_t
    integer(c_int) :: store = 0
    integer(c_int) :: balanced = 0
    type(c_ptr) :: colour = c_null_ptr
    integer(c_int64_t) :: nrhs = 0
    type(c_ptr) :: variant = c_null_ptr
  end type trs_relax_options

  type, bind(C) :: trs_sweep_options
    integer(c_size_t) :: struct_size = 56_c_size_t
    integer(c_int64_t) :: sweeps = 0
    integer(c_int) :: direction = 0
    real(c_double) :: omega = 0.0_c_double
    integer(c_int) :: keep_x = 0
    integer(c_int64_t) :: residual_every = 0
    type(c_ptr) :: residuals = c_null_ptr
  end type trs_sweep_options

  type, bind(C) :: trs_relax_info
    integer(c_size_t) :: struct_size = 152_c_size_t
    integer(c_int) :: scalar = 0
    integer(c_int) :: store = 0
    integer(c_int) :: block_size = 0
    integer(c_int) :: threads = 0
    integer(c_int64_t) :: nrows = 0
    integer(c_int64_t) :: nblocks = 0
    integer(c_int64_t) :: longest_row = 0
    integer(c_int64_t) :: colours = 0
    integer(c_int64_t) :: smallest_colour = 0
    integer(c_int64_t) :: largest_colour = 0
    type(c_ptr) :: colour_ptr = c_null_ptr
    type(c_ptr) :: row = c_null_ptr
    integer(c_int64_t) :: sweep_bytes = 0
    real(c_double) :: rounding = 0.0_c_double
    real(c_double) :: create_seconds = 0.0_c_double
    real(c_double) :: update_seconds = 0.0_c_double
    type(c_ptr) :: variant = c_null_ptr
    integer(c_int64_t) :: device_bytes = 0
    integer(c_int) :: domains = 0
    type(c_ptr) :: partition = c_null_ptr
  end type trs_relax_info

  type, bind(C) :: trs_backward_error
    integer(c_size_t) :: struct_size = 64_c_size_t
    real(c_double) :: componentwise = 0.0_c_double
    real(c_double) :: normwise = 0.0_c_double
    integer(c_int64_t) :: worst_row = 0
    integer(c_int64_t) :: underflow_rows = 0
    integer(c_int) :: range = 0
    integer(c_int64_t) :: range_row = 0
    integer(c_int64_t) :: range_column = 0
  end type trs_backward_error

  interface
    function trs_last_error() bind(C, name="trs_last_error")
      import
      type(c_ptr) :: trs_last_error
    end function trs_last_error

    function trs_status_name(status) bind(C, name="trs_status_name")
      import
      integer(c_int), value :: status
      type(c_ptr) :: trs_status_name
    end function trs_status_name

    function trs_version() bind(C, name="trs_version")
      import
      type(c_ptr) :: trs_version
    end function trs_version

    function trs_features() bind(C, name="trs_features")
      import
      type(c_ptr) :: trs_features
    end function trs_features

    function trs_set_cancel_flag(flag) bind(C, name="trs_set_cancel_flag")
      import
      type(c_ptr), value :: flag
      integer(c_int) :: trs_set_cancel_flag
    end function trs_set_cancel_flag

    function trs_context_create_c(ctx, where) bind(C, name="trs_context_create")
      import
      type(c_ptr), intent(out) :: ctx
      character(kind=c_char), dimension(*), intent(in), optional :: where
      integer(c_int) :: trs_context_create_c
    end function trs_context_create_c

    subroutine trs_context_destroy(ctx) bind(C, name="trs_context_destroy")
      import
      type(c_ptr), value :: ctx
    end subroutine trs_context_destroy

    function trs_context_get_kind(ctx, number) bind(C, name="trs_context_get_kind")
      import
      type(c_ptr), value :: ctx
      integer(c_int), intent(out), optional :: number
      integer(c_int) :: trs_context_get_kind
    end function trs_context_get_kind

    function trs_context_threads(ctx) bind(C, name="trs_context_threads")
      import
      type(c_ptr), value :: ctx
      integer(c_int) :: trs_context_threads
    end function trs_context_threads

    function trs_context_processes(ctx, rank) bind(C, name="trs_context_processes")
      import
      type(c_ptr), value :: ctx
      integer(c_int), intent(out), optional :: rank
      integer(c_int) :: trs_context_processes
    end function trs_context_processes

    function trs_context_members(ctx, first, local) bind(C, name="trs_context_members")
      import
      type(c_ptr), value :: ctx
      integer(c_int), intent(out), optional :: first
      integer(c_int), intent(out), optional :: local
      integer(c_int) :: trs_context_members
    end function trs_context_members

    function trs_context_set_gpu_memory_c(ctx, bytes) bind(C, name="trs_context_set_gpu_memory")
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: bytes
      integer(c_int) :: trs_context_set_gpu_memory_c
    end function trs_context_set_gpu_memory_c

    function trs_context_gpu_memory(ctx) bind(C, name="trs_context_gpu_memory")
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t) :: trs_context_gpu_memory
    end function trs_context_gpu_memory

    function trs_context_gpu(ctx, member) bind(C, name="trs_context_gpu")
      import
      type(c_ptr), value :: ctx
      integer(c_int), value :: member
      integer(c_int) :: trs_context_gpu
    end function trs_context_gpu

    function trs_device_list() bind(C, name="trs_device_list")
      import
      type(c_ptr) :: trs_device_list
    end function trs_device_list

    function trs_matrix_create_c(A, format, scalar, nrows, ncols, indexing, ptr, idx, val, &
        ownership) bind(C, name="trs_matrix_create")
      import
      type(c_ptr), intent(out) :: A
      integer(c_int), value :: format
      integer(c_int), value :: scalar
      integer(c_int64_t), value :: nrows
      integer(c_int64_t), value :: ncols
      integer(c_int), value :: indexing
      type(c_ptr), value :: ptr
      type(c_ptr), value :: idx
      type(c_ptr), value :: val
      integer(c_int), value :: ownership
      integer(c_int) :: trs_matrix_create_c
    end function trs_matrix_create_c

    function trs_matrix_create_coo_c(A, scalar, nrows, ncols, nnz, indexing, row, col, val) &
        bind(C, name="trs_matrix_create_coo")
      import
      type(c_ptr), intent(out) :: A
      integer(c_int), value :: scalar
      integer(c_int64_t), value :: nrows
      integer(c_int64_t), value :: ncols
      integer(c_int64_t), value :: nnz
      integer(c_int), value :: indexing
      type(c_ptr), value :: row
      type(c_ptr), value :: col
      type(c_ptr), value :: val
      integer(c_int) :: trs_matrix_create_coo_c
    end function trs_matrix_create_coo_c

    function trs_matrix_create_bsr(A, blocks) bind(C, name="trs_matrix_create_bsr")
      import
      type(c_ptr), intent(out) :: A
      type(trs_blocks), intent(in) :: blocks
      integer(c_int) :: trs_matrix_create_bsr
    end function trs_matrix_create_bsr

    function trs_matrix_create_device_c(A, ctx, format, scalar, nrows, ncols, nnz, indexing, &
        ptr, idx, val) bind(C, name="trs_matrix_create_device")
      import
      type(c_ptr), intent(out) :: A
      type(c_ptr), value :: ctx
      integer(c_int), value :: format
      integer(c_int), value :: scalar
      integer(c_int64_t), value :: nrows
      integer(c_int64_t), value :: ncols
      integer(c_int64_t), value :: nnz
      integer(c_int), value :: indexing
      type(c_ptr), value :: ptr
      type(c_ptr), value :: idx
      type(c_ptr), value :: val
      integer(c_int) :: trs_matrix_create_device_c
    end function trs_matrix_create_device_c

    function trs_matrix_create_deferred_c(A, format, scalar, nrows, ncols, indexing, ptr, idx, &
        ownership, give, user) bind(C, name="trs_matrix_create_deferred")
      import
      type(c_ptr), intent(out) :: A
      integer(c_int), value :: format
      integer(c_int), value :: scalar
      integer(c_int64_t), value :: nrows
      integer(c_int64_t), value :: ncols
      integer(c_int), value :: indexing
      type(c_ptr), value :: ptr
      type(c_ptr), value :: idx
      integer(c_int), value :: ownership
      type(c_funptr), value :: give
      type(c_ptr), value :: user
      integer(c_int) :: trs_matrix_create_deferred_c
    end function trs_matrix_create_deferred_c

    function trs_matrix_set_values(A, val) bind(C, name="trs_matrix_set_values")
      import
      type(c_ptr), value :: A
      type(*), dimension(*), intent(in), optional :: val
      integer(c_int) :: trs_matrix_set_values
    end function trs_matrix_set_values

    subroutine trs_matrix_destroy(A) bind(C, name="trs_matrix_destroy")
      import
      type(c_ptr), value :: A
    end subroutine trs_matrix_destroy

    function trs_matrix_get_info(A, info) bind(C, name="trs_matrix_get_info")
      import
      type(c_ptr), value :: A
      type(trs_matrix_info), intent(inout), optional :: info
      integer(c_int) :: trs_matrix_get_info
    end function trs_matrix_get_info

    function trs_matrix_get_arrays(A, ptr, idx, val) bind(C, name="trs_matrix_get_arrays")
      import
      type(c_ptr), value :: A
      type(c_ptr), intent(out), optional :: ptr
      type(c_ptr), intent(out), optional :: idx
      type(c_ptr), intent(out), optional :: val
      integer(c_int) :: trs_matrix_get_arrays
    end function trs_matrix_get_arrays

    function trs_matrix_convert(B, A, format, scalar) bind(C, name="trs_matrix_convert")
      import
      type(c_ptr), intent(out) :: B
      type(c_ptr), value :: A
      integer(c_int), value :: format
      integer(c_int), value :: scalar
      integer(c_int) :: trs_matrix_convert
    end function trs_matrix_convert

    function trs_matrix_triangle(T, A, uplo, add_diagonal) bind(C, name="trs_matrix_triangle")
      import
      type(c_ptr), intent(out) :: T
      type(c_ptr), value :: A
      integer(c_int), value :: uplo
      integer(c_int), value :: add_diagonal
      integer(c_int) :: trs_matrix_triangle
    end function trs_matrix_triangle

    function trs_matrix_read_c(A, path, options) bind(C, name="trs_matrix_read")
      import
      type(c_ptr), intent(out) :: A
      character(kind=c_char), dimension(*), intent(in) :: path
      type(trs_read_options), intent(in), optional :: options
      integer(c_int) :: trs_matrix_read_c
    end function trs_matrix_read_c

    function trs_matrix_open_c(T, path, format, uplo, add_diagonal, options) bind(C, &
        name="trs_matrix_open")
      import
      type(c_ptr), intent(out) :: T
      character(kind=c_char), dimension(*), intent(in) :: path
      integer(c_int), value :: format
      integer(c_int), value :: uplo
      integer(c_int), value :: add_diagonal
      type(trs_read_options), intent(in), optional :: options
      integer(c_int) :: trs_matrix_open_c
    end function trs_matrix_open_c

    function trs_matrix_write_c(A, path) bind(C, name="trs_matrix_write")
      import
      type(c_ptr), value :: A
      character(kind=c_char), dimension(*), intent(in) :: path
      integer(c_int) :: trs_matrix_write_c
    end function trs_matrix_write_c

    function trs_vectors_read_c(values, nrows, ncols, scalar, path, options) bind(C, &
        name="trs_vectors_read")
      import
      type(c_ptr), intent(out) :: values
      integer(c_int64_t), intent(inout) :: nrows
      integer(c_int64_t), intent(inout) :: ncols
      integer(c_int), value :: scalar
      character(kind=c_char), dimension(*), intent(in) :: path
      type(trs_read_options), intent(in), optional :: options
      integer(c_int) :: trs_vectors_read_c
    end function trs_vectors_read_c

    function trs_vectors_write_c(values, nrows, ncols, ld, layout, scalar, path) bind(C, &
        name="trs_vectors_write")
      import
      type(c_ptr), value :: values
      integer(c_int64_t), value :: nrows
      integer(c_int64_t), value :: ncols
      integer(c_int64_t), value :: ld
      integer(c_int), value :: layout
      integer(c_int), value :: scalar
      character(kind=c_char), dimension(*), intent(in) :: path
      integer(c_int) :: trs_vectors_write_c
    end function trs_vectors_write_c

    subroutine trs_free(pointer) bind(C, name="trs_free")
      import
      type(c_ptr), value :: pointer
    end subroutine trs_free

    function trs_generator_list() bind(C, name="trs_generator_list")
      import
      type(c_ptr) :: trs_generator_list
    end function trs_generator_list

    subroutine trs_random_fill_c(x, count, scalar, seed) bind(C, name="trs_random_fill")
      import
      type(c_ptr), value :: x
      integer(c_int64_t), value :: count
      integer(c_int), value :: scalar
      integer(c_int64_t), value :: seed
    end subroutine trs_random_fill_c

    function trs_factor(F, A, options) bind(C, name="trs_factor")
      import
      type(c_ptr), intent(out) :: F
      type(c_ptr), value :: A
      type(trs_factor_options), intent(in), optional :: options
      integer(c_int) :: trs_factor
    end function trs_factor

    function trs_factors_create(F, L, diag_L, U, diag_U, row_perm, col_perm, row_scale, &
        col_scale) bind(C, name="trs_factors_create")
      import
      type(c_ptr), intent(out) :: F
      type(c_ptr), value :: L
      integer(c_int), value :: diag_L
      type(c_ptr), value :: U
      integer(c_int), value :: diag_U
      integer(c_int32_t), dimension(*), intent(in), optional :: row_perm
      integer(c_int32_t), dimension(*), intent(in), optional :: col_perm
      real(c_double), dimension(*), intent(in), optional :: row_scale
      real(c_double), dimension(*), intent(in), optional :: col_scale
      integer(c_int) :: trs_factors_create
    end function trs_factors_create

    function trs_factors_refactor(F, pivots, ctx, A) bind(C, name="trs_factors_refactor")
      import
      type(c_ptr), value :: F
      type(trs_pivots), intent(inout) :: pivots
      type(c_ptr), value :: ctx
      type(c_ptr), value :: A
      integer(c_int) :: trs_factors_refactor
    end function trs_factors_refactor

    subroutine trs_factors_destroy(F) bind(C, name="trs_factors_destroy")
      import
      type(c_ptr), value :: F
    end subroutine trs_factors_destroy

    function trs_factors_get_info(F, info) bind(C, name="trs_factors_get_info")
      import
      type(c_ptr), value :: F
      type(trs_factors_info), intent(inout), optional :: info
      integer(c_int) :: trs_factors_get_info
    end function trs_factors_get_info

    function trs_factors_condition(condition, F) bind(C, name="trs_factors_condition")
      import
      real(c_double), intent(out) :: condition
      type(c_ptr), value :: F
      integer(c_int) :: trs_factors_condition
    end function trs_factors_condition

    function trs_factors_read_c(F, path, options) bind(C, name="trs_factors_read")
      import
      type(c_ptr), intent(out) :: F
      character(kind=c_char), dimension(*), intent(in) :: path
      type(trs_read_options), intent(in), optional :: options
      integer(c_int) :: trs_factors_read_c
    end function trs_factors_read_c

    function trs_factors_write_c(F, path) bind(C, name="trs_factors_write")
      import
      type(c_ptr), value :: F
      character(kind=c_char), dimension(*), intent(in) :: path
      integer(c_int) :: trs_factors_write_c
    end function trs_factors_write_c

    function trs_file_content_c(content, path) bind(C, name="trs_file_content")
      import
      integer(c_int), intent(out) :: content
      character(kind=c_char), dimension(*), intent(in) :: path
      integer(c_int) :: trs_file_content_c
    end function trs_file_content_c

    function trs_analyze(plan, ctx, A, uplo, trans, diag, options) bind(C, name="trs_analyze")
      import
      type(c_ptr), intent(out) :: plan
      type(c_ptr), value :: ctx
      type(c_ptr), value :: A
      integer(c_int), value :: uplo
      integer(c_int), value :: trans
      integer(c_int), value :: diag
      type(trs_options), intent(in), optional :: options
      integer(c_int) :: trs_analyze
    end function trs_analyze

    function trs_analyze_factors(plan, ctx, F, trans, options) bind(C, &
        name="trs_analyze_factors")
      import
      type(c_ptr), intent(out) :: plan
      type(c_ptr), value :: ctx
      type(c_ptr), value :: F
      integer(c_int), value :: trans
      type(trs_options), intent(in), optional :: options
      integer(c_int) :: trs_analyze_factors
    end function trs_analyze_factors

    function trs_update(plan, A) bind(C, name="trs_update")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: A
      integer(c_int) :: trs_update
    end function trs_update

    function trs_update_factors(plan, F) bind(C, name="trs_update_factors")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: F
      integer(c_int) :: trs_update_factors
    end function trs_update_factors

    function trs_update_bsr(plan, blocks) bind(C, name="trs_update_bsr")
      import
      type(c_ptr), value :: plan
      type(trs_blocks), intent(in) :: blocks
      integer(c_int) :: trs_update_bsr
    end function trs_update_bsr

    function trs_plan_clone(clone, plan) bind(C, name="trs_plan_clone")
      import
      type(c_ptr), intent(out) :: clone
      type(c_ptr), value :: plan
      integer(c_int) :: trs_plan_clone
    end function trs_plan_clone

    subroutine trs_plan_destroy(plan) bind(C, name="trs_plan_destroy")
      import
      type(c_ptr), value :: plan
    end subroutine trs_plan_destroy

    function trs_plan_get_info(plan, info) bind(C, name="trs_plan_get_info")
      import
      type(c_ptr), value :: plan
      type(trs_plan_info), intent(inout), optional :: info
      integer(c_int) :: trs_plan_get_info
    end function trs_plan_get_info

    function trs_plan_get_levels_c(plan, rows, levels) bind(C, name="trs_plan_get_levels")
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(out), optional :: rows
      integer(c_int64_t), intent(inout), optional :: levels
      integer(c_int) :: trs_plan_get_levels_c
    end function trs_plan_get_levels_c

    function trs_plan_bound(plan, seconds) bind(C, name="trs_plan_bound")
      import
      type(c_ptr), value :: plan
      real(c_double), intent(out) :: seconds
      integer(c_int) :: trs_plan_bound
    end function trs_plan_bound

    function trs_plan_describe_c(plan, text, size) bind(C, name="trs_plan_describe")
      import
      type(c_ptr), value :: plan
      character(kind=c_char), dimension(*), intent(inout) :: text
      integer(c_size_t), value :: size
      integer(c_size_t) :: trs_plan_describe_c
    end function trs_plan_describe_c

    function trs_backend_list() bind(C, name="trs_backend_list")
      import
      type(c_ptr) :: trs_backend_list
    end function trs_backend_list

    function trs_method_list() bind(C, name="trs_method_list")
      import
      type(c_ptr) :: trs_method_list
    end function trs_method_list

    function trs_solve_c(plan, x, ldx, b, ldb, nrhs, layout) bind(C, name="trs_solve")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      type(c_ptr), value :: b
      integer(c_int64_t), value :: ldb
      integer(c_int64_t), value :: nrhs
      integer(c_int), value :: layout
      integer(c_int) :: trs_solve_c
    end function trs_solve_c

    function trs_solve_once_c(x, b, uplo, diag, format, scalar, n, indexing, ptr, idx, val) &
        bind(C, name="trs_solve_once")
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: b
      integer(c_int), value :: uplo
      integer(c_int), value :: diag
      integer(c_int), value :: format
      integer(c_int), value :: scalar
      integer(c_int64_t), value :: n
      integer(c_int), value :: indexing
      type(c_ptr), value :: ptr
      type(c_ptr), value :: idx
      type(c_ptr), value :: val
      integer(c_int) :: trs_solve_once_c
    end function trs_solve_once_c

    function trs_plan_get_share_c(plan, share, rows, member, nrhs) bind(C, &
        name="trs_plan_get_share")
      import
      type(c_ptr), value :: plan
      type(trs_plan_share), intent(inout) :: share
      integer(c_int64_t), dimension(*), intent(inout), optional :: rows
      integer(c_int), value :: member
      integer(c_int64_t), value :: nrhs
      integer(c_int) :: trs_plan_get_share_c
    end function trs_plan_get_share_c

    function trs_solve_distributed_c(plan, x, ldx, b, ldb, nrhs, layout) bind(C, &
        name="trs_solve_distributed")
      import
      type(c_ptr), value :: plan
      type(c_ptr), dimension(*), intent(in), optional :: x
      integer(c_int64_t), value :: ldx
      type(c_ptr), dimension(*), intent(in), optional :: b
      integer(c_int64_t), value :: ldb
      integer(c_int64_t), value :: nrhs
      integer(c_int), value :: layout
      integer(c_int) :: trs_solve_distributed_c
    end function trs_solve_distributed_c

    function trs_plan_set_stream(plan, stream) bind(C, name="trs_plan_set_stream")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: stream
      integer(c_int) :: trs_plan_set_stream
    end function trs_plan_set_stream

    function trs_plan_set_streams(plan, streams) bind(C, name="trs_plan_set_streams")
      import
      type(c_ptr), value :: plan
      type(c_ptr), dimension(*), intent(in) :: streams
      integer(c_int) :: trs_plan_set_streams
    end function trs_plan_set_streams

    function trs_plan_wait(plan) bind(C, name="trs_plan_wait")
      import
      type(c_ptr), value :: plan
      integer(c_int) :: trs_plan_wait
    end function trs_plan_wait

    function trs_batch_create_c(plan, ctx, A, uplo, trans, diag, count, options) bind(C, &
        name="trs_batch_create")
      import
      type(c_ptr), intent(out) :: plan
      type(c_ptr), value :: ctx
      type(c_ptr), value :: A
      integer(c_int), value :: uplo
      integer(c_int), value :: trans
      integer(c_int), value :: diag
      integer(c_int64_t), value :: count
      type(trs_batch_options), intent(in), optional :: options
      integer(c_int) :: trs_batch_create_c
    end function trs_batch_create_c

    function trs_batch_create_factors_c(plan, ctx, F, trans, count, options) bind(C, &
        name="trs_batch_create_factors")
      import
      type(c_ptr), intent(out) :: plan
      type(c_ptr), value :: ctx
      type(c_ptr), value :: F
      integer(c_int), value :: trans
      integer(c_int64_t), value :: count
      type(trs_batch_options), intent(in), optional :: options
      integer(c_int) :: trs_batch_create_factors_c
    end function trs_batch_create_factors_c

    function trs_batch_update_c(plan, val, stride_val) bind(C, name="trs_batch_update")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: val
      integer(c_int64_t), value :: stride_val
      integer(c_int) :: trs_batch_update_c
    end function trs_batch_update_c

    function trs_batch_update_factors_c(plan, L_val, stride_L, U_val, stride_U) bind(C, &
        name="trs_batch_update_factors")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: L_val
      integer(c_int64_t), value :: stride_L
      type(c_ptr), value :: U_val
      integer(c_int64_t), value :: stride_U
      integer(c_int) :: trs_batch_update_factors_c
    end function trs_batch_update_factors_c

    function trs_batch_solve_c(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) bind(C, &
        name="trs_batch_solve")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      integer(c_int64_t), value :: stride_x
      type(c_ptr), value :: b
      integer(c_int64_t), value :: ldb
      integer(c_int64_t), value :: stride_b
      integer(c_int64_t), value :: nrhs
      integer(c_int), value :: layout
      integer(c_int) :: trs_batch_solve_c
    end function trs_batch_solve_c

    function trs_batch_get_info(plan, info) bind(C, name="trs_batch_get_info")
      import
      type(c_ptr), value :: plan
      type(trs_batch_info), intent(inout), optional :: info
      integer(c_int) :: trs_batch_get_info
    end function trs_batch_get_info

    function trs_relax_create(plan, ctx, A, block_size, options) bind(C, &
        name="trs_relax_create")
      import
      type(c_ptr), intent(out) :: plan
      type(c_ptr), value :: ctx
      type(c_ptr), value :: A
      integer(c_int), value :: block_size
      type(trs_relax_options), intent(in), optional :: options
      integer(c_int) :: trs_relax_create
    end function trs_relax_create

    function trs_relax_create_bsr(plan, ctx, blocks, options) bind(C, &
        name="trs_relax_create_bsr")
      import
      type(c_ptr), intent(out) :: plan
      type(c_ptr), value :: ctx
      type(trs_blocks), intent(in) :: blocks
      type(trs_relax_options), intent(in), optional :: options
      integer(c_int) :: trs_relax_create_bsr
    end function trs_relax_create_bsr

    function trs_relax_sweep_c(plan, x, ldx, b, ldb, nrhs, layout, options) bind(C, &
        name="trs_relax_sweep")
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      type(c_ptr), value :: b
      integer(c_int64_t), value :: ldb
      integer(c_int64_t), value :: nrhs
      integer(c_int), value :: layout
      type(trs_sweep_options), intent(in), optional :: options
      integer(c_int) :: trs_relax_sweep_c
    end function trs_relax_sweep_c

    function trs_relax_get_info(plan, info) bind(C, name="trs_relax_get_info")
      import
      type(c_ptr), value :: plan
      type(trs_relax_info), intent(inout), optional :: info
      integer(c_int) :: trs_relax_get_info
    end function trs_relax_get_info

    function trs_check_c(error, A, uplo, trans, diag, x, ldx, b, ldb, nrhs, layout) bind(C, &
        name="trs_check")
      import
      type(trs_backward_error), intent(inout), optional :: error
      type(c_ptr), value :: A
      integer(c_int), value :: uplo
      integer(c_int), value :: trans
      integer(c_int), value :: diag
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      type(c_ptr), value :: b
      integer(c_int64_t), value :: ldb
      integer(c_int64_t), value :: nrhs
      integer(c_int), value :: layout
      integer(c_int) :: trs_check_c
    end function trs_check_c

    function trs_check_factors_c(error, F, trans, x, ldx, b, ldb, nrhs, layout) bind(C, &
        name="trs_check_factors")
      import
      type(trs_backward_error), intent(inout), optional :: error
      type(c_ptr), value :: F
      integer(c_int), value :: trans
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      type(c_ptr), value :: b
      integer(c_int64_t), value :: ldb
      integer(c_int64_t), value :: nrhs
      integer(c_int), value :: layout
      integer(c_int) :: trs_check_factors_c
    end function trs_check_factors_c

    subroutine trs_memory_usage(current, peak) bind(C, name="trs_memory_usage")
      import
      integer(c_int64_t), intent(out), optional :: current
      integer(c_int64_t), intent(out), optional :: peak
    end subroutine trs_memory_usage
  end interface

  interface trs_context_set_gpu_memory
    procedure context_set_gpu_memory_4, context_set_gpu_memory_8
  end interface trs_context_set_gpu_memory

  interface trs_matrix_create
    procedure matrix_create_44, matrix_create_48, matrix_create_84, matrix_create_88
  end interface trs_matrix_create

  interface trs_matrix_create_coo
    procedure matrix_create_coo_444, matrix_create_coo_448, matrix_create_coo_484, &
        matrix_create_coo_488, matrix_create_coo_844, matrix_create_coo_848, matrix_create_coo_884, &
        matrix_create_coo_888
  end interface trs_matrix_create_coo

  interface trs_matrix_create_device
    procedure matrix_create_device_444, matrix_create_device_448, matrix_create_device_484, &
        matrix_create_device_488, matrix_create_device_844, matrix_create_device_848, &
        matrix_create_device_884, matrix_create_device_888
  end interface trs_matrix_create_device

  interface trs_matrix_create_deferred
    procedure matrix_create_deferred_44, matrix_create_deferred_48, matrix_create_deferred_84, &
        matrix_create_deferred_88
  end interface trs_matrix_create_deferred

  interface trs_vectors_read
    procedure vectors_read_44, vectors_read_48, vectors_read_84, vectors_read_88
  end interface trs_vectors_read

  interface trs_vectors_write
    procedure vectors_write_444, vectors_write_448, vectors_write_484, vectors_write_488, &
        vectors_write_844, vectors_write_848, vectors_write_884, vectors_write_888
  end interface trs_vectors_write

  interface trs_random_fill
    procedure random_fill_44, random_fill_48, random_fill_84, random_fill_88
  end interface trs_random_fill

  interface trs_plan_get_levels
    procedure plan_get_levels_4, plan_get_levels_8
  end interface trs_plan_get_levels

  interface trs_plan_describe
    procedure plan_describe_4, plan_describe_8
  end interface trs_plan_describe

  interface trs_solve
    procedure solve_444, solve_448, solve_484, solve_488, solve_844, solve_848, solve_884, &
        solve_888
  end interface trs_solve

  interface trs_solve_once
    procedure solve_once_4, solve_once_8
  end interface trs_solve_once

  interface trs_plan_get_share
    procedure plan_get_share_44, plan_get_share_48, plan_get_share_84, plan_get_share_88
  end interface trs_plan_get_share

  interface trs_solve_distributed
    procedure solve_distributed_444, solve_distributed_448, solve_distributed_484, &
        solve_distributed_488, solve_distributed_844, solve_distributed_848, solve_distributed_884, &
        solve_distributed_888
  end interface trs_solve_distributed

  interface trs_batch_create
    procedure batch_create_4, batch_create_8
  end interface trs_batch_create

  interface trs_batch_create_factors
    procedure batch_create_factors_4, batch_create_factors_8
  end interface trs_batch_create_factors

  interface trs_batch_update
    procedure batch_update_4, batch_update_8
  end interface trs_batch_update

  interface trs_batch_update_factors
    procedure batch_update_factors_44, batch_update_factors_48, batch_update_factors_84, &
        batch_update_factors_88
  end interface trs_batch_update_factors

  interface trs_batch_solve
    procedure batch_solve_44444, batch_solve_44448, batch_solve_44484, batch_solve_44488, &
        batch_solve_44844, batch_solve_44848, batch_solve_44884, batch_solve_44888, &
        batch_solve_48444, batch_solve_48448, batch_solve_48484, batch_solve_48488, &
        batch_solve_48844, batch_solve_48848, batch_solve_48884, batch_solve_48888, &
        batch_solve_84444, batch_solve_84448, batch_solve_84484, batch_solve_84488, &
        batch_solve_84844, batch_solve_84848, batch_solve_84884, batch_solve_84888, &
        batch_solve_88444, batch_solve_88448, batch_solve_88484, batch_solve_88488, &
        batch_solve_88844, batch_solve_88848, batch_solve_88884, batch_solve_88888
  end interface trs_batch_solve

  interface trs_relax_sweep
    procedure relax_sweep_444, relax_sweep_448, relax_sweep_484, relax_sweep_488, &
        relax_sweep_844, relax_sweep_848, relax_sweep_884, relax_sweep_888
  end interface trs_relax_sweep

  interface trs_check
    procedure check_444, check_448, check_484, check_488, check_844, check_848, check_884, &
        check_888
  end interface trs_check

  interface trs_check_factors
    procedure check_factors_444, check_factors_448, check_factors_484, check_factors_488, &
        check_factors_844, check_factors_848, check_factors_884, check_factors_888
  end interface trs_check_factors

  private :: context_set_gpu_memory_4, context_set_gpu_memory_8, matrix_create_44, &
      matrix_create_48, matrix_create_84, matrix_create_88, matrix_create_coo_444, &
      matrix_create_coo_448, matrix_create_coo_484, matrix_create_coo_488, matrix_create_coo_844, &
      matrix_create_coo_848, matrix_create_coo_884, matrix_create_coo_888, matrix_create_device_444, &
      matrix_create_device_448, matrix_create_device_484, matrix_create_device_488, &
      matrix_create_device_844, matrix_create_device_848, matrix_create_device_884, &
      matrix_create_device_888, matrix_create_deferred_44, matrix_create_deferred_48, &
      matrix_create_deferred_84, matrix_create_deferred_88, vectors_read_44, vectors_read_48, &
      vectors_read_84, vectors_read_88, vectors_write_444, vectors_write_448, vectors_write_484, &
      vectors_write_488, vectors_write_844, vectors_write_848, vectors_write_884, vectors_write_888, &
      random_fill_44, random_fill_48
  private :: random_fill_84, random_fill_88, plan_get_levels_4, plan_get_levels_8, &
      plan_describe_4, plan_describe_8, solve_444, solve_448, solve_484, solve_488, solve_844, &
      solve_848, solve_884, solve_888, solve_once_4, solve_once_8, plan_get_share_44, &
      plan_get_share_48, plan_get_share_84, plan_get_share_88, solve_distributed_444, &
      solve_distributed_448, solve_distributed_484, solve_distributed_488, solve_distributed_844, &
      solve_distributed_848, solve_distributed_884, solve_distributed_888, batch_create_4, &
      batch_create_8, batch_create_factors_4, batch_create_factors_8, batch_update_4, &
      batch_update_8, batch_update_factors_44, batch_update_factors_48, batch_update_factors_84, &
      batch_update_factors_88, batch_solve_44444, batch_solve_44448
  private :: batch_solve_44484, batch_solve_44488, batch_solve_44844, batch_solve_44848, &
      batch_solve_44884, batch_solve_44888, batch_solve_48444, batch_solve_48448, batch_solve_48484, &
      batch_solve_48488, batch_solve_48844, batch_solve_48848, batch_solve_48884, batch_solve_48888, &
      batch_solve_84444, batch_solve_84448, batch_solve_84484, batch_solve_84488, batch_solve_84844, &
      batch_solve_84848, batch_solve_84884, batch_solve_84888, batch_solve_88444, batch_solve_88448, &
      batch_solve_88484, batch_solve_88488, batch_solve_88844, batch_solve_88848, batch_solve_88884, &
      batch_solve_88888, relax_sweep_444, relax_sweep_448, relax_sweep_484, relax_sweep_488, &
      relax_sweep_844, relax_sweep_848, relax_sweep_884, relax_sweep_888, check_444, check_448
  private :: check_484, check_488, check_844, check_848, check_884, check_888, &
      check_factors_444, check_factors_448, check_factors_484, check_factors_488, check_factors_844, &
      check_factors_848, check_factors_884, check_factors_888

contains

  ! What went wrong in the last call of this thread that failed.  Rows and columns count from 1.
  function trs_message() result(text)
    character(len=:), allocatable :: text
    type(trs_error), pointer :: error
    call c_f_pointer(trs_last_error(), error)
    text = trs_from_1(trs_text(error%message))
  end function trs_message

  ! The row at fault in that call, from 1 on; 0: none.
  function trs_error_row() result(row)
    integer(c_int64_t) :: row
    type(trs_error), pointer :: error
    call c_f_pointer(trs_last_error(), error)
    row = error%row + 1
  end function trs_error_row

  ! The message with its rows, columns and entries counted from 1, if C's text counts them from 0.
  ! They are the numbers behind the words for them.
  function trs_from_1(text) result(counted)
    character(len=*), intent(in) :: text
    character(len=:), allocatable :: counted
    character(len=*), parameter :: digits = "0123456789", &
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_'", &
        counts = " row rows column columns entry block index node parent system ", &
        joins = " and or after is "
    character(len=20) :: number
    integer(c_int64_t) :: value
    integer :: i, last
    logical :: counting
    if (index(text, "0-based") == 0) then
      counted = text
      return
    end if
    counted = ""
    counting = .false.
    i = 1
    do while (i <= len(text))
      last = i
      if (index(text(i:), "0-based") == 1) then
        counted = counted//"1-based"
        counting = .false.
        i = i + 7
        cycle
      else if (scan(text(i:i), letters) > 0) then
        do while (last < len(text))
          if (scan(text(last + 1:last + 1), letters//digits) == 0) exit
          last = last + 1
        end do
        if (index(joins, " "//text(i:last)//" ") == 0) &
            counting = index(counts, " "//text(i:last)//" ") > 0 .or. &
                (text(i:last) == "outside" .and. index(text(last:), "0-based") > 0)
      else if (scan(text(i:i), digits) > 0) then
        do while (last < len(text))
          if (scan(text(last + 1:last + 1), digits//".") == 0) exit
          last = last + 1
        end do
        counting = counting .and. last - i < 18 .and. scan(text(i:last), ".") == 0
        if (counting) then
          read (text(i:last), *) value
          write (number, "(i0)") value + 1
          counted = counted//trim(number)
          i = last + 1
          cycle
        end if
      else if (scan(text(i:i), ":;") > 0) then
        counting = .false.
      end if
      counted = counted//text(i:last)
      i = last + 1
    end do
  end function trs_from_1

  ! A text that the library returned; empty for NULL.
  function trs_text(address) result(text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    interface
      function strlen(s) bind(C, name="strlen")
        import :: c_ptr, c_size_t
        type(c_ptr), value :: s
        integer(c_size_t) :: strlen
      end function strlen
    end interface
    integer :: i
    if (.not. c_associated(address)) then
      text = ""
      return
    end if
    call c_f_pointer(address, characters, [strlen(address)])
    allocate (character(len=size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function trs_text

  ! A number for a caller's integer of 32 bits; the largest one if it has more.
  elemental function trs_narrowed(number) result(narrow)
    integer(c_int64_t), intent(in) :: number
    integer(c_int32_t) :: narrow
    narrow = int(min(number, int(huge(narrow), c_int64_t)), c_int32_t)
  end function trs_narrowed

  ! The text without what is behind c_null_char or its last letter, then c_null_char.
  function trs_terminated(text) result(terminated)
    character(len=*), intent(in) :: text
    character(kind=c_char, len=:), allocatable :: terminated
    integer :: length
    length = index(text, c_null_char) - 1
    if (length < 0) length = len_trim(text)
    terminated = text(:length)//c_null_char
  end function trs_terminated

  function trs_context_create(ctx, where) result(outcome)
    type(c_ptr), intent(out) :: ctx
    character(len=*), intent(in), optional :: where
    character(kind=c_char, len=:), allocatable :: c_where
    integer(c_int) :: outcome
    if (present(where)) c_where = trs_terminated(where)
    outcome = trs_context_create_c(ctx, c_where)
  end function trs_context_create

  function context_set_gpu_memory_4(ctx, bytes) result(outcome)
    type(c_ptr), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: bytes
    integer(c_int) :: outcome
    outcome = trs_context_set_gpu_memory_c(ctx, int(bytes, c_int64_t))
  end function context_set_gpu_memory_4

  function context_set_gpu_memory_8(ctx, bytes) result(outcome)
    type(c_ptr), intent(in) :: ctx
    integer(c_int64_t), intent(in) :: bytes
    integer(c_int) :: outcome
    outcome = trs_context_set_gpu_memory_c(ctx, int(bytes, c_int64_t))
  end function context_set_gpu_memory_8

  function matrix_create_44(A, format, scalar, nrows, ncols, indexing, ptr, idx, val, ownership) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    integer(c_int), intent(in) :: ownership
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_c(A, format, scalar, int(nrows, c_int64_t), int(ncols, &
        c_int64_t), indexing, at_ptr, at_idx, at_val, ownership)
  end function matrix_create_44

  function matrix_create_48(A, format, scalar, nrows, ncols, indexing, ptr, idx, val, ownership) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    integer(c_int), intent(in) :: ownership
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_c(A, format, scalar, int(nrows, c_int64_t), int(ncols, &
        c_int64_t), indexing, at_ptr, at_idx, at_val, ownership)
  end function matrix_create_48

  function matrix_create_84(A, format, scalar, nrows, ncols, indexing, ptr, idx, val, ownership) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    integer(c_int), intent(in) :: ownership
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_c(A, format, scalar, int(nrows, c_int64_t), int(ncols, &
        c_int64_t), indexing, at_ptr, at_idx, at_val, ownership)
  end function matrix_create_84

  function matrix_create_88(A, format, scalar, nrows, ncols, indexing, ptr, idx, val, ownership) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    integer(c_int), intent(in) :: ownership
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_c(A, format, scalar, int(nrows, c_int64_t), int(ncols, &
        c_int64_t), indexing, at_ptr, at_idx, at_val, ownership)
  end function matrix_create_88

  function matrix_create_coo_444(A, scalar, nrows, ncols, nnz, indexing, row, col, val) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target :: row
    type(*), dimension(..), contiguous, intent(in), target :: col
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_row
    type(c_ptr) :: at_col
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_row = c_loc(row)
    at_col = c_loc(col)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_coo_c(A, scalar, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(nnz, c_int64_t), indexing, at_row, at_col, at_val)
  end function matrix_create_coo_444

  function matrix_create_coo_448(A, scalar, nrows, ncols, nnz, indexing, row, col, val) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target :: row
    type(*), dimension(..), contiguous, intent(in), target :: col
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_row
    type(c_ptr) :: at_col
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_row = c_loc(row)
    at_col = c_loc(col)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_coo_c(A, scalar, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(nnz, c_int64_t), indexing, at_row, at_col, at_val)
  end function matrix_create_coo_448

  function matrix_create_coo_484(A, scalar, nrows, ncols, nnz, indexing, row, col, val) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target :: row
    type(*), dimension(..), contiguous, intent(in), target :: col
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_row
    type(c_ptr) :: at_col
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_row = c_loc(row)
    at_col = c_loc(col)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_coo_c(A, scalar, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(nnz, c_int64_t), indexing, at_row, at_col, at_val)
  end function matrix_create_coo_484

  function matrix_create_coo_488(A, scalar, nrows, ncols, nnz, indexing, row, col, val) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target :: row
    type(*), dimension(..), contiguous, intent(in), target :: col
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_row
    type(c_ptr) :: at_col
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_row = c_loc(row)
    at_col = c_loc(col)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_coo_c(A, scalar, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(nnz, c_int64_t), indexing, at_row, at_col, at_val)
  end function matrix_create_coo_488

  function matrix_create_coo_844(A, scalar, nrows, ncols, nnz, indexing, row, col, val) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target :: row
    type(*), dimension(..), contiguous, intent(in), target :: col
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_row
    type(c_ptr) :: at_col
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_row = c_loc(row)
    at_col = c_loc(col)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_coo_c(A, scalar, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(nnz, c_int64_t), indexing, at_row, at_col, at_val)
  end function matrix_create_coo_844

  function matrix_create_coo_848(A, scalar, nrows, ncols, nnz, indexing, row, col, val) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target :: row
    type(*), dimension(..), contiguous, intent(in), target :: col
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_row
    type(c_ptr) :: at_col
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_row = c_loc(row)
    at_col = c_loc(col)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_coo_c(A, scalar, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(nnz, c_int64_t), indexing, at_row, at_col, at_val)
  end function matrix_create_coo_848

  function matrix_create_coo_884(A, scalar, nrows, ncols, nnz, indexing, row, col, val) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target :: row
    type(*), dimension(..), contiguous, intent(in), target :: col
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_row
    type(c_ptr) :: at_col
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_row = c_loc(row)
    at_col = c_loc(col)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_coo_c(A, scalar, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(nnz, c_int64_t), indexing, at_row, at_col, at_val)
  end function matrix_create_coo_884

  function matrix_create_coo_888(A, scalar, nrows, ncols, nnz, indexing, row, col, val) &
      result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target :: row
    type(*), dimension(..), contiguous, intent(in), target :: col
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_row
    type(c_ptr) :: at_col
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_row = c_loc(row)
    at_col = c_loc(col)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_coo_c(A, scalar, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(nnz, c_int64_t), indexing, at_row, at_col, at_val)
  end function matrix_create_coo_888

  function matrix_create_device_444(A, ctx, format, scalar, nrows, ncols, nnz, indexing, ptr, &
      idx, val) result(outcome)
    type(c_ptr), intent(out) :: A
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_device_c(A, ctx, format, scalar, int(nrows, c_int64_t), &
        int(ncols, c_int64_t), int(nnz, c_int64_t), indexing, at_ptr, at_idx, at_val)
  end function matrix_create_device_444

  function matrix_create_device_448(A, ctx, format, scalar, nrows, ncols, nnz, indexing, ptr, &
      idx, val) result(outcome)
    type(c_ptr), intent(out) :: A
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_device_c(A, ctx, format, scalar, int(nrows, c_int64_t), &
        int(ncols, c_int64_t), int(nnz, c_int64_t), indexing, at_ptr, at_idx, at_val)
  end function matrix_create_device_448

  function matrix_create_device_484(A, ctx, format, scalar, nrows, ncols, nnz, indexing, ptr, &
      idx, val) result(outcome)
    type(c_ptr), intent(out) :: A
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_device_c(A, ctx, format, scalar, int(nrows, c_int64_t), &
        int(ncols, c_int64_t), int(nnz, c_int64_t), indexing, at_ptr, at_idx, at_val)
  end function matrix_create_device_484

  function matrix_create_device_488(A, ctx, format, scalar, nrows, ncols, nnz, indexing, ptr, &
      idx, val) result(outcome)
    type(c_ptr), intent(out) :: A
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_device_c(A, ctx, format, scalar, int(nrows, c_int64_t), &
        int(ncols, c_int64_t), int(nnz, c_int64_t), indexing, at_ptr, at_idx, at_val)
  end function matrix_create_device_488

  function matrix_create_device_844(A, ctx, format, scalar, nrows, ncols, nnz, indexing, ptr, &
      idx, val) result(outcome)
    type(c_ptr), intent(out) :: A
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_device_c(A, ctx, format, scalar, int(nrows, c_int64_t), &
        int(ncols, c_int64_t), int(nnz, c_int64_t), indexing, at_ptr, at_idx, at_val)
  end function matrix_create_device_844

  function matrix_create_device_848(A, ctx, format, scalar, nrows, ncols, nnz, indexing, ptr, &
      idx, val) result(outcome)
    type(c_ptr), intent(out) :: A
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_device_c(A, ctx, format, scalar, int(nrows, c_int64_t), &
        int(ncols, c_int64_t), int(nnz, c_int64_t), indexing, at_ptr, at_idx, at_val)
  end function matrix_create_device_848

  function matrix_create_device_884(A, ctx, format, scalar, nrows, ncols, nnz, indexing, ptr, &
      idx, val) result(outcome)
    type(c_ptr), intent(out) :: A
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_device_c(A, ctx, format, scalar, int(nrows, c_int64_t), &
        int(ncols, c_int64_t), int(nnz, c_int64_t), indexing, at_ptr, at_idx, at_val)
  end function matrix_create_device_884

  function matrix_create_device_888(A, ctx, format, scalar, nrows, ncols, nnz, indexing, ptr, &
      idx, val) result(outcome)
    type(c_ptr), intent(out) :: A
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: nnz
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_matrix_create_device_c(A, ctx, format, scalar, int(nrows, c_int64_t), &
        int(ncols, c_int64_t), int(nnz, c_int64_t), indexing, at_ptr, at_idx, at_val)
  end function matrix_create_device_888

  function matrix_create_deferred_44(A, format, scalar, nrows, ncols, indexing, ptr, idx, &
      ownership, give, user) result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    integer(c_int), intent(in) :: ownership
    type(c_funptr), intent(in) :: give
    type(c_ptr), intent(in) :: user
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    outcome = trs_matrix_create_deferred_c(A, format, scalar, int(nrows, c_int64_t), int(ncols, &
        c_int64_t), indexing, at_ptr, at_idx, ownership, give, user)
  end function matrix_create_deferred_44

  function matrix_create_deferred_48(A, format, scalar, nrows, ncols, indexing, ptr, idx, &
      ownership, give, user) result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    integer(c_int), intent(in) :: ownership
    type(c_funptr), intent(in) :: give
    type(c_ptr), intent(in) :: user
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    outcome = trs_matrix_create_deferred_c(A, format, scalar, int(nrows, c_int64_t), int(ncols, &
        c_int64_t), indexing, at_ptr, at_idx, ownership, give, user)
  end function matrix_create_deferred_48

  function matrix_create_deferred_84(A, format, scalar, nrows, ncols, indexing, ptr, idx, &
      ownership, give, user) result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    integer(c_int), intent(in) :: ownership
    type(c_funptr), intent(in) :: give
    type(c_ptr), intent(in) :: user
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    outcome = trs_matrix_create_deferred_c(A, format, scalar, int(nrows, c_int64_t), int(ncols, &
        c_int64_t), indexing, at_ptr, at_idx, ownership, give, user)
  end function matrix_create_deferred_84

  function matrix_create_deferred_88(A, format, scalar, nrows, ncols, indexing, ptr, idx, &
      ownership, give, user) result(outcome)
    type(c_ptr), intent(out) :: A
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    integer(c_int), intent(in) :: ownership
    type(c_funptr), intent(in) :: give
    type(c_ptr), intent(in) :: user
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    integer(c_int) :: outcome
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    outcome = trs_matrix_create_deferred_c(A, format, scalar, int(nrows, c_int64_t), int(ncols, &
        c_int64_t), indexing, at_ptr, at_idx, ownership, give, user)
  end function matrix_create_deferred_88

  function trs_matrix_read(A, path, options) result(outcome)
    type(c_ptr), intent(out) :: A
    character(len=*), intent(in) :: path
    type(trs_read_options), intent(in), optional :: options
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    c_path = trs_terminated(path)
    outcome = trs_matrix_read_c(A, c_path, options)
  end function trs_matrix_read

  function trs_matrix_open(T, path, format, uplo, add_diagonal, options) result(outcome)
    type(c_ptr), intent(out) :: T
    character(len=*), intent(in) :: path
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: add_diagonal
    type(trs_read_options), intent(in), optional :: options
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    c_path = trs_terminated(path)
    outcome = trs_matrix_open_c(T, c_path, format, uplo, add_diagonal, options)
  end function trs_matrix_open

  function trs_matrix_write(A, path) result(outcome)
    type(c_ptr), intent(in) :: A
    character(len=*), intent(in) :: path
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    c_path = trs_terminated(path)
    outcome = trs_matrix_write_c(A, c_path)
  end function trs_matrix_write

  function vectors_read_44(values, nrows, ncols, scalar, path, options) result(outcome)
    type(c_ptr), intent(out) :: values
    integer(c_int32_t), intent(out) :: nrows
    integer(c_int32_t), intent(out) :: ncols
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(trs_read_options), intent(in), optional :: options
    integer(c_int64_t) :: wide_nrows
    integer(c_int64_t) :: wide_ncols
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    wide_nrows = 0
    wide_ncols = 0
    c_path = trs_terminated(path)
    outcome = trs_vectors_read_c(values, wide_nrows, wide_ncols, scalar, c_path, options)
    nrows = trs_narrowed(wide_nrows)
    ncols = trs_narrowed(wide_ncols)
  end function vectors_read_44

  function vectors_read_48(values, nrows, ncols, scalar, path, options) result(outcome)
    type(c_ptr), intent(out) :: values
    integer(c_int32_t), intent(out) :: nrows
    integer(c_int64_t), intent(out) :: ncols
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(trs_read_options), intent(in), optional :: options
    integer(c_int64_t) :: wide_nrows
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    wide_nrows = 0
    c_path = trs_terminated(path)
    outcome = trs_vectors_read_c(values, wide_nrows, ncols, scalar, c_path, options)
    nrows = trs_narrowed(wide_nrows)
  end function vectors_read_48

  function vectors_read_84(values, nrows, ncols, scalar, path, options) result(outcome)
    type(c_ptr), intent(out) :: values
    integer(c_int64_t), intent(out) :: nrows
    integer(c_int32_t), intent(out) :: ncols
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(trs_read_options), intent(in), optional :: options
    integer(c_int64_t) :: wide_ncols
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    wide_ncols = 0
    c_path = trs_terminated(path)
    outcome = trs_vectors_read_c(values, nrows, wide_ncols, scalar, c_path, options)
    ncols = trs_narrowed(wide_ncols)
  end function vectors_read_84

  function vectors_read_88(values, nrows, ncols, scalar, path, options) result(outcome)
    type(c_ptr), intent(out) :: values
    integer(c_int64_t), intent(out) :: nrows
    integer(c_int64_t), intent(out) :: ncols
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(trs_read_options), intent(in), optional :: options
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    c_path = trs_terminated(path)
    outcome = trs_vectors_read_c(values, nrows, ncols, scalar, c_path, options)
  end function vectors_read_88

  function vectors_write_444(values, nrows, ncols, ld, layout, scalar, path) result(outcome)
    type(*), dimension(..), contiguous, intent(in), target :: values
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: ld
    integer(c_int), intent(in) :: layout
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(c_ptr) :: at_values
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    at_values = c_loc(values)
    c_path = trs_terminated(path)
    outcome = trs_vectors_write_c(at_values, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(ld, c_int64_t), layout, scalar, c_path)
  end function vectors_write_444

  function vectors_write_448(values, nrows, ncols, ld, layout, scalar, path) result(outcome)
    type(*), dimension(..), contiguous, intent(in), target :: values
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: ld
    integer(c_int), intent(in) :: layout
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(c_ptr) :: at_values
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    at_values = c_loc(values)
    c_path = trs_terminated(path)
    outcome = trs_vectors_write_c(at_values, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(ld, c_int64_t), layout, scalar, c_path)
  end function vectors_write_448

  function vectors_write_484(values, nrows, ncols, ld, layout, scalar, path) result(outcome)
    type(*), dimension(..), contiguous, intent(in), target :: values
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: ld
    integer(c_int), intent(in) :: layout
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(c_ptr) :: at_values
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    at_values = c_loc(values)
    c_path = trs_terminated(path)
    outcome = trs_vectors_write_c(at_values, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(ld, c_int64_t), layout, scalar, c_path)
  end function vectors_write_484

  function vectors_write_488(values, nrows, ncols, ld, layout, scalar, path) result(outcome)
    type(*), dimension(..), contiguous, intent(in), target :: values
    integer(c_int32_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: ld
    integer(c_int), intent(in) :: layout
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(c_ptr) :: at_values
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    at_values = c_loc(values)
    c_path = trs_terminated(path)
    outcome = trs_vectors_write_c(at_values, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(ld, c_int64_t), layout, scalar, c_path)
  end function vectors_write_488

  function vectors_write_844(values, nrows, ncols, ld, layout, scalar, path) result(outcome)
    type(*), dimension(..), contiguous, intent(in), target :: values
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: ld
    integer(c_int), intent(in) :: layout
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(c_ptr) :: at_values
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    at_values = c_loc(values)
    c_path = trs_terminated(path)
    outcome = trs_vectors_write_c(at_values, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(ld, c_int64_t), layout, scalar, c_path)
  end function vectors_write_844

  function vectors_write_848(values, nrows, ncols, ld, layout, scalar, path) result(outcome)
    type(*), dimension(..), contiguous, intent(in), target :: values
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int32_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: ld
    integer(c_int), intent(in) :: layout
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(c_ptr) :: at_values
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    at_values = c_loc(values)
    c_path = trs_terminated(path)
    outcome = trs_vectors_write_c(at_values, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(ld, c_int64_t), layout, scalar, c_path)
  end function vectors_write_848

  function vectors_write_884(values, nrows, ncols, ld, layout, scalar, path) result(outcome)
    type(*), dimension(..), contiguous, intent(in), target :: values
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int32_t), intent(in) :: ld
    integer(c_int), intent(in) :: layout
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(c_ptr) :: at_values
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    at_values = c_loc(values)
    c_path = trs_terminated(path)
    outcome = trs_vectors_write_c(at_values, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(ld, c_int64_t), layout, scalar, c_path)
  end function vectors_write_884

  function vectors_write_888(values, nrows, ncols, ld, layout, scalar, path) result(outcome)
    type(*), dimension(..), contiguous, intent(in), target :: values
    integer(c_int64_t), intent(in) :: nrows
    integer(c_int64_t), intent(in) :: ncols
    integer(c_int64_t), intent(in) :: ld
    integer(c_int), intent(in) :: layout
    integer(c_int), intent(in) :: scalar
    character(len=*), intent(in) :: path
    type(c_ptr) :: at_values
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    at_values = c_loc(values)
    c_path = trs_terminated(path)
    outcome = trs_vectors_write_c(at_values, int(nrows, c_int64_t), int(ncols, c_int64_t), &
        int(ld, c_int64_t), layout, scalar, c_path)
  end function vectors_write_888

  subroutine random_fill_44(x, count, scalar, seed)
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: count
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: seed
    type(c_ptr) :: at_x
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    call trs_random_fill_c(at_x, int(count, c_int64_t), scalar, int(seed, c_int64_t))
  end subroutine random_fill_44

  subroutine random_fill_48(x, count, scalar, seed)
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: count
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: seed
    type(c_ptr) :: at_x
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    call trs_random_fill_c(at_x, int(count, c_int64_t), scalar, int(seed, c_int64_t))
  end subroutine random_fill_48

  subroutine random_fill_84(x, count, scalar, seed)
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: count
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: seed
    type(c_ptr) :: at_x
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    call trs_random_fill_c(at_x, int(count, c_int64_t), scalar, int(seed, c_int64_t))
  end subroutine random_fill_84

  subroutine random_fill_88(x, count, scalar, seed)
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: count
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: seed
    type(c_ptr) :: at_x
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    call trs_random_fill_c(at_x, int(count, c_int64_t), scalar, int(seed, c_int64_t))
  end subroutine random_fill_88

  function trs_factors_read(F, path, options) result(outcome)
    type(c_ptr), intent(out) :: F
    character(len=*), intent(in) :: path
    type(trs_read_options), intent(in), optional :: options
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    c_path = trs_terminated(path)
    outcome = trs_factors_read_c(F, c_path, options)
  end function trs_factors_read

  function trs_factors_write(F, path) result(outcome)
    type(c_ptr), intent(in) :: F
    character(len=*), intent(in) :: path
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    c_path = trs_terminated(path)
    outcome = trs_factors_write_c(F, c_path)
  end function trs_factors_write

  function trs_file_content(content, path) result(outcome)
    integer(c_int), intent(out) :: content
    character(len=*), intent(in) :: path
    character(kind=c_char, len=:), allocatable :: c_path
    integer(c_int) :: outcome
    c_path = trs_terminated(path)
    outcome = trs_file_content_c(content, c_path)
  end function trs_file_content

  function plan_get_levels_4(plan, rows, levels) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), intent(out), optional :: rows
    integer(c_int32_t), intent(out) :: levels
    integer(c_int64_t) :: wide_levels
    integer(c_int) :: outcome
    wide_levels = 0
    outcome = trs_plan_get_levels_c(plan, rows, wide_levels)
    levels = trs_narrowed(wide_levels)
  end function plan_get_levels_4

  function plan_get_levels_8(plan, rows, levels) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), intent(out), optional :: rows
    integer(c_int64_t), intent(out), optional :: levels
    integer(c_int) :: outcome
    outcome = trs_plan_get_levels_c(plan, rows, levels)
  end function plan_get_levels_8

  function plan_describe_4(plan, text, size) result(outcome)
    type(c_ptr), intent(in) :: plan
    character(len=*), intent(inout) :: text
    integer(c_int32_t), intent(in) :: size
    integer(c_size_t) :: outcome
    outcome = trs_plan_describe_c(plan, text, int(size, c_size_t))
  end function plan_describe_4

  function plan_describe_8(plan, text, size) result(outcome)
    type(c_ptr), intent(in) :: plan
    character(len=*), intent(inout) :: text
    integer(c_int64_t), intent(in) :: size
    integer(c_size_t) :: outcome
    outcome = trs_plan_describe_c(plan, text, int(size, c_size_t))
  end function plan_describe_8

  function solve_444(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
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
    outcome = trs_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), int(nrhs, &
        c_int64_t), layout)
  end function solve_444

  function solve_448(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
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
    outcome = trs_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), int(nrhs, &
        c_int64_t), layout)
  end function solve_448

  function solve_484(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
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
    outcome = trs_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), int(nrhs, &
        c_int64_t), layout)
  end function solve_484

  function solve_488(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
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
    outcome = trs_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), int(nrhs, &
        c_int64_t), layout)
  end function solve_488

  function solve_844(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
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
    outcome = trs_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), int(nrhs, &
        c_int64_t), layout)
  end function solve_844

  function solve_848(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
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
    outcome = trs_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), int(nrhs, &
        c_int64_t), layout)
  end function solve_848

  function solve_884(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
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
    outcome = trs_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), int(nrhs, &
        c_int64_t), layout)
  end function solve_884

  function solve_888(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
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
    outcome = trs_solve_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), int(nrhs, &
        c_int64_t), layout)
  end function solve_888

  function solve_once_4(x, b, uplo, diag, format, scalar, n, indexing, ptr, idx, val) &
      result(outcome)
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: diag
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int32_t), intent(in) :: n
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_solve_once_c(at_x, at_b, uplo, diag, format, scalar, int(n, c_int64_t), &
        indexing, at_ptr, at_idx, at_val)
  end function solve_once_4

  function solve_once_8(x, b, uplo, diag, format, scalar, n, indexing, ptr, idx, val) &
      result(outcome)
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: diag
    integer(c_int), intent(in) :: format
    integer(c_int), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: n
    integer(c_int), intent(in) :: indexing
    type(*), dimension(..), contiguous, intent(in), target, optional :: ptr
    type(*), dimension(..), contiguous, intent(in), target, optional :: idx
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    type(c_ptr) :: at_ptr
    type(c_ptr) :: at_idx
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    at_ptr = c_null_ptr
    if (present(ptr)) at_ptr = c_loc(ptr)
    at_idx = c_null_ptr
    if (present(idx)) at_idx = c_loc(idx)
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_solve_once_c(at_x, at_b, uplo, diag, format, scalar, int(n, c_int64_t), &
        indexing, at_ptr, at_idx, at_val)
  end function solve_once_8

  function plan_get_share_44(plan, share, rows, member, nrhs) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(trs_plan_share), intent(inout) :: share
    integer(c_int32_t), intent(inout) :: rows(:)
    integer(c_int), intent(in) :: member
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int64_t), allocatable :: wide_rows(:)
    integer(c_int) :: outcome
    allocate (wide_rows, source=int(rows, c_int64_t))
    outcome = trs_plan_get_share_c(plan, share, wide_rows, member, int(nrhs, c_int64_t))
    rows = trs_narrowed(wide_rows)
  end function plan_get_share_44

  function plan_get_share_48(plan, share, rows, member, nrhs) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(trs_plan_share), intent(inout) :: share
    integer(c_int32_t), intent(inout) :: rows(:)
    integer(c_int), intent(in) :: member
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int64_t), allocatable :: wide_rows(:)
    integer(c_int) :: outcome
    allocate (wide_rows, source=int(rows, c_int64_t))
    outcome = trs_plan_get_share_c(plan, share, wide_rows, member, int(nrhs, c_int64_t))
    rows = trs_narrowed(wide_rows)
  end function plan_get_share_48

  function plan_get_share_84(plan, share, rows, member, nrhs) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(trs_plan_share), intent(inout) :: share
    integer(c_int64_t), dimension(*), intent(out), optional :: rows
    integer(c_int), intent(in) :: member
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int) :: outcome
    outcome = trs_plan_get_share_c(plan, share, rows, member, int(nrhs, c_int64_t))
  end function plan_get_share_84

  function plan_get_share_88(plan, share, rows, member, nrhs) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(trs_plan_share), intent(inout) :: share
    integer(c_int64_t), dimension(*), intent(out), optional :: rows
    integer(c_int), intent(in) :: member
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int) :: outcome
    outcome = trs_plan_get_share_c(plan, share, rows, member, int(nrhs, c_int64_t))
  end function plan_get_share_88

  function solve_distributed_444(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), dimension(*), intent(in), optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(c_ptr), dimension(*), intent(in), optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    integer(c_int) :: outcome
    outcome = trs_solve_distributed_c(plan, x, int(ldx, c_int64_t), b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function solve_distributed_444

  function solve_distributed_448(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), dimension(*), intent(in), optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(c_ptr), dimension(*), intent(in), optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    integer(c_int) :: outcome
    outcome = trs_solve_distributed_c(plan, x, int(ldx, c_int64_t), b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function solve_distributed_448

  function solve_distributed_484(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), dimension(*), intent(in), optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(c_ptr), dimension(*), intent(in), optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    integer(c_int) :: outcome
    outcome = trs_solve_distributed_c(plan, x, int(ldx, c_int64_t), b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function solve_distributed_484

  function solve_distributed_488(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), dimension(*), intent(in), optional :: x
    integer(c_int32_t), intent(in) :: ldx
    type(c_ptr), dimension(*), intent(in), optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    integer(c_int) :: outcome
    outcome = trs_solve_distributed_c(plan, x, int(ldx, c_int64_t), b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function solve_distributed_488

  function solve_distributed_844(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), dimension(*), intent(in), optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(c_ptr), dimension(*), intent(in), optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    integer(c_int) :: outcome
    outcome = trs_solve_distributed_c(plan, x, int(ldx, c_int64_t), b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function solve_distributed_844

  function solve_distributed_848(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), dimension(*), intent(in), optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(c_ptr), dimension(*), intent(in), optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    integer(c_int) :: outcome
    outcome = trs_solve_distributed_c(plan, x, int(ldx, c_int64_t), b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function solve_distributed_848

  function solve_distributed_884(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), dimension(*), intent(in), optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(c_ptr), dimension(*), intent(in), optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    integer(c_int) :: outcome
    outcome = trs_solve_distributed_c(plan, x, int(ldx, c_int64_t), b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function solve_distributed_884

  function solve_distributed_888(plan, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(c_ptr), dimension(*), intent(in), optional :: x
    integer(c_int64_t), intent(in) :: ldx
    type(c_ptr), dimension(*), intent(in), optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    integer(c_int) :: outcome
    outcome = trs_solve_distributed_c(plan, x, int(ldx, c_int64_t), b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout)
  end function solve_distributed_888

  function batch_create_4(plan, ctx, A, uplo, trans, diag, count, options) result(outcome)
    type(c_ptr), intent(out) :: plan
    type(c_ptr), intent(in) :: ctx
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    integer(c_int32_t), intent(in) :: count
    type(trs_batch_options), intent(in), optional :: options
    integer(c_int) :: outcome
    outcome = trs_batch_create_c(plan, ctx, A, uplo, trans, diag, int(count, c_int64_t), &
        options)
  end function batch_create_4

  function batch_create_8(plan, ctx, A, uplo, trans, diag, count, options) result(outcome)
    type(c_ptr), intent(out) :: plan
    type(c_ptr), intent(in) :: ctx
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    integer(c_int64_t), intent(in) :: count
    type(trs_batch_options), intent(in), optional :: options
    integer(c_int) :: outcome
    outcome = trs_batch_create_c(plan, ctx, A, uplo, trans, diag, int(count, c_int64_t), &
        options)
  end function batch_create_8

  function batch_create_factors_4(plan, ctx, F, trans, count, options) result(outcome)
    type(c_ptr), intent(out) :: plan
    type(c_ptr), intent(in) :: ctx
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    integer(c_int32_t), intent(in) :: count
    type(trs_batch_options), intent(in), optional :: options
    integer(c_int) :: outcome
    outcome = trs_batch_create_factors_c(plan, ctx, F, trans, int(count, c_int64_t), options)
  end function batch_create_factors_4

  function batch_create_factors_8(plan, ctx, F, trans, count, options) result(outcome)
    type(c_ptr), intent(out) :: plan
    type(c_ptr), intent(in) :: ctx
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    integer(c_int64_t), intent(in) :: count
    type(trs_batch_options), intent(in), optional :: options
    integer(c_int) :: outcome
    outcome = trs_batch_create_factors_c(plan, ctx, F, trans, int(count, c_int64_t), options)
  end function batch_create_factors_8

  function batch_update_4(plan, val, stride_val) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    integer(c_int32_t), intent(in) :: stride_val
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_batch_update_c(plan, at_val, int(stride_val, c_int64_t))
  end function batch_update_4

  function batch_update_8(plan, val, stride_val) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(in), target, optional :: val
    integer(c_int64_t), intent(in) :: stride_val
    type(c_ptr) :: at_val
    integer(c_int) :: outcome
    at_val = c_null_ptr
    if (present(val)) at_val = c_loc(val)
    outcome = trs_batch_update_c(plan, at_val, int(stride_val, c_int64_t))
  end function batch_update_8

  function batch_update_factors_44(plan, L_val, stride_L, U_val, stride_U) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(in), target, optional :: L_val
    integer(c_int32_t), intent(in) :: stride_L
    type(*), dimension(..), contiguous, intent(in), target, optional :: U_val
    integer(c_int32_t), intent(in) :: stride_U
    type(c_ptr) :: at_L_val
    type(c_ptr) :: at_U_val
    integer(c_int) :: outcome
    at_L_val = c_null_ptr
    if (present(L_val)) at_L_val = c_loc(L_val)
    at_U_val = c_null_ptr
    if (present(U_val)) at_U_val = c_loc(U_val)
    outcome = trs_batch_update_factors_c(plan, at_L_val, int(stride_L, c_int64_t), at_U_val, &
        int(stride_U, c_int64_t))
  end function batch_update_factors_44

  function batch_update_factors_48(plan, L_val, stride_L, U_val, stride_U) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(in), target, optional :: L_val
    integer(c_int32_t), intent(in) :: stride_L
    type(*), dimension(..), contiguous, intent(in), target, optional :: U_val
    integer(c_int64_t), intent(in) :: stride_U
    type(c_ptr) :: at_L_val
    type(c_ptr) :: at_U_val
    integer(c_int) :: outcome
    at_L_val = c_null_ptr
    if (present(L_val)) at_L_val = c_loc(L_val)
    at_U_val = c_null_ptr
    if (present(U_val)) at_U_val = c_loc(U_val)
    outcome = trs_batch_update_factors_c(plan, at_L_val, int(stride_L, c_int64_t), at_U_val, &
        int(stride_U, c_int64_t))
  end function batch_update_factors_48

  function batch_update_factors_84(plan, L_val, stride_L, U_val, stride_U) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(in), target, optional :: L_val
    integer(c_int64_t), intent(in) :: stride_L
    type(*), dimension(..), contiguous, intent(in), target, optional :: U_val
    integer(c_int32_t), intent(in) :: stride_U
    type(c_ptr) :: at_L_val
    type(c_ptr) :: at_U_val
    integer(c_int) :: outcome
    at_L_val = c_null_ptr
    if (present(L_val)) at_L_val = c_loc(L_val)
    at_U_val = c_null_ptr
    if (present(U_val)) at_U_val = c_loc(U_val)
    outcome = trs_batch_update_factors_c(plan, at_L_val, int(stride_L, c_int64_t), at_U_val, &
        int(stride_U, c_int64_t))
  end function batch_update_factors_84

  function batch_update_factors_88(plan, L_val, stride_L, U_val, stride_U) result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(in), target, optional :: L_val
    integer(c_int64_t), intent(in) :: stride_L
    type(*), dimension(..), contiguous, intent(in), target, optional :: U_val
    integer(c_int64_t), intent(in) :: stride_U
    type(c_ptr) :: at_L_val
    type(c_ptr) :: at_U_val
    integer(c_int) :: outcome
    at_L_val = c_null_ptr
    if (present(L_val)) at_L_val = c_loc(L_val)
    at_U_val = c_null_ptr
    if (present(U_val)) at_U_val = c_loc(U_val)
    outcome = trs_batch_update_factors_c(plan, at_L_val, int(stride_L, c_int64_t), at_U_val, &
        int(stride_U, c_int64_t))
  end function batch_update_factors_88

  function batch_solve_44444(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_44444

  function batch_solve_44448(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_44448

  function batch_solve_44484(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_44484

  function batch_solve_44488(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_44488

  function batch_solve_44844(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_44844

  function batch_solve_44848(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_44848

  function batch_solve_44884(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_44884

  function batch_solve_44888(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_44888

  function batch_solve_48444(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_48444

  function batch_solve_48448(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_48448

  function batch_solve_48484(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_48484

  function batch_solve_48488(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_48488

  function batch_solve_48844(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_48844

  function batch_solve_48848(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_48848

  function batch_solve_48884(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_48884

  function batch_solve_48888(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int32_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_48888

  function batch_solve_84444(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_84444

  function batch_solve_84448(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_84448

  function batch_solve_84484(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_84484

  function batch_solve_84488(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_84488

  function batch_solve_84844(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_84844

  function batch_solve_84848(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_84848

  function batch_solve_84884(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_84884

  function batch_solve_84888(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int32_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_84888

  function batch_solve_88444(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_88444

  function batch_solve_88448(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_88448

  function batch_solve_88484(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_88484

  function batch_solve_88488(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int32_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_88488

  function batch_solve_88844(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_88844

  function batch_solve_88848(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int32_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_88848

  function batch_solve_88884(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int32_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_88884

  function batch_solve_88888(plan, x, ldx, stride_x, b, ldb, stride_b, nrhs, layout) &
      result(outcome)
    type(c_ptr), intent(in) :: plan
    type(*), dimension(..), contiguous, intent(inout), target, optional :: x
    integer(c_int64_t), intent(in) :: ldx
    integer(c_int64_t), intent(in) :: stride_x
    type(*), dimension(..), contiguous, intent(in), target, optional :: b
    integer(c_int64_t), intent(in) :: ldb
    integer(c_int64_t), intent(in) :: stride_b
    integer(c_int64_t), intent(in) :: nrhs
    integer(c_int), intent(in) :: layout
    type(c_ptr) :: at_x
    type(c_ptr) :: at_b
    integer(c_int) :: outcome
    at_x = c_null_ptr
    if (present(x)) at_x = c_loc(x)
    at_b = c_null_ptr
    if (present(b)) at_b = c_loc(b)
    outcome = trs_batch_solve_c(plan, at_x, int(ldx, c_int64_t), int(stride_x, c_int64_t), at_b, &
        int(ldb, c_int64_t), int(stride_b, c_int64_t), int(nrhs, c_int64_t), layout)
  end function batch_solve_88888

  function relax_sweep_444(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
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
    outcome = trs_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function relax_sweep_444

  function relax_sweep_448(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
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
    outcome = trs_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function relax_sweep_448

  function relax_sweep_484(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
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
    outcome = trs_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function relax_sweep_484

  function relax_sweep_488(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
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
    outcome = trs_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function relax_sweep_488

  function relax_sweep_844(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
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
    outcome = trs_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function relax_sweep_844

  function relax_sweep_848(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
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
    outcome = trs_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function relax_sweep_848

  function relax_sweep_884(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
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
    outcome = trs_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function relax_sweep_884

  function relax_sweep_888(plan, x, ldx, b, ldb, nrhs, layout, options) result(outcome)
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
    outcome = trs_relax_sweep_c(plan, at_x, int(ldx, c_int64_t), at_b, int(ldb, c_int64_t), &
        int(nrhs, c_int64_t), layout, options)
  end function relax_sweep_888

  function check_444(error, A, uplo, trans, diag, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_c(error, A, uplo, trans, diag, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_444

  function check_448(error, A, uplo, trans, diag, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_c(error, A, uplo, trans, diag, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_448

  function check_484(error, A, uplo, trans, diag, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_c(error, A, uplo, trans, diag, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_484

  function check_488(error, A, uplo, trans, diag, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_c(error, A, uplo, trans, diag, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_488

  function check_844(error, A, uplo, trans, diag, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_c(error, A, uplo, trans, diag, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_844

  function check_848(error, A, uplo, trans, diag, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_c(error, A, uplo, trans, diag, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_848

  function check_884(error, A, uplo, trans, diag, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_c(error, A, uplo, trans, diag, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_884

  function check_888(error, A, uplo, trans, diag, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: A
    integer(c_int), intent(in) :: uplo
    integer(c_int), intent(in) :: trans
    integer(c_int), intent(in) :: diag
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_c(error, A, uplo, trans, diag, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_888

  function check_factors_444(error, F, trans, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_factors_c(error, F, trans, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_factors_444

  function check_factors_448(error, F, trans, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_factors_c(error, F, trans, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_factors_448

  function check_factors_484(error, F, trans, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_factors_c(error, F, trans, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_factors_484

  function check_factors_488(error, F, trans, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_factors_c(error, F, trans, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_factors_488

  function check_factors_844(error, F, trans, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_factors_c(error, F, trans, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_factors_844

  function check_factors_848(error, F, trans, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_factors_c(error, F, trans, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_factors_848

  function check_factors_884(error, F, trans, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_factors_c(error, F, trans, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_factors_884

  function check_factors_888(error, F, trans, x, ldx, b, ldb, nrhs, layout) result(outcome)
    type(trs_backward_error), intent(inout), optional :: error
    type(c_ptr), intent(in) :: F
    integer(c_int), intent(in) :: trans
    type(*), dimension(..), contiguous, intent(in), target, optional :: x
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
    outcome = trs_check_factors_c(error, F, trans, at_x, int(ldx, c_int64_t), at_b, int(ldb, &
        c_int64_t), int(nrhs, c_int64_t), layout)
  end function check_factors_888

end module trireme
