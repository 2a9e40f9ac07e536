"""Runs ignored Rust tests that print results of the real code. The Python tests in this folder compare these results
with the models.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The packages whose tests are run. The selection of packages determines the features of their dependencies. Therefore,
# `cargo xtask test` passes the selection of an earlier step, whose build can then be reused.
CORE_PACKAGES = ["--package", "polyflake"]
LEASE_PACKAGES = os.environ.get("POLYFLAKE_SELECTION", "--package polyflake-lease --all-features").split()


def run_printing_test(packages: list[str], target: str, test: str) -> list[str]:
    """Returns the lines that a Rust test writes into the file that `POLYFLAKE_PRINTED` names. `target` is the name of
    the test program that contains the test, or `lib` for a unit test of the library.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "printed")
        program = ["--lib"] if target == "lib" else ["--test", target]
        command = ["cargo", "test", "--quiet", *packages, *program, "--", "--ignored", "--exact", test]
        environment = {**os.environ, "POLYFLAKE_PRINTED": str(file)}
        completed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert completed.returncode == 0 and file.exists(), f"{completed.stdout}\n{completed.stderr}"
        return file.read_text().splitlines()
