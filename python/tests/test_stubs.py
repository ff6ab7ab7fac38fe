"""The type stubs say what is there."""

import os
import subprocess
import sys

from conftest import PROJECT


def test_stubs_agree_with_the_module():
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "python")}
    command = [sys.executable, "-m", "mypy.stubtest", "dehusk._dehusk"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout
