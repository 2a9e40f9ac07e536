"""SQLAlchemy relations with keys of every kind, on every database, compared with SQLAlchemy's own UUID type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import (
    Column,
    Engine,
    ForeignKey,
    Integer,
    Table,
    Uuid,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    inspect,
    select,
    union,
    update,
)
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.orm import (
    DeclarativeBase,
    Session,
    joinedload,
    relationship,
    selectinload,
    subqueryload,
)

from ids import FORMS, new_post
from polyflake import hotguid, sno
from polyflake.sqlalchemy import HotGuidType, Int64Type, SnoType
from relations import EXPECTED_ANSWERS, KEYS, LINES_BY_ORDER, ORDERS, PARENTS, TAGS, TAGS_BY_ORDER

# The column type and the function that creates a key, for each kind of key in `relations.KEYS`.
TYPES: dict[str, tuple[Any, Callable[[], Any]]] = {
    "reference": (Uuid(), uuid4),
    **{form: (SnoType(form), sno.generate) for form in FORMS},
    "hotguid": (HotGuidType(), hotguid.generate),
    "int64": (Int64Type(), new_post),
}


class Shop:
    """The mapped classes that use one kind of key."""

    def __init__(self, kind: str) -> None:
        self.keys, (key, make) = KEYS[kind], TYPES[kind]

        class Base(DeclarativeBase):
            pass

        order_tags = Table(
            f"{kind}_order_tags",
            Base.metadata,
            Column("order", key, ForeignKey(f"{kind}_orders.id"), primary_key=True),
            Column("tag", key, ForeignKey(f"{kind}_tags.id"), primary_key=True),
        )

        class Row(Base):
            __abstract__ = True
            id = Column(key, primary_key=True, default=make)
            # After a bulk insert, SQLAlchemy reads the default that the database assigned to each row.
            number = Column(Integer, server_default="9")

        class Tag(Row):
            __tablename__ = f"{kind}_tags"
            orders = relationship("Order", secondary=order_tags, back_populates="tags")

        class Order(Row):
            __tablename__ = f"{kind}_orders"
            parent_id = Column(key, ForeignKey(f"{kind}_orders.id"))
            other = Column(key)
            parent = relationship("Order", remote_side="Order.id", back_populates="children")
            children = relationship("Order", back_populates="parent")
            tags = relationship("Tag", secondary=order_tags, back_populates="orders")
            lines = relationship("Line", back_populates="order", cascade="all, delete-orphan")
            receipt = relationship("Receipt", back_populates="order", cascade="all, delete-orphan", uselist=False)

        class Line(Row):
            __tablename__ = f"{kind}_lines"
            order_id = Column(key, ForeignKey(f"{kind}_orders.id"))
            order = relationship("Order", back_populates="lines")

        class Receipt(Base):
            __tablename__ = f"{kind}_receipts"
            id = Column(key, ForeignKey(f"{kind}_orders.id"), primary_key=True)
            number = Column(Integer)
            order = relationship("Order", back_populates="receipt")

        self.metadata, self.order_tags = Base.metadata, order_tags
        self.Tag, self.Order, self.Line, self.Receipt = Tag, Order, Line, Receipt


SHOPS = {kind: Shop(kind) for kind in TYPES}


class ShopSession:
    """A session, and the classes of a shop whose tables contain the rows from `relations`."""

    def __init__(self, shop: Shop, session: Session) -> None:
        self.session, self.keys, self.order_tags = session, shop.keys, shop.order_tags
        self.Tag, self.Order, self.Line, self.Receipt = shop.Tag, shop.Order, shop.Line, shop.Receipt

    def key(self, number: int | None) -> Any:
        return None if number is None else self.keys[number]

    def fill(self) -> None:
        tags = [self.Tag(id=self.keys[k], number=k) for k in TAGS]
        orders = [self.Order(id=self.keys[k], number=k, other=self.key(PARENTS[k])) for k in ORDERS]
        for order, (k, tag_numbers) in zip(orders, TAGS_BY_ORDER.items(), strict=True):
            order.tags = [tags[tag] for tag in tag_numbers]
            order.parent = None if PARENTS[k] is None else orders[PARENTS[k]]
            order.lines = [self.Line(id=self.keys[line], number=line) for line in LINES_BY_ORDER[k]]
        orders[0].receipt, orders[3].receipt = self.Receipt(number=0), self.Receipt(number=3)
        self.session.add_all([*tags, *reversed(orders)])

    def all(self, *entities: Any, **options: Any) -> list[Any]:
        self.session.flush()
        self.session.expire_all()
        return list(self.session.scalars(select(*entities), **options).unique())

    def rows(self, query: Any) -> list[Any]:
        return list(self.session.execute(query))

    def order(self, number: int) -> Any:
        return self.session.scalars(select(self.Order).where(self.Order.number == number)).one()

    def find_numbers(self, *conditions: Any) -> list[int]:
        return row_numbers(self.session.scalars(select(self.Order).where(*conditions)))

    def numbers_by_key(self) -> dict[int, int]:
        self.session.flush()
        found = self.session.execute(select(self.Order.id, self.Order.number))
        return {self.keys.index(key): number for key, number in found}

    def new_rows(self, *keys: int) -> list[dict[str, Any]]:
        return [{"id": self.keys[k], "number": k} for k in keys]


def row_numbers(rows: Iterable[Any]) -> list[int]:
    return sorted(row.number for row in rows)


def map_by_number(rows: Iterable[Any], answer: Callable[[Any], Any]) -> dict[int, Any]:
    return {row.number: answer(row) for row in rows}


def load_related(shop: ShopSession, of: str, name: str, load: Callable[..., Any] | None = None) -> dict[int, Any]:
    """Returns, for each row, the numbers of its related rows. With ``load``, the query loads the related rows as well.
    Without ``load``, they are loaded when the relation is accessed.
    """
    model = getattr(shop, of)
    query = select(model).options(load(getattr(model, name))) if load else select(model)
    shop.session.flush()
    shop.session.expunge_all()

    def get_related_numbers(row: Any) -> Any:
        assert load is None or name not in inspect(row).unloaded
        found = getattr(row, name)
        return row_numbers(found) if isinstance(found, list) else found and found.number

    return map_by_number(shop.session.scalars(query).unique(), get_related_numbers)


def upsert(shop: ShopSession) -> dict[int, int]:
    rows = [{"id": shop.keys[k], "number": k + 4} for k in (3, 4)]
    dialect = shop.session.get_bind().dialect.name
    if dialect in ("mysql", "mariadb"):
        statement = mysql.insert(shop.Order).values(rows)
        shop.session.execute(statement.on_duplicate_key_update(number=statement.inserted.number))
    else:
        statement = {"sqlite": sqlite, "postgresql": postgresql}[dialect].insert(shop.Order).values(rows)
        shop.session.execute(
            statement.on_conflict_do_update(index_elements=["id"], set_={"number": statement.excluded.number})
        )
    return shop.numbers_by_key()


def insert_or_ignore(shop: ShopSession) -> list[int]:
    dialect = shop.session.get_bind().dialect.name
    if dialect in ("mysql", "mariadb"):
        statement: Any = mysql.insert(shop.Order).prefix_with("IGNORE")
    else:
        statement = {"sqlite": sqlite, "postgresql": postgresql}[dialect].insert(shop.Order).on_conflict_do_nothing()
    shop.session.execute(statement, shop.new_rows(3, 4))
    return shop.find_numbers()


def change_parents(shop: ShopSession) -> dict[int, int | None]:
    parents = {0: None, 1: 3, 2: 3, 3: 0}
    shop.session.execute(
        update(shop.Order), [{"id": shop.keys[k], "parent_id": shop.key(parent)} for k, parent in parents.items()]
    )
    return load_related(shop, "Order", "parent")


def update_by_keys(shop: ShopSession) -> dict[int, int]:
    keys = [shop.keys[1], shop.keys[3]]
    shop.session.execute(update(shop.Order).where(shop.Order.id.in_(keys)).values(number=7))
    return shop.numbers_by_key()


def get_or_create(shop: ShopSession) -> list[tuple[int, bool]]:
    found = []
    for key in (shop.keys[0], shop.keys[15]):
        row = shop.session.get(shop.Order, key)
        made = row is None
        row = row or shop.Order(id=key)
        shop.session.add(row)
        shop.session.flush()
        found.append((row.number, made))
    return found


def merge(shop: ShopSession) -> dict[int, int]:
    for k, number in ((0, 7), (9, 9)):
        shop.session.merge(shop.Order(id=shop.keys[k], number=number))
    return shop.numbers_by_key()


def set_tags(shop: ShopSession) -> dict[int, list[int]]:
    shop.order(0).tags = [shop.session.get(shop.Tag, shop.keys[2])]
    shop.order(2).tags = list(shop.order(3).tags)
    return load_related(shop, "Order", "tags")


def add_and_remove_tags(shop: ShopSession) -> dict[int, list[int]]:
    order = shop.order(0)
    order.tags.append(shop.session.get(shop.Tag, shop.keys[2]))
    order.tags.remove(shop.session.get(shop.Tag, shop.keys[0]))
    return load_related(shop, "Order", "tags")


def delete_rows(shop: ShopSession) -> dict[int, list[int]]:
    shop.session.execute(delete(shop.Line).where(shop.Line.order_id == shop.keys[0]))
    shop.session.delete(shop.order(3))
    return load_related(shop, "Order", "lines", selectinload)


def insert_many(shop: ShopSession) -> list[int]:
    shop.session.execute(insert(shop.Order), shop.new_rows(4, 5))
    return shop.find_numbers()


def insert_many_in_order(shop: ShopSession) -> list[int]:
    rows = [shop.Order(**row) for row in shop.new_rows(5, 4)]
    # The database assigns the default number to each of these two rows. SQLAlchemy reads both numbers back together.
    more_orders = [shop.Order(id=shop.keys[k]) for k in (7, 6)]
    shop.session.add_all([*rows, *more_orders])
    shop.session.flush()
    assert [row.number for row in more_orders] == [9, 9]
    return [shop.keys.index(row.id) for row in rows]


def is_default_key_stored(shop: ShopSession) -> bool:
    row = shop.Order()
    shop.session.add(row)
    shop.session.flush()
    return shop.session.scalar(select(exists().where(shop.Order.id == row.id))) is True


def select_by_key(shop: ShopSession, key: Any, **columns: Any) -> dict[int, int]:
    return {number: shop.keys.index(found) for number, found in shop.rows(select(shop.Order.number, key))}


QUESTIONS: dict[str, Callable[[ShopSession], Any]] = {
    "tags": lambda shop: load_related(shop, "Order", "tags"),
    "tags loaded ahead": lambda shop: load_related(shop, "Order", "tags", selectinload),
    "tags loaded ahead, some": lambda shop: load_related(
        shop, "Order", "tags", lambda tags: selectinload(tags.and_(shop.Tag.id != shop.keys[0]))
    ),
    "orders of tags": lambda shop: load_related(shop, "Tag", "orders"),
    "orders of tags loaded ahead": lambda shop: load_related(shop, "Tag", "orders", subqueryload),
    "lines": lambda shop: load_related(shop, "Order", "lines"),
    "lines loaded ahead": lambda shop: load_related(shop, "Order", "lines", selectinload),
    "orders of lines by a join": lambda shop: load_related(shop, "Line", "order", joinedload),
    "orders of lines loaded ahead": lambda shop: load_related(shop, "Line", "order", selectinload),
    "parents": lambda shop: load_related(shop, "Order", "parent"),
    "parents loaded ahead": lambda shop: load_related(shop, "Order", "parent", selectinload),
    "children of children": lambda shop: map_by_number(
        shop.session.scalars(
            select(shop.Order)
            .options(selectinload(shop.Order.children).selectinload(shop.Order.children))
            .execution_options(populate_existing=True)
        ),
        lambda order: row_numbers(deep for child in order.children for deep in child.children),
    ),
    "receipts": lambda shop: {
        order: receipt
        for order, receipt in load_related(shop, "Order", "receipt", joinedload).items()
        if receipt is not None
    },
    "orders of receipts": lambda shop: load_related(shop, "Receipt", "order", selectinload),
    "in": lambda shop: shop.find_numbers(shop.Order.id.in_([shop.keys[1], shop.keys[3]])),
    "not in": lambda shop: shop.find_numbers(shop.Order.id.not_in([shop.keys[1], shop.keys[3]])),
    "in a subquery": lambda shop: shop.find_numbers(
        shop.Order.id.in_(select(shop.order_tags.c.order).where(shop.order_tags.c.tag == shop.keys[0]))
    ),
    "exists": lambda shop: shop.find_numbers(shop.Order.lines.any(shop.Line.id >= shop.keys[0])),
    "of a tag": lambda shop: shop.find_numbers(shop.Order.tags.any(shop.Tag.id == shop.keys[0])),
    "of tags": lambda shop: shop.find_numbers(
        shop.Order.tags.any(shop.Tag.id.in_(bindparam("keys", shop.keys[:3], shop.Tag.id.type, expanding=True)))
    ),
    "of a parent": lambda shop: shop.find_numbers(shop.Order.parent == shop.order(0)),
    "counted": lambda shop: {
        number: count
        for number, count in shop.rows(
            select(shop.Order.number, func.count(shop.order_tags.c.tag))
            .outerjoin(shop.order_tags, shop.order_tags.c.order == shop.Order.id)
            .group_by(shop.Order.id, shop.Order.number)
        )
    },
    "a range": lambda shop: shop.find_numbers(shop.Order.id.between(shop.keys[1], shop.keys[2])),
    "the last": lambda shop: shop.session.scalars(select(shop.Order).order_by(shop.Order.id.desc())).first().number,
    "by keys": lambda shop: row_numbers(shop.session.get(shop.Order, shop.keys[k]) for k in (0, 2)),
    "united": lambda shop: sorted(
        shop.keys.index(key)
        for (key,) in shop.rows(union(*(select(shop.Order.id).where(shop.Order.number == k) for k in (0, 3))))
    ),
    "replaced nulls": lambda shop: select_by_key(shop, func.coalesce(shop.Order.other, shop.Order.id)),
    "a choice of two": lambda shop: select_by_key(
        shop,
        case(
            ((shop.Order.parent_id == shop.keys[0]) & (shop.Order.number != 2), shop.Order.parent_id),
            else_=bindparam("key", shop.keys[1], shop.Order.id.type),
        ),
    ),
    "a generator's default": is_default_key_stored,
    "made many": insert_many,
    "made many, in order": insert_many_in_order,
    "made many, some there": insert_or_ignore,
    "made many or changed": upsert,
    "changed many": change_parents,
    "changed by keys": update_by_keys,
    "got or made": get_or_create,
    "changed or made": merge,
    "tags set": set_tags,
    "tags added and removed": add_and_remove_tags,
    "deleted": delete_rows,
    "read again": lambda shop: (order := shop.order(0), shop.session.refresh(order), order.number)[-1],
    "locked": lambda shop: row_numbers(
        shop.session.scalars(select(shop.Order).where(shop.Order.id == shop.keys[0]).with_for_update())
    ),
}


@pytest.fixture(scope="module", params=SHOPS)
def filled_shop(request: pytest.FixtureRequest, engine: Engine) -> Shop:
    shop = SHOPS[request.param]
    shop.metadata.create_all(engine)
    with Session(engine) as session:
        ShopSession(shop, session).fill()
        session.commit()
    return shop


@pytest.fixture
def shop(filled_shop: Shop, engine: Engine) -> Iterator[ShopSession]:
    """Yields the shop, and restores it afterwards."""
    with Session(engine) as session:
        yield ShopSession(filled_shop, session)


@pytest.mark.parametrize("question", QUESTIONS)
def test_relations_work_with_id_keys(shop: ShopSession, question: str) -> None:
    assert QUESTIONS[question](shop) == EXPECTED_ANSWERS[question]


def test_a_statement_compiles_with_literal_values(shop: ShopSession) -> None:
    dialect = shop.session.get_bind().dialect
    query = select(shop.Order.number).where(shop.Order.id == shop.keys[1])
    compiled_sql = str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
    assert shop.session.connection().exec_driver_sql(compiled_sql.replace("%", "%%")).all() == [(1,)]
