"""Tests the SQL files: the vectors in each database, query plans, partitions, and the results for values that are not
IDs.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import psycopg
import pytest

from conftest import MariaDb, Server
from polyflake import InvalidValueError, hotguid, layout, sno, uuid7

ROOT = Path(__file__).parents[2]
PROGRAM = os.environ.get("POLYFLAKE_PROGRAM", str(ROOT / "target/debug/polyflake"))
PAGE = (ROOT / "docs/integrations/sql.md").read_text(encoding="utf-8")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
NEW_YEAR = datetime(2026, 1, 1, tzinfo=timezone.utc)


def vectors(name: str) -> dict[str, Any]:
    return json.loads((ROOT / f"tests/vectors/{name}.json").read_text(encoding="utf-8"))


def datetime_at(ms: int | str) -> datetime:
    return EPOCH + timedelta(milliseconds=int(ms))


def run_program(*arguments: str) -> str:
    """Returns the output of the program `polyflake`."""
    return subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


#: Each sno as a string, as bytes and as a UUID, followed by its time, metabyte, partition and sequence.
SNOS = [
    (
        case["encoded"],
        bytes.fromhex(case["hex"]),
        sno.Sno(case["encoded"]).uuid8,
        datetime_at(case["timestamp_unix_ms"]),
        *(case[part] for part in ("metabyte", "partition", "sequence")),
    )
    for case in vectors("sno")["cases"]
]
INVALID_STRINGS = [
    case["input"] for case in vectors("sno_invalid")["cases"] if case["ours"].get("error") and "\0" not in case["input"]
]
INVALID_UUIDS = [UUID(case["uuid"]) for case in vectors("uuid8")["sno_invalid"]]
GUIDS = [
    (UUID(case["text"]), datetime_at(case["timestamp"] * 1000), case["shard_key"])
    for case in vectors("hotguid")["cases"]
]
UUID8_GUIDS = [
    (UUID(case["uuid8"]), datetime_at(case["timestamp"] * 1000), case["shard_key"])
    for case in vectors("uuid8")["hotguid"]
]
FLAKES = [
    (case["preset"], int(case["id"]), int(case["parsed"]["timestamp_ms"]), case["parsed"])
    for case in vectors("presets")["cases"]
]
RANGES = [case for case in vectors("ranges")["cases"] if case["family"] in ("sno", "hotguid")]
LAYOUT_RANGES = [case for case in vectors("ranges")["cases"] if case["family"] == "layout"]
#: The example in RFC 9562, A.6, and UUIDs of the first and the last representable millisecond.
UUID7S = [
    (UUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"), 1645557742000),
    (UUID("00000000-0000-7000-8000-000000000000"), 0),
    (UUID("ffffffff-ffff-7fff-bfff-ffffffffffff"), 2**48 - 1),
]
#: A day, and a span that does not start or end on a tick.
SPANS = [(NEW_YEAR, NEW_YEAR + DAY), (NEW_YEAR + SECOND / 1000, NEW_YEAR + SECOND * 1.234)]
PRESETS = layout.presets()


def fields(parsed: dict[str, Any]) -> dict[str, int]:
    """Returns an ID's fields without the time."""
    bindable_values = {name: int(value) for name, value in parsed["bindables"].items()}
    return {**bindable_values, "sequence": int(parsed["sequence"])} if "sequence" in parsed else bindable_values


def parse_bound(form: str, end: dict[str, str]) -> Any:
    """Converts a bound of a range in the test vectors to the type that the SQL functions for ``form`` return."""
    match form:
        case "sno":
            return end["text"]
        case "sno_bytea":
            return bytes.fromhex(end["hex"])
        case "sno_uuid8":
            return sno.Sno(end["text"]).uuid8
        case _:
            return UUID(end["text"])


def preset_span(name: str, start: datetime, end: datetime) -> tuple[int, int]:
    """Returns a time span and the bounds that the package computes for it. If the preset cannot represent 2026, the
    span is moved to an earlier time.
    """
    if name == "baidu":  # its range ends in 2024
        start, end = start - 730 * DAY, end - 730 * DAY
    return start, end, layout.Layout.preset(name).time_range(start, end)


# PostgreSQL


