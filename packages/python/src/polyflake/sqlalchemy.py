"""Column types for SQLAlchemy 2.

Each column type stores IDs in a form that the database sorts in the same order as the IDs, so
``column.between(*sno.time_range(a, b))`` is a range query. Nothing else in the package imports this module::

    class Base(DeclarativeBase):
        type_annotation_map = {Sno: SnoType("uuid8")}

    class Order(Base):
        __tablename__ = "orders"
        id: Mapped[Sno] = mapped_column(primary_key=True, default=sno.generate)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar
from uuid import UUID

from sqlalchemy import BigInteger, Dialect, Integer, LargeBinary, String, Uuid, inspection
from sqlalchemy.dialects import mssql, mysql, postgresql
from sqlalchemy.sql import operators
from sqlalchemy.types import TypeDecorator, TypeEngine

from polyflake import hotguid, public, randflake, sno
from polyflake._reading import check_bigint, check_form

__all__ = ["HotGuidType", "Int64Type", "PublicIdType", "SnoType", "render_item"]


class _Bytea(postgresql.BYTEA):
    """A ``BYTEA`` type that passes bytes to the driver unchanged instead of wrapping them in the driver's ``Binary``
    objects. SQLAlchemy 2.0.20 looks up rows by their query parameters, but psycopg's ``Binary`` objects compare by
    identity.
    """

    def bind_processor(self, dialect: Dialect) -> None:
        return None


# UUIDs are stored as bytes in SQL Server, MariaDB and MySQL, because SQL Server and MariaDB sort UUIDs by their last
# bytes first, and MySQL has no UUID type.
_UUIDS: dict[str, TypeEngine[Any]] = {"": Uuid(), "mssql": mssql.BINARY(16), "mysql": mysql.BINARY(16)}
# Column types, keyed by dialect name. The empty name stands for all other dialects.
_COLUMNS: dict[str, dict[str, TypeEngine[Any]]] = {
    # A string column sorts bytewise only with a binary collation.
    "text": {
        "": String(16),
        "mssql": mssql.CHAR(16, collation="Latin1_General_BIN2"),
        "mysql": mysql.CHAR(16, charset="ascii", collation="ascii_bin"),
        "postgresql": postgresql.VARCHAR(16, collation="C"),
    },
    "bytes": {"": LargeBinary(10), "postgresql": _Bytea(), "mssql": mssql.BINARY(10), "mysql": mysql.BINARY(10)},
    "uuid8": _UUIDS,
    "uuid": _UUIDS,
    "hotguid": {"": Uuid(), "mysql": mysql.BINARY(16)},
}
# The syntax of a bytes literal in SQL.
_LITERAL_FORMATS = {"postgresql": "'\\x{}'::bytea", "mssql": "0x{}"}
# Operators that match a string against a pattern.
_PATTERN_OPERATORS = {operators.like_op, operators.not_like_op, operators.ilike_op, operators.not_ilike_op} | {
    getattr(operators, f"{negation}{name}_op")
    for negation in ("", "not_")
    for name in ("startswith", "endswith", "contains")
}
_T = TypeVar("_T")


# Raise an error (``ArgumentError``) for an ID without a column type, because the column's form determines what is
# stored. In ``column == id``, SQLAlchemy infers the type from the column. In ``literal(id)`` and in function arguments,
# there is no column to infer a type from, so SQLAlchemy would send the ID's string form, which never equals a value in
# a column of bytes or UUIDs.
inspection._self_inspects(sno.Sno)


def _column_type(form: str, dialect: Dialect) -> TypeEngine[Any]:
    columns, name = _COLUMNS[form], "mysql" if dialect.name == "mariadb" else dialect.name
    return dialect.type_descriptor(columns.get(name, columns[""]))


class _BytesColumn(TypeDecorator[_T]):
    """The base class of the column types that store IDs as bytes in some databases. It renders these bytes as SQL
    literals.
    """

    def literal_processor(self, dialect: Dialect) -> Callable[[_T], str] | None:
        write_literal = super().literal_processor(dialect)
        if write_literal is None:
            return None

        def process(value: _T) -> str:
            bound_value = self.process_bind_param(value, dialect)
            if isinstance(bound_value, bytes):  # SQLAlchemy's own processor would decode the bytes as a string
                return _LITERAL_FORMATS.get(dialect.name, "X'{}'").format(bound_value.hex())
            return write_literal(value)

        return process


class SnoType(_BytesColumn[sno.Sno]):
    """A column type for :class:`polyflake.sno.Sno`.

    Query parameters can also be strings that :class:`~polyflake.sno.Sno` accepts. An ID that is not compared with a
    column requires an explicit type, for example ``func.coalesce(Order.parent, literal(id, SnoType("uuid8")))``.
    Without it, SQLAlchemy raises ``ArgumentError``. With the form ``"text"``, operators such as ``like`` and
    ``startswith`` accept a string as a pattern.

    :param form: how IDs are stored: ``"text"`` as 16 characters, ``"bytes"`` as 10 bytes, ``"uuid8"`` as a version 8
        UUID, or ``"uuid"`` as a UUID in the compatible form.
    """

    impl = String
    cache_ok = True

    def __init__(self, form: Literal["text", "bytes", "uuid8", "uuid"] = "text") -> None:
        check_form(form)
        super().__init__()
        self.form = form

    def __repr__(self) -> str:
        return f"SnoType({self.form!r})"

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return _column_type(self.form, dialect)

    def coerce_compared_value(self, op: Any, value: Any) -> TypeEngine[Any]:
        # A pattern is a string but not an ID, as in ``column.like("9q%")`` or ``column.startswith("9q")``.
        is_pattern = self.form == "text" and isinstance(value, str) and op in _PATTERN_OPERATORS
        return String() if is_pattern else self

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if value is None:
            return None
        id = value if isinstance(value, sno.Sno) else sno.Sno(value)
        if self.form in ("text", "bytes"):
            return str(id) if self.form == "text" else bytes(id)
        uuid = id.uuid8 if self.form == "uuid8" else id.uuid
        return uuid.bytes if dialect.name in ("mssql", "mysql", "mariadb") else uuid

    def process_result_value(self, value: Any, dialect: Dialect) -> sno.Sno | None:
        if value is None:
            return None
        if self.form in ("text", "bytes"):
            return sno.Sno(value) if self.form == "text" else sno.Sno.from_bytes(value)
        uuid = value if isinstance(value, UUID) else UUID(bytes=bytes(value))
        return sno.Sno.from_uuid8(uuid) if self.form == "uuid8" else sno.Sno.from_uuid(uuid)

    @property
    def python_type(self) -> type[sno.Sno]:
        return sno.Sno


class HotGuidType(_BytesColumn[UUID]):
    """A column type for Hot Guids. The database column is a ``UUID`` in most databases, 16 bytes on MySQL and MariaDB,
    and a ``uniqueidentifier`` that sorts by time on SQL Server.

    SQLAlchemy assumes its own type ``Uuid`` for a ``UUID`` that is not compared with a column. On MySQL and SQL Server,
    that type stores a UUID differently. Specify the type explicitly: ``bindparam("id", id, HotGuidType())`` or
    ``literal(id, HotGuidType())``.
    """

    impl = Uuid
    cache_ok = True

    def __repr__(self) -> str:
        return "HotGuidType()"

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return _column_type("hotguid", dialect)

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if value is None:
            return None
        id = value if isinstance(value, UUID) else hotguid.parse(value)
        if dialect.name in ("mysql", "mariadb"):
            return id.bytes
        return hotguid.to_sql(id) if dialect.name == "mssql" else id

    def process_result_value(self, value: Any, dialect: Dialect) -> UUID | None:
        id = value if value is None or isinstance(value, UUID) else UUID(bytes=bytes(value))
        return hotguid.from_sql(id) if id is not None and dialect.name == "mssql" else id

    @property
    def python_type(self) -> type[UUID]:
        return UUID


class Int64Type(TypeDecorator[int]):
    """A ``BIGINT`` column type for Randflakes or a layout's integer IDs. It accepts only 64-bit integers."""

    impl = BigInteger
    cache_ok = True

    def __repr__(self) -> str:
        return "Int64Type()"

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if value is None:
            return None
        randflake.to_unsigned(value)  # rejects anything except 64-bit integers
        return int(value)

    @property
    def python_type(self) -> type[int]:
        return int


