"""Tests IDs in FastAPI paths, queries and bodies, and in the OpenAPI document."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

from polyflake.pydantic import HasMetabyte, Randflake, by_metabyte
from polyflake.sno import Sno

ID = Sno("9afikjv326nct5if")
app = FastAPI()


class Person(BaseModel):
    id: Sno
    name: str


class Order(BaseModel):
    id: Sno
    flake: Randflake


Record = Annotated[Person | Order, by_metabyte({1: Person, 2: Order})]


@app.get("/people/{id}")
def person(id: Annotated[Sno, HasMetabyte(1)], friend: Sno | None = None) -> Person:
    return Person(id=id, name=str(friend))


@app.post("/records")
def record(record: Record) -> Record:
    return record


client = TestClient(app)


def test_an_id_can_be_a_path_or_query_parameter() -> None:
    response = client.get(f"/people/{ID}", params={"friend": str(ID.with_metabyte(2))})
    assert (response.status_code, response.json()) == (200, {"id": str(ID), "name": str(ID.with_metabyte(2))})
    assert client.get(f"/people/{ID}").json()["name"] == "None"
    for path, query, code, where in [
        ("short", {}, "invalid_length", ["path", "id"]),
        (str(ID.with_metabyte(2)), {}, "metabyte", ["path", "id"]),
        (str(ID), {"friend": "A" * 16}, "invalid_character", ["query", "friend"]),
    ]:
        response = client.get(f"/people/{path}", params=query)
        (error,) = response.json()["detail"]
        assert (response.status_code, error["type"], error["loc"]) == (422, code, where)


def test_a_union_can_be_a_request_body() -> None:
    for body in ({"id": str(ID), "name": "Ada"}, {"id": str(ID.with_metabyte(2)), "flake": "3vgoe12ccb8gh"}):
        response = client.post("/records", json=body)
        assert (response.status_code, response.json()) == (200, body)
    response = client.post("/records", json={"id": str(ID.with_metabyte(7))})
    assert response.status_code == 422
    assert response.json()["detail"][0]["msg"].endswith("1 (Person) or 2 (Order), found 7")


def test_openapi_describes_ids() -> None:
    document = client.get("/openapi.json").json()
    path, query = document["paths"]["/people/{id}"]["get"]["parameters"]
    assert (path["schema"]["description"], path["schema"]["pattern"][:13]) == ("Metabyte: 1", "^([2-9a-x]{8}")
    assert "^[2-9a-x]{16}$" in str(query["schema"])
    body = document["paths"]["/records"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert [member["description"][-10:] for member in body["oneOf"]] == ["metabyte 1", "metabyte 2"]
    schemas = document["components"]["schemas"]
    assert schemas["Person"]["properties"]["id"]["examples"] == ["9afikjv326nct5if"]
    taken, written = (schemas[f"Order-{mode}"]["properties"]["flake"] for mode in ("Input", "Output"))
    assert [one["type"] for one in taken["anyOf"]] == ["string", "integer"]
    assert written["type"] == "string"
