"""Runs the SQL statements from the documentation's pages about databases as they are written on those pages."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from conftest import MariaDb, Server
from ids import GUID_SPAN, GUIDS, HOUR_MS, IDS, NOW_MS, POST_IDS, SNO_SPAN

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "guide/store.md").read_text(encoding="utf-8")
POSTGRESQL_PAGE = (DOCS / "integrations/postgresql.md").read_text(encoding="utf-8")
ROWS: list[dict[str, Any]] = [
    {"bytes": bytes(id), "uuid8": id.uuid8, "text": str(id), "guid": guid} for id, guid in zip(IDS, GUIDS, strict=True)
]
SPAN = {
    f"{end}_{name}": value
    for end, id, guid in zip(("lowest", "highest"), SNO_SPAN, GUID_SPAN, strict=True)
    for name, value in {"bytes": bytes(id), "uuid8": id.uuid8, "text": str(id), "guid": guid}.items()
}


def statements(heading: str, page: str = PAGE) -> tuple[str, list[str]]:
    """Returns a section's statement that creates the table, and its queries."""
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table, *queries = re.findall(r"[^;]+;", section.split("```sql\n")[1].split("```")[0])
    assert len(queries) == 3
    return table, queries


def test_postgresql_statements_find_ids_in_a_time_span(server: Server) -> None:
    table, queries = statements("Columns and queries", POSTGRESQL_PAGE)
    with psycopg.connect(server.url()) as connection:
        connection.execute(table)
        insert = "INSERT INTO orders VALUES (%(uuid8)s, %(text)s, %(guid)s, 1)"
        connection.cursor().executemany(insert, list(reversed(ROWS)))
        for query in queries:
            found = connection.execute(re.sub(r":(\w+)", r"%(\1)s", query), SPAN).fetchall()
            assert [id for (id,) in found] == [row["uuid8"] for row in ROWS[5:10]], query


def test_postgresql_finds_the_newest_id_without_max(server: Server) -> None:
    (newest,) = re.findall(r"^SELECT id FROM orders ORDER BY .* LIMIT 1;$", POSTGRESQL_PAGE, re.MULTILINE)
    with psycopg.connect(server.url()) as connection:
        for column, made in (("uuid", "uuid8"), ("bytea", "bytes")):
            connection.execute(f"CREATE TABLE orders (id {column} PRIMARY KEY)")
            connection.cursor().executemany(f"INSERT INTO orders VALUES (%({made})s)", ROWS)
            assert connection.execute(newest).fetchall() == [(ROWS[-1][made],)]
            connection.execute("DROP TABLE orders")


def test_sqlite_never_matches_a_string_with_a_blob() -> None:
    (advice,) = re.findall(r"a string is never equal to a `BLOB`, .* For a `BLOB` column, pass `(.+?)`", PAGE)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE orders (id BLOB)")
        connection.execute("INSERT INTO orders VALUES (?)", [bytes(IDS[0])])
        counts = [
            connection.execute("SELECT count(*) FROM orders WHERE id = ?", [id]).fetchone()[0]
            for id in (IDS[0], eval(advice, {"id": IDS[0]}))
        ]
        assert counts == [0, 1]


def test_expressions_read_the_time_of_an_id(server: Server) -> None:
    section = POSTGRESQL_PAGE.split("## The creation time of an ID\n")[1].split("```sql\n")[1].split("```")[0]
    queries = dict(reversed(one) for one in re.findall(r"(SELECT [^;]+);  -- (\w+)", section))
    columns = {"uuid8": "uuid", "bytes": "bytea", "text": "text", "hotguid": "uuid", "twitter": "bigint"}
    ids_by_form = {
        **{form: [row[form] for row in ROWS] for form in ("uuid8", "bytes", "text")},
        "hotguid": GUIDS,
        "twitter": POST_IDS,
    }
    assert set(queries) == set(columns)
    with psycopg.connect(server.url()) as connection:
        for form, column in columns.items():
            connection.execute(f"CREATE TABLE orders (id {column})")
            connection.cursor().executemany("INSERT INTO orders VALUES (%s)", [[id] for id in ids_by_form[form]])
            found = [time.timestamp() * 1000 for (time,) in connection.execute(queries[form])]
            assert found == [NOW_MS + hour * HOUR_MS for hour in range(20)], form
            connection.execute("DROP TABLE orders")