@pytest.fixture(scope="module")
def postgresql(server: Server) -> Iterator[psycopg.Connection[Any]]:
    """Yields a connection to a database with the functions. The SQL file is loaded twice, as in an upgrade."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for _ in range(2):
            connection.execute((ROOT / "crates/sql/polyflake.sql").read_text(encoding="utf-8"))
        connection.execute("SET TIME ZONE 'Asia/Tokyo'")
        yield connection


def fetch_value(connection: psycopg.Connection[Any], query: str, *values: Any) -> Any:
    """Returns the single value that a query selects."""
    row = connection.execute(query, values).fetchone()
    assert row
    return row[0]


def test_postgresql_reads_a_sno_in_each_form(postgresql: psycopg.Connection[Any]) -> None:
    postgresql.execute('CREATE TEMP TABLE snos (n int, "text" varchar(16) COLLATE "C", bytea bytea, uuid uuid)')
    postgresql.cursor().executemany(
        "INSERT INTO snos VALUES (%s, %s, %s, %s)", [(n, *row[:3]) for n, row in enumerate(SNOS)]
    )
    for form in ("text", "bytea", "uuid"):
        parts = ", ".join(f"flake.sno_{part}({form})" for part in ("time", "metabyte", "partition", "sequence"))
        found = postgresql.execute(f"SELECT {parts} FROM snos ORDER BY n").fetchall()
        assert found == [row[3:] for row in SNOS], form


def test_postgresql_returns_null_for_invalid_snos(postgresql: psycopg.Connection[Any]) -> None:
    assert len(INVALID_STRINGS) > 30 and len(INVALID_UUIDS) == 8
    invalid_values = [*[(one, "text") for one in INVALID_STRINGS], *[(one, "uuid") for one in INVALID_UUIDS]]
    # Strings with as many bytes or characters as a sno, and strings that contain a line break or a PostgreSQL escape
    # sequence.
    invalid_values += [(one, "text") for one in ("é" * 8, "é" * 16, SNOS[5][0][:15] + "\n", SNOS[5][0][:12] + "\\x41")]
    invalid_values += [(b"", "bytea"), (bytes(9), "bytea"), (bytes(11), "bytea")]
    for one, form in invalid_values:
        for part in ("time", "metabyte", "partition", "sequence"):
            assert fetch_value(postgresql, f"SELECT flake.sno_{part}(%s::{form})", one) is None, one
        assert fetch_value(postgresql, f"SELECT flake.is_sno(%s::{form})", one) is False
        assert fetch_value(postgresql, f"SELECT flake.is_sno(NULL::{form})") is None


def test_postgresql_reads_hot_guids(postgresql: psycopg.Connection[Any]) -> None:
    for id, time, shard_key in GUIDS:
        assert fetch_value(postgresql, "SELECT flake.hotguid_time(%s)", id) == time
        assert fetch_value(postgresql, "SELECT flake.hotguid_shard_key(%s)", id) == shard_key
    for id, time, shard_key in UUID8_GUIDS:
        assert fetch_value(postgresql, "SELECT flake.hotguid_time(%s)", id) == time
        assert fetch_value(postgresql, "SELECT flake.hotguid_uuid8_shard_key(%s)", id) == shard_key
    assert fetch_value(postgresql, "SELECT flake.hotguid_uuid8_shard_key(%s)", UUID7S[0][0]) is None


def test_postgresql_reads_the_time_of_a_version_7_uuid(postgresql: psycopg.Connection[Any]) -> None:
    for id, ms in UUID7S:
        query = "SELECT round(extract(epoch FROM flake.uuid7_time(%s)) * 1000000)::bigint"
        assert fetch_value(postgresql, query, id) == ms * 1000  # the last year exceeds Python's datetime range
    for wrong in [SNOS[0][2], UUID(int=0), UUID("017f22e2-79b0-7cc3-18c4-dc0c0c07398f")]:
        assert fetch_value(postgresql, "SELECT flake.uuid7_time(%s)", wrong) is None


def test_existing_rows_get_version_7_uuids_of_their_times(server: Server) -> None:
    """A tenth of the rows have the same time. `POLYFLAKE_ROWS` sets the number of rows."""
    rows = int(os.environ.get("POLYFLAKE_ROWS", "50000"))
    page = (ROOT / "docs/guide/migrate.md").read_text(encoding="utf-8").split("## Give existing rows IDs")[1]
    (block,) = re.findall(r"```sql\n(.*?)```", page.split("\n## ")[0], re.DOTALL)
    add_column, update, require = (one for one in re.split(r";(?: --.*)?\n", block) if one)
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE orders (created_at timestamptz)")
        times = "timestamptz '2020-01-01Z' + greatest(n, %(rows)s / 10) * interval '1234.567 ms'"
        connection.execute(f"INSERT INTO orders SELECT {times} FROM generate_series(1, %(rows)s) n", {"rows": rows})
        connection.execute(add_column)
        connection.execute(update)
        wrong_or_other = connection.execute(
            "SELECT count(*) FILTER (WHERE ('x' || left(translate(id::text, '-', ''), 12))::bit(48)::bigint"
            " IS DISTINCT FROM floor(extract(epoch FROM created_at) * 1000)), count(DISTINCT id),"
            " count(*) FILTER (WHERE id::text ~ '^.{14}7.{4}[89ab]') FROM orders"
        )
        assert wrong_or_other.fetchone() == (0, rows, rows)
        (id,) = connection.execute("SELECT id FROM orders LIMIT 1").fetchone() or ()
        assert uuid7.parse(str(id)) == id
        connection.execute(require)
        for time in ("1969-12-31 23:59:59.9999Z", "infinity", None):
            connection.execute("ALTER TABLE orders ALTER COLUMN id DROP NOT NULL")
            connection.execute("INSERT INTO orders VALUES (%s)", [time])
            connection.execute(update)
            with pytest.raises(psycopg.errors.NotNullViolation), connection.transaction():
                connection.execute(require)


def test_postgresql_reads_the_ids_of_known_services(postgresql: psycopg.Connection[Any]) -> None:
    assert {preset for preset, *_ in FLAKES} == set(PRESETS)
    for preset, id, ms, parsed in FLAKES:
        assert fetch_value(postgresql, "SELECT flake.snowflake_ms(%s, %s)", id, preset) == ms
        query = "SELECT round(extract(epoch FROM flake.snowflake_time(%s, %s)) * 1000000)::bigint"
        assert fetch_value(postgresql, query, id, preset.upper()) == ms * 1000
        for name, expected in fields(parsed).items():
            assert fetch_value(postgresql, "SELECT flake.snowflake_field(%s, %s, %s)", id, preset, name) == expected
    assert fetch_value(postgresql, "SELECT flake.snowflake_ms(1541815603606036480, 'X')") == 1656432460105


#: `UNKNOWN_VALUES` contains calls that fail in PostgreSQL and DuckDB, each with the start of the expected error
# message. Every message begins with an error code of the core.
UNKNOWN_PRESET = f"invalid_layout: expected one of twitter, x, {', '.join(PRESETS[1:])}, found 'discrd'"
UNKNOWN_VALUES = [
    ("flake.snowflake_ms(1, 'discrd')", UNKNOWN_PRESET),
    ("flake.snowflake_time(1, 'discrd')", UNKNOWN_PRESET),
    ("flake.snowflake_lowest('2026-01-01 00:00:00Z', 'discrd')", UNKNOWN_PRESET),
    ("flake.snowflake_highest('2026-01-01 00:00:00Z', 'discrd')", UNKNOWN_PRESET),
    ("flake.snowflake_field(1, 'discrd', 'worker')", UNKNOWN_PRESET),
    ("flake.snowflake_field(1, 'Discord', 'shard')", "unknown_field: expected a field of Discord, found 'shard'"),
    ("flake.snowflake_field(1, 'x', 'Worker')", "unknown_field: expected a field of x, found 'Worker'"),
]
#: Calls that return NULL in both databases, because an argument is NULL.
NULLS = [
    "flake.snowflake_ms(1, NULL)",
    "flake.snowflake_time(1, NULL)",
    "flake.snowflake_lowest('2026-01-01 00:00:00Z', NULL)",
    "flake.snowflake_highest('2026-01-01 00:00:00Z', NULL)",
    "flake.snowflake_lowest(NULL, 'discord')",
    "flake.snowflake_field(1, NULL, 'worker')",
    "flake.snowflake_field(1, 'discord', NULL)",
    "flake.snowflake_field(1, 'discrd', NULL)",
]


def test_the_core_uses_the_same_codes_for_unknown_names() -> None:
    for code, call in (
        ("invalid_layout", lambda: layout.Layout.preset("discrd")),
        ("unknown_field", lambda: layout.Layout.preset("discord", shard=1)),
    ):
        with pytest.raises(InvalidValueError) as raised:
            call()
        assert raised.value.code == code


@pytest.mark.parametrize(("call", "error"), UNKNOWN_VALUES)
def test_postgresql_names_an_unknown_preset_and_an_unknown_field(
    postgresql: psycopg.Connection[Any], call: str, error: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=f"^{re.escape(error)}"):
        postgresql.execute(f"SELECT {call}")


def test_postgresql_returns_null_for_null(postgresql: psycopg.Connection[Any]) -> None:
    for call in [*NULLS, "flake.sno_lowest(NULL)", "flake.uuid7_highest(NULL)"]:
        assert fetch_value(postgresql, f"SELECT {call}") is None, call


def test_postgresql_bounds_match_the_vectors(postgresql: psycopg.Connection[Any]) -> None:
    for case in RANGES:
        forms = {"hotguid": ["hotguid"], "sno": ["sno", "sno_bytea", "sno_uuid8"]}[case["family"]]
        for name in forms:
            query = f"SELECT * FROM flake.{name}_range(%s, %s)"
            span = datetime_at(case["from_ms"]), datetime_at(case["to_ms"])
            if "error" in case:
                with pytest.raises(psycopg.errors.DatetimeFieldOverflow, match=case["error"]):
                    postgresql.execute(query, span)
                continue
            expected = tuple(parse_bound(name, case[end]) for end in ("lowest", "highest"))
            assert postgresql.execute(query, span).fetchone() == expected


def test_postgresql_bounds_of_uuid7_and_presets_are_exact(postgresql: psycopg.Connection[Any]) -> None:
    for start, end in SPANS:
        low, high = -(-(start - EPOCH) // (SECOND / 1000)), -(-(end - EPOCH) // (SECOND / 1000)) - 1
        assert postgresql.execute("SELECT * FROM flake.uuid7_range(%s, %s)", (start, end)).fetchone() == (
            UUID(f"{low:012x}70008000000000000000"),
            UUID(f"{high:012x}7fffbfffffffffffffff"),
        )
        for preset in PRESETS:
            begin, until, expected = preset_span(preset, start, end)
            found = postgresql.execute("SELECT * FROM flake.snowflake_range(%s, %s, %s)", (begin, until, preset))
            assert found.fetchone() == expected, preset


def test_postgresql_rejects_times_outside_a_format(postgresql: psycopg.Connection[Any]) -> None:
    for call in (
        "sno_lowest('2009-12-31Z')",
        "sno_lowest('2079-09-07 15:47:35.552Z')",
        "sno_highest('2010-01-01Z')",
        "sno_uuid8_lowest('infinity')",
        "sno_uuid8_lowest('-infinity')",
        "hotguid_lowest('1969-12-31Z')",
        "uuid7_lowest('1969-12-31Z')",
        "snowflake_lowest('2014-12-31Z', 'discord')",
        "snowflake_highest('2084-09-07Z', 'discord')",  # from 2^63 on, signed integers are negative
        "snowflake_lowest('2025-01-01Z', 'baidu')",
    ):
        with pytest.raises(psycopg.errors.DatetimeFieldOverflow, match="time_out_of_range"):
            postgresql.execute(f"SELECT flake.{call}")


def plan(connection: psycopg.Connection[Any], query: str) -> str:
    return "\n".join(line for (line,) in connection.execute(f"EXPLAIN (COSTS OFF, VERBOSE) {query}"))


def test_postgresql_inlines_each_function_that_reads_an_id(postgresql: psycopg.Connection[Any]) -> None:
    """A function that is not inlined costs several times as much per row."""
    forms = {"text": "text", "bytea": "bytea", "uuid": "uuid", "bigint": "bigint"}
    columns = ", ".join(f'{form}_id {form} COLLATE "C"' if form == "text" else f"{form}_id {form}" for form in forms)
    postgresql.execute(f"CREATE TEMP TABLE ids ({columns})")
    functions = postgresql.execute(
        "SELECT proname, pg_get_function_identity_arguments(oid) FROM pg_proc"
        " WHERE pronamespace = 'flake'::regnamespace AND proname !~ '^(unknown|time_of)_'"
        " AND proname ~ '_(time|ms|metabyte|partition|sequence|shard_key|field)$|^is_'"
    ).fetchall()
    assert len(functions) == 22
    for name, arguments in functions:
        form = arguments.split(",")[0].split()[1]
        name_arguments = (", 'discord'" if "preset" in arguments else "") + (
            ", 'worker'" if " field" in arguments else ""
        )
        call = f"flake.{name}({form}_id{name_arguments})"
        assert "flake." not in plan(postgresql, f"SELECT {call} FROM ids"), call


def test_postgresql_does_not_inline_expensive_arguments(postgresql: psycopg.Connection[Any]) -> None:
    """An inlined body would evaluate the argument several times. A call that is not inlined returns the same result."""
    with postgresql.transaction(force_rollback=True):
        postgresql.execute(
            "CREATE FUNCTION pg_temp.read(id text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN id; END';"
            'CREATE TEMP TABLE kept (id text COLLATE "C")'
        )
        postgresql.execute("INSERT INTO kept VALUES (%s)", [SNOS[5][0]])
        query = "SELECT flake.sno_time(pg_temp.read(id)) FROM kept"
        assert "flake.sno_time(" in plan(postgresql, query)
        assert fetch_value(postgresql, query) == SNOS[5][3]
        assert "flake." not in plan(postgresql, query.replace("pg_temp.read", "lower"))


def test_postgresql_functions_return_no_null_for_valid_ids(
    postgresql: psycopg.Connection[Any],
) -> None:
    for call in (
        "sno_time('\\xffffffffffffffffffff'::bytea)",
        "hotguid_time('ffffffff-ffff-ffff-ffff-ffffffffffff')",
        "snowflake_time(-1, 'discord')",
    ):
        assert fetch_value(postgresql, f"SELECT flake.{call}") is not None, call


def test_postgresql_functions_fix_their_search_path(postgresql: psycopg.Connection[Any]) -> None:
    """PostgreSQL resolves the names in an SQL-standard function body when the function is created. The functions that
    return a range contain only qualified names. All other functions have a SET clause.
    """
    qualified_calls = r"^ SELECT flake\.\w+\([$\d, ]+\), flake\.\w+\([$\d, ]+\) $"
    found = postgresql.execute(
        "SELECT lanname, proname ~ '_range$', bool_and(prosqlbody IS NOT NULL), bool_and(proconfig IS NOT NULL),"
        " bool_and(prosrc ~ %s) FROM pg_proc JOIN pg_language AS l ON l.oid = prolang"
        " WHERE pronamespace = 'flake'::regnamespace GROUP BY 1, 2 ORDER BY 1, 2",
        [qualified_calls],
    ).fetchall()
    assert found == [
        ("plpgsql", False, False, True, False),
        ("sql", False, True, False, False),
        ("sql", True, False, False, True),
    ]


def test_postgresql_functions_are_immutable_and_parallel_safe(
    postgresql: psycopg.Connection[Any],
) -> None:
    found = postgresql.execute(
        "SELECT DISTINCT provolatile, proparallel, obj_description(oid) IS NULL AND prolang <> "
        "(SELECT oid FROM pg_language WHERE lanname = 'plpgsql') FROM pg_proc"
        " WHERE pronamespace = 'flake'::regnamespace"
    )
    assert found.fetchall() == [("i", "s", False)]
    assert fetch_value(postgresql, "SELECT to_regnamespace('polyflake')") is None


def test_another_role_reads_ids_with_any_search_path(postgresql: psycopg.Connection[Any]) -> None:
    postgresql.execute("CREATE ROLE reader; CREATE SCHEMA trap; GRANT USAGE ON SCHEMA trap TO reader")
    postgresql.execute("CREATE FUNCTION trap.get_byte(bytea, int) RETURNS int LANGUAGE sql RETURN 0")
    postgresql.execute(
        "CREATE FUNCTION trap.to_timestamp(float8) RETURNS timestamptz LANGUAGE sql RETURN 'epoch'::timestamptz"
    )
    with postgresql.transaction():
        postgresql.execute("SET LOCAL ROLE reader; SET LOCAL search_path = trap, pg_catalog")
        for _, data, uuid, time, *_ in SNOS[-3:]:
            assert fetch_value(postgresql, "SELECT flake.sno_time(%s::bytea)", data) == time
            assert fetch_value(postgresql, "SELECT flake.sno_time(%s::uuid)", uuid) == time


def test_partitions_by_id_are_pruned_for_a_million_rows(postgresql: psycopg.Connection[Any]) -> None:
    """SQL functions compute the bounds of the partitions and of the queries. For a constant span, PostgreSQL prunes
    partitions during planning. For a span that depends on `now()`, it prunes them during execution.
    """
    postgresql.execute("CREATE TABLE orders (id uuid NOT NULL) PARTITION BY RANGE (id)")
    postgresql.execute("CREATE TABLE messages (id bigint NOT NULL) PARTITION BY RANGE (id)")
    weeks = [NEW_YEAR + 7 * DAY * week for week in range(5)]
    for week, (start, end) in enumerate(pairwise(weeks)):
        for table, call in (("orders", "sno_uuid8_lowest('{}')"), ("messages", "snowflake_lowest('{}', 'discord')")):
            low, high = (f"flake.{call.format(bound.isoformat())}" for bound in (start, end))
            create_partition = (
                f"CREATE UNLOGGED TABLE {table}_{week} PARTITION OF {table} FOR VALUES FROM ({low}) TO ({high})"
            )
            postgresql.execute(create_partition)
    # Insert one sno for every 2.4192 seconds of the four weeks into `orders`, which results in 250,000 rows per week.
    # Insert a tenth as many rows into `messages`.
    tick, ms = (int(NEW_YEAR.timestamp()) - 1262304000) * 250, int(NEW_YEAR.timestamp()) * 1000 - 1420070400000
    postgresql.execute(
        "INSERT INTO orders"
        " SELECT (lpad(to_hex((%s + n * 24192 / 40) << 1), 10, '0') || '0080008000000000000000')::uuid"
        " FROM generate_series(0, 999999::bigint) AS n",
        [tick],
    )
    postgresql.execute(
        "INSERT INTO messages SELECT (%s + n * 24192) << 22 FROM generate_series(0, 99999::bigint) AS n", [ms]
    )
    postgresql.execute("CREATE INDEX ON orders (id); CREATE INDEX ON messages (id); ANALYZE orders; ANALYZE messages")
    for table, rows in (("orders", 250_000), ("messages", 25_000)):
        sizes = postgresql.execute(f"SELECT count(*) FROM {table} GROUP BY tableoid").fetchall()
        assert sizes == [(rows,)] * 4
    # Reads all times in ID order.
    times_query = (
        "SELECT min(time), max(time), count(time) FROM (SELECT flake.sno_time(id) AS time FROM orders) AS read"
    )
    last_time = NEW_YEAR + timedelta(milliseconds=(999_999 * 24192 // 40) * 4)
    assert postgresql.execute(times_query).fetchone() == (NEW_YEAR, last_time, 1_000_000)
    day_bounds = "'2026-01-10Z', '2026-01-11Z'"
    for table, call, rows in (
        ("orders", f"sno_uuid8_range({day_bounds})", 35714),
        ("messages", f"snowflake_range({day_bounds}, 'discord')", 3571),
    ):
        query = f"SELECT count(*) FROM {table} AS t, flake.{call} AS r WHERE t.id BETWEEN r.lowest AND r.highest"
        found = plan(postgresql, query)
        assert f"{table}_1" in found and not re.search(rf"{table}_[023]", found), found
        assert "Index Cond" in found and "flake." not in found, found
        assert abs(fetch_value(postgresql, query) - rows) <= 1
    query = "SELECT count(*) FROM orders WHERE id >= flake.sno_uuid8_lowest(now() - (now() - '2026-01-22Z'))"
    found = "\n".join(line for (line,) in postgresql.execute(f"EXPLAIN (COSTS OFF, ANALYZE, TIMING OFF) {query}"))
    assert "Subplans Removed: 3" in found and "orders_3" in found, found


def test_the_postgresql_index_serves_id_ranges_but_no_time_filters(
    postgresql: psycopg.Connection[Any],
) -> None:
    with postgresql.transaction(force_rollback=True):
        postgresql.execute("CREATE TEMP TABLE bought (id uuid PRIMARY KEY); SET LOCAL enable_seqscan = off")
        by_id_query = "SELECT id FROM bought WHERE id >= flake.sno_uuid8_lowest('2026-01-05')"
        by_time_query = "SELECT id FROM bought WHERE flake.sno_time(id) >= '2026-01-05'"
        assert "Index Cond" in plan(postgresql, by_id_query)
        assert "Index Cond" not in plan(postgresql, by_time_query)


def test_an_empty_time_span_selects_no_rows(postgresql: psycopg.Connection[Any]) -> None:
    for start, end in (
        (NEW_YEAR, NEW_YEAR),
        (NEW_YEAR + DAY, NEW_YEAR),
        (NEW_YEAR + SECOND / 1000, NEW_YEAR + SECOND / 500),
    ):
        assert fetch_value(postgresql, "SELECT lowest > highest FROM flake.sno_uuid8_range(%s, %s)", start, end)


def blocks(heading: str) -> list[tuple[str, str | None]]:
    """Returns a section's statements, each with the time in its trailing comment, or `None` if there is no such
    time.
    """
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = []
    for block in re.findall(r"```sql\n(.*?)```", section, re.DOTALL):
        for statement, comment in re.findall(r"([^;]+);(?: -- (.*))?", block):
            found.append((statement.strip(), comment if re.match(r"\d{4}-", comment or "") else None))
    assert found
    return found


def test_the_page_shows_the_results_of_postgresql(postgresql: psycopg.Connection[Any]) -> None:
    with postgresql.transaction(force_rollback=True):
        postgresql.execute("SET LOCAL TIME ZONE 'UTC'; CREATE SCHEMA page; SET LOCAL search_path = page")
        result_count = 0
        for statement, expected in blocks("PostgreSQL"):
            executed_statement = f"{statement}::text" if expected else statement
            found = postgresql.execute(executed_statement)
            if expected:
                result_count += 1
                assert found.fetchone() == (expected,), statement
        assert result_count >= 6
        with pytest.raises(psycopg.errors.CheckViolation), postgresql.transaction():
            postgresql.execute("INSERT INTO tickets VALUES ('9d5ve8222622g22!')")


def test_the_page_shows_the_results_of_common_mistakes(postgresql: psycopg.Connection[Any]) -> None:
    section = PAGE.split("\n## Common mistakes\n")[1]
    assert "\n## " not in section
    page_statements = re.findall(
        r"([^;]+);(?: -- (.*))?\n", "".join(re.findall(r"```sql\n(.*?)```", section, re.DOTALL))
    )
    assert sum(bool(expected) for _, expected in page_statements) == 11
    with postgresql.transaction(force_rollback=True):
        postgresql.execute("CREATE SCHEMA mistakes; SET LOCAL search_path = mistakes")
        for statement, expected in page_statements:
            if expected:
                found = postgresql.execute(f"SELECT result::text FROM ({statement}) AS shown (result)")
                assert found.fetchone() == (expected,), statement
            else:
                postgresql.execute(statement)


def test_the_numbers_on_the_page_are_correct() -> None:
    assert (int(float(175928847299117063)), float(2**53)) == (175928847299117056, float(2**53 + 1))
    ids = [int(case["encrypted_id"]) for case in vectors("randflake")["cases"]]
    assert -6409233573807279069 in ids
    assert 0.25 < sum(id < 0 for id in ids) / len(ids) < 0.75
    assert int("ae3ek0mnbbd13", 32) == 12037510499902272547 == -6409233573807279069 % 2**64


def test_an_index_with_another_collation_is_not_used(postgresql: psycopg.Connection[Any]) -> None:
    with postgresql.transaction(force_rollback=True):
        postgresql.execute("SET LOCAL enable_seqscan = off")
        for collation, uses in (("C", True), ("en-x-icu", False)):
            postgresql.execute(f'CREATE TEMP TABLE "in_{collation}" (code text COLLATE "{collation}" PRIMARY KEY)')
            query = f'SELECT 1 FROM "in_{collation}" WHERE code COLLATE "C" >= flake.sno_lowest(\'2026-01-05Z\')'
            assert ("Index Cond" in plan(postgresql, query)) == uses, collation


def sql_server_sort_key(uuid: UUID) -> bytes:
    """Returns a key that sorts like `uniqueidentifier`. The key contains the UUID's groups of bytes, from the last
    group to the first.
    """
    data = uuid.bytes_le  # SQL Server stores the first three groups in this byte order
    return data[10:] + data[8:10] + data[6:8] + data[4:6] + data[:4]


def test_sql_server_sorts_only_to_sql_guids_by_time() -> None:
    snos = sorted(sno.Sno(low).uuid8 for low, *_ in SNOS)
    assert len(set(snos)) > 50 and sorted(snos, key=sql_server_sort_key) != snos
    guids = sorted(uuid for uuid, *_ in GUIDS)
    assert sorted(guids, key=lambda guid: sql_server_sort_key(hotguid.to_sql(guid))) == guids
    assert sorted(guids, key=sql_server_sort_key) != guids


def test_a_row_with_a_lower_id_can_appear_after_one_with_a_higher_id(server: Server) -> None:
    url = server.url()
    with psycopg.connect(url) as slow, psycopg.connect(url, autocommit=True) as fast:
        fast.execute("CREATE TABLE events (id bigint PRIMARY KEY)")
        slow.execute("INSERT INTO events VALUES (1)")
        fast.execute("INSERT INTO events VALUES (2)")
        last = fetch_value(fast, "SELECT max(id) FROM events")
        slow.commit()
        assert last == 2
        assert fetch_value(fast, "SELECT count(*) FROM events WHERE id > %s", last) == 0
        assert fetch_value(fast, "SELECT count(*) FROM events") == 2


# Randflake in PostgreSQL

RANDFLAKES = vectors("randflake")["cases"]


@pytest.fixture(scope="module")
def randflake_db(server: Server) -> Iterator[psycopg.Connection[Any]]:
    """Yields a connection to a database with the functions and the vectors' secrets. The name of each secret consists
    of its hexadecimal digits.
    """
    with psycopg.connect(server.url(), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute((ROOT / "crates/sql/randflake.sql").read_text(encoding="utf-8"))
        with cursor.copy("COPY randflake.keys (name, secret) FROM STDIN") as copied:
            for secret in {case["secret"] for case in RANDFLAKES}:
                copied.write_row((secret, bytes.fromhex(secret)))
        cursor.execute("SET TIME ZONE 'Asia/Tokyo'")
        yield connection


def test_postgresql_decrypts_each_randflake(randflake_db: psycopg.Connection[Any]) -> None:
    assert len(RANDFLAKES) > 20 and len({case["secret"] for case in RANDFLAKES}) > 2
    call = (
        "SELECT randflake.time(%(id)s, %(key)s), randflake.node(%(id)s, %(key)s), randflake.sequence(%(id)s, %(key)s)"
    )
    for case in RANDFLAKES:
        found = randflake_db.execute(call, {"id": int(case["encrypted_id"]), "key": case["secret"]}).fetchone()
        assert found == (datetime_at(case["timestamp"] * 1000), case["node_id"], case["sequence"]), case
    assert randflake_db.execute(call, {"id": None, "key": RANDFLAKES[0]["secret"]}).fetchone() == (None,) * 3
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=r"^invalid_secret: .*found 'orders'"):
        randflake_db.execute(call, {"id": 1, "key": "orders"})
    with pytest.raises(psycopg.errors.CheckViolation):
        randflake_db.execute("INSERT INTO randflake.keys (name, secret) VALUES ('short', '\\x00')")


def test_a_role_decrypts_randflakes_with_an_unreadable_secret(
    randflake_db: psycopg.Connection[Any],
) -> None:
    key = RANDFLAKES[0]["secret"]
    file = (ROOT / "crates/sql/randflake.sql").read_text(encoding="utf-8")
    grants = re.findall(r"^--     (GRANT .*;)$", file, re.MULTILINE)
    assert len(grants) == 2
    with randflake_db.transaction(force_rollback=True):
        randflake_db.execute("CREATE ROLE reports; CREATE ROLE stranger; GRANT CREATE ON SCHEMA public TO reports")
        for grant in grants:
            randflake_db.execute(grant)
        # Objects that the role creates must not affect the functions.
        randflake_db.execute(
            "SET LOCAL ROLE reports; SET LOCAL search_path = public, pg_catalog;"
            "CREATE FUNCTION public.to_timestamp(float8) RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz'"
        )
        id, time = int(RANDFLAKES[0]["encrypted_id"]), datetime_at(RANDFLAKES[0]["timestamp"] * 1000)
        assert fetch_value(randflake_db, "SELECT randflake.time(%s, %s)", id, key) == time
        for role, forbidden in (
            ("reports", "TABLE randflake.keys"),
            ("reports", f"SELECT randflake.fields(1, '{key}')"),
            ("reports", "SELECT randflake.subkeys('\\x00')"),
            ("stranger", f"SELECT randflake.time(1, '{key}')"),
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), randflake_db.transaction():
                randflake_db.execute(f"SET LOCAL ROLE {role}")
                randflake_db.execute(forbidden)


# DuckDB

#: Each form of a sno: its name in macros, its index in a row of `SNOS`, and its SQL type.
FORMS = (("sno", 0, "VARCHAR"), ("sno_blob", 1, "BLOB"), ("sno_uuid8", 2, "UUID"))


@pytest.fixture(scope="module")
def duckdb_with_macros() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yields a connection to a database with the macros. The SQL file is loaded twice, as in an upgrade."""
    with duckdb.connect() as connection:
        for _ in range(2):
            connection.execute((ROOT / "crates/sql/polyflake.duckdb.sql").read_text(encoding="utf-8"))
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        yield connection


