"""`polyflake layout sql`: the functions that the program writes for a layout, in PostgreSQL, DuckDB and SQLite."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from conftest import Server
from polyflake import layout
from test_sql import EPOCH, FLAKES, PAGE, PRESETS, RANGES_OF_LAYOUTS, fields, generated, vectors

PROGRAM = generated().PROGRAM
TICKS = {"ms": "1ms", "s": "1s", "s_builtin": "1s"}
#: The times that PostgreSQL and DuckDB have.
FIRST_MS, LAST_MS = -210_866_803_200_000, (2**63 - 1) // 1000


def translated(vector: dict[str, Any]) -> dict[str, Any]:
    """A vector's layout in the words of a layout's JSON."""
    made = []
    for field in vector["fields"]:
        kind = field["kind"].removesuffix("_flip_before")
        one = {key: field[key] for key in ("bits", "name", "value", "epoch_ms") if key in field} | {"kind": kind}
        if "tick" in field:
            one["tick"] = TICKS.get(field["tick"], field["tick"])
        if field["invert"] or kind != field["kind"]:
            one["invert"] = True
        made.append(one)
    return {"id": "integer", "bits": 64, "fields": made}


def parsed(vector: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The IDs of a vector's layout, each with its fields."""
    for case in [*vector.get("cases", []), *vector.get("parse_cases", [])]:
        stated = {**case, **case.get("ours", {})}
        if "parsed" in stated and not isinstance(case.get("ours", {}).get("error"), str):
            yield int(stated["id"]), stated["parsed"]


def values(parsed: dict[str, Any]) -> dict[str, int]:
    """The fields of an ID, the time apart."""
    named = {**parsed.get("constants", {}), **parsed.get("bindables", {})}
    named |= {"sequence": parsed["sequence"]} if "sequence" in parsed else {}
    return {name: int(value) for name, value in named.items()}


#: Valid layouts of 64-bit integers with IDs: each description, and the answers.
LAYOUTS = [(translated(vector), list(parsed(vector))) for vector in vectors("layout64")["layouts"]]
LAYOUTS = [(description, ids) for description, ids in LAYOUTS if ids]

