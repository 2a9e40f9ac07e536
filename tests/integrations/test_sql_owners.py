"""The SQL files for PostgreSQL, loaded into a schema that exists already: one of another role, or one from an earlier
load.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from conftest import Server
from test_sql import ROOT, run_program

#: Each file, and the output of `polyflake layout sql`, with its schema and one of its functions.
FILES = {
    "polyflake.sql": ("flake", "sno_time(id text)", "timestamptz"),
    "randflake.sql": ("randflake", "decrypt(block bigint, k int[])", "bigint"),
    "public.sql": ("polyflake_public", "decode(type text, id text)", "bigint"),
    "layout sql": ("flake", "time_of_ms(ms bigint)", "timestamptz"),
}


def read_file(name: str) -> str:
    if name == "layout sql":
        return run_program("layout", "sql", "discord")
    return (ROOT / "crates/sql" / name).read_text(encoding="utf-8")


@pytest.fixture
def admin(server: Server) -> Iterator[psycopg.Connection[Any]]:
    """Yields a superuser's connection to an empty database, in which the role `mallory` may create schemas."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("CREATE ROLE mallory")
        connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO mallory")
        yield connection
        connection.execute("RESET ROLE; DROP OWNED BY mallory CASCADE; DROP ROLE mallory")


def create_as_mallory(admin: psycopg.Connection[Any], file: str) -> None:
    """Creates the schema of a file, and one of its functions, as another role does before the file is loaded."""
    schema, function, returns = FILES[file]
    admin.execute(
        f"SET ROLE mallory; CREATE SCHEMA {schema}; CREATE FUNCTION {schema}.{function} RETURNS {returns}"
        f" LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT NULL::{returns}'; RESET ROLE"
    )


def count_functions(admin: psycopg.Connection[Any], schema: str) -> int:
    row = admin.execute("SELECT count(*) FROM pg_proc WHERE pronamespace = %s::regnamespace", [schema]).fetchone()
    assert row
    return row[0]


@pytest.mark.parametrize("file", FILES)
def test_a_file_stops_at_objects_of_another_role(admin: psycopg.Connection[Any], file: str) -> None:
    schema, function, _ = FILES[file]
    create_as_mallory(admin, file)
    for found, remedy in (
        (f"the schema {schema} of the role mallory", f"ALTER SCHEMA {schema} OWNER TO test"),
        (f"the function {schema}.*of the role mallory", f"DROP FUNCTION {schema}.{function}"),
        (f"the relation {schema}.keys of the role mallory", f"DROP TABLE {schema}.keys"),
        ("the privilege CREATE of the role mallory", f"REVOKE CREATE ON SCHEMA {schema} FROM mallory"),
        ("the privilege CREATE of the role PUBLIC", f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC"),
    ):
        if "keys" in found:
            admin.execute(f"GRANT CREATE ON SCHEMA {schema} TO mallory, PUBLIC")
            admin.execute(f"SET ROLE mallory; CREATE TABLE {schema}.keys (n int); RESET ROLE")
        message = f"^expected the schema {schema} and its objects to belong to test, found {found}"
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match=message):
            admin.execute(read_file(file))
        admin.execute(remedy)
    assert count_functions(admin, schema) == 0
    admin.execute(read_file(file))


@pytest.mark.parametrize("file", FILES)
def test_psql_without_options_creates_nothing_next_to_objects_of_another_role(
    server: Server, admin: psycopg.Connection[Any], file: str
) -> None:
    """Without `ON_ERROR_STOP` and `--single-transaction`, psql continues after the error, with status 0."""
    psql = shutil.which("psql") or pytest.skip("no psql on this machine")
    create_as_mallory(admin, file)
    url = f"postgresql://test@/{admin.info.dbname}?host={server.folder}"
    subprocess.run([psql, "-X", "--quiet", url], input=read_file(file), check=True, text=True, capture_output=True)
    assert count_functions(admin, FILES[file][0]) == 1


def test_the_owner_of_an_adopted_function_gets_no_rights_of_its_callers(
    server: Server, admin: psycopg.Connection[Any]
) -> None:
    create_as_mallory(admin, "polyflake.sql")
    try:
        admin.execute(read_file("polyflake.sql"))
    except psycopg.errors.InsufficientPrivilege:
        return
    admin.execute(
        "SET ROLE mallory; CREATE OR REPLACE FUNCTION flake.sno_time(id text) RETURNS timestamptz LANGUAGE plpgsql"
        " AS 'BEGIN ALTER ROLE mallory SUPERUSER; RETURN now(); END'; RESET ROLE"
    )
    admin.execute("SELECT flake.sno_time('9d5ve8222622g222')")
    row = admin.execute("SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'").fetchone()
    assert row == (False,)
