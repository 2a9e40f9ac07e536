"""Writes the reference of the Python package as Markdown, one page for each module.

The script parses the source instead of importing it. For compiled modules, it parses the stubs. For all other modules,
it parses the Python code.

Usage: ``python3 reference.py FOLDER``
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[3] / "packages/python/src/polyflake"
#: Longer signatures are split into one parameter per line to fit a phone's screen.
LINE_WIDTH = 64
CONSTRUCTORS = ("__init__", "__new__")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Member = tuple[str, str, str]


def exported_names(module: ast.Module) -> list[str]:
    """Returns the names that ``__all__`` lists."""
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return ast.literal_eval(statement.value)
    return []


def signature(name: str, function: Function, is_method: bool) -> str:
    """Returns the signature of a function, without ``self``."""
    arguments = function.args
    is_static = any(ast.unparse(decorator) == "staticmethod" for decorator in function.decorator_list)
    parameters = format_parameters(arguments)
    if is_method and not is_static:
        parameters = parameters[2:] if parameters[1:2] == ["/"] else parameters[1:]
    returns = f" -> {ast.unparse(function.returns)}" if function.returns and function.name not in CONSTRUCTORS else ""
    keyword = "async " if isinstance(function, ast.AsyncFunctionDef) else ""
    line = f"{keyword}{name}({', '.join(parameters)}){returns}"
    if len(line) <= LINE_WIDTH:
        return line
    return "\n".join([f"{keyword}{name}(", *(f"    {parameter}," for parameter in parameters), f"){returns}"])


def format_parameters(arguments: ast.arguments) -> list[str]:
    """Returns the parameters, each with its type and its default value, and the separators between the parameters."""

    def format_argument(argument: ast.arg, default: ast.expr | None) -> str:
        text = ast.unparse(argument)
        if default is None:
            return text
        return f"{text}{' = ' if argument.annotation else '='}{ast.unparse(default)}"

    positional = [*arguments.posonlyargs, *arguments.args]
    required_count = len(positional) - len(arguments.defaults)
    defaults = [None] * required_count + list(arguments.defaults)
    parameters = [format_argument(*pair) for pair in zip(positional, defaults, strict=True)]
    if arguments.posonlyargs:
        parameters.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        parameters.append(f"*{ast.unparse(arguments.vararg)}")
    elif arguments.kwonlyargs:
        parameters.append("*")
    parameters += [format_argument(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    if arguments.kwarg:
        parameters.append(f"**{ast.unparse(arguments.kwarg)}")
    return parameters


def to_markdown(docstring: str | None) -> str:
    """Converts a docstring from reStructuredText to Markdown. Roles become code, and fields become a list."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", docstring or "").replace("``", "`")
    text = re.sub(r"^:param ([^:]+):", r"- `\1`:", text, flags=re.MULTILINE)
    text = re.sub(r"^:raises ([^:]+):", r"- Raises `\1`:", text, flags=re.MULTILINE)
    text = re.sub(r"^:returns?:", "- Returns", text, flags=re.MULTILINE)
    # Markdown needs an empty line before a list.
    text = re.sub(r"^(?!- |\s)(.+)\n(?=- )", r"\1\n\n", text, flags=re.MULTILINE)
    return re.sub(r"((?:^>>> .*\n?(?:^(?!>>>).+\n?)*)+)", r"```python\n\1\n```\n", text, flags=re.MULTILINE)


def documented_statements(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, str]]:
    """Yields each function and attribute with its documentation as Markdown. An attribute's documentation is the string
    that follows the attribute.
    """
    for statement, follower in zip(body, [*body[1:], ast.Pass()], strict=True):
        if isinstance(statement, Function):
            yield statement, to_markdown(ast.get_docstring(statement))
        elif isinstance(statement, ast.AnnAssign | ast.Assign):
            is_text = isinstance(follower, ast.Expr) and isinstance(follower.value, ast.Constant)
            yield statement, to_markdown(follower.value.value) if is_text else ""


class AliasExpander(ast.NodeTransformer):
    """Replaces the private names in the stubs with the types that they stand for."""

    def __init__(self, modules: Iterable[ast.Module]) -> None:
        statements = [statement for module in modules for statement in module.body]
        aliases = [one for one in statements if isinstance(one, ast.AnnAssign) and one.value]
        self.types = {name_of(one): one.value for one in aliases if ast.unparse(one.annotation) == "TypeAlias"}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.visit(self.types[node.id]) if node.id in self.types and node.id.startswith("_") else node


