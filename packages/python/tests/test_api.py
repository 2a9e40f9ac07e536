"""Checks that the package has exactly the public names in packages/api.toml."""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
import operator
import pickle
import pydoc
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import polyflake
from polyflake import PolyflakeError, _errors, sno
from support import REPOSITORY

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

API: dict[str, Any] = tomllib.loads((REPOSITORY / "packages/api.toml").read_text(encoding="utf-8"))

RECORDS = {
    "stall": polyflake.Stall,
    "description": polyflake.Description,
    "field_description": polyflake.FieldDescription,
}


def python_entries(entries: dict[str, Any]) -> dict[str, str]:
    """Returns the entries for Python, with their summaries."""
    entry_tables = {name: entry if isinstance(entry, dict) else {"summary": entry} for name, entry in entries.items()}
    return {name: entry["summary"] for name, entry in entry_tables.items() if "python" in entry.get("in", ["python"])}


FAMILIES = {
    name: getattr(polyflake, name)
    for name, part in API.items()
    if python_entries(part.get("functions", {})) or python_entries(part.get("classes", {}))
}


def starts_with_summary(documented: object, summary: str) -> bool:
    """Returns whether an object's documentation begins with the summary."""
    return " ".join((inspect.getdoc(documented) or "").split()).startswith(summary.removesuffix("."))


def public_names(owner: object) -> set[str]:
    return {name for name in vars(owner) if not name.startswith("_")}


@pytest.mark.parametrize("family", FAMILIES)
def test_modules_have_the_listed_functions_and_classes(family: str) -> None:
    listed_entries = python_entries(API[family].get("functions", {})) | python_entries(API[family].get("classes", {}))
    assert set(FAMILIES[family].__all__) == set(listed_entries)
    for name, summary in listed_entries.items():
        assert starts_with_summary(getattr(FAMILIES[family], name), summary), name


def test_the_package_has_the_listed_functions() -> None:
    for name, summary in python_entries(API["package"]).items():
        assert name in polyflake.__all__
        assert starts_with_summary(getattr(polyflake, name), summary), name


@pytest.mark.parametrize("family", FAMILIES)
def test_classes_have_the_listed_members(family: str) -> None:
    classes = API[family].get("classes", {})
    for name in python_entries(classes):
        if "members" in classes[name]:
            assert_members(getattr(FAMILIES[family], name), classes[name]["members"])


def parse_stub(name: str) -> ast.Module:
    return ast.parse((REPOSITORY / f"packages/python/src/polyflake/{name}.pyi").read_text(encoding="utf-8"))


def constructors(stub: ast.Module) -> dict[str, ast.FunctionDef]:
    """Returns the constructors in a stub, keyed by class name."""
    classes = [node for node in stub.body if isinstance(node, ast.ClassDef)]
    members = [(cls.name, member) for cls in classes for member in cls.body if isinstance(member, ast.FunctionDef)]
    return {name: member for name, member in members if member.name == "__new__"}


def documented_names(stub: ast.Module) -> Iterator[tuple[str, str]]:
    """Yields the names in a stub with their docstrings, including those of constructors."""
    constructor_docs = {name: ast.get_docstring(constructor) or "" for name, constructor in constructors(stub).items()}
    for node in stub.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name, "\n\n".join(filter(None, [ast.get_docstring(node), constructor_docs.get(node.name)]))
            for member in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                    yield f"{node.name}.{member.name}", ast.get_docstring(member) or ""


