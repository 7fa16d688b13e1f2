"""threadpoolctl: `threadpool_limits(2, user_api="trireme")` sets the threads of plans to come."""

from typing import Any


def register() -> None:
    """Tells threadpoolctl (3.2 and newer) of Trireme, if it is there; called by whoever uses it."""
    from threadpoolctl import LibController
    from threadpoolctl import register as add

    from . import _context, _library

    class TriremeController(LibController):  # type: ignore[misc]
        user_api = "trireme"
        internal_api = "trireme"
        filename_prefixes = ("libtrireme",)

        def get_num_threads(self) -> int:
            return _context.get_num_threads()

        def set_num_threads(self, num_threads: int) -> Any:
            _context.set_num_threads(num_threads)

        def get_version(self) -> str:
            return _library.version()

        def set_additional_attributes(self) -> None:
            pass
    add(TriremeController)