UNUSED = {"kind": "unused", "bits": 1}
#: Layouts that the vectors lack: ticks below a millisecond and of a day, epochs before 1970 and past all calendars, an
#: inverted timestamp of each width, and fields with names that SQL must quote.
OTHERS: list[list[dict[str, Any]]] = [
    [UNUSED, {"kind": "timestamp", "bits": 53, "tick": "250us", "epoch_ms": 0}, {"kind": "sequence", "bits": 10}],
    [
        UNUSED,
        {"kind": "timestamp", "bits": 43, "tick": "1500us", "epoch_ms": -99999999999},
        {"kind": "sequence", "bits": 20},
    ],
    [{"kind": "timestamp", "bits": 64, "tick": "1ms", "epoch_ms": -5}],
    [{"kind": "timestamp", "bits": 64, "tick": "7us", "epoch_ms": 1, "invert": True}],
    [UNUSED, {"kind": "timestamp", "bits": 63, "tick": "1s", "epoch_ms": 1767225600000}],
    [
        UNUSED,
        {"kind": "timestamp", "bits": 31, "tick": "86400s", "epoch_ms": 0},
        {"kind": "bindable", "bits": 32, "name": "order"},
    ],
    [
        {"kind": "bindable", "bits": 4, "name": 'a "tenant" of it\'s', "invert": True},
        {"kind": "timestamp", "bits": 40, "tick": "10ms", "epoch_ms": 1767225600000, "invert": True},
        {"kind": "constant", "bits": 8, "name": "select", "value": 200, "invert": True},
        {"kind": "sequence", "bits": 12},
    ],
    [
        {"kind": "constant", "bits": 1, "name": "sign", "value": 1},
        {"kind": "bindable", "bits": 3, "name": "group"},
        {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1767225600000},
        {"kind": "bindable", "bits": 7, "name": "node"},
        {"kind": "unused", "bits": 2},
        {"kind": "sequence", "bits": 10, "start": 3},
    ],
    [{"kind": "constant", "bits": 64, "name": "lowest", "value": "-9223372036854775808"}],
    [{"kind": "bindable", "bits": 1, "name": "b"}, {"kind": "timestamp", "bits": 63, "tick": "1ms", "epoch_ms": 0}],
]
DESCRIPTIONS = [description for description, _ in LAYOUTS]
DESCRIPTIONS += [{"id": "integer", "bits": 64, "fields": listed} for listed in OTHERS]


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs the program for a description."""
    folder, numbers = tmp_path_factory.mktemp("layouts"), count()

    def write(description: dict[str, Any], dialect: str, *more: str) -> str:
        file = folder / f"layout_{next(numbers)}.json"
        file.write_text(json.dumps(description), encoding="utf-8")
        return program("sql", str(file), "--dialect", dialect, *(more or ("--name", "own")))

    return write


def program(*arguments: str) -> str:
    return subprocess.run([PROGRAM, "layout", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


Writer = Callable[..., str]
#: The answers to a question with `?` for a value.
Reader = Callable[..., list[tuple[Any, ...]]]


class Database:
    """PostgreSQL or DuckDB, whose functions have the same names."""

    def __init__(self, dialect: str, ask: Reader, error: type[Exception]) -> None:
        self.dialect, self.ask, self.error = dialect, ask, error

    def load(self, file: str) -> None:
        """Loads a file into an empty schema, since PostgreSQL does not rename the arguments of a function."""
        self.ask("DROP SCHEMA IF EXISTS flake CASCADE")
        self.ask(file)

    def value(self, question: str, *values: Any) -> Any:
        ((found,),) = self.ask(f"SELECT {question}", *values)
        return found


@pytest.fixture(scope="module", params=["postgresql", "duckdb"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    if request.param == "duckdb":
        with duckdb.connect() as duck:
            duck.execute("SET TimeZone = 'Asia/Tokyo'")
            yield Database("duckdb", lambda *asked: duck.execute(asked[0], asked[1:]).fetchall(), duckdb.Error)
        return
    server: Server = request.getfixturevalue("server")
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("SET TIME ZONE 'Asia/Tokyo'")

        def ask(question: str, *values: Any) -> list[tuple[Any, ...]]:
            found = connection.execute(question.replace("?", "%s") if values else question, values or None)
            return found.fetchall() if found.description else []

        yield Database("postgresql", ask, psycopg.Error)


def expected(description: dict[str, Any]) -> list[tuple[int, int | None, dict[str, int]]]:
    """What the library reads from some IDs: the time, if 64 bits hold it, and the fields."""
    shape, answers = layout.Layout.from_json(json.dumps(description)), []
    for id in [0, -1, *(1 << bit for bit in range(0, 63, 7)), -(2**63), 0x5555555555555555, 3**39]:
        try:
            read = shape.parse(id)
        except Exception as error:
            assert getattr(error, "code", "") == "time_out_of_range"
            answers.append((id, None, {}))
            continue
        named = {**read.constants, **read.bindables}
        named |= {} if read.sequence is None else {"sequence": read.sequence}
        answers.append((id, read.unix_ms, named))
    return answers


def named(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def read(database: Database, calls: list[str], ids: list[int]) -> list[tuple[Any, ...]]:
    """The results of calls for each ID. One query for all of them, because each is planned."""
    rows = ", ".join(f"({n}, '{id}'::bigint)" for n, id in enumerate(ids))
    return database.ask(f"SELECT {', '.join(calls)} FROM (VALUES {rows}) AS ids (n, id) ORDER BY n")


def test_each_database_reads_the_ids_of_the_vectors(database: Database, write: Writer) -> None:
    assert len(LAYOUTS) > 50 and sum(len(ids) for _, ids in LAYOUTS) > 500
    for description, ids in LAYOUTS:
        database.load(write(description, database.dialect))
        answers = [{**values(answer), "ms": answer.get("timestamp_ms")} for _, answer in ids]
        calls = [f"flake.own_field(id, {named(name)})" for name in answers[0] if name != "ms"]
        calls += ["flake.own_ms(id)"] if answers[0]["ms"] else ["NULL"]
        found = read(database, calls, [id for id, _ in ids])
        assert found == [tuple(answer and int(answer) for answer in one.values()) for one in answers], description


def test_each_database_reads_the_same_values_as_the_library(database: Database, write: Writer) -> None:
    micros = "extract(epoch FROM {0}) * 1000000" if database.dialect == "postgresql" else "epoch_us({0})"
    between = 0
    for description in DESCRIPTIONS:
        database.load(write(description, database.dialect))
        answers = expected(description)
        ids, names = [id for id, _, _ in answers], list(answers[0][2])
        if names:
            found = read(database, [f"flake.own_field(id, {named(name)})" for name in names], ids)
            for row, (_, _, numbers) in zip(found, answers, strict=True):
                assert not numbers or row == tuple(numbers[name] for name in names), description
        if not any(field["kind"] == "timestamp" for field in description["fields"]):
            continue
        times = read(database, ["flake.own_ms(id)", micros.format("flake.own_time(id)")], ids)
        for (ms, us), (_, answer, _) in zip(times, answers, strict=True):
            if answer is None or (ms is None and abs(answer) > LAST_MS):
                assert (ms, us) == (None, None), description
                continue
            assert ms == answer, description
            if not FIRST_MS <= ms <= LAST_MS:
                assert us is None, description
            elif ms < 2**53 // 1000:
                assert int(us) // 1000 == ms, description
                between += us % 1000 != 0
    assert between > 5, "expected times between milliseconds"


def test_postgresql_inlines_layout_functions(server: Server, write: Writer) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE ids (id bigint PRIMARY KEY)")
        for description in DESCRIPTIONS:
            connection.execute("DROP SCHEMA IF EXISTS flake CASCADE")
            connection.execute(write(description, "postgresql"))
            calls = [f"flake.own_field(id, {named(name)})" for name in expected(description)[0][2]]
            if any(field["kind"] == "timestamp" for field in description["fields"]):
                calls += ["flake.own_ms(id)", "flake.own_time(id)"]
            for call in calls:
                plan = connection.execute(f"EXPLAIN (VERBOSE, COSTS OFF) SELECT {call} FROM ids").fetchall()
                assert "flake." not in str(plan), call


def test_each_databases_bounds_match_the_vectors(database: Database, write: Writer) -> None:
    assert len(RANGES_OF_LAYOUTS) > 10
    checked = 0
    for case in RANGES_OF_LAYOUTS:
        database.load(write(translated(case), database.dialect))
        bound = [int(value) for value in case.get("bind", {}).values()]
        above = "".join(f", {value}" for value in bound)
        start, until = (EPOCH + timedelta(milliseconds=int(case[end])) for end in ("from_ms", "to_ms"))
        times = {"moment": start, "before": until}
        inverted = any(field["kind"] == "timestamp" and field["invert"] for field in case["fields"])
        arguments = ("before", "moment") if inverted else ("moment", "before")
        calls = [
            (f"flake.own_{end}(CAST(? AS timestamptz){above})", times[argument])
            for end, argument in zip(("lowest", "highest"), arguments, strict=True)
        ]
        if "error" in case or (
            inverted and int(case.get("lowest", -1)) >= 0 and case["fields"][0]["kind"] == "timestamp"
        ):
            continue
        found = [database.value(call, time) for call, time in calls]
        assert found == [int(case["lowest"]), int(case["highest"])], case["name"]
        checked += 1
        if database.dialect == "postgresql":
            question = f"SELECT * FROM flake.own_range(?, ?{above})"
            assert database.ask(question, start, until) == [tuple(found)]
    assert checked > 10


def test_each_databases_bounds_match_the_library(database: Database, write: Writer) -> None:
    """Every span begins with the first ID of a tick and ends with the last one before another, whatever the layout."""
    checked = 0
    for description in DESCRIPTIONS:
        kinds = [field["kind"] for field in description["fields"]]
        shape = layout.Layout.from_json(json.dumps(description))
        if "timestamp" not in kinds or shape.describe().first_ms is None:
            continue
        above = [one["name"] for one in description["fields"][: kinds.index("timestamp")] if one["kind"] == "bindable"]
        first = max(shape.describe().first_ms, -62_135_596_800_000)
        start = EPOCH + timedelta(milliseconds=first + 86_400_000)
        until = start + timedelta(days=3, milliseconds=2)
        bound = {name: 1 for name in above}
        try:
            low, high = shape.time_range(start, until, bound)
        except Exception as error:
            assert getattr(error, "code", "") in ("time_out_of_range", "out_of_range"), error
            continue
        database.load(write(description, database.dialect))
        inverted = description["fields"][kinds.index("timestamp")].get("invert")
        more = ", 1" * len(above)
        times = (until, start) if inverted else (start, until)
        found = [
            database.value(f"flake.own_{end}(CAST(? AS timestamptz){more})", time)
            for end, time in zip(("lowest", "highest"), times, strict=True)
        ]
        assert found == [low, high], description
        checked += 1
    assert checked > 15, checked


def test_preset_functions_match_the_files(database: Database) -> None:
    """The files have them under the names of the services, and the program by a name of its own for each."""
    file = "polyflake.sql" if database.dialect == "postgresql" else "polyflake.duckdb.sql"
    database.load((Path(__file__).parents[2] / "sql" / file).read_text(encoding="utf-8"))
    for preset in PRESETS:
        database.ask(program("sql", preset, "--dialect", database.dialect))
    for preset, id, _, answer in FLAKES:
        for own, known in [
            (f"{preset}_ms(id)", f"snowflake_ms(id, '{preset}')"),
            (f"{preset}_time(id)", f"snowflake_time(id, '{preset}')"),
            *(
                (f"{preset}_field(id, '{name}')", f"snowflake_field(id, '{preset}', '{name}')")
                for name in fields(answer)
            ),
        ]:
            question = f"flake.{own} = flake.{known} FROM (SELECT CAST(? AS bigint) AS id) AS one"
            assert database.value(question, id) is True, own


def test_invalid_calls_return_an_error_code(database: Database, write: Writer) -> None:
    tenant = {"kind": "bindable", "bits": 10, "name": "tenant"}
    time = {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1767225600000}
    described = {"id": "integer", "bits": 64, "fields": [UNUSED, tenant, time, {"kind": "sequence", "bits": 12}]}
    database.load(write(described, database.dialect))
    for call, error in (
        ("flake.own_field(1, 'shard')", "unknown_field: expected a field of own, found 'shard'"),
        ("flake.own_lowest('2025-12-31 00:00:00Z', 1)", "time_out_of_range: "),
        ("flake.own_highest('2200-01-01 00:00:00Z', 1)", "time_out_of_range: "),
        (
            "flake.own_lowest('2026-12-31 00:00:00Z', 1024)",
            "out_of_range: expected tenant of at most 10 bits, found 1024",
        ),
        ("flake.own_lowest('2026-12-31 00:00:00Z', -1)", "out_of_range: expected tenant of at most 10 bits, found -1"),
    ):
        with pytest.raises(database.error, match=re.escape(error)):
            database.value(call)
    for call in ("flake.own_ms(NULL)", "flake.own_time(NULL)", "flake.own_field(1, NULL)", "flake.own_lowest(NULL, 1)"):
        assert database.value(call) is None, call


def test_sqlite_columns_read_the_ids_of_each_layout(write: Writer) -> None:
    for description in DESCRIPTIONS:
        answers = [
            (id, answer.get("timestamp_ms"), values(answer))
            for one, ids in LAYOUTS
            for id, answer in ids
            if one is description
        ]
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(write(description, "sqlite"))
            for id, ms, numbers in [*answers, *expected(description)]:
                connection.execute("DELETE FROM own_ids")
                connection.execute("INSERT INTO own_ids (id) VALUES (?)", [id])
                for name, number in numbers.items():
                    column = name.replace('"', '""')
                    found = connection.execute(f'SELECT "{column}" FROM own_ids').fetchone()
                    assert found == (number,), description
                if any(field["kind"] == "timestamp" for field in description["fields"]):
                    (found,) = connection.execute("SELECT ms FROM own_ids").fetchone()
                    too_long = ms is not None and found is None and abs(int(ms)) > LAST_MS
                    assert too_long or found == (None if ms is None else int(ms)), description


def test_the_sqlite_query_finds_the_rows_of_a_time_span(write: Writer) -> None:
    checked = 0
    for description in DESCRIPTIONS:
        written = write(description, "sqlite")
        query = re.search(r"(?m)^--     (SELECT .*);$", written)
        if not query:
            continue
        shape = layout.Layout.from_json(json.dumps(description))
        first = shape.describe().first_ms
        assert first is not None
        start, until = max(first, 0) + 60_001, max(first, 0) + 3_600_001
        try:
            low, high = shape.time_range(start, until)
        except Exception as error:
            assert getattr(error, "code", "") in ("time_out_of_range", "out_of_range"), error
            continue
        inside, outside = {low, high}, {id for id in (low - 1, high + 1) if -(2**63) <= id < 2**63}
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(written)
            connection.executemany("INSERT INTO own_ids (id) VALUES (?)", [(id,) for id in inside | outside])
            times = {"start": start, "until": until}
            found = {row[0] for row in connection.execute(query.group(1), times)}
            assert found == inside, description
            (plan,) = connection.execute(f"EXPLAIN QUERY PLAN {query.group(1)}", times).fetchall()
            assert "SEARCH" in plan[3] and "PRIMARY KEY" in plan[3]
        checked += 1
    assert checked > 10


def test_the_program_reports_layouts_that_it_cannot_write(tmp_path: Path) -> None:
    def refused(description: dict[str, Any], *arguments: str) -> str:
        file = tmp_path / "own.json"
        file.write_text(json.dumps(description), encoding="utf-8")
        done = subprocess.run([PROGRAM, "layout", "sql", file, *arguments], capture_output=True, text=True)
        assert done.returncode and not done.stdout
        return done.stderr

    a, same = {"kind": "bindable", "bits": 32, "name": "a"}, {"kind": "constant", "bits": 32, "name": "A", "value": 1}
    assert "error[invalid_layout]: expected a layout of 64-bit integers" in refused(
        {"id": "bytes", "bits": 8, "fields": [{"kind": "sequence", "bits": 8}]}
    )
    twice = {"id": "integer", "bits": 64, "fields": [a, same]}
    assert "error[invalid_layout]: expected distinct names in SQL, found `A` twice" in refused(twice)
    argument = [{**a, "bits": 8, "name": "Moment"}, {"kind": "timestamp", "bits": 56, "tick": "1ms", "epoch_ms": 0}]
    assert "found `Moment` twice" in refused({"id": "integer", "bits": 64, "fields": argument})
    column = {"id": "integer", "bits": 64, "fields": [a, {**a, "name": "ID"}]}
    assert "found `ID` twice" in refused(column, "--dialect", "sqlite")
    for name in ("sno", "Orders", "1a", "a" * 56, ""):
        assert "expected a" in refused(column, "--name", name), name


def test_the_page_shows_the_results_of_layout_functions(server: Server, write: Writer) -> None:
    section = PAGE.split("\n## IDs of your own layout\n")[1].split("\n## ")[0]
    (described,), (shown,) = (
        re.findall(f"```{language}\n(.*?)```", section, re.DOTALL) for language in ("json", "sql")
    )
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(write(json.loads(described), "postgresql", "--name", "orders"))
        connection.execute("SET TIME ZONE 'UTC'")
        results = 0
        for statement, result in re.findall(r"([^;]+);(?: -- (.*))?", shown):
            found = connection.execute(f"{statement}::text" if result else statement)
            if result:
                results += 1
                assert found.fetchone() == (result,), statement
        assert results == 2
        plan = str(connection.execute(f"EXPLAIN {shown.split(';')[-2]}").fetchall())
        assert "Index Cond" in plan and "flake." not in plan, plan
