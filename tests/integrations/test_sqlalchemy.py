"""SQLAlchemy, SQLModel and Alembic, on SQLite, PostgreSQL and MariaDB."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Column, Engine, MetaData, String, Table, Uuid, func, insert, literal, select, text
from sqlalchemy.dialects import mssql, mysql, postgresql
from sqlalchemy.dialects.mysql.mariadb import MariaDBDialect
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.schema import CreateTable
from sqlmodel import Field, SQLModel

from ids import FORMS, GUID_SPAN, GUIDS, IDS, INTEGERS, POST_IDS, POST_SPAN, SNO_SPAN, UUID8_GUIDS
from polyflake import PolyflakeError, hotguid, uuid7
from polyflake.sno import Sno
from polyflake.sqlalchemy import HotGuidType, Int64Type, SnoType


class Base(DeclarativeBase):
    type_annotation_map = {Sno: SnoType("uuid8"), UUID: HotGuidType(), int: Int64Type()}  # noqa: RUF012


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[Sno] = mapped_column(primary_key=True)
    key: Mapped[UUID]
    flake: Mapped[int]
    parent: Mapped[Sno | None] = mapped_column(SnoType())


class Item(SQLModel, table=True):
    id: Sno = Field(primary_key=True, sa_type=SnoType)
    note: str = Field(sa_type=String(10))  # type: ignore[call-overload]


@pytest.fixture(autouse=True)
def _drop_tables(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "engine" in request.fixturenames:
        reflected_metadata = MetaData()
        reflected_metadata.reflect(engine := request.getfixturevalue("engine"))
        reflected_metadata.drop_all(engine)


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_every_form_sort_and_filter_like_the_ids(engine: Engine, form: Any) -> None:
    table = Table("orders", MetaData(), Column("id", SnoType(form), primary_key=True), Column("other", SnoType(form)))
    table.metadata.create_all(engine)
    with engine.connect() as connection:
        connection.execute(insert(table), [{"id": id, "other": None} for id in reversed(IDS)])
        assert connection.scalars(select(table.c.id).order_by(table.c.id)).all() == IDS
        assert (
            connection.scalars(select(table.c.id).where(table.c.id.between(*SNO_SPAN)).order_by(table.c.id)).all()
            == IDS[5:10]
        )
        assert set(connection.scalars(select(table.c.id).where(table.c.id.in_([IDS[3], str(IDS[4])])))) == set(IDS[3:5])
        assert connection.scalars(select(table.c.other)).first() is None
        with pytest.raises(Exception, match="expected length 16") as caught:
            connection.execute(select(table).where(table.c.id == "short"))
        assert isinstance(caught.value.__cause__ or caught.value, PolyflakeError)


@pytest.mark.parametrize("form", FORMS)
def test_an_id_literal_requires_an_explicit_type(engine: Engine, form: Any) -> None:
    table = Table("orders", MetaData(), Column("id", SnoType(form), primary_key=True), Column("other", SnoType(form)))
    table.metadata.create_all(engine)
    with engine.connect() as connection:
        connection.execute(insert(table), [{"id": id} for id in IDS])
        with pytest.raises(ArgumentError):
            func.coalesce(table.c.other, IDS[3])
        with pytest.raises(ArgumentError):
            literal(IDS[3])
        typed_expression = func.coalesce(table.c.other, literal(IDS[3], SnoType(form)))
        assert connection.scalars(select(table.c.id).where(typed_expression == table.c.id)).all() == [IDS[3]]


def test_string_columns_can_be_compared_with_patterns(engine: Engine) -> None:
    table = Table("orders", MetaData(), Column("id", SnoType("text"), primary_key=True))
    table.metadata.create_all(engine)
    with engine.connect() as connection:
        connection.execute(insert(table), [{"id": id} for id in IDS])
        text, id = str(IDS[3]), table.c.id
        for found in (id.like(f"{text[:9]}%"), id.startswith(text[:9]), id.endswith(text[3:]), id.contains(text[2:])):
            assert connection.scalars(select(id).where(found)).all() == [IDS[3]]
        assert len(connection.scalars(select(id).where(id.not_like(f"{text[:9]}%"))).all()) == len(IDS) - 1


def test_guids_and_integers_keep_their_sort_order(engine: Engine) -> None:
    table = Table("t", MetaData(), Column("id", HotGuidType()), Column("number", Int64Type()))
    table.metadata.create_all(engine)
    guids = sorted(GUIDS + UUID8_GUIDS)
    with engine.connect() as connection:
        connection.execute(insert(table), [{"id": id, "number": None} for id in reversed(guids)])
        connection.execute(insert(table), [{"id": None, "number": number} for number in INTEGERS])
        there = table.c.id.is_not(None)
        assert connection.scalars(select(table.c.id).where(there).order_by(table.c.id)).all() == guids
        found_ids = connection.scalars(select(table.c.id).where(table.c.id.between(*GUID_SPAN))).all()
        assert sorted(found_ids) == sorted(GUIDS[5:10] + UUID8_GUIDS[5:10])
        numbers_query = select(table.c.number).where(table.c.number.is_not(None)).order_by(table.c.number)
        assert connection.scalars(numbers_query).all() == INTEGERS
        for number in (2**63, True, "7", 1.0):
            with pytest.raises(Exception, match="expected"):
                connection.execute(select(table).where(table.c.number == number))


@pytest.mark.parametrize("type", [Uuid(), HotGuidType()])
def test_version_7_uuids_sort_in_uuid_columns(engine: Engine, type: Any) -> None:
    table = Table("events", MetaData(), Column("id", type, primary_key=True))
    table.metadata.create_all(engine)
    start = 1_767_225_600_000
    ids = [uuid7.from_parts(unix_ms=start + k // 4, sequence=k, random=2**56 - 1 - k) for k in range(12)]
    with engine.connect() as connection:
        connection.execute(insert(table), [{"id": id} for id in reversed(ids)])
        assert connection.scalars(select(table.c.id).order_by(table.c.id)).all() == ids
        span = uuid7.time_range(start + 1, start + 2)
        range_query = select(table.c.id).where(table.c.id.between(*span)).order_by(table.c.id)
        assert connection.scalars(range_query).all() == ids[4:8]


def test_layout_ids_can_be_selected_by_time(engine: Engine) -> None:
    table = Table("posts", MetaData(), Column("id", Int64Type(), primary_key=True, autoincrement=False))
    table.metadata.create_all(engine)
    with engine.connect() as connection:
        connection.execute(insert(table), [{"id": id} for id in reversed(POST_IDS)])
        assert connection.scalars(select(table.c.id).order_by(table.c.id)).all() == POST_IDS
        range_query = select(table.c.id).where(table.c.id.between(*POST_SPAN)).order_by(table.c.id)
        assert connection.scalars(range_query).all() == POST_IDS[5:10]


def test_sqlmodel_reads_and_stores_ids(engine: Engine) -> None:
    SQLModel.metadata.create_all(engine)
    item = Item.model_validate({"id": str(IDS[0]), "note": "a"})
    assert item.id == IDS[0]
    with Session(engine) as session:
        session.add(item)
        session.commit()
        session.expunge_all()
        found = session.scalars(select(Item)).one()
        assert (found.id, json.loads(found.model_dump_json())) == (IDS[0], {"id": str(IDS[0]), "note": "a"})


def test_uuid_columns_contain_version_8_uuids(engine: Engine) -> None:
    if engine.dialect.name != "postgresql":
        pytest.skip("has no type for UUIDs")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(Order(id=IDS[0], key=GUIDS[0], flake=1, parent=None))
        session.commit()
        (found,) = session.execute(text("SELECT id FROM orders")).one()
        assert (found, found.version) == (IDS[0].uuid8, 8)


def test_other_databases_get_columns_that_sort_like_the_ids() -> None:
    table = Table("t", MetaData(), *(Column(form, SnoType(form)) for form in FORMS), Column("g", HotGuidType()))  # type: ignore[arg-type]
    create_statements = {
        dialect.name: str(CreateTable(table).compile(dialect=dialect)) for dialect in (mysql.dialect(), mssql.dialect())
    }
    for column in ("text CHAR(16) CHARACTER SET ascii COLLATE ascii_bin", "bytes BINARY(10)"):
        assert column in create_statements["mysql"], create_statements
    for column in (
        "CHAR(16) COLLATE Latin1_General_BIN2",
        "bytes BINARY(10)",
        "uuid8 BINARY(16)",
        "g UNIQUEIDENTIFIER",
    ):
        assert column in create_statements["mssql"], create_statements
    assert 'text VARCHAR(16) COLLATE "C"' in str(CreateTable(table).compile(dialect=postgresql.dialect()))


def test_sql_server_stores_reordered_guids_and_snos_as_bytes() -> None:
    dialect = mssql.dialect()
    guids, snos = HotGuidType(), SnoType("uuid8")
    assert guids.process_bind_param(GUIDS[0], dialect) == hotguid.to_sql(GUIDS[0])
    assert guids.process_bind_param(str(GUIDS[0]), dialect) == hotguid.to_sql(GUIDS[0])
    assert guids.process_result_value(hotguid.to_sql(GUIDS[0]), dialect) == GUIDS[0]
    assert snos.process_bind_param(IDS[0], dialect) == IDS[0].uuid8.bytes
    assert snos.process_result_value(IDS[0].uuid8.bytes, dialect) == IDS[0]


@pytest.mark.parametrize("name", ["mysql", "mariadb"])
def test_mysql_and_mariadb_store_uuids_as_16_bytes(name: str) -> None:
    # The types that the dialects would choose for a UUID: CHAR(32), or MariaDB's UUID type, which sorts UUIDs by their
    # last group of digits first.
    dialect = {"mysql": mysql.dialect, "mariadb": MariaDBDialect}[name]()
    assert dialect.name == name
    types: list[tuple[Any, Any, bytes]] = [
        (SnoType("uuid8"), IDS[0], IDS[0].uuid8.bytes),
        (SnoType("uuid"), IDS[0], IDS[0].uuid.bytes),
        (HotGuidType(), GUIDS[0], GUIDS[0].bytes),
    ]
    for type, id, stored in types:
        assert type.compile(dialect=dialect) == "BINARY(16)"
        assert [type.process_bind_param(value, dialect) for value in (id, str(id), None)] == [stored, stored, None]
        process_result = type.dialect_impl(dialect).result_processor(dialect, None)
        assert [process_result(value) for value in (stored, bytearray(stored), None)] == [id, id, None]


def test_types_are_copied_and_cached_by_their_form() -> None:
    assert repr(SnoType("bytes").copy()) == "SnoType('bytes')"
    assert SnoType("bytes")._static_cache_key == SnoType("bytes")._static_cache_key != SnoType()._static_cache_key
    with pytest.raises(ValueError, match="found 'binary'"):
        SnoType("binary")  # type: ignore[arg-type]


ENV_SCRIPT = """
from alembic import context
from test_sqlalchemy import Base
from polyflake.sqlalchemy import render_item
connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Base.metadata, render_item=render_item, compare_type=True)
with context.begin_transaction():
    context.run_migrations()
"""


def test_alembic_migrations_are_complete(engine: Engine, tmp_path: Path) -> None:
    config = Config(tmp_path / "alembic.ini", stdout=io.StringIO())
    config.set_main_option("script_location", str(tmp_path / "migrations"))
    command.init(config, str(tmp_path / "migrations"))
    (tmp_path / "migrations/env.py").write_text(ENV_SCRIPT)
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.revision(config, "first", autogenerate=True)
        (written,) = (tmp_path / "migrations/versions").glob("*.py")
        source = written.read_text()
        assert "import polyflake.sqlalchemy\n" in source
        assert "sa.Column('id', polyflake.sqlalchemy.SnoType('uuid8'), nullable=False)" in source
        assert "polyflake.sqlalchemy.HotGuidType()" in source
        command.upgrade(config, "head")
        connection.commit()
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, Base.metadata)
        assert [one for one in differences if one[0] != "remove_table"] == []
        connection.execute(insert(Order), [{"id": IDS[0], "key": GUIDS[0], "flake": 1, "parent": None}])
        assert connection.scalars(select(Order.id)).one() == IDS[0]
