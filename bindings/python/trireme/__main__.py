"""The command trireme, which the package contains: ``trireme solve ...``, ``python -m trireme``."""

import os
import sys


def main() -> None:
    """Becomes the command, with the library that the package uses."""
    from ._library import library
    paths = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "trireme")]
    # Of a library in a build folder, BUILD/src/libtrireme.so.
    build = os.path.dirname(os.path.dirname(os.path.abspath(str(library._name))))
    paths.append(os.path.join(build, "cli", "trireme"))
    path = next((path for path in paths if os.access(path, os.X_OK)), "")
    if not path:
        sys.exit(f"trireme: {paths[0]} is missing: this installation of the Python package has no "
                 "command; pip install it from a checkout or a wheel, or build the command with make")
    folders = [os.path.dirname(os.path.abspath(str(library._name))),
               os.environ.get("LD_LIBRARY_PATH", "")]
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, folders))
    os.execv(path, ["trireme", *sys.argv[1:]])


if __name__ == "__main__":
    main()