class PublicIdType(TypeDecorator[str]):
    """A ``BIGINT`` column type whose values are public IDs in Python: ``mapped_column(PublicIdType(orders))``.

    Query parameters can also be integers. A string that cannot be decoded is rejected. In migrations, the column is a
    ``BigInteger``, or an ``Integer`` on SQLite.

    :param of: the type of public IDs, which :meth:`polyflake.public.Keyring.of` returns.
    :raises OutOfRangeError: if the type has 64 bits, because ``BIGINT`` is signed.
    """

    impl = BigInteger
    cache_ok = True

    def __init__(self, of: public.IdType) -> None:
        super().__init__()
        self.of = check_bigint(of)

    def __repr__(self) -> str:
        return f"PublicIdType({self.of!r})"

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        # SQLite assigns row IDs automatically only in a column of type INTEGER.
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else BigInteger())

    def process_bind_param(self, value: Any, dialect: Dialect) -> int | None:
        if value is None or isinstance(value, str):
            return None if value is None else self.of.decode(value)
        self.of.encode(value)  # rejects anything that the type cannot encode
        return int(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else self.of.encode(value)

    @property
    def python_type(self) -> type[str]:
        return str


def render_item(kind: str, item: Any, context: Any) -> str | Literal[False]:
    """Renders this module's types in Alembic migrations. To use it, call ``context.configure(render_item=render_item)``
    in ``env.py``.
    """
    if kind == "type" and type(item).__module__ == __name__:
        if isinstance(item, PublicIdType):
            # SQLite assigns row IDs automatically only in a column of type INTEGER, so use INTEGER for SQLite, as
            # `load_dialect_impl` does.
            return 'sa.BigInteger().with_variant(sa.Integer(), "sqlite")'
        context.imports.add(f"import {__name__}")
        return f"{__name__}.{item!r}"
    return False