def micros(time: datetime) -> int:
    """Converts a time to Unix microseconds, because older DuckDB versions need another package for ``datetime``
    values.
    """
    return (time - EPOCH) // timedelta(microseconds=1)


def select_value(connection: duckdb.DuckDBPyConnection, expression: str, *values: Any) -> Any:
    """Returns the value of an SQL expression."""
    row = connection.execute(f"SELECT {expression}", values).fetchone()
    assert row
    return row[0]


def test_duckdb_reads_a_sno_in_each_form(duckdb_with_macros: duckdb.DuckDBPyConnection) -> None:
    duckdb_with_macros.execute("CREATE TABLE snos (n INTEGER, sno VARCHAR, sno_blob BLOB, sno_uuid8 UUID)")
    duckdb_with_macros.executemany(
        "INSERT INTO snos VALUES (?, ?, ?, ?)", [(n, *row[:3]) for n, row in enumerate(SNOS)]
    )
    for form, *_ in FORMS:
        parts = ", ".join(f"flake.{form}_{part}({form})" for part in ("metabyte", "partition", "sequence"))
        found = duckdb_with_macros.execute(
            f"SELECT epoch_us(flake.{form}_time({form})), {parts} FROM snos ORDER BY n"
        ).fetchall()
        assert found == [(micros(row[3]), *row[4:]) for row in SNOS], form


