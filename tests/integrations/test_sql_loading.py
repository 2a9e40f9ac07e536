"""Loads the SQL files for PostgreSQL: over objects of another role, over an earlier version, and in the caller's
transaction.
"""

from __future__ import annotations

import importlib.metadata
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
    """The owner of an adopted function could replace it, and run code with the rights of each caller."""
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


def test_a_member_of_the_owning_role_loads_a_file_as_the_owner(admin: psycopg.Connection[Any]) -> None:
    """Otherwise, the owner of the schema could not replace the functions of a member."""
    file = read_file("polyflake.sql")
    admin.execute("CREATE ROLE deployer; GRANT mallory TO deployer; SET ROLE mallory")
    admin.execute(file)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match=r"to belong to deployer, found the schema flake"):
        admin.execute("RESET ROLE; SET ROLE deployer")
        admin.execute(file)
    admin.execute("SET ROLE mallory")
    admin.execute(file)
    admin.execute("RESET ROLE; DROP ROLE deployer")


# Transactions and the session


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_part_of_the_callers_transaction(admin: psycopg.Connection[Any], file: str) -> None:
    settings = "SELECT current_setting('search_path'), txid_current_if_assigned() IS NOT NULL"
    admin.execute("SET search_path = trap, public")
    with admin.transaction(force_rollback=True):
        admin.execute("CREATE TABLE public.kept (n int)")
        admin.execute(read_file(file))
        assert admin.execute(settings).fetchone() == ("trap, public", True)
    schema = FILES[file][0]
    assert admin.execute("SELECT to_regclass('public.kept'), to_regnamespace(%s)", [schema]).fetchone() == (None, None)
    admin.execute(read_file(file))
    assert admin.execute(settings).fetchone() == ("trap, public", False)


def test_the_callers_search_path_does_not_change_what_a_file_creates(admin: psycopg.Connection[Any]) -> None:
    admin.execute(
        "CREATE SCHEMA trap; SET search_path = trap, pg_catalog;"
        "CREATE FUNCTION trap.get_byte(bytea, int) RETURNS int LANGUAGE sql RETURN 0;"
        "CREATE FUNCTION trap.to_timestamp(float8) RETURNS timestamptz LANGUAGE sql RETURN 'epoch'::timestamptz;"
        "CREATE DOMAIN trap.text AS pg_catalog.text CHECK (false)"
    )
    admin.execute(read_file("polyflake.sql"))
    row = admin.execute("SELECT flake.sno_time('9d5ve8222622g222'::pg_catalog.text) = '2026-01-01Z'").fetchone()
    assert row == (True,)


# Versions


def version(admin: psycopg.Connection[Any], function: str) -> str:
    row = admin.execute(f"SELECT {function}()").fetchone()
    assert row
    return row[0]


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("polyflake.sql", "flake.version"),
        ("randflake.sql", "randflake.version"),
        ("public.sql", "polyflake_public.version"),
        ("layout sql", "flake.discord_version"),
    ],
)
def test_a_file_updates_the_functions_of_an_earlier_version(
    admin: psycopg.Connection[Any], file: str, function: str
) -> None:
    current, (schema, replaced, returns) = read_file(file), FILES[file]
    admin.execute(current.replace(f"'{importlib.metadata.version('polyflake')}'", "'0.0.9'"))
    assert version(admin, function) == "0.0.9"
    # A function that returned something else, a function that exists no longer, and rights.
    admin.execute(
        f"CREATE OR REPLACE FUNCTION {schema}.{replaced} RETURNS {returns} LANGUAGE sql IMMUTABLE"
        f" AS 'SELECT NULL::{returns}'; CREATE FUNCTION {schema}.removed() RETURNS int LANGUAGE sql AS 'SELECT 1';"
        f"GRANT EXECUTE ON FUNCTION {schema}.{replaced} TO mallory"
    )
    for _ in range(2):
        admin.execute(current)
        assert version(admin, function) == importlib.metadata.version("polyflake")
        row = admin.execute(
            "SELECT prosrc ~ 'NULL::', has_function_privilege('mallory', oid, 'EXECUTE') FROM pg_proc"
            " WHERE pronamespace = %s::regnamespace AND proname || '(' || pg_get_function_arguments(oid) || ')' = %s",
            [schema, replaced.replace("int[]", "integer[]")],
        ).fetchone()
        assert row == (False, True)


