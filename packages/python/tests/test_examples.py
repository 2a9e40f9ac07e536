"""The examples and the README run as they are written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import REPOSITORY, refused, vectors

EXAMPLES = sorted((REPOSITORY / "examples/python").glob("*.py"))
README = Path(__file__).parents[1] / "README.md"

sys.path.insert(0, str(REPOSITORY / "examples/python"))

import polymorphic  # noqa: E402


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_readme_runs() -> None:
    program = "\n".join(re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("invalid_length\n")


def test_records_come_back_as_what_they_were() -> None:
    text = '{"id": "a7rdmuv326nct5if", "name": "Ada"}'
    user = polymorphic.from_json(text)
    assert type(user) is polymorphic.User
    assert user.to_json() == text
    with pytest.raises(KeyError):  # metabyte 127 is nobody's
        polymorphic.from_json('{"id": "8294tw5xhuad87cc"}')
    with refused("invalid_length"):
        polymorphic.from_json('{"id": "short"}')


def test_the_metabyte_of_every_polymorphic_vector() -> None:
    from polyflake import sno

    for case in vectors("polymorphic.json")["cases"]:
        assert sno.metabyte(case["id"]) == case["metabyte"] == sno.Sno(case["id"]).metabyte
