! 16_cg.f90 - conjugate gradients in Fortran, preconditioned by an incomplete Cholesky factorisation:
! every iteration solves L L' z = r by one plan of both triangles.
program cg
  use, intrinsic :: iso_fortran_env, only: real64, int32, error_unit
  use trireme
  implicit none

  integer, parameter :: side = 60, n = side * side
  integer(int32) :: ptr(n + 1), idx(5 * n) ! counted from 1
  real(real64) :: val(5 * n), b(n), x(n)
  type(c_ptr) :: context, matrix, factors, plan
  type(trs_factor_options) :: options
  integer :: plain, preconditioned

  call poisson
  call random_number(b)
  options%kind = TRS_FACTOR_IC0
  call check(trs_context_create(context, "auto"))
  call check(trs_matrix_create(matrix, TRS_CSR, TRS_DOUBLE, n, n, ior(TRS_PTR32, TRS_BASE1), ptr, &
                               idx, val, TRS_BORROW))
  call check(trs_factor(factors, matrix, options))
  call check(trs_analyze_factors(plan, context, factors, TRS_NO_TRANS))

  plain = iterations(.false.)
  preconditioned = iterations(.true.)
  print "(i0, a, i0, a, i0)", n, " unknowns: ", plain, " iterations, with IC(0) ", preconditioned

  call trs_plan_destroy(plan)
  call trs_factors_destroy(factors)
  call trs_matrix_destroy(matrix)
  call trs_context_destroy(context)
  if (preconditioned < 0 .or. preconditioned >= plain) error stop

contains

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == TRS_SUCCESS) return
    write (error_unit, "(a)") trs_message()
    error stop
  end subroutine check

  ! The five-point Laplacian on a grid.
  subroutine poisson
    integer :: i, k
    integer, parameter :: step(5) = [-side, -1, 0, 1, side]
    integer :: used
    used = 0
    do i = 1, n
      ptr(i) = used + 1
      do k = 1, 5
        if (i + step(k) < 1 .or. i + step(k) > n) cycle
        if (step(k) == -1 .and. mod(i - 1, side) == 0) cycle
        if (step(k) == 1 .and. mod(i, side) == 0) cycle
        used = used + 1
        idx(used) = i + step(k)
        val(used) = merge(4.0_real64, -1.0_real64, step(k) == 0)
      end do
    end do
    ptr(n + 1) = used + 1
  end subroutine poisson

  subroutine multiply(p, q)
    real(real64), intent(in) :: p(n)
    real(real64), intent(out) :: q(n)
    integer :: i
    do i = 1, n
      q(i) = dot_product(val(ptr(i):ptr(i + 1) - 1), p(idx(ptr(i):ptr(i + 1) - 1)))
    end do
  end subroutine multiply

  ! Until |b - A x| <= 1e-10 |b|; -1 if that takes too many.
  integer function iterations(with_factors)
    logical, intent(in) :: with_factors
    real(real64) :: r(n), z(n), p(n), q(n), rz, rz_before, alpha
    integer :: k
    x = 0
    p = 0
    r = b
    rz_before = 1
    iterations = -1
    do k = 0, 999
      if (norm2(r) <= 1e-10_real64 * norm2(b)) then
        iterations = k
        return
      end if
      z = r
      if (with_factors) call check(trs_solve(plan, z, n, r, n, 1, TRS_COL_MAJOR))
      rz = dot_product(r, z)
      p = z + rz / rz_before * p
      call multiply(p, q)
      alpha = rz / dot_product(p, q)
      x = x + alpha * p
      r = r - alpha * q
      rz_before = rz
    end do
  end function iterations
end program cg