def test_an_update_keeps_indexes_and_keys(admin: psycopg.Connection[Any]) -> None:
    for file in ("polyflake.sql", "public.sql", "randflake.sql"):
        admin.execute(read_file(file))
    admin.execute(
        'CREATE TABLE tickets (code text COLLATE "C" CHECK (flake.is_sno(code)));'
        "CREATE INDEX by_time ON tickets (flake.sno_time(code));"
        "INSERT INTO polyflake_public.secrets VALUES (1, sha256('a')); SELECT polyflake_public.add('order');"
        "INSERT INTO randflake.keys (name, secret) VALUES ('orders', substr(sha256('b'), 1, 16))"
    )
    calls = "SELECT polyflake_public.encode('order', 42), randflake.time(1, 'orders')"
    before = admin.execute(calls).fetchone()
    for file in ("polyflake.sql", "public.sql", "randflake.sql"):
        admin.execute(read_file(file))
    assert admin.execute(calls).fetchone() == before
    assert admin.execute("SELECT to_regclass('by_time') IS NOT NULL").fetchone() == (True,)


@pytest.mark.parametrize("file", FILES)
def test_dropping_the_schema_removes_a_file(admin: psycopg.Connection[Any], file: str) -> None:
    schema = FILES[file][0]
    objects = "SELECT classid, count(*) FROM pg_depend WHERE objid >= 16384 GROUP BY classid ORDER BY classid"
    before = admin.execute(objects).fetchall()
    admin.execute(read_file(file))
    assert admin.execute(objects).fetchall() != before
    admin.execute(f"DROP SCHEMA {schema} CASCADE")
    assert admin.execute(objects).fetchall() == before


# Rights


@pytest.mark.parametrize("file", ["polyflake.sql", "layout sql"])
def test_every_role_calls_functions_that_read_ids(admin: psycopg.Connection[Any], file: str) -> None:
    """Also if the owner has revoked the right that `PUBLIC` has by default."""
    admin.execute("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC")
    admin.execute(read_file(file))
    admin.execute("SET ROLE mallory; SELECT flake.time_of_ms(0)")
    if file == "polyflake.sql":
        admin.execute(
            "SELECT flake.sno_time('9d5ve8222622g222'), * FROM flake.snowflake_range(now(), now(), 'discord')"
        )
    row = admin.execute(
        "SELECT count(*) FROM pg_proc WHERE pronamespace = 'flake'::regnamespace"
        " AND NOT has_function_privilege(oid, 'EXECUTE')"
    ).fetchone()
    assert row == (0,)


def test_the_file_of_public_ids_changes_nothing_of_the_leases(server: Server, admin: psycopg.Connection[Any]) -> None:
    lease_tables = (ROOT / "lease/sql/postgresql.sql").read_text(encoding="utf-8")
    rights = "GRANT USAGE ON SCHEMA polyflake TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA polyflake TO PUBLIC"
    admin.execute(read_file("public.sql"))
    admin.execute(f"{lease_tables}; {rights}")
    admin.execute(read_file("public.sql"))
    admin.execute("INSERT INTO polyflake_public.secrets VALUES (1, sha256('a'))")
    admin.execute("SET ROLE mallory; TABLE polyflake.polyflake_leases; RESET ROLE")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        admin.execute("SET ROLE mallory; TABLE polyflake_public.secrets")
    dump = shutil.which("pg_dump", path=server.programs) or pytest.skip("no pg_dump on this machine")
    url = f"postgresql://test@/{admin.info.dbname}?host={server.folder}"
    command = [dump, "--schema=polyflake", url]
    dumped = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert "polyflake_leases" in dumped and "secrets" not in dumped
