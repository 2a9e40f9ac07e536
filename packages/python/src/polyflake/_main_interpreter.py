"""Rejects subinterpreters when it is imported, before the compiled module is loaded.

The compiled module itself rejects every interpreter except the first one that imports it. If that is a subinterpreter,
as under mod_wsgi, the main interpreter could not import the package any more.
"""


def _reject_subinterpreters() -> None:
    # The module with these functions has two names, and some builds of Python lack it.
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = __import__(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            reason = "polyflake: expected the main interpreter, found a subinterpreter"
            raise ImportError(f"{reason}: with mod_wsgi, set `WSGIApplicationGroup %{{GLOBAL}}`", name="polyflake")
        return


_reject_subinterpreters()
