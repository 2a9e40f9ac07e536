"""Compares the modules' public names with packages/api.toml, runs the modules' examples, and checks which libraries
each module imports.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

API = tomllib.loads((Path(__file__).parents[2] / "packages/api.toml").read_text(encoding="utf-8"))["integrations"]


@pytest.mark.parametrize("name", API)
def test_a_module_has_the_listed_names_with_documentation(name: str) -> None:
    module = importlib.import_module(f"polyflake.{name}")
    assert module.__all__ == API[name]
    assert (module.__doc__ or "").startswith(
        ("Types", "Column types", "Model fields", "IDs", "Hooks", "A hook", "Serializers")
    )
    for exported in module.__all__:
        value = getattr(module, exported)
        assert not callable(value) or inspect.getdoc(value), exported


@pytest.mark.parametrize("name", API)
def test_the_doctests_of_a_module_pass(name: str) -> None:
    module = importlib.import_module(f"polyflake.{name}")
    doctest_results = doctest.testmod(module)
    assert (doctest_results.failed, doctest_results.attempted > 0) == (0, ">>>" in inspect.getsource(module))


@pytest.mark.parametrize("name", [None, *(name for name in API if name not in ("django", "rest_framework"))])
def test_importing_polyflake_imports_no_other_library(name: str | None) -> None:
    libraries = {"asyncpg", "django", "msgspec", "orjson", "psycopg", "pydantic", "rest_framework", "sqlalchemy"}
    allowed_libraries = {name} - {None}
    import_statement = (
        f"import polyflake.{name}" if name else "import polyflake, json; json.dumps(str(polyflake.sno.generate()))"
    )
    script = f"import sys; {import_statement}; print(*{libraries} & set(sys.modules))"
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    # These libraries may import each other, but polyflake itself may not import them.
    assert set(completed.stdout.split()) <= allowed_libraries, completed.stdout