def test_duckdb_returns_null_for_invalid_snos(duckdb_with_macros: duckdb.DuckDBPyConnection) -> None:
    invalid_values = {"sno": INVALID_STRINGS, "sno_blob": [b"", bytes(9), bytes(11)], "sno_uuid8": INVALID_UUIDS}
    for form, _, kind in FORMS:
        for one in invalid_values[form]:
            assert select_value(duckdb_with_macros, f"flake.is_{form}(?::{kind})", one) is False
            for part in ("time", "metabyte", "partition", "sequence"):
                assert select_value(duckdb_with_macros, f"flake.{form}_{part}(?::{kind})", one) is None, one
    with pytest.raises(duckdb.BinderException):
        select_value(duckdb_with_macros, "flake.sno_time(?::BLOB)", bytes(10))


def test_duckdb_reads_guids_and_the_ids_of_known_services(duckdb_with_macros: duckdb.DuckDBPyConnection) -> None:
    for id, time, shard_key in GUIDS:
        found = select_value(
            duckdb_with_macros,
            "(epoch_us(flake.hotguid_time(a)), flake.hotguid_shard_key(a)) FROM (SELECT ?::UUID AS a)",
            id,
        )
        assert found == (micros(time), shard_key)
    for id, time, shard_key in UUID8_GUIDS:
        found = select_value(
            duckdb_with_macros,
            "(epoch_us(flake.hotguid_time(a)), flake.hotguid_uuid8_shard_key(a)) FROM (SELECT ?::UUID AS a)",
            id,
        )
        assert found == (micros(time), shard_key)
    assert select_value(duckdb_with_macros, "flake.hotguid_uuid8_shard_key(?::UUID)", UUID7S[0][0]) is None
    for id, ms in UUID7S:
        assert select_value(duckdb_with_macros, "epoch_us(flake.uuid7_time(?::UUID))", id) == ms * 1000
    for id in [SNOS[0][2], UUID(int=0), UUID("017f22e2-79b0-7cc3-18c4-dc0c0c07398f")]:
        assert select_value(duckdb_with_macros, "flake.uuid7_time(?::UUID)", id) is None
    for preset, id, ms, parsed in FLAKES:
        assert (
            select_value(duckdb_with_macros, "epoch_us(flake.snowflake_time(?::BIGINT, ?))", id, preset.upper())
            == ms * 1000
        )
        for name, expected in fields(parsed).items():
            assert (
                select_value(duckdb_with_macros, "flake.snowflake_field(?::BIGINT, ?, ?)", id, preset, name) == expected
            )