class Reference:
    """The parsed modules of the package, with methods that find definitions and generate the reference pages."""

    def __init__(self) -> None:
        self.modules: dict[str, ast.Module] = {}
        for path in sorted(PACKAGE.glob("*.py")):
            stub = path.with_suffix(".pyi")
            self.modules[path.stem] = ast.parse((stub if stub.exists() else path).read_text())
        self.modules["_polyflake"] = ast.parse((PACKAGE / "_polyflake.pyi").read_text())
        aliases = AliasExpander(self.modules.values())
        self.modules = {stem: aliases.visit(module) for stem, module in self.modules.items()}
        self.private = [module for stem, module in self.modules.items() if stem.startswith("_")]

    def public_stems(self) -> list[str]:
        """Returns the names of the public modules."""
        return [stem for stem in self.modules if stem == "__init__" or not stem.startswith("_")]

    def page(self, stem: str) -> str:
        """Returns the page of a module."""
        module = self.modules[stem]
        name = "polyflake" if stem == "__init__" else f"polyflake.{stem}"
        parts = [f"# {name}", to_markdown(ast.get_docstring(module))]
        if stem == "__init__":
            parts += [
                "## Modules",
                "\n".join(f"- [polyflake.{one}]({one}.md)" for one in self.public_stems() if one != stem),
            ]
        for public in exported_names(module):
            if public not in self.modules:
                parts += self.entry(public, module)
        return "\n\n".join(part for part in parts if part) + "\n"

    def entry(self, name: str, module: ast.Module) -> list[str]:
        """Returns the entry for a public name: the heading, the signature, the documentation and the members."""
        definition = self.find_class(name, module)
        if definition is None:
            entry_members = [
                self.member(statement, text, False) for statement, text in self.find_statements(name, module)
            ]
            if not entry_members:
                raise SystemExit(f"expected a definition of {name}")
            return section(f"## {name}", entry_members)
        members = list(self.members(definition))
        calls = [call for member, call, _ in members if member in CONSTRUCTORS]
        init_text = "\n\n".join(text for member, _, text in members if member in CONSTRUCTORS)
        bases = ", ".join(base for base in map(ast.unparse, definition.bases) if not base.startswith("_"))
        head = [f"class {name}{f'({bases})' if bases else ''}", *(re.sub(r"^__\w+__", name, call) for call in calls)]
        parts = [f"## {name}", code_block(head), to_markdown(ast.get_docstring(definition)), init_text]
        for member in dict.fromkeys(member for member, _, _ in members if member not in CONSTRUCTORS):
            parts += section(f"### {name}.{member}", [one for one in members if one[0] == member])
        return parts

    def find_class(self, name: str, *modules: ast.Module) -> ast.ClassDef | None:
        """Returns the class with this name from one of the given modules, or from the private modules that the package
        imports.
        """
        statements = (statement for module in [*modules, *self.private] for statement in module.body)
        return next((one for one in statements if isinstance(one, ast.ClassDef) and one.name == name), None)

    def find_statements(self, name: str, module: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
        """Returns the definitions of a function or a value in the given module or in a private module."""
        for one in [module, *self.private]:
            found = [pair for pair in documented_statements(one.body) if name_of(pair[0]) == name]
            if found:
                yield from found
                return

    def members(self, definition: ast.ClassDef) -> Iterator[Member]:
        """Yields the public members of a class, including the members that it inherits from private base classes."""
        for base in definition.bases:
            name = re.sub(r"\[.*", "", ast.unparse(base))
            base_class = self.find_class(name) if name.startswith("_") else None
            if base_class:
                yield from self.members(base_class)
        for statement, text in documented_statements(definition.body):
            name = name_of(statement)
            if name in CONSTRUCTORS or not name.startswith("_"):
                yield self.member(statement, text, True)

    def member(self, statement: ast.stmt, text: str, is_method: bool) -> Member:
        name = name_of(statement)
        if not isinstance(statement, Function):
            return name, ast.unparse(statement), text
        decorators = [ast.unparse(decorator) for decorator in statement.decorator_list]
        if "property" in decorators:
            return name, f"{name}: {ast.unparse(statement.returns)}" if statement.returns else name, text
        return name, signature(name, statement, is_method), text


def name_of(statement: ast.stmt) -> str:
    if isinstance(statement, Function):
        return statement.name
    if isinstance(statement, ast.AnnAssign):
        return ast.unparse(statement.target)
    return ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""


def code_block(lines: list[str]) -> str:
    return "\n".join(["```python", *dict.fromkeys(lines), "```"])


def section(heading: str, found: list[Member]) -> list[str]:
    """Returns a heading, the signatures of all overloads, and the documentation of the overloads without duplicates."""
    return [heading, code_block([call for _, call, _ in found]), *dict.fromkeys(text for _, _, text in found)]


def main(folder: Path) -> None:
    reference = Reference()
    folder.mkdir(parents=True, exist_ok=True)
    for stem in reference.public_stems():
        name = "index" if stem == "__init__" else stem
        (folder / f"{name}.md").write_text(reference.page(stem))


main(Path(sys.argv[1]))
