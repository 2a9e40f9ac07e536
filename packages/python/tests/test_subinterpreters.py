"""Tests that subinterpreters are rejected, and that they do not affect the main interpreter."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap

import pytest

MODULE = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"

PROGRAM = f"""
    import {MODULE} as interpreters
    try:
        legacy = interpreters.create("legacy") if sys.version_info >= (3, 13) else interpreters.create(isolated=False)
    except TypeError:
        raise SystemExit("no legacy subinterpreters here")
    code = "try:\\n    import polyflake\\nexcept ImportError as error:\\n    print(error, flush=True)"
    interpreters.run_string(legacy, code)
    from polyflake import sno
    print(len(str(sno.generate())), flush=True)
    interpreters.run_string(legacy, code)
    print(len(str(sno.generate())), flush=True)
"""


@pytest.mark.skipif(importlib.util.find_spec(MODULE) is None, reason=f"no {MODULE} in this Python")
def test_a_subinterpreter_is_rejected_and_the_main_interpreter_works() -> None:
    code = "import sys\n" + textwrap.dedent(PROGRAM)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    if "no legacy subinterpreters" in result.stderr:
        pytest.skip("no legacy subinterpreters here")
    message = (
        "polyflake: expected the main interpreter, found a subinterpreter: "
        "with mod_wsgi, set `WSGIApplicationGroup %{GLOBAL}`"
    )
    assert (result.stdout.splitlines(), result.stderr) == ([message, "16", message, "16"], "")
