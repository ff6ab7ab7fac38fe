"""Runs the program `dehusk`, which is installed apart from this package."""

import os
import shutil
import sys

program = os.environ.get("DEHUSK_PROGRAM") or shutil.which("dehusk")
if program is None:
    sys.exit(
        "the program dehusk is not installed: the Python package has the library only.\n"
        "`cargo install --path .` in a clone of the project builds it; DEHUSK_PROGRAM may name it."
    )
os.execv(program, [program, *sys.argv[1:]])
