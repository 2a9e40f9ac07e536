"""The README of the package: its examples with libraries, and its table of their versions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
README = (HERE.parents[1] / "packages/python/README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```py\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_an_example_runs_by_itself(block: str) -> None:
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def pinned(file: str) -> dict[str, str]:
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return dict(
        re.findall(r"^([a-z]+)(?:\[[a-z]+\])?==([\d.]+)(?:; python_version >= .*)?$", "\n".join(lines), re.MULTILINE)
    )


def test_the_table_has_the_versions_that_are_tested() -> None:
    table = re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \|", README, re.MULTILINE)
    tools = {"celery", "httpx", "jsonschema", "mypy", "pymysql", "pytest", "sqids", "uvicorn"}
    oldest, newest = pinned("oldest.txt"), pinned("requirements.txt")
    assert {name.lower(): (low, high) for name, low, high in table} == {
        name: (oldest[name], newest[name]) for name in newest if name not in tools
    }
    assert len(BLOCKS) == 3
