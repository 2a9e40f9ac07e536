"""Runs the examples of the integration pages, and checks the README's table of tested versions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS_FOLDER = Path(__file__).parent
README = (TESTS_FOLDER.parents[1] / "packages/python/README.md").read_text(encoding="utf-8")
PAGES = sorted((TESTS_FOLDER.parents[1] / "docs/integrations").glob("*.md"))
BLOCKS = [
    (page.stem, block)
    for page in PAGES
    for block in re.findall(r"^```py\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
]


@pytest.mark.parametrize("block", [block for _, block in BLOCKS], ids=[page for page, _ in BLOCKS])
def test_each_example_runs_separately(block: str) -> None:
    completed = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr


def pinned_versions(file: str) -> dict[str, str]:
    lines = (TESTS_FOLDER / file).read_text(encoding="utf-8").splitlines()
    return dict(
        re.findall(r"^([a-z]+)(?:\[[a-z]+\])?==([\d.]+)(?:; python_version >= .*)?$", "\n".join(lines), re.MULTILINE)
    )


def test_the_table_lists_the_tested_versions() -> None:
    table = re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \|", README, re.MULTILINE)
    tools = {"celery", "duckdb", "httpx", "jsonschema", "mypy", "pymysql", "pytest", "redis", "sqids", "uvicorn"}
    oldest, newest = pinned_versions("oldest.txt"), pinned_versions("requirements.txt")
    assert {name.lower(): (low, high) for name, low, high in table} == {
        name: (oldest[name], newest[name]) for name in newest if name not in tools
    }
    assert {page for page, _ in BLOCKS} == {"django", "fastapi", "graphql", "others", "sqlalchemy"}
