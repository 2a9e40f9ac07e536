"""`polyflake layout sql`: the functions that the program generates for a layout, in PostgreSQL, DuckDB and SQLite.

Integer and byte layouts share the tests. `_field` reads an integer field of at most 64 bits, and `_bytes` reads any
other field.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import psycopg
import pytest

from conftest import Server, skip_without
from polyflake import layout
from test_sql import (
    EPOCH,
    FLAKES,
    LAYOUT_RANGES,
    PAGE,
    PRESETS,
    PROGRAM,
    fields,
    run_program,
    vectors,
)

TICKS = {"ms": "1ms", "s": "1s", "s_builtin": "1s"}
#: The range of times that PostgreSQL and DuckDB both support.
FIRST_MS, LAST_MS = -210_866_803_200_000, (2**63 - 1) // 1000


def to_layout_json(vector: dict[str, Any]) -> dict[str, Any]:
    """Converts a vector's layout to the JSON form of layouts."""
    layout_fields = []
    for field in vector["fields"]:
        kind, _, form = field["kind"].removesuffix("_flip_before").partition("_")
        json_field = {key: field[key] for key in ("bits", "name", "value", "epoch_ms") if key in field} | {"kind": kind}
        if form:
            json_field["type"] = {"string": "text"}.get(form, form)
        if isinstance(field.get("value"), dict):
            json_field["value"] = field["value"].get("text", field["value"].get("hex"))
        if "tick" in field:
            json_field["tick"] = TICKS.get(field["tick"], field["tick"])
        if field["invert"] or field["kind"].endswith("_flip_before"):
            json_field["invert"] = True
        layout_fields.append(json_field)
    return {"id": "bytes" if is_bytes(vector) else "integer", "bits": vector["size_bits"], "fields": layout_fields}


def is_bytes(vector: dict[str, Any]) -> bool:
    return "size_bytes" in vector or vector["size_bits"] != 64


#: An ID of a layout.
Identity = int | bytes


def parsed_vectors(vector: dict[str, Any]) -> Iterator[tuple[Identity, dict[str, Any]]]:
    """Yields the IDs of a vector's layout, each with its fields."""
    for case in [*vector.get("cases", []), *vector.get("parse_cases", [])]:
        merged_case = {**case, **case.get("ours", {})}
        if "parsed" in merged_case and not isinstance(case.get("ours", {}).get("error"), str):
            yield identity(vector, merged_case["id"]), merged_case["parsed"]


def identity(vector: dict[str, Any], id: str) -> Identity:
    return bytes.fromhex(id) if is_bytes(vector) else int(id)


