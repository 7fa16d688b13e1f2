! ranks.f90 - trireme_mpi.f90 beside the C compiler's view of trireme_mpi.h, and a solve on the ranks
! of an MPI program in Fortran.
program ranks
  use mpi_f08
  use trireme
  use verdicts
  use trireme_mpi
  implicit none

  interface
    function mpi_size_in_c(k) bind(C)
      import
      integer(c_int), value :: k
      integer(c_size_t) :: mpi_size_in_c
    end function mpi_size_in_c
  end interface

  type(trs_mpi_options) :: options
  type(trs_mpi_blocks) :: blocks
  type(trs_mpi_stats) :: stats
  type(trs_mpi_relax_info) :: relax_info
  type(trs_mpi_rows) :: rows
  integer :: rank, size

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  silent = rank > 0
  call verdict("trs_mpi_options", options%struct_size == mpi_size_in_c(0))
  call verdict("trs_mpi_blocks", blocks%struct_size == mpi_size_in_c(1))
  call verdict("trs_mpi_stats", stats%struct_size == mpi_size_in_c(2))
  call verdict("trs_mpi_relax_info", relax_info%struct_size == mpi_size_in_c(3))
  call verdict("trs_mpi_rows", rows%struct_size == mpi_size_in_c(4))
  call solve
  call refuse
  call MPI_Finalize
  if (failed) error stop

contains

  ! The triangles of a Laplacian as factors; b and x lie on rank 0.
  subroutine solve
    type(c_ptr) :: matrix, factors, plan
    type(trs_factor_options) :: how
    type(trs_backward_error) :: error
    integer(c_int64_t), parameter :: n = 900
    real(c_double) :: x(n), b(n)
    integer(c_int) :: status
    how%kind = TRS_FACTOR_TRIANGLE
    b = 1
    x = 0
    status = trs_matrix_read(matrix, "gen:poisson2d5:30")
    if (status == TRS_SUCCESS) status = trs_factor(factors, matrix, how)
    options%px = size
    options%py = 1
    options%pz = 1
    if (status == TRS_SUCCESS) &
      status = trs_mpi_analyze(plan, MPI_COMM_WORLD%MPI_VAL, c_null_ptr, factors, TRS_NO_TRANS, options)
    call verdict("an analysis on ranks", status == TRS_SUCCESS)
    if (status /= TRS_SUCCESS) return
    status = trs_mpi_solve(plan, x, int(n), b, n, 1, TRS_COL_MAJOR)
    if (status == TRS_SUCCESS) status = trs_mpi_get_stats(plan, stats, TRS_MPI_MAX)
    call verdict("a solve on ranks", status == TRS_SUCCESS .and. stats%px == size)
    status = trs_check_factors(error, factors, TRS_NO_TRANS, x, n, b, n, 1_c_int64_t, TRS_COL_MAJOR)
    call verdict("its error", rank > 0 .or. error%componentwise < 1e-13)
    call trs_mpi_plan_destroy(plan)
    call trs_factors_destroy(factors)
    call trs_matrix_destroy(matrix)
  end subroutine solve

  subroutine refuse
    type(c_ptr) :: context
    integer(c_int) :: status
    status = trs_mpi_context_create(context, MPI_COMM_WORLD%MPI_VAL, "nowhere"//c_null_char)
    call verdict("a message on ranks", status /= TRS_SUCCESS .and. index(trs_message(), "nowhere") > 0)
    status = trs_mpi_agree(MPI_COMM_WORLD%MPI_VAL, TRS_SUCCESS)
    call verdict("agreement", status == TRS_SUCCESS)
  end subroutine refuse
end program ranks
