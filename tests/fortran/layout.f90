! layout.f90 - trireme.f90 beside the C compiler's view of trireme.h: sizes of types, values that
! cross in both directions, absent arguments, messages, integers of both sizes and text of any length.
program layout
  use trireme
  use verdicts
  implicit none

  interface
    ! sizeof of the k-th structure; offset of its last field.
    function size_in_c(k) bind(C)
      import
      integer(c_int), value :: k
      integer(c_size_t) :: size_in_c
    end function size_in_c
    function last_in_c(k) bind(C)
      import
      integer(c_int), value :: k
      integer(c_size_t) :: last_in_c
    end function last_in_c
  end interface

  type(trs_error), target :: error
  type(trs_matrix_info), target :: matrix_info
  type(trs_read_options), target :: read_options
  type(trs_factor_options), target :: factor_options
  type(trs_factors_info), target :: factors_info
  type(trs_options), target :: options
  type(trs_plan_info), target :: plan_info
  type(trs_plan_share), target :: share
  type(trs_relax_options), target :: relax_options
  type(trs_sweep_options), target :: sweep_options
  type(trs_relax_info), target :: relax_info
  type(trs_backward_error), target :: backward_error

  call compare(0, "trs_error", c_sizeof(error), c_sizeof(error), c_loc(error), c_loc(error%message))
  call compare(1, "trs_matrix_info", c_sizeof(matrix_info), matrix_info%struct_size, &
               c_loc(matrix_info), c_loc(matrix_info%largest_part))
  call compare(2, "trs_read_options", c_sizeof(read_options), read_options%struct_size, &
               c_loc(read_options), c_loc(read_options%max_bytes))
  call compare(3, "trs_factor_options", c_sizeof(factor_options), factor_options%struct_size, &
               c_loc(factor_options), c_loc(factor_options%shift))
  call compare(4, "trs_factors_info", c_sizeof(factors_info), factors_info%struct_size, &
               c_loc(factors_info), c_loc(factors_info%shift))
  call compare(5, "trs_options", c_sizeof(options), options%struct_size, c_loc(options), &
               c_loc(options%distributed))
  call compare(6, "trs_plan_info", c_sizeof(plan_info), plan_info%struct_size, c_loc(plan_info), &
               c_loc(plan_info%device))
  call compare(7, "trs_plan_share", c_sizeof(share), share%struct_size, c_loc(share), &
               c_loc(share%ncolumns))
  call compare(8, "trs_relax_options", c_sizeof(relax_options), relax_options%struct_size, &
               c_loc(relax_options), c_loc(relax_options%variant))
  call compare(9, "trs_sweep_options", c_sizeof(sweep_options), sweep_options%struct_size, &
               c_loc(sweep_options), c_loc(sweep_options%residuals))
  call compare(10, "trs_relax_info", c_sizeof(relax_info), relax_info%struct_size, &
               c_loc(relax_info), c_loc(relax_info%partition))
  call compare(11, "trs_backward_error", c_sizeof(backward_error), backward_error%struct_size, &
               c_loc(backward_error), c_loc(backward_error%range_column))
  call calls
  call failed_updates
  call plain_calls
  call rows_from_1
  if (failed) error stop

