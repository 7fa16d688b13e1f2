! verdict.f90 - what the tests of the Fortran modules say.
module verdicts
  implicit none
  logical :: failed = .false., silent = .false.

contains

  subroutine verdict(name, holds)
    character(len=*), intent(in) :: name
    logical, intent(in) :: holds
    if (.not. silent) print "(2a)", trim(merge("ok    ", "not ok", holds))//" ", name
    failed = failed .or. .not. holds
  end subroutine verdict
end module verdicts
