"""Tests IDs with sqlite3, psycopg and asyncpg, and how PostgreSQL handles version 8 UUIDs."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import Any
from uuid import UUID

import asyncpg
import psycopg
import pytest

import polyflake.asyncpg
import polyflake.psycopg
import polyflake.sqlite3
from conftest import Server
from ids import FORMS, GUID_SPAN, GUIDS, IDS, INTEGERS, SNO_SPAN, UUID8_GUIDS
from polyflake import hotguid, sno, uuid7
from polyflake.sno import Sno

COLUMNS = {"text": 'varchar(16) COLLATE "C"', "bytes": "bytea", "uuid8": "uuid", "uuid": "uuid"}
READ: dict[str, Any] = {"text": Sno, "bytes": Sno.from_bytes, "uuid8": Sno.from_uuid8, "uuid": Sno.from_uuid}


def test_sqlite3_stores_ids_and_reads_declared_columns() -> None:
    polyflake.sqlite3.register()
    with closing(sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES)) as database:
        database.execute("CREATE TABLE t (id SNO PRIMARY KEY, guid HOTGUID, plain TEXT) WITHOUT ROWID")
        rows = list(zip(IDS, GUIDS, IDS, strict=True))
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", reversed(rows))
        found_rows = database.execute("SELECT * FROM t ORDER BY id").fetchall()
        assert found_rows == [(id, guid, str(id)) for id, guid, _ in rows]
        found_rows = database.execute("SELECT id FROM t WHERE id BETWEEN ? AND ? ORDER BY id", SNO_SPAN).fetchall()
        assert found_rows == [(id,) for id in IDS[5:10]]
        found_rows = database.execute(
            "SELECT guid FROM t WHERE guid BETWEEN ? AND ? ORDER BY guid", GUID_SPAN
        ).fetchall()
        assert found_rows == [(id,) for id in GUIDS[5:10]]


def test_conform_supports_only_the_sqlite3_protocol() -> None:
    assert IDS[0].__conform__(object()) is None
    assert IDS[0].__conform__(int) is None
    assert IDS[0].__conform__(sqlite3.PrepareProtocol) == str(IDS[0])


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_psycopg_stores_ids(server: Server, form: Any, binary: bool) -> None:
    with psycopg.connect(server.url()) as connection:
        polyflake.psycopg.register(connection, form=form)
        connection.execute(f"CREATE TABLE t (id {COLUMNS[form]} PRIMARY KEY)")
        placeholder = "%b" if binary else "%s"
        connection.cursor().executemany(f"INSERT INTO t VALUES ({placeholder})", [(id,) for id in reversed(IDS)])
        found = connection.execute("SELECT id FROM t ORDER BY id", binary=binary).fetchall()
        assert [READ[form](id) for (id,) in found] == IDS
        span_query = f"SELECT id FROM t WHERE id BETWEEN {placeholder} AND {placeholder} ORDER BY id"
        assert [READ[form](id) for (id,) in connection.execute(span_query, SNO_SPAN).fetchall()] == IDS[5:10]


def test_an_unknown_form_is_rejected_with_the_valid_names() -> None:
    message = "expected form 'text', 'bytes', 'uuid8' or 'uuid', found 'binary'"
    for refused in (
        lambda form: polyflake.psycopg.register(form=form),
        lambda form: asyncio.run(polyflake.asyncpg.register(None, form=form)),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            refused("binary")
        assert (caught.value.code, caught.value.field) == ("out_of_range", "form")  # type: ignore[attr-defined]


def test_psycopg_registers_for_all_connections(server: Server) -> None:
    polyflake.psycopg.register()
    with psycopg.connect(server.url()) as connection:
        assert connection.execute("SELECT %s", [IDS[0]]).fetchone() == (str(IDS[0]),)


# Column types, and values that are not valid IDs for them.
COPIED: dict[str, list[tuple[str, Any]]] = {
    "text": [("text", "x"), ("varchar", "x")],
    "bytes": [("bytea", b"x")],
    "uuid8": [("uuid", GUIDS[0])],
    "uuid": [("uuid", GUIDS[0])],
}


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(("form", "column", "other"), [(form, *one) for form in FORMS for one in COPIED[form]])
def test_psycopg_copies_ids_and_other_values(server: Server, form: Any, column: str, other: Any, binary: bool) -> None:
    with psycopg.connect(server.url()) as connection:
        polyflake.psycopg.register(connection, form=form)
        connection.execute(f"CREATE TABLE t (id {column}, other {column})")
        with connection.cursor().copy(f"COPY t FROM STDIN {'WITH BINARY' if binary else ''}") as copy:
            copy.set_types([column, column])
            copy.write_row([IDS[0], other])
        ((id, found),) = connection.execute("SELECT * FROM t").fetchall()
        assert (READ[form](id), found) == (IDS[0], other)


@pytest.mark.parametrize("form", FORMS)
def test_asyncpg_stores_ids(server: Server, form: Any) -> None:
    async def store_and_read_ids() -> None:
        connection = await asyncpg.connect(server.url())
        try:
            await polyflake.asyncpg.register(connection, form=form)
            await connection.execute(f"CREATE TABLE t (id {COLUMNS[form]} PRIMARY KEY)")
            await connection.executemany("INSERT INTO t VALUES ($1)", [(id,) for id in reversed(IDS)])
            assert [READ[form](id) for (id,) in await connection.fetch("SELECT id FROM t ORDER BY id")] == IDS
            span_query = "SELECT id FROM t WHERE id BETWEEN $1 AND $2 ORDER BY id"
            found = await connection.fetch(span_query, *SNO_SPAN)
            assert [READ[form](id) for (id,) in found] == IDS[5:10]
            # PostgreSQL would expect an array of `text` here, but for that type, asyncpg supports only its built-in
            # codec.
            cast = "::varchar[]" if form == "text" else ""
            assert await connection.fetchval(f"SELECT count(*) FROM t WHERE id = any($1{cast})", IDS[:3]) == 3
            plain_value = {"text": "x", "bytes": b"x", "uuid8": GUIDS[0], "uuid": str(GUIDS[0])}[form]
            column_type = COLUMNS[form].split()[0]
            assert str(await connection.fetchval(f"SELECT $1::{column_type}", plain_value)) == str(plain_value)
        finally:
            await connection.close()

    asyncio.run(store_and_read_ids())


@pytest.mark.parametrize("value", [10, [0] * 10, "x" * 10, GUIDS[0], True])
def test_asyncpg_rejects_other_values_for_bytes(server: Server, value: object) -> None:
    async def store_and_reject_values() -> None:
        connection = await asyncpg.connect(server.url())
        try:
            await polyflake.asyncpg.register(connection, form="bytes")
            for taken in (b"x", bytearray(b"x"), memoryview(b"x")):
                assert await connection.fetchval("SELECT $1::bytea", taken) == b"x"
            with pytest.raises(asyncpg.DataError):
                await connection.fetchval("SELECT $1::bytea", value)
        finally:
            await connection.close()

    asyncio.run(store_and_reject_values())


def test_postgresql_sorts_hot_guids_of_both_forms_by_time(server: Server) -> None:
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE t (id uuid PRIMARY KEY, number bigint)")
        connection.cursor().executemany(
            "INSERT INTO t VALUES (%s, NULL)", [(id,) for id in reversed(GUIDS + UUID8_GUIDS)]
        )
        found = [id for (id,) in connection.execute("SELECT id FROM t ORDER BY id").fetchall()]
        assert found == sorted(GUIDS + UUID8_GUIDS)
        span = connection.execute("SELECT id FROM t WHERE id BETWEEN %s AND %s", GUID_SPAN).fetchall()
        assert {id for (id,) in span} == {*GUIDS[5:10], *UUID8_GUIDS[5:10]}
        # In PostgreSQL, a cast leaves a UUID string unchanged, and the version digit is at the standard position.
        for id in (hotguid.Generator(uuid8=True).generate(7), sno.generate(7).uuid8):
            row = connection.execute("SELECT %s::uuid, substr(%s::uuid::text, 15, 1)", [str(id), str(id)]).fetchone()
            assert row == (id, "8")
            assert (UUID(str(id)).version, id.variant) == (8, "specified in RFC 4122")


def test_postgresql_sorts_version_7_uuids_like_python(server: Server) -> None:
    ids = uuid7.generate_many(100)
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE t (id uuid PRIMARY KEY)")
        connection.cursor().executemany("INSERT INTO t VALUES (%s)", [(id,) for id in reversed(ids)])
        found = connection.execute("SELECT id, substr(id::text, 15, 1) FROM t ORDER BY id").fetchall()
        assert found == [(id, "7") for id in ids]
        first_ms = uuid7.unix_ms(ids[0])
        span = uuid7.time_range(first_ms, first_ms + 1)
        found = connection.execute("SELECT id FROM t WHERE id BETWEEN %s AND %s ORDER BY id", span).fetchall()
        assert found == [(id,) for id in ids if uuid7.unix_ms(id) == first_ms]


def test_integers_sort_as_in_the_database(server: Server) -> None:
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
        connection.cursor().executemany("INSERT INTO t VALUES (%s)", [(id,) for id in reversed(INTEGERS)])
        assert [id for (id,) in connection.execute("SELECT id FROM t ORDER BY id").fetchall()] == INTEGERS