def find_field(description: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns the field with the given name. A field's default name consists of its kind, offset and width."""
    offset = 0
    for field in description["fields"]:
        default_name = f"{field['kind'].replace('constant', 'const')}-{offset}-{field['bits']}"
        if name in (field.get("name", default_name), field["kind"]):
            return field
        offset += field["bits"]
    raise KeyError(name)


def is_number(description: dict[str, Any], name: str) -> bool:
    """Returns whether a field holds an integer of at most 64 bits. SQL reads any other field as bytes."""
    field = find_field(description, name)
    return field["bits"] <= 64 and "type" not in field


def to_stored_value(description: dict[str, Any], name: str, value: Any) -> Any:
    """Returns a field's value in the form in which the SQL functions return it."""
    if isinstance(value, dict):
        return bytes.fromhex(value.get("utf8_hex", value.get("hex", "")))
    if isinstance(value, bytes):
        return value
    if find_field(description, name).get("type") == "text":
        return value.encode()
    if is_number(description, name):
        return int(value)
    # The library returns an integer that fits in 64 bits as a signed value.
    return (int(value) % 2**64 if int(value) < 0 else int(value)).to_bytes(16, "big").lstrip(b"\0")


def values(description: dict[str, Any], parsed: dict[str, Any]) -> dict[str, Any]:
    """Returns an ID's fields without the time."""
    fields = {**parsed.get("constants", {}), **parsed.get("bindables", {})}
    fields |= {"sequence": parsed["sequence"]} if "sequence" in parsed else {}
    return {name: to_stored_value(description, name, value) for name, value in fields.items()}


#: Valid layouts with IDs. Each entry contains a layout's description and the expected results for its IDs.
LAYOUTS = [
    (to_layout_json(vector), list(parsed_vectors(vector)))
    for file in ("layout64", "layoutbytes")
    for vector in vectors(file)["layouts"]
]
LAYOUTS = [(description, ids) for description, ids in LAYOUTS if ids]

UNUSED = {"kind": "unused", "bits": 1}
#: Layouts that the vectors lack: ticks shorter than a millisecond or as long as a day, epochs before 1970 or beyond
# the range of every calendar, inverted timestamps of each width, and fields whose names SQL must quote.
OTHER_FIELDS: list[list[dict[str, Any]]] = [
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
        {"kind": "bindable", "bits": 4, "name": 'a "tenant" of it\'s $$ $polyflake$', "invert": True},
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
#: Byte layouts that the vectors lack: signed and inverted 64-bit fields that do not start on a byte boundary, ticks
# shorter than a millisecond, integers of more than 64 bits, values of each type above the timestamp, and the longest
# ID.
OTHER_BYTE_FIELDS: list[list[dict[str, Any]]] = [
    [
        {"kind": "bindable", "bits": 3, "name": "a"},
        {"kind": "timestamp", "bits": 64, "tick": "1ms", "epoch_ms": -5},
        {"kind": "sequence", "bits": 5},
    ],
    [
        {"kind": "bindable", "bits": 64, "name": "above"},
        {"kind": "bindable", "bits": 5, "name": "group", "invert": True},
        {"kind": "timestamp", "bits": 43, "tick": "1500us", "epoch_ms": -99999999999, "invert": True},
        {"kind": "bindable", "bits": 64, "name": "below", "invert": True},
    ],
    [{"kind": "timestamp", "bits": 64, "tick": "7us", "epoch_ms": 1, "invert": True}],
    [
        {"kind": "bindable", "bits": 0, "name": "nothing"},
        {"kind": "bindable", "bits": 20, "name": "it's", "type": "text"},
        {"kind": "bindable", "bits": 13, "name": "inverted bytes", "type": "bytes", "invert": True},
        {"kind": "unused", "bits": 2},
        {"kind": "timestamp", "bits": 53, "tick": "250us", "epoch_ms": 0},
        {"kind": "constant", "bits": 70, "name": "wide", "value": "1180591620717411303423"},
        {"kind": "constant", "bits": 66, "name": "negative", "value": -7, "invert": True},
    ],
    [
        {"kind": "timestamp", "bits": 42, "tick": "1ms", "epoch_ms": 1767225600000},
        {"kind": "constant", "bits": 16, "name": "version", "value": "v1", "type": "text"},
        {"kind": "bindable", "bits": 6, "name": "node"},
        {"kind": "sequence", "bits": 64},
    ],
    [
        {"kind": "constant", "bits": 100, "name": "head", "value": "0fff", "type": "bytes"},
        {"kind": "timestamp", "bits": 41, "tick": "10ms", "epoch_ms": 1767225600000},
        {"kind": "bindable", "bits": 883, "name": "tail", "type": "bytes", "invert": True},
    ],
]
DESCRIPTIONS = [description for description, _ in LAYOUTS]
DESCRIPTIONS += [{"id": "integer", "bits": 64, "fields": listed} for listed in OTHER_FIELDS]
DESCRIPTIONS += [
    {"id": "bytes", "bits": sum(field["bits"] for field in listed), "fields": listed} for listed in OTHER_BYTE_FIELDS
]
#: A value for each type of bindable field above the timestamp.
BOUND = {"integer": 1, "bytes": b"\0\1", "text": "a"}
#: A layout whose IDs are as long as a UUID.
UUIDS: dict[str, Any] = {
    "id": "bytes",
    "bits": 128,
    "fields": [
        {"kind": "timestamp", "bits": 48, "tick": "1ms", "epoch_ms": 0},
        {"kind": "bindable", "bits": 16, "name": "node"},
        {"kind": "bindable", "bits": 64, "name": "random", "type": "bytes"},
    ],
}


@pytest.fixture(scope="module")
def write_sql(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Returns a function that runs `polyflake layout sql` for a description."""
    folder, numbers = tmp_path_factory.mktemp("layouts"), count()

    def write_sql(description: dict[str, Any], dialect: str, *more: str) -> str:
        file = folder / f"layout_{next(numbers)}.json"
        file.write_text(json.dumps(description), encoding="utf-8")
        return run_program("layout", "sql", str(file), "--dialect", dialect, *(more or ("--name", "own")))

    return write_sql


Writer = Callable[..., str]
#: Runs a query with `?` as the placeholder and returns its rows.
Reader = Callable[..., list[tuple[Any, ...]]]


class Database:
    """A PostgreSQL or DuckDB database. The SQL functions have the same names in both."""

    def __init__(self, dialect: str, fetch_rows: Reader, error: type[Exception]) -> None:
        self.dialect, self.ask, self.error = dialect, fetch_rows, error

    def load(self, file: str) -> None:
        """Loads an SQL file into an empty schema, because PostgreSQL cannot rename the arguments of an existing
        function.
        """
        self.ask("DROP SCHEMA IF EXISTS flake CASCADE")
        self.ask(file)

    def select_value(self, expression: str, *values: Any) -> Any:
        ((found,),) = self.ask(f"SELECT {expression}", *values)
        return found


@pytest.fixture(scope="module", params=["postgresql", "duckdb"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    if request.param == "duckdb":
        with duckdb.connect() as duck:
            duck.execute("SET TimeZone = 'Asia/Tokyo'")
            yield Database("duckdb", lambda *asked: duck.execute(asked[0], asked[1:]).fetchall(), duckdb.Error)
        return
    server: Server = request.getfixturevalue("server")
    # The functions of different layouts have the same names but different types, so plans must not be cached.
    with psycopg.connect(server.url(), autocommit=True, prepare_threshold=None) as connection:
        connection.execute("SET TIME ZONE 'Asia/Tokyo'")

        def fetch_rows(query: str, *values: Any) -> list[tuple[Any, ...]]:
            found = connection.execute(query.replace("?", "%s") if values else query, values or None)
            return found.fetchall() if found.description else []

        yield Database("postgresql", fetch_rows, psycopg.Error)


def samples(description: dict[str, Any]) -> list[Identity]:
    """Returns sample IDs of a layout."""
    if description["id"] == "integer":
        return [0, -1, *(1 << bit for bit in range(0, 63, 7)), -(2**63), 0x5555555555555555, 3**39]
    length = description["bits"] // 8
    numbers = [0, 1, 2 ** (8 * length) - 1, *(1 << bit for bit in range(0, 8 * length, 11)), 3 ** (5 * length)]
    return [number.to_bytes(length, "big") for number in numbers]


def expected_rows(description: dict[str, Any]) -> list[tuple[Identity, int | None, dict[str, Any]]]:
    """Returns sample IDs with their times and fields. If an ID's time does not fit into 64 bits, the time is `None` and
    the dictionary of fields is empty. IDs that contain strings with invalid UTF-8 are omitted.
    """
    shape, answers = layout.Layout.from_json(json.dumps(description)), []
    for id in samples(description):
        try:
            read = shape.parse(id)
        except Exception as error:
            code = getattr(error, "code", "")
            assert code in ("time_out_of_range", "invalid_character")
            if code == "time_out_of_range":
                answers.append((id, None, {}))
            continue
        found = {"constants": read.constants, "bindables": read.bindables}
        found |= {} if read.sequence is None else {"sequence": read.sequence}
        answers.append((id, read.unix_ms, values(description, found)))
    return answers


def column_name(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def field_call(description: dict[str, Any], name: str) -> str:
    """Returns the SQL call that reads a field."""
    return f"flake.own_{'field' if is_number(description, name) else 'bytes'}(id, {column_name(name)})"


def literal(id: Identity) -> str:
    return f"'{id}'::bigint" if isinstance(id, int) else f"decode('{id.hex()}', 'hex')"


def read_rows(database: Database, calls: list[str], ids: list[Identity]) -> list[tuple[Any, ...]]:
    """Returns the results of all calls for each ID. A single query contains all calls, because every query must be
    planned.
    """
    rows = ", ".join(f"({n}, {literal(id)})" for n, id in enumerate(ids))
    if database.dialect == "duckdb":
        rows = re.sub(r"decode\(('\w*'), 'hex'\)", r"unhex(\1)", rows)
    return database.ask(f"SELECT {', '.join(calls)} FROM (VALUES {rows}) AS ids (n, id) ORDER BY n")


def test_each_database_reads_the_ids_of_the_vectors(database: Database, write_sql: Writer) -> None:
    byte_ids = [ids for description, ids in LAYOUTS if description["id"] == "bytes"]
    assert len(LAYOUTS) > 130 and len(byte_ids) > 75 and sum(map(len, byte_ids)) > 300
    for description, ids in LAYOUTS:
        database.load(write_sql(description, database.dialect))
        answers = [{**values(description, answer), "ms": answer.get("timestamp_ms")} for _, answer in ids]
        calls = [field_call(description, name) for name in answers[0] if name != "ms"]
        calls += ["flake.own_ms(id)"] if answers[0]["ms"] else ["NULL"]
        found = read_rows(database, calls, [id for id, _ in ids])
        assert found == [(*list(one.values())[:-1], one["ms"] and int(one["ms"])) for one in answers], description


def test_each_database_reads_the_same_values_as_the_library(database: Database, write_sql: Writer) -> None:
    micros_expression = "extract(epoch FROM {0}) * 1000000" if database.dialect == "postgresql" else "epoch_us({0})"
    between_count = 0
    for description in DESCRIPTIONS:
        database.load(write_sql(description, database.dialect))
        answers = expected_rows(description)
        ids, names = [id for id, _, _ in answers], list(answers[0][2])
        if names:
            found = read_rows(database, [field_call(description, name) for name in names], ids)
            for row, (_, _, numbers) in zip(found, answers, strict=True):
                assert not numbers or row == tuple(numbers[name] for name in names), description
        if not any(field["kind"] == "timestamp" for field in description["fields"]):
            continue
        times = read_rows(database, ["flake.own_ms(id)", micros_expression.format("flake.own_time(id)")], ids)
        for (ms, us), (_, answer, _) in zip(times, answers, strict=True):
            if answer is None or (ms is None and abs(answer) > LAST_MS):
                assert (ms, us) == (None, None), description
                continue
            assert ms == answer, description
            if not FIRST_MS <= ms <= LAST_MS:
                assert us is None, description
            elif ms < 2**53 // 1000:
                assert int(us) // 1000 == ms, description
                between_count += us % 1000 != 0
    assert between_count > 5, "expected times between milliseconds"


def test_postgresql_inlines_layout_functions(server: Server, write_sql: Writer) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE integers (id bigint PRIMARY KEY); CREATE TABLE strings (id bytea PRIMARY KEY)")
        for description in DESCRIPTIONS:
            connection.execute("DROP SCHEMA IF EXISTS flake CASCADE")
            connection.execute(write_sql(description, "postgresql"))
            calls = [field_call(description, name) for name in expected_rows(description)[0][2]]
            table = "integers" if description["id"] == "integer" else "strings"
            if any(field["kind"] == "timestamp" for field in description["fields"]):
                calls += ["flake.own_ms(id)", "flake.own_time(id)"]
            for call in calls:
                plan = connection.execute(f"EXPLAIN (VERBOSE, COSTS OFF) SELECT {call} FROM {table}").fetchall()
                assert "flake." not in str(plan), call


def test_each_databases_bounds_match_the_vectors(database: Database, write_sql: Writer) -> None:
    assert len(LAYOUT_RANGES) > 10
    checked_count = 0
    for case in LAYOUT_RANGES:
        database.load(write_sql(to_layout_json(case), database.dialect))
        bound_values = [value_in_sql(database, value) for value in case.get("bind", {}).values()]
        bound_arguments = "".join(f", {value}" for value in bound_values)
        start, until = (EPOCH + timedelta(milliseconds=int(case[end])) for end in ("from_ms", "to_ms"))
        times = {"moment": start, "before": until}
        is_inverted = any(field["kind"] == "timestamp" and field["invert"] for field in case["fields"])
        arguments = ("before", "moment") if is_inverted else ("moment", "before")
        calls = [
            (f"flake.own_{end}(CAST(? AS timestamptz){bound_arguments})", times[argument])
            for end, argument in zip(bound_names(is_inverted), arguments, strict=True)
        ]
        if "error" in case or (
            not is_bytes(case) and is_inverted and int(case["lowest"]) >= 0 and case["fields"][0]["kind"] == "timestamp"
        ):
            continue
        found = [database.select_value(call, time) for call, time in calls]
        assert found == [identity(case, case[end]) for end in ("lowest", "highest")], case["name"]
        checked_count += 1
        range_query = f"SELECT * FROM flake.own_range(CAST(? AS timestamptz), CAST(? AS timestamptz){bound_arguments})"
        assert database.ask(range_query, start, until) == [tuple(found)]
    assert checked_count > 15


def bound_names(is_inverted: bool) -> tuple[str, str]:
    """Returns the suffixes of the functions for the lowest and the highest ID."""
    return ("lowest_before", "highest_from") if is_inverted else ("lowest", "highest")


def value_in_sql(database: Database, value: Any) -> str:
    """Returns the value of a bindable field as an SQL argument, which is an integer, a string, or bytes."""
    if isinstance(value, dict):
        value = value["text"] if "text" in value else bytes.fromhex(value["hex"])
    if isinstance(value, bytes):
        return f"decode('{value.hex()}', 'hex')" if database.dialect == "postgresql" else f"unhex('{value.hex()}')"
    return column_name(value) if isinstance(value, str) and not value.isdecimal() else str(int(value))


def test_each_databases_bounds_match_the_library(database: Database, write_sql: Writer) -> None:
    """For every layout, the bounds of a span are the first ID of one tick and the last ID before another tick."""
    checked = {"integer": 0, "bytes": 0}
    for description in DESCRIPTIONS:
        kinds = [field["kind"] for field in description["fields"]]
        shape = layout.Layout.from_json(json.dumps(description))
        if "timestamp" not in kinds or shape.describe().first_ms is None:
            continue
        above = [one for one in description["fields"][: kinds.index("timestamp")] if one["kind"] == "bindable"]
        first_ms = max(shape.describe().first_ms, -62_135_596_800_000)
        start = EPOCH + timedelta(milliseconds=first_ms + 86_400_000)
        until = start + timedelta(days=3, milliseconds=2)
        bound_values = {one["name"]: BOUND[one.get("type", "integer")] for one in above}
        try:
            low, high = shape.time_range(start, until, bound_values)
        except Exception as error:
            assert getattr(error, "code", "") in ("time_out_of_range", "out_of_range"), error
            continue
        database.load(write_sql(description, database.dialect))
        is_inverted = description["fields"][kinds.index("timestamp")].get("invert")
        bound_arguments = "".join(f", {value_in_sql(database, value)}" for value in bound_values.values())
        times = (until, start) if is_inverted else (start, until)
        found = [
            database.select_value(f"flake.own_{end}(CAST(? AS timestamptz){bound_arguments})", time)
            for end, time in zip(bound_names(is_inverted), times, strict=True)
        ]
        assert found == [low, high], description
        checked[description["id"]] += 1
    assert checked["integer"] > 15 and checked["bytes"] > 9, checked


def test_preset_functions_match_the_files(database: Database) -> None:
    """The functions in the files accept a preset's name as an argument, whereas the functions that the program writes
    are named after the preset.
    """
    file = "polyflake.sql" if database.dialect == "postgresql" else "polyflake.duckdb.sql"
    database.load((Path(__file__).parents[2] / "crates/sql" / file).read_text(encoding="utf-8"))
    for preset in PRESETS:
        database.ask(run_program("layout", "sql", preset, "--dialect", database.dialect))
    for preset, id, _, answer in FLAKES:
        for own, known in [
            (f"{preset}_ms(id)", f"snowflake_ms(id, '{preset}')"),
            (f"{preset}_time(id)", f"snowflake_time(id, '{preset}')"),
            *(
                (f"{preset}_field(id, '{name}')", f"snowflake_field(id, '{preset}', '{name}')")
                for name in fields(answer)
            ),
        ]:
            expression = f"flake.{own} = flake.{known} FROM (SELECT CAST(? AS bigint) AS id) AS one"
            assert database.select_value(expression, id) is True, own


def test_invalid_calls_return_an_error_code(database: Database, write_sql: Writer) -> None:
    tenant = {"kind": "bindable", "bits": 10, "name": "tenant"}
    time = {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1767225600000}
    description = {"id": "integer", "bits": 64, "fields": [UNUSED, tenant, time, {"kind": "sequence", "bits": 12}]}
    database.load(write_sql(description, database.dialect))
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
            database.select_value(call)
    for call in ("flake.own_ms(NULL)", "flake.own_time(NULL)", "flake.own_field(1, NULL)", "flake.own_lowest(NULL, 1)"):
        assert database.select_value(call) is None, call


def test_functions_return_null_for_bytes_of_another_length(database: Database, write_sql: Writer) -> None:
    description = {"id": "bytes", "bits": 104, "fields": [*UUIDS["fields"][:2], {**UUIDS["fields"][2], "bits": 40}]}
    database.load(write_sql(description, database.dialect))
    calls = ["flake.own_ms(id)", "CAST(flake.own_time(id) AS text)"]
    calls += ["flake.own_field(id, 'node')", "flake.own_bytes(id, 'random')"]
    for id in (b"", bytes(12), bytes(14)):
        assert read_rows(database, calls, [id]) == [(None,) * 4], id
    assert None not in read_rows(database, calls, [bytes(13)])[0]
    for call in calls:
        assert database.select_value(call.replace("id", "NULL", 1)) is None, call


def test_field_raises_an_error_unless_it_is_a_64_bit_integer(database: Database, write_sql: Writer) -> None:
    """A function never returns only part of a value."""
    fields = [
        {"kind": "bindable", "bits": 12, "name": "app", "type": "text"},
        {"kind": "bindable", "bits": 64, "name": "tenant"},
        {"kind": "timestamp", "bits": 40, "tick": "1ms", "epoch_ms": 1767225600000},
        {"kind": "bindable", "bits": 65, "name": "wide"},
        {"kind": "bindable", "bits": 3, "name": "node"},
    ]
    database.load(write_sql({"id": "bytes", "bits": 184, "fields": fields}, database.dialect))
    zeros, type_message = literal(bytes(23)), "expected a field with an integer of at most 64 bits, found"
    if database.dialect == "duckdb":
        zeros = f"unhex('{bytes(23).hex()}')"
    for call, error in (
        (f"flake.own_field({zeros}, 'wide')", f"invalid_type: {type_message} 'wide': use flake.own_bytes"),
        (f"flake.own_field({zeros}, 'app')", f"invalid_type: {type_message} 'app': use flake.own_bytes"),
        (f"flake.own_field({zeros}, 'shard')", "unknown_field: expected a field of own, found 'shard'"),
        (f"flake.own_bytes({zeros}, 'shard')", "unknown_field: expected a field of own, found 'shard'"),
        ("flake.own_lowest('2025-12-31 00:00:00Z', 'a', 1)", "time_out_of_range: "),
        ("flake.own_lowest('2026-12-31 00:00:00Z', 'Qa', 1)", "expected app of at most 12 bits, found 2 bytes"),
    ):
        with pytest.raises(database.error, match=re.escape(error)):
            database.select_value(call)
    # As in the library, 64-bit integers are signed. A string is right-aligned in its field. NULL stays NULL.
    negative_bound = database.select_value("flake.own_lowest('2026-01-01 00:00:00Z', 'Z', -2)")
    assert negative_bound == layout.Layout.from_json(json.dumps({"id": "bytes", "bits": 184, "fields": fields})).pack(
        timestamp=1767225600000, bindables={"app": "Z", "tenant": -2, "wide": 0, "node": 0}
    )
    for call in ("own_lowest(NULL, 'a', 1)", "own_lowest('2026-12-31 00:00:00Z', NULL, 1)", "own_bytes(NULL, 'app')"):
        assert database.select_value(f"flake.{call}") is None, call


def test_functions_read_16_byte_ids_from_uuids(database: Database, write_sql: Writer) -> None:
    uuid_layout = layout.Layout.from_json(json.dumps(UUIDS))
    database.load(write_sql(UUIDS, database.dialect))
    uuid_prefix = "" if database.dialect == "postgresql" else "uuid_"
    id = UUID("019b76da-a800-0007-0000-0000000000ff")
    calls = [f"flake.own_{uuid_prefix}{call}" for call in ("ms(id)", "field(id, 'node')", "bytes(id, 'random')")]
    found_rows = database.ask(f"SELECT {', '.join(calls)} FROM (SELECT CAST('{id}' AS uuid) AS id) AS ids")
    assert found_rows == [(1767225600000, 7, b"\xff")]
    times = (EPOCH + timedelta(days=20000), EPOCH + timedelta(days=20001))
    bounds = [
        database.select_value(f"flake.own_uuid_{end}(CAST(? AS timestamptz))", time)
        for end, time in zip(("lowest", "highest"), times, strict=True)
    ]
    assert bounds == [UUID(bytes=end) for end in uuid_layout.time_range(*times)]
    range_query = "SELECT * FROM flake.own_uuid_range(CAST(? AS timestamptz), CAST(? AS timestamptz))"
    assert database.ask(range_query, *times) == [tuple(bounds)]


def test_a_range_of_an_inverted_time_finds_its_rows(database: Database, write_sql: Writer) -> None:
    """The lowest ID of such a layout is at the end of the span, so `BETWEEN own_lowest(start) AND own_highest(until)`
    would find no rows. These functions do not exist.
    """
    time = {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1767225600000, "invert": True}
    fields = [UNUSED, time, {"kind": "sequence", "bits": 22}]
    description = {"id": "integer", "bits": 64, "fields": fields}
    database.load(write_sql(description, database.dialect))
    own = layout.Layout.from_json(json.dumps(description))
    ids = [own.pack(timestamp=1767225600000 + ms, sequence=1) for ms in (0, 1000, 2000, 3000)]
    start, until = "'2026-01-01 00:00:01Z'", "'2026-01-01 00:00:03Z'"
    query = (
        f"SELECT id FROM (VALUES {', '.join(f'({id})' for id in ids)}) AS ids (id),"
        f" flake.own_range({start}, {until}) AS span WHERE id BETWEEN span.lowest AND span.highest ORDER BY id"
    )
    assert database.ask(query) == [(ids[2],), (ids[1],)]
    for bound in ("lowest", "highest"):
        with pytest.raises(database.error, match="does not exist"):
            database.select_value(f"flake.own_{bound}({start})")


def test_a_range_of_byte_ids_becomes_an_index_condition(server: Server, write_sql: Writer) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(write_sql(UUIDS, "postgresql"))
        connection.execute(
            "CREATE TABLE strings (id bytea PRIMARY KEY); CREATE TABLE uuids (id uuid PRIMARY KEY);"
            "INSERT INTO strings SELECT flake.own_lowest('2026-01-01Z'::timestamptz + n * interval '1 second')"
            " FROM generate_series(1, 100000) AS n; INSERT INTO uuids SELECT encode(id, 'hex')::uuid FROM strings;"
            "ANALYZE strings; ANALYZE uuids"
        )
        span = "'2026-01-01 01:00Z', '2026-01-01 02:00Z'"
        for table, prefix in (("strings", ""), ("uuids", "uuid_")):
            calls = "flake.own_ms(id), flake.own_time(id), flake.own_field(id, 'node'), flake.own_bytes(id, 'random')"
            query = (
                f"SELECT {calls} FROM {table}, flake.own_{prefix}range({span}) AS span"
                " WHERE id BETWEEN span.lowest AND span.highest"
            )
            plan = str(connection.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {query}").fetchall())
            assert "Index Cond" in plan and "flake." not in plan, plan
            assert len(connection.execute(query).fetchall()) == 3600
        read = connection.execute(
            "SELECT DISTINCT provolatile, proparallel, proconfig IS NULL OR lanname = 'plpgsql' FROM pg_proc"
            " JOIN pg_language AS l ON l.oid = prolang WHERE pronamespace = 'flake'::regnamespace"
        )
        assert read.fetchall() == [("i", "s", True)]


def test_psql_loads_the_files_and_the_output_of_the_program(server: Server, write_sql: Writer) -> None:
    """The other tests send a whole file in one request, whereas psql sends each statement separately. An example in the
    documentation pipes the program's output to psql.
    """
    psql = shutil.which("psql")
    skip_without(psql, "psql")
    url, folder = server.url(), Path(__file__).parents[2] / "crates/sql"

    def run(*arguments: str, **options: Any) -> str:
        command = [psql, "-X", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", url, *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout

    for file in ("polyflake.sql", "randflake.sql", "public.sql"):
        run("--single-transaction", "--file", str(folder / file))
    run(input=write_sql(UUIDS, "postgresql"))
    for case in vectors("sno")["cases"][:5]:
        ms_expression = f"round(extract(epoch FROM flake.sno_time('{case['encoded']}')) * 1000)"
        assert run("--command", f"SELECT {ms_expression}").strip() == str(case["timestamp_unix_ms"])
    assert run("--command", "SELECT flake.own_ms('019b76da-a800-0007-0000-0000000000ff'::uuid)") == "1767225600000\n"


def test_sqlite_columns_read_the_ids_of_each_layout(write_sql: Writer) -> None:
    for description in DESCRIPTIONS:
        answers = [
            (id, answer.get("timestamp_ms"), values(description, answer))
            for one, ids in LAYOUTS
            for id, answer in ids
            if one is description
        ]
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(write_sql(description, "sqlite"))
            for id, ms, numbers in [*answers, *expected_rows(description)]:
                connection.execute("DELETE FROM own_ids")
                connection.execute("INSERT INTO own_ids (id) VALUES (?)", [id])
                for name, number in numbers.items():
                    column = name.replace('"', '""')
                    found = connection.execute(f'SELECT "{column}" FROM own_ids').fetchone()
                    if isinstance(number, bytes):
                        # Pass hexadecimal digits, because SQLite before 3.41 cannot convert them to bytes.
                        width = -(-find_field(description, name)["bits"] // 8)
                        number = number.rjust(width, b"\0").hex()
                    assert found == (number,), description
                if any(field["kind"] == "timestamp" for field in description["fields"]):
                    (found,) = connection.execute("SELECT ms FROM own_ids").fetchone()
                    is_out_of_range = ms is not None and found is None and abs(int(ms)) > LAST_MS
                    assert is_out_of_range or found == (None if ms is None else int(ms)), description


def test_sqlite_columns_are_null_for_bytes_of_another_length(write_sql: Writer) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(write_sql(UUIDS, "sqlite"))
        for id in (b"", bytes(15), bytes(17), "0" * 16, 7):
            connection.execute("INSERT INTO own_ids (id) VALUES (?)", [id])
        found = connection.execute("SELECT DISTINCT is_valid, ms, time, node, random FROM own_ids")
        assert found.fetchall() == [(0, None, None, None, None)]


def register_unhex(connection: sqlite3.Connection) -> None:
    """Defines the `unhex` function, which SQLite lacks before version 3.41."""
    if sqlite3.sqlite_version_info < (3, 41):
        unhex = lambda digits: None if digits is None else bytes.fromhex(digits)  # noqa: E731
        connection.create_function("unhex", 1, unhex, deterministic=True)


def test_the_sqlite_query_finds_the_rows_of_a_time_span(write_sql: Writer) -> None:
    checked = {"integer": 0, "bytes": 0}
    for description in [*DESCRIPTIONS, UUIDS]:
        script = write_sql(description, "sqlite")
        query = re.search(r"(?m)^--     (SELECT .*);$", script)
        if not query:
            continue
        shape = layout.Layout.from_json(json.dumps(description))
        first_ms = shape.describe().first_ms
        assert first_ms is not None
        start, until = max(first_ms, 0) + 60_001, max(first_ms, 0) + 3_600_001
        try:
            low, high = shape.time_range(start, until)
        except Exception as error:
            assert getattr(error, "code", "") in ("time_out_of_range", "out_of_range"), error
            continue
        inside, outside = {low, high}, neighbouring_values(low, high)
        with closing(sqlite3.connect(":memory:")) as connection:
            register_unhex(connection)
            connection.executescript(script)
            connection.executemany("INSERT INTO own_ids (id) VALUES (?)", [(id,) for id in inside | outside])
            times = {"start": start, "until": until}
            found = {row[0] for row in connection.execute(query.group(1), times)}
            assert found == inside, description
            (plan,) = connection.execute(f"EXPLAIN QUERY PLAN {query.group(1)}", times).fetchall()
            assert "SEARCH" in plan[3] and "PRIMARY KEY" in plan[3]
            if description["id"] == "bytes":  # A span beyond the layout's range still selects the rows within it.
                last_ms = shape.describe().last_ms
                assert last_ms
                before_end = {id for id in inside | outside if id <= high}
                from_start = {id for id in inside | outside if id >= low}
                if any(field["kind"] == "timestamp" and field.get("invert") for field in description["fields"]):
                    before_end, from_start = from_start, before_end
                for span, rows in (
                    ((first_ms - 10**6, until), before_end),
                    ((start, last_ms + 10**6), from_start),
                    ((first_ms - 10**6, first_ms), set()),
                    ((last_ms + 10**6, last_ms + 10**7), set()),
                ):
                    times = dict(zip(("start", "until"), span, strict=True))
                    assert {row[0] for row in connection.execute(query.group(1), times)} == rows, span
        checked[description["id"]] += 1
    assert checked["integer"] > 10 and checked["bytes"] > 3, checked


def neighbouring_values(low: Any, high: Any) -> set[Any]:
    """Returns the ID before `low` and the ID after `high`, if they exist."""
    if isinstance(low, int):
        return {id for id in (low - 1, high + 1) if -(2**63) <= id < 2**63}
    numbers = (int.from_bytes(low, "big") - 1, int.from_bytes(high, "big") + 1)
    return {number.to_bytes(len(low), "big") for number in numbers if 0 <= number < 256 ** len(low)}


def test_the_program_reports_layouts_that_it_cannot_write(tmp_path: Path) -> None:
    def command_error(description: dict[str, Any], *arguments: str) -> str:
        file = tmp_path / "own.json"
        file.write_text(json.dumps(description), encoding="utf-8")
        completed = subprocess.run([PROGRAM, "layout", "sql", file, *arguments], capture_output=True, text=True)
        assert completed.returncode and not completed.stdout
        return completed.stderr

    a, same = {"kind": "bindable", "bits": 32, "name": "a"}, {"kind": "constant", "bits": 32, "name": "A", "value": 1}
    duplicate_description = {"id": "integer", "bits": 64, "fields": [a, same]}
    assert "error[invalid_layout]: expected distinct names in SQL, found `A` twice" in command_error(
        duplicate_description
    )
    for name in ("Moment", "highest"):
        colliding_fields = [
            {**a, "bits": 8, "name": name},
            {"kind": "timestamp", "bits": 56, "tick": "1ms", "epoch_ms": 0},
        ]
        assert f"found `{name}` twice" in command_error({"id": "integer", "bits": 64, "fields": colliding_fields})
    hex_description = {"id": "bytes", "bits": 32, "fields": [{**a, "name": "Hex"}]}
    assert "found `Hex` twice" in command_error(hex_description, "--dialect", "sqlite")
    column_description = {"id": "integer", "bits": 64, "fields": [a, {**a, "name": "ID"}]}
    assert "found `ID` twice" in command_error(column_description, "--dialect", "sqlite")
    for name in ("sno", "Orders", "1a", "a" * 51, ""):
        assert "expected a" in command_error(column_description, "--name", name), name


@pytest.mark.parametrize(
    ("heading", "name", "stated"), [("## IDs of your own layout", "orders", 2), ("### Byte IDs", "events", 5)]
)
def test_the_page_shows_the_results_of_layout_functions(
    server: Server, write_sql: Writer, heading: str, name: str, stated: int
) -> None:
    section = re.split(r"\n###? ", PAGE.split(f"\n{heading}\n")[1])[0]
    (described,), (shown,) = (
        re.findall(f"```{language}\n(.*?)```", section, re.DOTALL) for language in ("json", "sql")
    )
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(write_sql(json.loads(described), "postgresql", "--name", name))
        connection.execute("SET TIME ZONE 'UTC'")
        result_count = 0
        for statement, result in re.findall(r"([^;]+);(?: -- (.*))?", shown):
            found = connection.execute(f"{statement}::text" if result else statement)
            if result:
                result_count += 1
                assert found.fetchone() == (result,), statement
        assert result_count == stated
        plan = str(connection.execute(f"EXPLAIN {shown.split(';')[-2]}").fetchall())
        assert "Index Cond" in plan and "flake." not in plan, plan