def parameters(function: ast.FunctionDef) -> list[tuple[str, str, str]]:
    """Returns the names, kinds and defaults of a constructor's parameters in a stub."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + [*arguments.defaults]
    kinds = ["POSITIONAL_ONLY"] * len(arguments.posonlyargs) + ["POSITIONAL_OR_KEYWORD"] * len(arguments.args)
    keywords = [
        (arg, "KEYWORD_ONLY", default) for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    all_parameters = [*zip(positional, kinds, defaults, strict=True), *keywords][1:]
    return [(arg.arg, kind, ast.unparse(default) if default else "") for arg, kind, default in all_parameters]


@pytest.mark.parametrize("family", FAMILIES)
def test_help_shows_the_parameters_of_constructors(family: str) -> None:
    stub_constructors = constructors(parse_stub(family))
    classes = [getattr(FAMILIES[family], name) for name in FAMILIES[family].__all__]
    classes_without_constructor = [
        cls for cls in classes if isinstance(cls, type) and cls.__name__ not in stub_constructors
    ]
    for cls in classes_without_constructor:
        with pytest.raises(TypeError, match="cannot create"):
            cls()
    for name, constructor in stub_constructors.items():
        cls = getattr(FAMILIES[family], name)
        shown = inspect.signature(cls).parameters.values()
        empty = inspect.Parameter.empty
        assert [
            (shown.name, shown.kind.name, "" if shown.default is empty else repr(shown.default)) for shown in shown
        ] == parameters(constructor), name
        help_text = pydoc.plain(pydoc.render_doc(cls))
        for line in (ast.get_docstring(constructor) or name).splitlines():
            assert line.strip() in help_text, (name, line)


@pytest.mark.parametrize("name", [*FAMILIES, "_polyflake"])
def test_help_matches_the_stubs(name: str) -> None:
    module = FAMILIES.get(name, polyflake)
    stub = parse_stub(name)
    docs_by_path = {path: doc for path, doc in documented_names(stub) if doc}
    assert docs_by_path
    for path, doc in docs_by_path.items():
        assert inspect.getdoc(operator.attrgetter(path)(module)) == doc, path
    if name in FAMILIES:
        assert inspect.getdoc(module) == ast.get_docstring(stub)
        shown = pydoc.plain(pydoc.render_doc(module))
        for line in (line.strip() for doc in docs_by_path.values() for line in doc.splitlines()):
            assert line in shown, line


def test_help_lists_the_id_formats() -> None:
    package_help = pydoc.plain(pydoc.render_doc(polyflake))
    for name in FAMILIES:
        assert f"polyflake.{name}" in package_help
    assert "PolyflakeError" in package_help
    assert len((sno.generate.__doc__ or "").split(". ")) > 1


@pytest.mark.parametrize("record", RECORDS)
def test_records_have_the_listed_members(record: str) -> None:
    assert_members(RECORDS[record], API[record]["members"])


def assert_members(cls: type, entries: dict[str, Any]) -> None:
    listed_entries = python_entries(entries)
    assert public_names(cls) == set(listed_entries), cls
    for member, summary in listed_entries.items():
        assert starts_with_summary(getattr(cls, member), summary), member


@pytest.mark.parametrize("family", [name for name in FAMILIES if "Generator" in API[name].get("classes", {})])
def test_generators_accept_the_listed_options(family: str) -> None:
    listed_entries = python_entries(API[family]["classes"]["Generator"]["options"])
    assert list(inspect.signature(FAMILIES[family].Generator).parameters) == list(listed_entries)
    grant = polyflake.randflake.Grant(1, 1_730_000_000, 1_730_000_001)
    given = {"randflake": (grant, bytes(16)), "layout": (polyflake.layout.Layout.preset("discord"),)}
    with pytest.raises(TypeError, match="'other', expected one of ") as error:
        FAMILIES[family].Generator(*given.get(family, ()), other=1)
    assert set(str(error.value).split("expected one of ")[1].split(", ")) == set(listed_entries)


def test_every_listed_code_has_an_exception_class() -> None:
    assert set(_errors._CLASSES) == set(python_entries(API["errors"]))


@pytest.mark.parametrize("cls", dict.fromkeys(_errors._CLASSES.values()))
def test_every_exception_class_documents_its_codes(cls: type[PolyflakeError]) -> None:
    said = set(re.findall("``([a-z_]+)``", cls.__doc__ or "")) & set(API["errors"])
    assert said == {code for code, raised in _errors._CLASSES.items() if raised is cls}


def test_errors_have_the_listed_members() -> None:
    assert set(inspect.get_annotations(PolyflakeError)) == set(API["error"]["members"])


def test_exceptions_derive_from_builtin_exceptions() -> None:
    assert issubclass(polyflake.InvalidTypeError, TypeError)
    assert issubclass(polyflake.InvalidValueError, ValueError)
    assert issubclass(polyflake.OutOfRangeError, OverflowError)
    assert issubclass(polyflake.OutOfRangeError, ValueError)
    for cls in {*_errors._CLASSES.values()}:
        assert issubclass(cls, PolyflakeError)
        assert getattr(polyflake, cls.__name__) is cls, "every class is exported"


def test_errors_can_be_pickled_with_their_details() -> None:
    with pytest.raises(PolyflakeError) as caught:
        sno.Sno("9q6kc9o37a32432!")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is polyflake.InvalidValueError
    assert str(copy) == str(caught.value)
    assert (copy.code, copy.position) == ("invalid_character", 15)


def test_the_version_matches_the_workspace() -> None:
    manifest = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))
    version = manifest["workspace"]["package"]["version"]
    assert polyflake.__version__ == version == importlib.metadata.version("polyflake")


@pytest.mark.parametrize("module", [*FAMILIES.values(), polyflake], ids=lambda module: module.__name__)
def test_public_callables_can_be_pickled_by_name(module: Any) -> None:
    values = [getattr(module, name) for name in module.__all__]
    for named in (value for value in values if callable(value)):
        assert pickle.loads(pickle.dumps(named)) is named


def test_messages_are_lower_case_without_a_full_stop() -> None:
    for call in (
        lambda: sno.Sno("x"),
        lambda: sno.Sno(1),  # type: ignore[arg-type]
        lambda: sno.generate(256),
        lambda: sno.generate(2**300),
        lambda: sno.Generator(on_exhausted="no"),  # type: ignore[arg-type]
        lambda: sno.Generator(1, test_clock=lambda: 1.5).generate(),  # type: ignore[arg-type, return-value]
        lambda: sno.time_range(2**70, 2**71),
    ):
        with pytest.raises(PolyflakeError) as caught:
            call()
        assert re.fullmatch(r"[a-z].*[^.\s]", str(caught.value)), str(caught.value)


def test_a_user_created_error_has_no_details() -> None:
    for cls in {PolyflakeError, *_errors._CLASSES.values()}:
        error = cls("made by hand")
        assert {name: getattr(error, name) for name in API["error"]["members"]} == {
            "code": "",
            "position": None,
            "field": None,
            "retry_at": None,
            "written": None,
            "item": None,
        }


def test_array_errors_report_the_expected_byte_multiple() -> None:
    for make, size, data in ((sno.SnoArray, 10, bytes(15)), (polyflake.hotguid.HotGuidArray, 16, bytes(17))):
        with pytest.raises(PolyflakeError, match=f"^expected a multiple of {size} bytes for `ids`, found {len(data)}$"):
            make(data)
