"""Public IDs in Pydantic, FastAPI, Django REST framework, SQLAlchemy and PostgreSQL, and the recipe from Sqids."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import psycopg
import pytest
import sqlalchemy as sa
from jsonschema import Draft202012Validator
from psycopg.errors import InsufficientPrivilege
from pydantic import BaseModel, TypeAdapter, ValidationError
from rest_framework import serializers

from conftest import Server, import_or_skip
from polyflake import OutOfRangeError, PolyflakeError, public
from polyflake.django import PublicIdConverter
from polyflake.pydantic import PublicId
from polyflake.rest_framework import PublicIdField
from polyflake.sqlalchemy import PublicIdType, render_item

ROOT = Path(__file__).parents[2]
CASES = json.loads((ROOT / "tests/vectors/public.json").read_text(encoding="utf-8"))["cases"]
PUBLIC_SQL = (ROOT / "crates/sql/public.sql").read_text(encoding="utf-8")
KEYRING = public.Keyring(bytes(range(32)))
ORDERS, PEOPLE = KEYRING.of("order"), KEYRING.of("person")
PUBLIC_ID = ORDERS.encode(42)
#: Strings that cannot be decoded, with their error codes.
INVALID_VALUES = [
    ("42", "type_mismatch"),
    (PEOPLE.encode(42), "type_mismatch"),
    (PUBLIC_ID[:-1], "invalid_length"),
    (PUBLIC_ID.upper().replace("ORDER", "order"), "invalid_character"),
    (PUBLIC_ID[:-2] + ("00" if PUBLIC_ID[-2] != "0" else "10"), "check_failed"),
    (public.Keyring({7: bytes(32)}).of("order").encode(42), "unknown_version"),
    (KEYRING.of("order", 64).encode(2**63), "unknown_id"),
]


class Order(BaseModel):
    id: Annotated[int, PublicId(ORDERS)]
    buyer: Annotated[int, PublicId(PEOPLE, numbers=True)] | None = None


def test_pydantic_reads_and_writes_public_ids() -> None:
    order = Order(id=PUBLIC_ID, buyer=7)  # type: ignore[arg-type]
    assert (order.id, order.buyer) == (42, 7)
    assert order.model_dump() == {"id": 42, "buyer": 7}
    assert json.loads(order.model_dump_json()) == {"id": PUBLIC_ID, "buyer": PEOPLE.encode(7)}
    assert Order.model_validate_json(order.model_dump_json()) == order
    for wrong in (-1, 2**48, True, 1.5):
        with pytest.raises(ValidationError):
            Order(id=PUBLIC_ID, buyer=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("given", "code"), [*INVALID_VALUES, (42, "invalid_type"), (None, "invalid_type")])
def test_pydantic_rejects_invalid_ids_with_their_code(given: Any, code: str) -> None:
    for read, value in ((Order.model_validate, {"id": given}), (Order.model_validate_json, json.dumps({"id": given}))):
        with pytest.raises(ValidationError) as caught:
            read(value)
        (error,) = caught.value.errors()
        assert (error["type"], error["loc"]) == (code, ("id",))


def test_json_numbers_are_rejected() -> None:
    for number in ("7", "true"):
        with pytest.raises(ValidationError):
            Order.model_validate_json(f'{{"id": "{PUBLIC_ID}", "buyer": {number}}}')


def test_the_json_schema_has_the_pattern_of_public_ids() -> None:
    schema = TypeAdapter(Annotated[int, PublicId(ORDERS)]).json_schema()
    validator = Draft202012Validator(schema)
    assert all(validator.is_valid(ORDERS.encode(number)) for number in range(100))
    assert not any(validator.is_valid(text) for text, code in INVALID_VALUES if code.startswith(("type", "invalid")))
    assert not validator.is_valid(f"{PUBLIC_ID}\n")


def test_the_rest_framework_field_reads_and_writes_public_ids() -> None:
    class Serializer(serializers.Serializer):  # type: ignore[type-arg]
        id = PublicIdField(ORDERS)

    assert Serializer({"id": 42}).data == {"id": PUBLIC_ID}
    serializer = Serializer(data={"id": PUBLIC_ID})
    assert serializer.is_valid()
    assert serializer.validated_data == {"id": 42}
    for given, code in [*INVALID_VALUES, (42, "invalid_type")]:
        serializer = Serializer(data={"id": given})
        assert not serializer.is_valid()
        assert serializer.errors["id"][0].code == code
    assert copy.deepcopy(PublicIdField(ORDERS)).of is ORDERS


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> Any:
    is_sqlite = request.param == "sqlite"
    engine = sa.create_engine("sqlite://" if is_sqlite else request.getfixturevalue("server").url("postgresql+psycopg"))
    yield engine
    engine.dispose()


def test_sqlalchemy_stores_integers_and_returns_public_ids(engine: sa.Engine) -> None:
    table = sa.Table("orders", sa.MetaData(), sa.Column("id", PublicIdType(ORDERS), primary_key=True))
    with engine.connect() as connection:
        table.create(connection)
        assert connection.execute(table.insert()).inserted_primary_key == (ORDERS.encode(1),)
        connection.execute(table.insert(), [{"id": PUBLIC_ID}, {"id": 7}])
        assert connection.exec_driver_sql("SELECT id FROM orders ORDER BY id").scalars().all() == [1, 7, 42]
        for same in (PUBLIC_ID, 42):
            assert connection.scalar(sa.select(table.c.id).where(table.c.id == same)) == PUBLIC_ID
            literal = sa.select(table).where(table.c.id == same).compile(engine, compile_kwargs={"literal_binds": True})
            assert connection.exec_driver_sql(str(literal)).scalar() == 42
        assert connection.scalar(sa.select(sa.cast(None, PublicIdType(ORDERS)))) is None
        for given, _ in [*INVALID_VALUES, (True, ""), (-1, "")]:
            with pytest.raises((PolyflakeError, sa.exc.StatementError)):
                connection.execute(sa.select(table).where(table.c.id == given))
    rendered_type = render_item("type", PublicIdType(ORDERS), None)
    migrated_table = sa.Table(
        "migrated", sa.MetaData(), sa.Column("id", eval(str(rendered_type), {"sa": sa}), primary_key=True)
    )
    with engine.begin() as connection:
        migrated_table.create(connection)
        connection.exec_driver_sql("INSERT INTO migrated DEFAULT VALUES")
        reflected_type = sa.inspect(connection).get_columns("migrated")[0]["type"]
        assert str(reflected_type) == ("INTEGER" if engine.dialect.name == "sqlite" else "BIGINT")


def test_a_type_that_is_wider_than_its_column_is_rejected_when_it_is_created() -> None:
    class WideConverter(PublicIdConverter):
        of = KEYRING.of("order", bits=64)

    create_all: list[Callable[[], Any]] = [
        WideConverter,
        lambda: PublicIdType(WideConverter.of),
        lambda: PublicIdField(WideConverter.of),
    ]
    for create in create_all:
        with pytest.raises(OutOfRangeError, match=r"bits from 1 to 63 .*found 64") as error:
            create()
        assert (error.value.code, error.value.field) == ("out_of_range", "bits")
    for accepted in (PublicIdType, PublicIdField):
        accepted(KEYRING.of("order", bits=63))


def test_the_fastapi_example_works(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    testclient = import_or_skip("fastapi.testclient")
    monkeypatch.setenv("DATABASE_URL", server.url("postgresql+psycopg"))
    monkeypatch.setenv("PUBLIC_IDS_SECRET", bytes(range(32)).hex())
    code = (ROOT / "examples/public/app.py").read_text(encoding="utf-8")
    scope: dict[str, Any] = {"__name__": "public_app"}
    exec(compile(code, "app.py", "exec", dont_inherit=True), scope)
    client = testclient.TestClient(scope["app"])

    ada = client.post("/people", params={"name": "Ada"}).json()
    assert ada == {"id": PEOPLE.encode(1), "name": "Ada"}
    create_response = client.post("/orders", json={"buyer": ada["id"], "item": "tea"})
    assert (create_response.status_code, create_response.json()) == (
        200,
        {"id": ORDERS.encode(1), "buyer": ada["id"], "item": "tea"},
    )
    get_response = client.get(f"/orders/{create_response.json()['id']}")
    assert (get_response.status_code, get_response.json()) == (200, create_response.json())
    assert client.get(f"/orders/{ORDERS.encode(2)}").status_code == 404
    assert client.post("/orders", json={"buyer": PEOPLE.encode(9), "item": "tea"}).status_code == 404
    for wrong, code in INVALID_VALUES:
        response = client.get(f"/orders/{wrong}")
        assert (response.status_code, response.json()["detail"][0]["type"]) == (422, code)
    assert client.post("/orders", json={"buyer": 1, "item": "tea"}).status_code == 422
    scope["engine"].dispose()


@pytest.fixture(scope="module")
def database(server: Server) -> str:
    """Creates a database that contains the objects of the SQL file, and returns its URL."""
    url = server.url()
    with psycopg.connect(url) as connection:
        connection.execute(PUBLIC_SQL)
    return url


def create_types(connection: psycopg.Connection[Any], rows: dict[int, bytes], *types: tuple[str, int]) -> None:
    """Follows the instructions in the SQL file: inserts the secrets, creates the types, and deletes the secrets."""
    with connection.cursor() as cursor:
        with cursor.copy("COPY polyflake_public.secrets FROM STDIN") as copied:
            for row in rows.items():
                copied.write_row(row)
        for of in types:
            cursor.execute("SELECT polyflake_public.add(%s, bits => %s)", of)
        cursor.execute("DELETE FROM polyflake_public.secrets")


def test_postgresql_matches_the_vectors(database: str) -> None:
    encode_decode_query = (
        "SELECT polyflake_public.encode(%(type)s, %(number)s), polyflake_public.decode(%(type)s, %(text)s)"
    )
    with psycopg.connect(database) as connection:
        for case in CASES:
            create_types(connection, {case["version"]: bytes.fromhex(case["secret"])}, (case["type"], case["bits"]))
            number = int(case["number"])
            signed = number - (1 << 64) if number >> 63 else number
            row = connection.execute(encode_decode_query, {**case, "number": signed}).fetchone()
            assert row == (case["text"], signed)
            connection.execute("DELETE FROM polyflake_public.keys")
        connection.rollback()


def test_postgresql_rejects_the_same_strings_as_the_library(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection, connection.transaction(force_rollback=True):
        create_types(connection, {1: bytes(range(32)), 2: bytes(32)}, ("order", 48), ("post", 63))
        two_version_keyring = public.Keyring({1: bytes(range(32)), 2: bytes(32)})
        orders, posts = two_version_keyring.of("order"), two_version_keyring.of("post", 63)
        for of, bits, numbers in ((orders, 48, [0, 1, 2**48 - 1]), (posts, 63, [2**48, 2**63 - 1])):
            for number in numbers:
                encode_decode_query = "SELECT polyflake_public.encode(%s, %s), polyflake_public.decode(%s, %s)"
                old_public_id = KEYRING.of(of.name, bits).encode(number)
                row = connection.execute(encode_decode_query, (of.name, number, of.name, old_public_id)).fetchone()
                assert row == (of.encode(number), number)
        for text, code in INVALID_VALUES:
            with pytest.raises(psycopg.errors.InvalidParameterValue, match=rf"^{code}"), connection.transaction():
                connection.execute("SELECT polyflake_public.decode('order', %s)", [text])
        for number in (-1, 2**48):
            with pytest.raises(psycopg.errors.NumericValueOutOfRange, match=r"^out_of_range"), connection.transaction():
                connection.execute("SELECT polyflake_public.encode('order', %s)", [number])
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="expected a type"), connection.transaction():
            connection.execute("SELECT polyflake_public.encode('invoice', 1)")
        with pytest.raises(psycopg.errors.RaiseException, match="expected a secret"), connection.transaction():
            connection.execute("SELECT polyflake_public.add('invoice')")
        with pytest.raises(psycopg.errors.RaiseException, match="expected the bits"), connection.transaction():
            create_types(connection, {3: bytes(32)}, ("order", 63))
        for name in ("Order", "", "x" * 64):
            with pytest.raises(PolyflakeError):
                KEYRING.of(name)
            with pytest.raises(psycopg.errors.CheckViolation), connection.transaction():
                create_types(connection, {1: bytes(32)}, (name, 48))
        null_result = connection.execute(
            "SELECT polyflake_public.encode('order', NULL), polyflake_public.decode('order', NULL)"
        )
        assert null_result.fetchone() == (None, None)


def test_postgresql_can_write_a_version_other_than_the_highest(database: str) -> None:
    old, new = bytes(range(32)), bytes(32)
    with psycopg.connect(database) as connection:
        create_types(connection, {1: old, 2: new}, ("order", 48))
        for version, secret in ((1, old), (2, new)):
            connection.execute("SELECT polyflake_public.write(%s)", [version])
            encoded_row = connection.execute("SELECT polyflake_public.encode('order', 42)").fetchone()
            assert encoded_row == (public.Keyring({version: secret}).of("order").encode(42),)
        with pytest.raises(psycopg.errors.RaiseException, match=r"^unknown_version"), connection.transaction():
            connection.execute("SELECT polyflake_public.write(3)")
        connection.rollback()


def test_a_postgresql_role_uses_keys_that_it_cannot_read(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection, connection.transaction(force_rollback=True):
        create_types(connection, {1: bytes(range(32))}, ("order", 48))
        connection.execute("CREATE ROLE shop; CREATE ROLE stranger")
        grants = re.findall(r"^--     (GRANT .*;)$", PUBLIC_SQL, re.MULTILINE)
        assert len(grants) == 2
        for grant in grants:
            connection.execute(grant)
        connection.execute("GRANT CREATE ON SCHEMA public TO shop; SET ROLE shop")
        # Objects that the role creates must not affect the functions.
        connection.execute(
            "CREATE FUNCTION public.substr(text, int, int) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$"
        )
        connection.execute("CREATE TEMPORARY TABLE keys (type text, version int, bits int, subkeys int[])")
        connection.execute("SET search_path = pg_temp, public, pg_catalog")
        assert connection.execute("SELECT polyflake_public.encode('order', 42)").fetchone() == (PUBLIC_ID,)
        assert connection.execute("SELECT polyflake_public.decode('order', %s)", [PUBLIC_ID]).fetchone() == (42,)
        for role, forbidden in [
            ("shop", "SELECT polyflake_public.decrypt(1, '{}')"),
            ("shop", "TABLE polyflake_public.keys"),
            ("shop", "TABLE polyflake_public.secrets"),
            ("shop", "SELECT polyflake_public.add('order')"),
            ("stranger", "SELECT polyflake_public.encode('order', 42)"),
            ("stranger", "SELECT polyflake_public.decode('order', 'x')"),
        ]:
            with pytest.raises(InsufficientPrivilege), connection.transaction():
                connection.execute(f"SET ROLE {role}")
                connection.execute(forbidden)


@pytest.mark.parametrize("heading", ["Public IDs", "From Sqids"])
def test_the_examples_of_the_page_run(heading: str) -> None:
    page = (ROOT / "docs/public-ids.md").read_text(encoding="utf-8")
    section = re.split(r"(?m)^#+ ", page.split(f"# {heading}\n")[1])[0]
    (block,) = re.findall(r"(?ms)^```py(?:thon)?\n(.*?)^```$", page[page.index(section) :].split("\n## ")[0])
    exec(compile(block, heading, "exec"), {})


def test_the_page_shows_a_public_id_of_its_secret() -> None:
    assert f"the row 42 is `{PUBLIC_ID}`" in (ROOT / "docs/public-ids.md").read_text(encoding="utf-8")