def test_duckdb_reads_snowflakes_of_each_integer_type(duckdb_with_macros: duckdb.DuckDBPyConnection) -> None:
    """DuckDB performs arithmetic in the column's type, and a literal has the smallest type that can hold it."""
    names: dict[str, list[str]] = {}
    for preset, id, ms, parsed in FLAKES:
        names[preset] = list(fields(parsed))
        for unsigned in ("UBIGINT", "UHUGEINT"):
            assert select_value(duckdb_with_macros, f"flake.snowflake_ms(?::{unsigned}, ?)", id % 2**64, preset) == ms
    for preset, parts in names.items():
        read_expressions = [f"flake.snowflake_field(id, '{preset}', '{part}')" for part in parts]
        read_expressions += [f"flake.snowflake_ms(id, '{preset}')", f"epoch_us(flake.snowflake_time(id, '{preset}'))"]
        read = "({}) FROM (SELECT {{}} AS id)".format(", ".join(read_expressions))
        for id in (1, 127, -1, -(2**31)):
            expected = select_value(duckdb_with_macros, read.format(f"({id})::BIGINT"))
            for form in (f"{id}", f"({id})::TINYINT", f"({id})::INTEGER", f"({id})::HUGEINT"):
                if "TINY" not in form or -128 <= id < 128:
                    assert select_value(duckdb_with_macros, read.format(form)) == expected, (preset, form)
    for outside in (2**64, -(2**63) - 1):
        with pytest.raises(duckdb.ConversionException):
            select_value(duckdb_with_macros, f"flake.snowflake_ms({outside}, 'discord')")


