"""The statements of docs/databases.md, as they are written there."""

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
from ids import GUID_SPAN, GUIDS, IDS, SNO_SPAN

PAGE = (Path(__file__).parents[2] / "docs/databases.md").read_text(encoding="utf-8")
ROWS: list[dict[str, Any]] = [
    {"bytes": bytes(id), "uuid8": id.uuid8, "text": str(id), "guid": guid} for id, guid in zip(IDS, GUIDS, strict=True)
]
SPAN = {
    f"{end}_{name}": value
    for end, id, guid in zip(("lowest", "highest"), SNO_SPAN, GUID_SPAN, strict=True)
    for name, value in {"bytes": bytes(id), "uuid8": id.uuid8, "text": str(id), "guid": guid}.items()
}


def statements(heading: str) -> tuple[str, list[str]]:
    """The statement that makes the table, and those that ask."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table, *questions = re.findall(r"[^;]+;", section.split("```sql\n")[1].split("```")[0])
    assert len(questions) == 3
    return table, questions


def test_postgresqls_statements_find_what_was_made_in_the_span(server: Server) -> None:
    table, questions = statements("PostgreSQL")
    with psycopg.connect(server.url()) as connection:
        connection.execute(table)
        insert = "INSERT INTO orders VALUES (%(uuid8)s, %(text)s, %(guid)s, 1)"
        connection.cursor().executemany(insert, list(reversed(ROWS)))
        for question in questions:
            found = connection.execute(re.sub(r":(\w+)", r"%(\1)s", question), SPAN).fetchall()
            assert [id for (id,) in found] == [row["uuid8"] for row in ROWS[5:10]], question


def test_postgresqls_newest_id_needs_no_max(server: Server) -> None:
    (newest,) = re.findall(r"^SELECT id FROM orders ORDER BY .* LIMIT 1;$", PAGE, re.MULTILINE)
    with psycopg.connect(server.url()) as connection:
        for column, made in (("uuid", "uuid8"), ("bytea", "bytes")):
            connection.execute(f"CREATE TABLE orders (id {column} PRIMARY KEY)")
            connection.cursor().executemany(f"INSERT INTO orders VALUES (%({made})s)", ROWS)
            assert connection.execute(newest).fetchall() == [(ROWS[-1][made],)]
            connection.execute("DROP TABLE orders")


def test_sqlite_finds_no_text_in_a_blob() -> None:
    (advice,) = re.findall(r"SQLite never finds a text equal to a `BLOB`, .* For a `BLOB`, pass `(.+?)`", PAGE)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE orders (id BLOB)")
        connection.execute("INSERT INTO orders VALUES (?)", [bytes(IDS[0])])
        found = [
            connection.execute("SELECT count(*) FROM orders WHERE id = ?", [id]).fetchone()[0]
            for id in (IDS[0], eval(advice, {"id": IDS[0]}))
        ]
        assert found == [0, 1]


def test_mariadbs_statements_find_what_was_made_in_the_span(mariadb: MariaDb) -> None:
    table, questions = statements("MySQL and MariaDB")
    with closing(mariadb.connect(database=mariadb.database())) as connection:
        cursor = connection.cursor()
        cursor.execute(table)
        # Its driver takes bytes and texts, not UUIDs.
        rows = [{**row, "guid": row["guid"].bytes} for row in reversed(ROWS)]
        cursor.executemany("INSERT INTO orders VALUES (%(bytes)s, %(text)s, %(guid)s, 1)", rows)
        span = {name: value.bytes if isinstance(value, UUID) else value for name, value in SPAN.items()}
        for question in questions:
            cursor.execute(re.sub(r":(\w+)", r"%(\1)s", question), span)
            assert [id for (id,) in cursor.fetchall()] == [row["bytes"] for row in ROWS[5:10]], question
            cursor.execute("EXPLAIN " + re.sub(r":(\w+)", r"%(\1)s", question), span)
            (plan,) = cursor.fetchall()
            assert "range" in plan, plan  # by an index, without a conversion of the column


def test_sqlites_statements_find_what_was_made_in_the_span() -> None:
    table, questions = statements("SQLite")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(table)
        rows = [{**row, "guid": str(row["guid"]), "uuid8": None} for row in reversed(ROWS)]
        connection.executemany("INSERT INTO orders VALUES (:bytes, :text, :guid, 1)", rows)
        span = {name: value if isinstance(value, bytes) else str(value) for name, value in SPAN.items()}
        for question in questions:
            found = connection.execute(question, span).fetchall()
            assert [id for (id,) in found] == [row["bytes"] for row in ROWS[5:10]], question


@pytest.mark.parametrize(
    "database", ["PostgreSQL", "MySQL, MariaDB", "SQLite", "SQL Server", "MongoDB", "DynamoDB", "ClickHouse"]
)
def test_every_database_has_a_column_for_each_family(database: str) -> None:
    (row,) = re.findall(rf"^\| {database} \|(.*)\|$", PAGE, re.MULTILINE)
    assert all(column.strip() for column in row.split(" | ")) and row.count(" | ") == 2
