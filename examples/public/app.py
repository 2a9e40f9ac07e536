"""A service built with FastAPI and SQLAlchemy. Orders have integer keys, and every URL and response contains public
IDs.
"""
# PUBLIC_IDS_SECRET=$(openssl rand -hex 32) DATABASE_URL=sqlite:///shop.db uvicorn app:app

import os
from typing import Annotated

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy import ForeignKey, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

from polyflake import public
from polyflake.pydantic import PublicId
from polyflake.sqlalchemy import PublicIdType

keyring = public.Keyring(bytes.fromhex(os.environ["PUBLIC_IDS_SECRET"]))
people, orders = keyring.of("person"), keyring.of("order")
PersonId = Annotated[int, PublicId(people)]
OrderId = Annotated[int, PublicId(orders)]


class Base(DeclarativeBase):
    pass


class PersonRow(Base):
    __tablename__ = "people"
    id: Mapped[str] = mapped_column(PublicIdType(people), primary_key=True)
    name: Mapped[str]


class OrderRow(Base):
    __tablename__ = "orders"
    id: Mapped[str] = mapped_column(PublicIdType(orders), primary_key=True)
    buyer: Mapped[str] = mapped_column(PublicIdType(people), ForeignKey(PersonRow.id))
    item: Mapped[str]


class Person(BaseModel):
    id: PersonId
    name: str


class NewOrder(BaseModel):
    buyer: PersonId
    item: str


class Order(NewOrder):
    id: OrderId


Session = sessionmaker(engine := create_engine(os.environ["DATABASE_URL"]), expire_on_commit=False)
Base.metadata.create_all(engine)
app = FastAPI()


@app.post("/people", response_model=Person)
def add_person(name: str) -> PersonRow:
    with Session.begin() as database:
        database.add(row := PersonRow(name=name))
    return row


@app.post("/orders", response_model=Order)
def add_order(order: NewOrder) -> OrderRow:
    with Session.begin() as database:
        if database.get(PersonRow, order.buyer) is None:
            raise HTTPException(404)
        database.add(row := OrderRow(buyer=order.buyer, item=order.item))
        database.flush()
        database.refresh(row)  # reads the buyer back from the database
    return row


@app.get("/orders/{id}", response_model=Order)
def order(id: OrderId) -> OrderRow:
    with Session() as database:
        if row := database.get(OrderRow, id):
            return row
    raise HTTPException(404)
