"""A service with FastAPI, SQLAlchemy and PostgreSQL. The metabyte of an ID distinguishes people from orders."""
# DATABASE_URL=postgresql+psycopg://localhost/shop uvicorn app:app

import datetime as dt
import os
from typing import Annotated

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.exc import StatementError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

from polyflake import PolyflakeError, sno
from polyflake.pydantic import HasMetabyte, by_metabyte
from polyflake.sno import Sno
from polyflake.sqlalchemy import SnoType

PERSON, ORDER = 1, 2
PersonId = Annotated[Sno, HasMetabyte(PERSON)]


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
    id: PersonId
    name: str


class Order(BaseModel):
    id: Annotated[Sno, HasMetabyte(ORDER)]
    buyer: PersonId
    item: str


Record = Annotated[Person | Order, by_metabyte({PERSON: Person, ORDER: Order})]
ROWS: dict[int, type[PersonRow | OrderRow]] = {PERSON: PersonRow, ORDER: OrderRow}
Session = sessionmaker(engine := create_engine(os.environ["DATABASE_URL"]), expire_on_commit=False)
Base.metadata.create_all(engine)
app = FastAPI()


@app.exception_handler(PolyflakeError)
@app.exception_handler(StatementError)  # SQLAlchemy wraps an error that a column's default raises
def respond_with_error(request: Request, error: Exception) -> JSONResponse:
    """Responds with 422 to an invalid value, such as a reversed span, and with 503 if no ID can be generated now."""
    cause = error.orig if isinstance(error, StatementError) else error
    if not isinstance(cause, PolyflakeError):
        raise error
    status = 422 if isinstance(cause, ValueError | TypeError) else 503
    return JSONResponse({"detail": [{"type": cause.code, "loc": [cause.field], "msg": str(cause)}]}, status)


@app.post("/people", response_model=Person)
def add_person(name: str) -> PersonRow:
    with Session.begin() as database:
        database.add(row := PersonRow(name=name))
    return row


@app.post("/people/{buyer}/orders", response_model=Order)
def add_order(buyer: PersonId, item: str) -> OrderRow:
    with Session.begin() as database:
        if database.get(PersonRow, buyer) is None:
            raise HTTPException(404)
        database.add(row := OrderRow(buyer=buyer, item=item))
    return row


@app.get("/orders", response_model=list[Order])
def orders(start: dt.datetime, end: dt.datetime) -> list[OrderRow]:
    query = select(OrderRow).where(OrderRow.id.between(*sno.time_range(start, end))).order_by(OrderRow.id)
    with Session() as database:
        return list(database.scalars(query))


@app.get("/records/{id}", response_model=Record)
def record(id: Annotated[Sno, HasMetabyte(*ROWS)]) -> Base:
    with Session() as database:
        if row := database.get(ROWS[id.metabyte], id):
            return row
    raise HTTPException(404)