@pytest.mark.parametrize(("call", "error"), UNKNOWN_VALUES)
def test_duckdb_names_an_unknown_preset_and_an_unknown_field(
    duckdb_with_macros: duckdb.DuckDBPyConnection, call: str, error: str
) -> None:
    with pytest.raises(duckdb.InvalidInputException, match=re.escape(f"Invalid Input Error: {error}")):
        select_value(duckdb_with_macros, call)


def test_duckdb_returns_null_for_null(duckdb_with_macros: duckdb.DuckDBPyConnection) -> None:
    for call in [*NULLS, "flake.sno_lowest(NULL)", "flake.uuid7_highest(NULL)"]:
        assert select_value(duckdb_with_macros, call) is None, call


def test_duckdb_bounds_match_the_vectors(duckdb_with_macros: duckdb.DuckDBPyConnection) -> None:
    for case in RANGES:
        for name in {"hotguid": ["hotguid"], "sno": ["sno", "sno_blob", "sno_uuid8"]}[case["family"]]:
            bounds = f"(flake.{name}_lowest(?::TIMESTAMPTZ), flake.{name}_highest(?::TIMESTAMPTZ))"
            span = datetime_at(case["from_ms"]), datetime_at(case["to_ms"])
            if "error" in case:
                with pytest.raises(duckdb.InvalidInputException, match=case["error"]):
                    select_value(duckdb_with_macros, bounds, *span)
                continue
            form = "sno_bytea" if name == "sno_blob" else name
            assert select_value(duckdb_with_macros, bounds, *span) == tuple(
                parse_bound(form, case[end]) for end in ("lowest", "highest")
            )
    for start, end in SPANS:
        for preset in PRESETS:
            begin, until, expected = preset_span(preset, start, end)
            bounds = "(flake.snowflake_lowest(?::TIMESTAMPTZ, ?), flake.snowflake_highest(?::TIMESTAMPTZ, ?))"
            assert select_value(duckdb_with_macros, bounds, begin, preset, until, preset) == expected, preset
    low, high = select_value(
        duckdb_with_macros, "(flake.uuid7_lowest('2026-01-01 00:00:00Z'), flake.uuid7_highest('2026-01-02 00:00:00Z'))"
    )
    assert (low, high) == (
        UUID(f"{int(NEW_YEAR.timestamp()) * 1000:012x}70008000000000000000"),
        UUID(f"{int((NEW_YEAR + DAY).timestamp()) * 1000 - 1:012x}7fffbfffffffffffffff"),
    )


