"""The stubs: strict, and what the module really has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

# Python has it by itself from 3.12 on.
ALLOWED = r"polyflake\.\w+\.\w+Array\.__buffer__"


def run(*arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=HERE.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_typed_use_is_what_mypy_sees() -> None:
    run("-m", "mypy", "--strict", "tests/typed_use.py")


def test_the_stubs_are_what_the_module_has(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED)
    run("-m", "mypy.stubtest", "polyflake", "--allowlist", str(allowed), "--ignore-unused-allowlist")