#: ICU's codes for the languages that the page lists.
REORDERING_LANGUAGES = "da nb fo cs sk hsb dsb br hr bs sr-Latn hu sq cy uz az ee haw ceb fil ha ig om to yo"


def test_the_listed_collations_reorder_snos(server: Server) -> None:
    """Strings of three characters suffice, because no language has a letter that consists of more than three characters
    of sno's alphabet.
    """
    alphabet_query = "SELECT substr('23456789abcdefghijklmnopqrstuvwx', k, 1) AS c FROM generate_series(1, 32) k"
    with psycopg.connect(server.url()) as connection:
        connection.execute(
            f"CREATE TABLE texts AS WITH c AS ({alphabet_query}) SELECT a.c || b.c || '2' AS text FROM c a, c b"
        )
        for name in (*REORDERING_LANGUAGES.split(), "en"):
            sorted_texts = connection.execute(f'SELECT text FROM texts ORDER BY text COLLATE "{name}-x-icu"').fetchall()
            assert (sorted_texts == sorted(sorted_texts)) == (name == "en"), name


def test_mariadb_statements_find_ids_in_a_time_span(mariadb: MariaDb) -> None:
    table, queries = statements("MySQL and MariaDB")
    with closing(mariadb.connect(database=mariadb.database())) as connection:
        cursor = connection.cursor()
        cursor.execute(table)
        # MariaDB's driver accepts bytes and strings, but not UUIDs.
        rows = [{**row, "guid": row["guid"].bytes} for row in reversed(ROWS)]
        cursor.executemany("INSERT INTO orders VALUES (%(bytes)s, %(text)s, %(guid)s, 1)", rows)
        span = {name: value.bytes if isinstance(value, UUID) else value for name, value in SPAN.items()}
        for query in queries:
            cursor.execute(re.sub(r":(\w+)", r"%(\1)s", query), span)
            assert [id for (id,) in cursor.fetchall()] == [row["bytes"] for row in ROWS[5:10]], query
            cursor.execute("EXPLAIN " + re.sub(r":(\w+)", r"%(\1)s", query), span)
            (plan,) = cursor.fetchall()
            assert "range" in plan, plan  # an index lookup that does not convert the column


def test_sqlite_statements_find_ids_in_a_time_span() -> None:
    table, queries = statements("SQLite")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(table)
        rows = [{**row, "guid": str(row["guid"]), "uuid8": None} for row in reversed(ROWS)]
        connection.executemany("INSERT INTO orders VALUES (:bytes, :text, :guid, 1)", rows)
        span = {name: value if isinstance(value, bytes) else str(value) for name, value in SPAN.items()}
        for query in queries:
            found = connection.execute(query, span).fetchall()
            assert [id for (id,) in found] == [row["bytes"] for row in ROWS[5:10]], query


@pytest.mark.parametrize(
    "database", ["PostgreSQL", "MySQL, MariaDB", "SQLite", "SQL Server", "MongoDB", "DynamoDB", "ClickHouse"]
)
def test_every_database_has_a_column_for_each_format(database: str) -> None:
    (formats,) = re.findall(r"^\| \| (sno \| .*) \|$", PAGE, re.MULTILINE)
    (row,) = re.findall(rf"^\| {database} \| (.*) \|$", PAGE, re.MULTILINE)
    columns = row.split(" | ")
    assert all(columns) and len(columns) == len(formats.split(" | "))
