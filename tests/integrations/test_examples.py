"""Runs the example projects in `examples` as their users would."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Server, import_or_skip
from polyflake import sno
from polyflake.sno import Sno

EXAMPLES = Path(__file__).parents[2] / "examples"
HOUR = dt.timedelta(hours=1)

DJANGO_SCRIPT = """
import datetime as dt
from django.test import Client
from polyflake import sno
from polyflake.sno import Sno

client, now, hour = Client(), dt.datetime.now(dt.timezone.utc), dt.timedelta(hours=1)
person = client.post("/people/", {"name": "Ada"}).json()
assert Sno(person["id"]).metabyte == 1
orders = [client.post("/orders/", {"buyer": person["id"], "item": item}).json() for item in "abc"]
assert {Sno(order["id"]).metabyte for order in orders} == {2}
span = {"start": (now - hour).isoformat(), "end": (now + hour).isoformat()}
assert client.get("/orders/", span).json() == orders
assert client.get("/orders/", {**span, "end": (now - hour / 2).isoformat()}).json() == []
assert client.get(f"/people/{person['id']}/").json() == person
assert client.post("/orders/", {"buyer": "short", "item": ""}).status_code == 400

for wrong, code in [
    ({"start": span["end"], "end": span["start"]}, "out_of_range"),
    ({**span, "end": "2040-01-01T00:00:00"}, "invalid_type"),
    ({**span, "start": "1999-01-01T00:00:00Z"}, "time_out_of_range"),
]:
    answer = client.get("/orders/", wrong)
    assert (answer.status_code, answer.json()["code"]) == (400, code), (wrong, answer.content)
for wrong, name in [({**span, "start": "now"}, "start"), ({**span, "end": "2026-13-45T00:00Z"}, "end"),
                    ({"start": span["start"]}, "end"), ({"end": span["end"]}, "start")]:
    answer = client.get("/orders/", wrong)
    assert (answer.status_code, list(answer.json())) == (400, [name]), (wrong, answer.content)

sno.set_default_generator(sno.Generator(7, window=(1_700_000_000_000, 1_700_000_001_000)))
answer = client.post("/orders/", {"buyer": person["id"], "item": "d"})
assert (answer.status_code, answer.json()["code"]) == (503, "lease_expired"), answer.content
"""


def test_the_fastapi_example_works_with_postgresql(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    testclient = import_or_skip("fastapi.testclient")
    monkeypatch.setenv("DATABASE_URL", server.url("postgresql+psycopg"))
    monkeypatch.syspath_prepend(str(EXAMPLES / "fastapi"))
    import app

    client, now = testclient.TestClient(app.app), dt.datetime.now(dt.timezone.utc)
    person = client.post("/people", params={"name": "Ada"}).json()
    assert Sno(person["id"]).metabyte == app.PERSON
    orders = [client.post(f"/people/{person['id']}/orders", params={"item": item}).json() for item in "abc"]
    span = {"start": (now - HOUR).isoformat(), "end": (now + HOUR).isoformat()}
    assert client.get("/orders", params=span).json() == orders
    assert client.get("/orders", params={**span, "end": (now - HOUR / 2).isoformat()}).json() == []
    for record in (person, *orders):
        assert client.get(f"/records/{record['id']}").json() == record
    other_id = Sno(person["id"]).with_metabyte(9)
    assert client.get(f"/records/{other_id}").json()["detail"][0]["msg"] == "expected metabyte 1 or 2, found 9"
    assert client.get(f"/records/{other_id.with_metabyte(2)}").status_code == 404
    assert client.post(f"/people/{Sno(person['id']).with_partition(7)}/orders", params={"item": "a"}).status_code == 404

    def request_error(method: str, path: str, **params: str) -> tuple[int, str]:
        response = client.request(method, path, params=params)
        return response.status_code, response.json()["detail"][0]["type"]

    assert request_error("GET", "/orders", start=span["end"], end=span["start"]) == (422, "out_of_range")
    assert request_error("GET", "/orders", start=span["start"], end="2040-01-01T00:00:00") == (422, "invalid_type")
    assert request_error("GET", "/orders", start="1999-01-01T00:00:00Z", end=span["end"]) == (422, "time_out_of_range")
    assert request_error("GET", "/orders", start="now", end=span["end"])[0] == 422
    assert request_error("GET", "/orders", start=span["start"]) == (422, "missing")
    sno.set_default_generator(sno.Generator(7, window=(1_700_000_000_000, 1_700_000_001_000)))
    try:
        assert request_error("POST", "/people", name="Bob") == (503, "lease_expired")
        assert request_error("POST", f"/people/{person['id']}/orders", item="d") == (503, "lease_expired")
    finally:
        sno.set_default_generator(None)
    app.engine.dispose()


def test_the_django_example_runs(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(EXAMPLES / "django", project)
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "shop.settings"}
    for arguments in (
        ["makemigrations", "--check", "--verbosity=0"],
        ["migrate", "--verbosity=0"],
        ["shell", "--command", DJANGO_SCRIPT],
    ):
        command = [sys.executable, "manage.py", *arguments]
        completed = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
        assert completed.returncode == 0, completed.stdout + completed.stderr


@pytest.mark.parametrize("project", ["fastapi", "django", "public"])
def test_an_example_project_has_fewer_than_100_lines(project: str) -> None:
    files = [file for file in (EXAMPLES / project).rglob("*.py") if "migrations" not in file.parts]
    assert files
    assert sum(len(file.read_text().splitlines()) for file in files) < 100