contains

  integer(c_intptr_t) function address(where)
    type(c_ptr), intent(in) :: where
    address = transfer(where, address)
  end function address

  subroutine compare(k, name, size, struct_size, begin, last)
    integer, intent(in) :: k
    character(len=*), intent(in) :: name
    integer(c_size_t), intent(in) :: size, struct_size
    type(c_ptr), intent(in) :: begin, last
    call verdict(name, size == size_in_c(k) .and. struct_size == size .and. &
                 address(last) - address(begin) == last_in_c(k))
  end subroutine compare

  subroutine calls
    type(c_ptr) :: context, matrix, plan, clone
    integer(c_int64_t), parameter :: n = 3
    character(kind=c_char, len=7), target :: serial = "serial"//c_null_char
    complex(c_double_complex) :: x(3, 2), b(3, 2)
    integer(c_int) :: status
    status = trs_context_create(context, "nowhere"//c_null_char)
    call verdict("a message", status == TRS_ERROR_ARGUMENT .and. index(trs_message(), "nowhere") > 0)
    status = trs_context_create(context, serial)
    call verdict("an absent argument", trs_context_threads(context) == 1 .and. &
                 trs_context_processes(context) == 1)
    status = trs_matrix_create(matrix, TRS_CSR, TRS_DCOMPLEX, n, n, ior(TRS_PTR64, TRS_BASE1), &
                               [1_c_int64_t, 2_c_int64_t, 4_c_int64_t, 5_c_int64_t], &
                               [1, 1, 2, 3], cmplx([2, 1, 4, 5], 0, c_double_complex), TRS_COPY)
    options%method = c_loc(serial)
    options%nrhs = 2
    status = trs_analyze(plan, context, matrix, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, options)
    call verdict("an analysis", status == TRS_SUCCESS)
    b(:, 1) = [2, 9, 5]
    b(:, 2) = cmplx(0, 1, c_double_complex) * b(:, 1)
    status = trs_solve(plan, x, n, b, n, 2_c_int64_t, TRS_COL_MAJOR)
    call verdict("a solve", status == TRS_SUCCESS .and. all(x(:, 1) == [1, 2, 1]) .and. &
                 all(x(:, 2) == cmplx(0, 1, c_double_complex) * x(:, 1)))
    status = trs_plan_get_info(plan, plan_info)
    call verdict("information", plan_info%n == 3 .and. trs_text(plan_info%method) == "serial")
    status = trs_plan_clone(clone, plan)
    call trs_plan_destroy(plan)
    x = 0
    if (status == TRS_SUCCESS) status = trs_solve(clone, x, n, b, n, 2, TRS_COL_MAJOR)
    call verdict("a clone", status == TRS_SUCCESS .and. all(x(:, 1) == [1, 2, 1]))
    call trs_plan_destroy(clone)
    call trs_matrix_destroy(matrix)
    call trs_context_destroy(context)
  end subroutine calls

  ! Messages count from 1, as the program does.
  subroutine rows_from_1
    type(c_ptr) :: context, matrix, plan
    integer :: ptr(4) = [1, 2, 3, 5], idx(4) = [1, 2, 1, 3]
    integer(c_int) :: status
    status = trs_context_create(context, "serial")
    status = trs_matrix_create(matrix, TRS_CSR, TRS_DOUBLE, 3, 3, ior(TRS_PTR32, TRS_BASE1), ptr, idx, &
                               [1d0, 1d0, 1d0, 0d0], TRS_COPY)
    status = trs_analyze(plan, context, matrix, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT)
    call verdict("a row from 1 on", status == TRS_ERROR_ZERO_PIVOT .and. trs_error_row() == 3 .and. &
                 index(trs_message(), "row 3 (1-based)") > 0 .and. index(trs_message(), "0-based") == 0)
    status = trs_analyze(plan, context, matrix, TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT)
    call verdict("the first of the wrong triangle", status /= TRS_SUCCESS .and. trs_error_row() == 3 .and. &
                 index(trs_message(), "row 3 (1-based)") > 0)
    call trs_matrix_destroy(matrix)
    status = trs_context_create(plan, "nowhere")
    call verdict("no row", status /= TRS_SUCCESS .and. trs_error_row() == 0)
    call verdict("entries", trs_from_1("A lacks entry (8, 9) of L U, entry (19, 0) of 7 (0-based): 5 of 6") == &
                 "A lacks entry (9, 10) of L U, entry (20, 1) of 7 (1-based): 5 of 6")
    call verdict("columns and blocks", trs_from_1("LU2: block columns 1 and 2 (0-based) of 3 x 3: no pivot in " &
                 //"column 0, 1.5 of 2.5") == "LU2: block columns 2 and 3 (1-based) of 3 x 3: no pivot in " &
                 //"column 1, 1.5 of 2.5")
    call verdict("bounds", trs_from_1("block column 9 in block row 4 is outside 0 .. 5 (0-based)") == &
                 "block column 10 in block row 5 is outside 1 .. 6 (1-based)")
    call verdict("what counts from 0 still", &
                 trs_from_1("block row 3 (0-based) has colour 4, outside 0 .. 5") == &
                 "block row 4 (1-based) has colour 4, outside 0 .. 5")
    call verdict("what counts from 1 already", trs_from_1("row 3 (1-based) of 4") == "row 3 (1-based) of 4")
    call trs_context_destroy(context)
  end subroutine rows_from_1

  ! After a failed update an object refuses every solve, as in C.
  subroutine failed_updates
    type(c_ptr) :: context, good, zero, plan, relaxation, factors, sweeps
    type(trs_pivots) :: pivots
    integer(c_int64_t), parameter :: n = 2, one = 1
    integer(c_int), target :: ptr(3) = [1, 2, 3], idx(2) = [1, 2]
    real(c_double) :: x(2), b(2), condition
    integer(c_int) :: status
    x = -1
    b = [2, 8]
    status = trs_context_create(context, "serial"//c_null_char)
    status = trs_matrix_create(good, TRS_CSR, TRS_DOUBLE, n, n, ior(TRS_PTR32, TRS_BASE1), ptr, idx, &
                               [2d0, 4d0], TRS_COPY)
    status = trs_matrix_create(zero, TRS_CSR, TRS_DOUBLE, n, n, ior(TRS_PTR32, TRS_BASE1), ptr, idx, &
                               [2d0, 0d0], TRS_COPY)
    status = trs_analyze(plan, context, good, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT)
    status = trs_relax_create(relaxation, context, good, 1)
    call verdict("an update with a zero pivot", trs_update(plan, zero) == TRS_ERROR_ZERO_PIVOT)
    status = trs_solve(plan, x, n, b, n, one, TRS_COL_MAJOR)
    call verdict("a plan solves nothing after it", status == TRS_ERROR_ZERO_PIVOT .and. &
                 index(trs_message(), "trs_update of this plan failed") > 0)
    call verdict("an update of a relaxation", trs_update(relaxation, zero) == TRS_ERROR_ZERO_PIVOT)
    status = trs_relax_sweep(relaxation, x, n, b, n, one, TRS_COL_MAJOR)
    call verdict("a relaxation solves nothing after it", status == TRS_ERROR_ZERO_PIVOT .and. &
                 index(trs_message(), "trs_update of this plan failed") > 0)
    status = trs_factors_create(factors, good, TRS_UNIT, good, TRS_NONUNIT)
    status = trs_analyze_factors(sweeps, context, factors, TRS_NO_TRANS)
    call verdict("a refactorisation with a zero pivot", &
                 trs_factors_refactor(factors, pivots, context, zero) == TRS_ERROR_ZERO_PIVOT)
    status = trs_solve(sweeps, x, n, b, n, one, TRS_COL_MAJOR)
    call verdict("plans of the factors solve nothing after it", status == TRS_ERROR_ZERO_PIVOT .and. &
                 index(trs_message(), "trs_factors_refactor of this factorisation failed") > 0)
    call verdict("nothing was written", all(x == -1))
    status = trs_factors_refactor(factors, pivots, context, good)
    status = trs_update_factors(sweeps, factors)
    status = trs_solve(sweeps, x, n, b, n, one, TRS_COL_MAJOR)
    call verdict("until a refactorisation succeeds", status == TRS_SUCCESS .and. all(x == [1, 2]))
    call trs_plan_destroy(sweeps)
    status = trs_update(plan, good)
    status = trs_solve(plan, x, n, b, n, one, TRS_COL_MAJOR)
    call verdict("until an update succeeds", status == TRS_SUCCESS .and. all(x == [1, 2]))
    status = trs_update(relaxation, good)
    status = trs_relax_sweep(relaxation, x, n, b, n, one, TRS_COL_MAJOR)
    call verdict("also of the relaxation", status == TRS_SUCCESS .and. all(x == [1, 2]))
    call verdict("a condition number", trs_factors_condition(condition, factors) == TRS_SUCCESS .and. &
                 condition == 2)
    call trs_plan_destroy(plan)
    call trs_plan_destroy(relaxation)
    call trs_factors_destroy(factors)
    call trs_matrix_destroy(good)
    call trs_matrix_destroy(zero)
    call trs_context_destroy(context)
  end subroutine failed_updates

  ! Default integers, alone and beside those of 64 bits; text without c_null_char; arrays of any rank,
  ! with gaps, and from an element on.
  subroutine plain_calls
    type(c_ptr) :: context, matrix, plan
    integer, parameter :: n = 3
    integer(c_int64_t), parameter :: long = 3
    integer :: ptr(4) = [1, 2, 4, 5], idx(4) = [1, 1, 2, 3], none(0)
    real(c_double) :: val(4) = [2, 1, 4, 5], x(3, 2), b(3, 2), rows(2, 3)
    character(len=30) :: where = "nowhere"
    character(len=10) :: rubbish = "serial"//c_null_char//"abc"
    character(len=200) :: text
    integer(c_size_t) :: length
    integer :: status
    status = trs_context_create(context, where)
    call verdict("text is trimmed", status == TRS_ERROR_ARGUMENT .and. &
                 index(trs_message(), 'no backend "nowhere"') > 0)
    status = trs_matrix_read(matrix, "")
    call verdict("empty text", status /= TRS_SUCCESS .and. index(trs_message(), "empty") > 0)
    status = trs_context_create(context, rubbish)
    call verdict("text ends at c_null_char", status == TRS_SUCCESS)
    status = trs_matrix_create(matrix, TRS_CSR, TRS_DOUBLE, 0, 0, ior(TRS_PTR32, TRS_BASE1), &
                               ptr(:1), none, val(:0), TRS_COPY)
    call verdict("empty arrays", status == TRS_SUCCESS)
    call trs_matrix_destroy(matrix)
    status = trs_matrix_create(matrix, TRS_CSR, TRS_DOUBLE, n, long, ior(TRS_PTR32, TRS_BASE1), &
                               ptr, idx, val, TRS_COPY)
    call verdict("default integers and others", status == TRS_SUCCESS)
    status = trs_analyze(plan, context, matrix, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT)
    b(:, 1) = [2, 9, 5]
    b(:, 2) = 2 * b(:, 1)
    status = trs_solve(plan, x, n, b, long, 2, TRS_COL_MAJOR)
    call verdict("a solve of two", status == TRS_SUCCESS .and. all(x(:, 1) == [1, 2, 1]) .and. &
                 all(x(:, 2) == [2, 4, 2]))
    rows = transpose(b)
    x = 0
    status = trs_solve(plan, x(1, 2), n, rows(1, :), n, 1, TRS_COL_MAJOR)
    call verdict("from an element on; with gaps", status == TRS_SUCCESS .and. all(x(:, 1) == 0) .and. &
                 all(x(:, 2) == [1, 2, 1]))
    rows = 0
    status = trs_solve(plan, rows(2, :), n, b, n, 1, TRS_COL_MAJOR)
    call verdict("into gaps", status == TRS_SUCCESS .and. all(rows(1, :) == 0) .and. &
                 all(rows(2, :) == [1, 2, 1]))
    status = trs_solve(plan, b=b, ldx=n, ldb=n, nrhs=1, layout=TRS_COL_MAJOR)
    call verdict("an absent array", status == TRS_ERROR_ARGUMENT .and. &
                 index(trs_message(), "x is NULL") > 0)
    length = trs_plan_describe(plan, text, len(text))
    call verdict("a text as output", length > 5 .and. index(text, "serial") == 1)
    call outputs(plan)
    call trs_plan_destroy(plan)
    call trs_matrix_destroy(matrix)
    call trs_context_destroy(context)
  end subroutine plain_calls

  ! Numbers that come back, as default integers and others, absent or not.
  subroutine outputs(plan)
    type(c_ptr), intent(in) :: plan
    type(c_ptr) :: rows, values
    type(trs_plan_share) :: share
    integer :: levels, nrows, ncols, status, mine(5) = -7, unit
    integer(c_int64_t) :: wide_levels, wide, own(5) = -7
    status = trs_plan_get_levels(plan, rows, levels)
    call verdict("levels as a default integer", status == TRS_SUCCESS .and. levels == 2)
    call trs_free(rows)
    status = trs_plan_get_levels(plan, rows, wide_levels)
    call verdict("and as one of 64 bits", status == TRS_SUCCESS .and. wide_levels == 2)
    call trs_free(rows)
    status = trs_plan_get_levels(c_null_ptr, rows, levels)
    call verdict("a call that fails", status == TRS_ERROR_ARGUMENT .and. levels == 0)
    open (newunit=unit, file="fortran_outputs.mtx")
    write (unit, "(a)") "%%MatrixMarket matrix array real general", "3 2", "1", "2", "3", "4", "5", "6"
    close (unit)
    status = trs_vectors_read(values, nrows, ncols, TRS_DOUBLE, "fortran_outputs.mtx")
    call verdict("sizes as default integers", status == TRS_SUCCESS .and. nrows == 3 .and. ncols == 2)
    call trs_free(values)
    status = trs_vectors_read(values, wide, ncols, TRS_DOUBLE, "fortran_outputs.mtx")
    call verdict("each for itself", status == TRS_SUCCESS .and. wide == 3 .and. ncols == 2)
    call trs_free(values)
    open (newunit=unit, file="fortran_outputs.mtx")
    close (unit, status="delete")
    status = trs_plan_get_share(plan, share, mine, 0, 1)
    call verdict("rows of a share as default integers, and no others", status == TRS_SUCCESS .and. &
                 all(mine == [0, 1, 2, -7, -7]))
    status = trs_plan_get_share(plan, share, own, 0, 1)
    call verdict("the same of 64 bits", status == TRS_SUCCESS .and. all(own == mine))
    status = trs_plan_get_share(plan, share, member=0, nrhs=1)
    call verdict("and absent", status == TRS_SUCCESS .and. share%nrows == 3)
    call verdict("more than 32 bits hold", all(trs_narrowed([2_c_int64_t**40, -3_c_int64_t]) == &
                                               [huge(levels), -3]))
  end subroutine outputs
end program layout
