"""Runs the program `dehusk`, which wheels have and installations from source do not."""

import os
import shutil
import sys
import sysconfig


def main() -> None:
    """Replaces this process with the program, or says how it is installed."""
    program = os.environ.get("DEHUSK_PROGRAM")
    program = program or shutil.which("dehusk", path=sysconfig.get_path("scripts")) or shutil.which("dehusk")
    if program is None:
        sys.exit(
            "the program dehusk is not installed: this package was built from source and has the library only.\n"
            "`cargo install --path .` in a clone of the project builds it; DEHUSK_PROGRAM may name it."
        )
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as e:
        sys.exit(f"{program}: {e.strerror}; DEHUSK_PROGRAM names the program dehusk")


if __name__ == "__main__":
    main()