@pytest.mark.parametrize(
    "call",
    [
        "sno_lowest('2009-12-31 00:00:00Z')",
        "sno_highest('2010-01-01 00:00:00Z')",
        "sno_uuid8_lowest('infinity')",
        "hotguid_lowest('1969-12-31 23:59:59Z')",
        "uuid7_lowest('1969-12-31 23:59:59.999Z')",
        "snowflake_highest('2084-09-07 00:00:00Z', 'discord')",
        "snowflake_lowest('2025-01-01 00:00:00Z', 'baidu')",
    ],
)
def test_duckdb_rejects_times_outside_a_format(duckdb_with_macros: duckdb.DuckDBPyConnection, call: str) -> None:
    with pytest.raises(duckdb.InvalidInputException, match="time_out_of_range"):
        select_value(duckdb_with_macros, f"flake.{call}")


# SQLite


def format_iso(ms: int) -> str | None:
    """Returns a time in the format that the SQL file uses, or `None` for times after the year 9999, which SQLite does
    not support.
    """
    time = datetime_at(ms) if ms < 253402300800000 else None
    return time and f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z"


def test_sqlite_columns_read_each_id() -> None:
    file = (ROOT / "crates/sql/polyflake.sqlite.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(file)

        def read(table: str, id: Any, columns: str) -> tuple[Any, ...]:
            connection.execute(f"DELETE FROM {table}")
            connection.execute(f"INSERT INTO {table} (id) VALUES (?)", [id])
            return connection.execute(f"SELECT {columns}, time FROM {table}").fetchone()

        parts = "ms, metabyte, partition, sequence"
        for text, data, uuid, time, *expected in SNOS:
            ms = (time - EPOCH) // (SECOND / 1000)
            for table, id in (("sno_strings", text), ("sno_blobs", data), *uuid_forms("sno_uuids", uuid)):
                assert read(table, id, parts) == (ms, *expected, format_iso(ms)), id
        strings = [*INVALID_STRINGS, SNOS[5][0] + "\0", SNOS[5][0] + "\0x", SNOS[5][1]]
        invalid_values = [("sno_strings", text) for text in strings]
        invalid_values += [("sno_blobs", data) for data in (b"", bytes(9), bytes(11), SNOS[5][0][:10])]
        invalid_values += [
            one for uuid in [*INVALID_UUIDS, *(id for id, _ in UUID7S)] for one in uuid_forms("sno_uuids", uuid)
        ]
        invalid_values += [("sno_uuids", "not a UUID"), ("sno_uuids", 7)]
        for table, id in invalid_values:
            assert read(table, id, parts) == (None,) * 5, id
        for uuid, time, shard_key in GUIDS:
            ms = (time - EPOCH) // (SECOND / 1000)
            for table, id in uuid_forms("hotguids", uuid):
                assert read(table, id, "ms, shard_key") == (ms, shard_key, format_iso(ms))
        for uuid, time, shard_key in UUID8_GUIDS:
            ms = (time - EPOCH) // (SECOND / 1000)
            for table, id in uuid_forms("hotguids", uuid):
                assert read(table, id, "ms, uuid8_shard_key") == (ms, shard_key, format_iso(ms))
        for uuid, ms in UUID7S:
            for table, id in uuid_forms("uuid7s", uuid):
                assert read(table, id, "ms") == (ms, format_iso(ms))
        for table, id in uuid_forms("uuid7s", SNOS[0][2]):
            assert read(table, id, "ms") == (None, None)
        for preset, id, ms, parsed in FLAKES:
            names, expected = zip(*fields(parsed).items(), strict=True)
            assert read(f"{preset}_ids", id, f"ms, {', '.join(names)}") == (ms, *expected, format_iso(ms))


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16"])
def test_sqlite_rejects_strings_that_resemble_ids(encoding: str) -> None:
    """A UUID string must contain all four hyphens or none. A string may continue after a NUL, at which GLOB and
    `length` stop.
    """
    ids = {"sno_strings": [SNOS[5][0]]}
    for table, uuid in (("sno_uuids", SNOS[5][2]), ("hotguids", UUID8_GUIDS[0][0]), ("uuid7s", UUID7S[0][0])):
        ids[table] = [uuid.hex, str(uuid), str(uuid).upper()]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.executescript((ROOT / "crates/sql/polyflake.sqlite.sql").read_text(encoding="utf-8"))

        def is_valid(table: str, id: Any) -> Any:
            connection.execute(f"DELETE FROM {table}")
            connection.execute(f"INSERT INTO {table} (id) VALUES (?)", [id])
            return connection.execute(f"SELECT is_valid FROM {table}").fetchone()[0]

        for table, forms in ids.items():
            for id in forms:
                assert is_valid(table, id) == 1, id
                wrong = [id[:place] + "-" + id[place:] for place in range(len(id) + 1)]
                wrong += [id[:place] + "-" + id[place + 1 :] for place in range(len(id)) if id[place] != "-"]
                wrong += [id[:place] + id[place + 1 :] for place in range(len(id))]
                wrong += [id[:place] + "\0" + id[place + 1 :] for place in range(len(id))]
                wrong += ["-".join(id), id + "\0", id + "\0junk", id[:-1] + "\u0661", f"{{{id}}}", id.encode(), ""]
                for one in wrong:
                    assert is_valid(table, one) == 0, one


def test_sqlite_reads_the_shard_key_only_of_version_8_uuids() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript((ROOT / "crates/sql/polyflake.sqlite.sql").read_text(encoding="utf-8"))
        (version8, _, shard_key), others = UUID8_GUIDS[0], [UUID7S[0][0], UUID(int=0)]
        others += [UUID(int=version8.int & ~(3 << 62)), UUID(int=version8.int ^ 1 << 76)]  # another variant or version
        for uuid, expected in [(version8, shard_key), *((other, None) for other in others)]:
            for _, id in uuid_forms("hotguids", uuid):
                connection.execute("INSERT INTO hotguids (id) VALUES (?)", [id])
                found = connection.execute("SELECT uuid8_shard_key, is_valid FROM hotguids WHERE id = ?", [id])
                assert found.fetchone() == (expected, 1), id


def uuid_forms(table: str, uuid: UUID) -> list[tuple[str, Any]]:
    """Returns the three forms in which libraries store a UUID in SQLite."""
    return [(table, uuid.bytes), (table, uuid.hex), (table, str(uuid))]


def test_the_page_shows_the_results_of_duckdb_and_sqlite(duckdb_with_macros: duckdb.DuckDBPyConnection) -> None:
    duckdb_with_macros.execute("SET TimeZone = 'UTC'; CREATE SCHEMA page; USE page")
    with closing(sqlite3.connect(":memory:")) as lite:
        connections: list[tuple[str, Any, str]] = [("DuckDB", duckdb_with_macros, "::VARCHAR"), ("SQLite", lite, "")]
        for heading, connection, as_text in connections:
            found = [
                (connection.execute(f"SELECT ({statement.removeprefix('SELECT ')}){as_text}").fetchone()[0], expected)
                if expected and as_text
                else (connection.execute(statement).fetchall(), expected and [(expected,)])
                for statement, expected in blocks(heading)
            ]
            stated_results = [(answer, expected) for answer, expected in found if expected]
            assert stated_results and all(answer == expected for answer, expected in stated_results), stated_results
        assert found[-1] == ([(175928847299117063,)], None)
        query = blocks("SQLite")[-1][0]
        (plan,) = lite.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
        assert "SEARCH" in plan[3] and "PRIMARY KEY" in plan[3]


def test_the_mariadb_expressions_on_the_page_work(mariadb: MariaDb) -> None:
    """The expressions for SQL Server and BigQuery are not tested, because neither database is available to the
    tests.
    """
    found = [statement.split("\n")[-1] for statement, _ in blocks("MySQL, MariaDB, SQL Server and BigQuery")][:2]
    messages = [(id, ms) for preset, id, ms, _ in FLAKES if preset == "discord" and 0 <= id < 2**60]
    orders = [(data, time) for _, data, _, time, *_ in SNOS if time < EPOCH + 60 * 365 * DAY]
    assert len(messages) >= 4 and len(orders) > 50
    with closing(mariadb.connect(database=mariadb.database())) as connection:
        cursor = connection.cursor()
        cursor.execute("SET time_zone = '+00:00'")
        cursor.execute("CREATE TABLE messages (id BIGINT)")
        cursor.execute("CREATE TABLE orders (id BINARY(10))")
        cursor.executemany("INSERT INTO messages VALUES (%s)", [[id] for id, _ in messages])
        cursor.executemany("INSERT INTO orders VALUES (%s)", [[data] for data, _ in orders])
        for query, times in zip(
            found, ([datetime_at(ms) for _, ms in messages], [time for _, time in orders]), strict=True
        ):
            cursor.execute(query)
            assert sorted(time for (time,) in cursor.fetchall()) == sorted(time.replace(tzinfo=None) for time in times)


def test_the_clickhouse_expressions_on_the_page_work() -> None:
    """`chdb` is a large package, so it is not installed for every test run."""
    chdb = pytest.importorskip("chdb", reason="pip install chdb, to run the expressions of ClickHouse")
    (flake, expected), (of_string, _), (of_bytes, _) = blocks("ClickHouse")

    def read(query: str) -> list[str]:
        return str(chdb.query(query, "TSVRaw")).splitlines()

    assert expected and read(flake) == [expected]
    strings = ", ".join(f"'{text}'" for text, *_ in SNOS)
    columns = ", ".join(f"unhex('{data.hex()}')" for _, data, *_ in SNOS)
    times = [f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03}" for _, _, _, time, *_ in SNOS]
    orders = "FROM (SELECT arrayJoin([{}])::{} AS id)"
    assert read(of_string.replace("FROM orders", orders.format(strings, "String"))) == times
    assert read(of_bytes.replace("FROM orders", orders.format(columns, "FixedString(10)"))) == times
