"""Tests that the stubs pass strict type checks and match the module."""

from __future__ import annotations

import ast
import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

TESTS_FOLDER = Path(__file__).parent
STUBS = sorted((TESTS_FOLDER.parent / "src/polyflake").glob("[a-z]*.pyi"))

# Since Python 3.12, classes that support the buffer protocol have this method automatically.
ALLOWED_PATTERN = r"polyflake\.\w+\.\w+(Array|Column)\.__buffer__"


def run(*arguments: str) -> None:
    result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=TESTS_FOLDER.parent)
    assert result.returncode == 0, result.stdout + result.stderr


def test_typed_use_passes_mypy() -> None:
    run("-m", "mypy", "--strict", "tests/typed_use.py")


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.14"])
def test_mypy_accepts_numpy_arrays_as_buffers(version: str) -> None:
    """Checks for all Python versions, because NumPy's own stubs declare `__buffer__` only from 3.12 on."""
    run("-m", "mypy", "--strict", "--python-version", version, "../../tests/packaging/python/tools/use_types.py")


def test_the_stubs_match_the_module(tmp_path: Path) -> None:
    allowlist = tmp_path / "allowed"
    allowlist.write_text(ALLOWED_PATTERN)
    # Modules without a stub have inline types, and some of these modules need third-party libraries.
    modules = ["polyflake._polyflake", *(f"polyflake.{stub.stem}" for stub in STUBS)]
    run("-m", "mypy.stubtest", *modules, "--allowlist", str(allowlist), "--ignore-unused-allowlist")


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.stem)
def test_examples_in_the_stubs_run(stub: Path) -> None:
    module = importlib.import_module(f"polyflake.{stub.stem}")
    documented_nodes = [
        node
        for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    text = "\n\n".join(ast.get_docstring(node) or "" for node in documented_nodes)
    doctest_case = doctest.DocTestParser().get_doctest(text, dict(vars(module)), stub.stem, str(stub), 0)
    assert doctest_case.examples, "every module shows its use"
    assert doctest.DocTestRunner().run(doctest_case).failed == 0
