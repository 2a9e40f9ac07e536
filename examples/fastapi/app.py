"""A service with FastAPI, SQLAlchemy and PostgreSQL: people and their orders, told apart by the metabytes of their IDs.

DATABASE_URL=postgresql+psycopg://localhost/shop uvicorn app:app
"""

import datetime as dt
import os
from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel, ConfigDict
from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from polyflake import sno
from polyflake.pydantic import HasMetabyte, by_metabyte
from polyflake.sno import Sno
from polyflake.sqlalchemy import SnoType

PERSON, ORDER = 1, 2
PersonId = Annotated[Sno, HasMetabyte(PERSON)]
OrderId = Annotated[Sno, HasMetabyte(ORDER)]
engine = create_engine(os.environ["DATABASE_URL"])


class Base(DeclarativeBase):
    type_annotation_map = {Sno: SnoType("uuid8")}  # noqa: RUF012


class PersonRow(Base):
    __tablename__ = "people"
    id: Mapped[Sno] = mapped_column(primary_key=True, default=lambda: sno.generate(PERSON))
    name: Mapped[str]


class OrderRow(Base):
    __tablename__ = "orders"
    id: Mapped[Sno] = mapped_column(primary_key=True, default=lambda: sno.generate(ORDER))
    buyer: Mapped[Sno] = mapped_column(ForeignKey(PersonRow.id))
    item: Mapped[str]


class Person(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: PersonId
    name: str


class Order(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: OrderId
    buyer: PersonId
    item: str


Record = Annotated[Person | Order, by_metabyte({PERSON: Person, ORDER: Order})]
ROWS: dict[int, type[PersonRow | OrderRow]] = {PERSON: PersonRow, ORDER: OrderRow}
Base.metadata.create_all(engine)
app = FastAPI()


def session() -> Iterator[Session]:
    with Session(engine) as session, session.begin():
        yield session


Database = Annotated[Session, Depends(session)]


@app.post("/people")
def add_person(name: str, database: Database) -> Person:
    database.add(row := PersonRow(name=name))
    database.flush()
    return Person.model_validate(row)


@app.post("/people/{buyer}/orders")
def add_order(buyer: PersonId, item: str, database: Database) -> Order:
    database.add(row := OrderRow(buyer=buyer, item=item))
    database.flush()
    return Order.model_validate(row)


@app.get("/orders")
def orders(start: dt.datetime, end: dt.datetime, database: Database) -> list[Order]:
    made = select(OrderRow).where(OrderRow.id.between(*sno.time_range(start, end))).order_by(OrderRow.id)
    return [Order.model_validate(row) for row in database.scalars(made)]


@app.get("/records/{id}", response_model=Record)
def record(id: Annotated[Sno, HasMetabyte(*ROWS)], database: Database) -> Base:
    row = database.get(ROWS[id.metabyte], id)
    if row is None:
        raise HTTPException(404)
    return row
