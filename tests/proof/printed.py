"""Runs ignored Rust tests that print what the real code does, for the tests here to compare with their models."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lines_of(package: str, test: str, *options: str, **variables: str) -> list[str]:
    """Returns the lines that a Rust test writes into the file that `POLYFLAKE_PRINTED` names."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "printed")
        command = ["cargo", "test", "--quiet", "--package", package, *options, "--", "--ignored", "--exact", test]
        environment = {**os.environ, **variables, "POLYFLAKE_PRINTED": str(file)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and file.exists(), f"{done.stdout}\n{done.stderr}"
        return file.read_text().splitlines()
