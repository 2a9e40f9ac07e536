"""Tests the page of common mistakes. In a database, each mistake must lose rows, and the advice on the page must
prevent the loss.
"""

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
from ids import IDS, POST_IDS, SNO_SPAN
from polyflake.sno import Sno

PAGE = (Path(__file__).parents[2] / "docs/pitfalls.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def statements(heading: str) -> list[str]:
    """Returns a section's SQL statements, converted to psycopg's parameter syntax."""
    (block,) = re.findall(r"```sql\n(.*?)```", section(heading), re.DOTALL)
    return [re.sub(r":(\w+)", r"%(\1)s", one.strip()) for one in re.findall(r"([^;]+);(?: *--.*)?", block)]


def test_paging_by_time_loses_rows_but_paging_by_id_does_not(server: Server) -> None:
    by_time, by_id, by_both = statements("Paging by a time, or with OFFSET")
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE orders (id bigint PRIMARY KEY, created_at timestamptz NOT NULL)")
        connection.execute("CREATE INDEX ON orders (created_at, id)")
        # Four transactions insert five orders each. All orders of a transaction have the same time.
        rows = [(id, f"2026-01-0{n // 5 + 1}") for n, id in enumerate(POST_IDS)]
        connection.cursor().executemany("INSERT INTO orders VALUES (%s, %s)", rows)

        def read_all_pages(query: str) -> list[int]:
            is_by_time = "WHERE created_at" in query
            last_values: dict[str, Any] = {
                "last": "-infinity" if is_by_time else 0,
                "last_time": "-infinity",
                "last_id": 0,
            }
            found: list[int] = []
            while page := connection.execute(query.replace("LIMIT 50", "LIMIT 3"), last_values).fetchall():
                found += [id for id, _ in page]
                id, time = page[-1]
                last_values = {"last": time if is_by_time else id, "last_time": time, "last_id": id}
            return found

        assert len(set(read_all_pages(by_time))) == 12 < len(POST_IDS)
        assert read_all_pages(by_id) == POST_IDS == read_all_pages(by_both)
        connection.execute("SET enable_seqscan = off")
        for query in (by_id, by_both):
            values = {"last": 1, "last_time": "2026-01-02", "last_id": 1}
            assert "Index Cond" in str(connection.execute(f"EXPLAIN {query}", values).fetchall()), query
        # Inserting a row before the page shifts all following rows, so OFFSET returns one row twice.
        newest_first_query = "SELECT id FROM orders ORDER BY id DESC LIMIT 3 OFFSET "
        first_page = connection.execute(newest_first_query + "0").fetchall()
        connection.execute("INSERT INTO orders VALUES (%s, now())", [POST_IDS[-1] + 1])
        assert connection.execute(newest_first_query + "3").fetchall()[0] == first_page[-1]


def test_two_forms_of_an_id_are_different_values(server: Server) -> None:
    (counted,) = statements("Two forms of an ID in one column")
    with psycopg.connect(server.url()) as connection:
        for column, forms in (
            ("uuid", (IDS[0].uuid8, IDS[0].uuid)),
            ('text COLLATE "C"', (str(IDS[0]), str(IDS[0].uuid8))),
        ):
            connection.execute(f"CREATE TABLE orders (id {column} PRIMARY KEY)")
            for form in forms:  # neither the key nor the database rejects it
                connection.execute("INSERT INTO orders VALUES (%s)", [form])
            old, new = forms
            count_row = connection.execute("SELECT count(*) FROM orders WHERE id = %s", [new]).fetchone()
            assert count_row == (1,) and connection.execute("SELECT count(*) FROM orders").fetchone() == (2,), old
            connection.execute("DROP TABLE orders")
        connection.execute('CREATE TABLE orders (id text COLLATE "C" PRIMARY KEY)')
        connection.cursor().executemany("INSERT INTO orders VALUES (%s)", [[str(id)] for id in IDS])
        random_uuids = [UUID(f"9{n:07x}-1111-4111-8111-111111111111") for n in range(0, 2**28, 2**20)]
        connection.cursor().executemany("INSERT INTO orders VALUES (%s)", [[str(uuid)] for uuid in random_uuids])
        span = {"lowest": str(SNO_SPAN[0]), "highest": str(SNO_SPAN[1])}
        wrong_query = "SELECT count(*) FROM orders WHERE id BETWEEN %(lowest)s AND %(highest)s"
        wide_span = {"lowest": "92222222", "highest": "9xxxxxxx"}
        assert connection.execute(wrong_query, wide_span).fetchone() != (len(IDS),), "expected UUIDs among the snos"
        assert connection.execute(counted, wide_span).fetchone() == (len(IDS),)
        assert connection.execute(counted, span).fetchone() == (5,)


def test_a_foreign_key_in_another_form_matches_no_row() -> None:
    assert "32 hexadecimal digits" in section("Foreign keys in a different form from the key")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(
            "CREATE TABLE customers (id TEXT PRIMARY KEY); CREATE TABLE orders (customer TEXT REFERENCES customers)"
        )
        id = IDS[0].uuid8
        connection.execute("INSERT INTO customers VALUES (?)", [str(id)])
        connection.execute("INSERT INTO orders VALUES (?)", [id.hex])
        join_query = "SELECT count(*) FROM orders JOIN customers ON customers.id = customer"
        assert connection.execute(join_query).fetchone() == (0,)
        connection.commit()
        connection.execute("PRAGMA foreign_keys = ON")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("INSERT INTO orders VALUES (?)", [id.hex])
        connection.execute("INSERT INTO orders VALUES (?)", [str(id)])
        assert connection.execute(join_query).fetchone() == (1,)


def test_a_hash_distributes_ids_and_a_remainder_does_not(server: Server) -> None:
    remainder, hashed = statements("Sharding by `id % n`")
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE orders (id bigint PRIMARY KEY)")
        slow_ids = [((id >> 22) + 1000 * n) << 22 for n, id in enumerate(POST_IDS * 20)]
        connection.cursor().executemany("INSERT INTO orders VALUES (%s)", [[id] for id in slow_ids])
        assert connection.execute(remainder).fetchall() == [(0, 400)]
        spread = connection.execute(hashed).fetchall()
        assert len(spread) == 16 and max(rows for _, rows in spread) < 60


def test_mariadb_language_collations_sort_and_compare_differently(mariadb: MariaDb) -> None:
    """According to MySQL's manual, its Danish and case-insensitive collations behave identically."""
    assert "letter case" in section("Storing strings under a language's collation")
    early, late = "9aaaaaaa55aaaaaa", "9afikjv326nct5if"
    assert Sno(early).unix_ms < Sno(late).unix_ms
    with closing(mariadb.connect(database=mariadb.database())) as connection:
        cursor = connection.cursor()
        for column, sorted_by_time, finds_upper_case in (
            ("CHAR(16) CHARACTER SET ascii COLLATE ascii_bin", True, 0),
            ("CHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_danish_ci", False, 1),
            ("CHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", True, 1),
        ):
            cursor.execute(f"CREATE TABLE orders (id {column} PRIMARY KEY)")
            cursor.execute("INSERT INTO orders VALUES (%s), (%s)", (early, late))
            cursor.execute("SELECT id FROM orders ORDER BY id")
            assert ([id for (id,) in cursor.fetchall()] == [early, late]) == sorted_by_time, column
            cursor.execute("SELECT count(*) FROM orders WHERE id = %s", [late.upper()])
            assert cursor.fetchone() == (finds_upper_case,), column
            cursor.execute("DROP TABLE orders")


def test_snos_start_with_a_digit_until_the_documented_day() -> None:
    """A CSS identifier starts with a letter."""
    (day,) = re.findall(r"before (June 3, 2027)", section("Using an ID as a CSS selector"))
    before, first = (Sno.from_parts(tick=(8 << 34) + k, partition=0, sequence=0, metabyte=0) for k in (-1, 0))
    assert (str(before)[0], str(first)[0]) == ("9", "a")
    assert day == f"{first.datetime:%B} {first.datetime.day}, {first.datetime.year}"
