"""Django's fields, migrations, admin and REST framework, on the database of the environment; one process has one."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")

import django

django.setup()

from django.contrib.auth.models import User
from django.core import serializers
from django.core.checks import run_checks
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import NotSupportedError, connection, models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.test import Client
from django.test.utils import setup_test_environment

from ids import GUID_SPAN, GUIDS, IDS, POST_SPAN, POSTS, SNO_SPAN
from polyflake import hotguid
from polyflake.django import HotGuidField, SnoField, read_sno
from polyflake.sno import Sno
from shop.models import Line, Order

OURS = ["polyflake.E001"]
# By the database, of a table's columns: type and collation.
STATED: dict[str, dict[str, tuple[str, str | None]]] = {
    "postgresql": {
        "order.id": ("character varying", "C"),
        "order.raw": ("bytea", None),
        "order.uuid8": ("uuid", None),
        "order.guid": ("uuid", None),
        "line.order_id": ("character varying", "C"),
    },
    "mysql": {
        "order.id": ("char(16)", "ascii_bin"),
        "order.raw": ("binary(10)", None),
        "order.uuid8": ("binary(16)", None),
        "order.compatible": ("binary(16)", None),
        "order.guid": ("binary(16)", None),
        "order.flake": ("bigint(20)", None),
        "line.id": ("binary(16)", None),
        "line.order_id": ("char(16)", "ascii_bin"),
    },
}


def migrations(folder: Path) -> None:
    """Writes migrations, replays them, and finds no change after them."""
    from django.conf import settings

    package = folder / "written"
    package.mkdir()
    (package / "__init__.py").touch()
    sys.path.insert(0, str(folder))
    settings.MIGRATION_MODULES = {"shop": "written"}
    call_command("makemigrations", "shop", verbosity=0)
    (written,) = package.glob("0001*.py")
    source = written.read_text()
    assert "polyflake.django.SnoField(blank=True, form='bytes', null=True" in source, source
    assert "functools.partial(polyflake.sno.generate, *(7,), **{})" in source, source
    importlib.invalidate_caches()
    call_command("migrate", verbosity=0)
    state = MigrationLoader(connection).project_state()
    assert MigrationAutodetector(state, ProjectState.from_apps(django.apps.apps))._detect_changes() == {}


def column(table: str, name: str) -> tuple[str, str | None]:
    """The type and the collation of a column."""
    kind = "column_type" if connection.vendor == "mysql" else "data_type"
    asked = f"SELECT {kind}, collation_name FROM information_schema.columns WHERE (table_name, column_name) = (%s, %s)"
    with connection.cursor() as cursor:
        cursor.execute(asked, [f"shop_{table}", name])
        (found,) = cursor.fetchall()
        return found


def columns() -> None:
    """Every form sorts and ranges as the IDs do, and comes back as an ID."""
    Order.objects.bulk_create(
        Order(id=id, raw=bytes(id), uuid8=id.uuid, compatible=str(id), guid=guid, flake=-(2**63), post=post)
        for id, guid, post in reversed(list(zip(IDS, GUIDS, POSTS, strict=True)))
    )
    for name in ("id", "raw", "uuid8", "compatible"):
        assert list(Order.objects.order_by(name).values_list(name, flat=True)) == IDS, name
        found = Order.objects.filter(**{f"{name}__range": SNO_SPAN}).order_by(name)
        assert [getattr(order, name) for order in found] == IDS[5:10], name
        assert Order.objects.get(**{name: str(IDS[3])}).id == IDS[3]
        assert Order.objects.filter(**{f"{name}__gte": IDS[15]}).count() == 5
        assert Order.objects.filter(**{f"{name}__in": [IDS[0], str(IDS[1])]}).count() == 2
    assert list(Order.objects.order_by("guid").values_list("guid", flat=True)) == GUIDS
    assert [order.id for order in Order.objects.filter(guid__range=GUID_SPAN).order_by("guid")] == IDS[5:10]
    assert Order.objects.get(guid=str(GUIDS[3])).id == IDS[3]
    assert list(Order.objects.order_by("post").values_list("post", flat=True)) == POSTS
    assert [order.id for order in Order.objects.filter(post__range=POST_SPAN).order_by("post")] == IDS[5:10]
    assert Order.objects.filter(uuid8__in=Order.objects.filter(id=IDS[2]).values("uuid8")).get().id == IDS[2]
    assert Order.objects.aggregate(last=models.Max("id")) == {"last": IDS[-1]}
    keys = Order.objects.values_list("uuid8", "guid")
    assert set(keys.filter(id=IDS[0]).union(keys.filter(id=IDS[1]))) == {(IDS[k], GUIDS[k]) for k in (0, 1)}
    order = Order.objects.get(pk=IDS[0])
    assert (order.guid, order.flake, order.post) == (GUIDS[0], -(2**63), POSTS[0])
    assert [type(one) for one in (order.id, order.raw, order.uuid8)] == [Sno] * 3
    new = Order.objects.create()
    assert (new.id.metabyte, new.raw) == (7, None)
    line = Line.objects.create(order=new)
    assert Line.objects.select_related("order").get(order_id=new.id).order.id == new.id
    assert new.lines.get().id == line.id
    assert {name: column(*name.split(".")) for name in STATED.get(connection.vendor, {})} == STATED.get(
        connection.vendor, {}
    )
    dumped = serializers.serialize("json", Order.objects.order_by("id"))
    assert f'"pk": "{IDS[0]}"' in dumped
    assert [item.object.raw for item in serializers.deserialize("json", dumped)] == [*IDS, None]


def refusals() -> None:
    """A value that is no ID is a validation error with the stable code."""
    for given, code in [("short", "invalid_length"), ("A" * 16, "invalid_character"), (7, "invalid_type")]:
        for read in (read_sno, SnoField().to_python, lambda given: Order.objects.filter(id=given)):
            try:
                read(given)
            except ValidationError as error:
                assert error.code == code
            else:
                raise AssertionError(f"{given} was read")
    for post in ("12.0", " 12", "1_000", 12.0, True):
        try:
            Order.objects.filter(post=post)
        except ValidationError as error:
            assert error.code in ("not_canonical", "invalid_type"), post
        else:
            raise AssertionError(f"{post!r} was read")
    if django.VERSION >= (5, 0):  # Django 4.2 leaves it to the database
        assert list(Order.objects.filter(post=2**63)) == []
    assert Order.objects.filter(post=str(POSTS[3])).get().id == IDS[3]
    assert read_sno(IDS[0].uuid) == read_sno(IDS[0].uuid8) == IDS[0]
    try:
        SnoField(form="binary")  # type: ignore[arg-type]
    except ValueError as error:
        assert "found 'binary'" in str(error)
    else:
        raise AssertionError("an unknown form was taken")


def sql_server() -> None:
    """Hot Guids go there and come back in its order: no server runs here, so its backend is played."""

    class Backend:
        vendor = "microsoft"

        class features:
            has_native_uuid_field = True

    for form in ("uuid8", "uuid"):
        try:
            SnoField(form=form).get_db_prep_value(IDS[0], Backend())  # type: ignore[arg-type]
        except NotSupportedError as error:
            assert "expected form 'text' or 'bytes'" in str(error)
        else:
            raise AssertionError("a column was taken that does not sort by time")
    assert SnoField().get_db_prep_value(IDS[0], Backend()) == str(IDS[0])
    with patch.object(connection, "vendor", "microsoft"):
        found = {error.obj.name: error.id for error in run_checks(databases=["default"]) if error.id in OURS}
    assert found == {"uuid8": OURS[0], "compatible": OURS[0], "id": OURS[0]}, found
    assert run_checks(databases=["default"]) == []
    field, backend = HotGuidField(), Backend()
    stored = field.get_db_prep_value(GUIDS[0], backend)
    assert stored == hotguid.to_sql(GUIDS[0])
    assert field.from_db_value(stored, None, backend) == GUIDS[0]
    assert field.get_db_prep_value(GUIDS[0], connection, prepared=True) in (
        GUIDS[0],
        GUIDS[0].hex,
        GUIDS[0].bytes,
    )


def admin() -> None:
    """The admin shows an ID, edits it, and says what is wrong with another."""
    User.objects.create_superuser("admin", password="secret")
    client = Client()
    assert client.login(username="admin", password="secret")
    page = client.get("/admin/shop/order/")
    assert str(IDS[0]) in page.content.decode()
    address = f"/admin/shop/order/{IDS[0]}/change/"
    page = client.get(address)
    assert f'value="{IDS[0]}"' in page.content.decode()
    order = Order.objects.get(pk=IDS[0])
    assert page.context["adminform"].form.initial["raw"] == str(IDS[0])
    form: dict[str, Any] = {"id": str(order.id), "raw": "short", "uuid8": str(IDS[1]), "guid": str(order.guid)}
    form |= {"flake": 1, "post": 2, "compatible": ""}
    refused = client.post(address, form)
    assert "expected length 16, found 5" in refused.content.decode()
    assert client.post(address, {**form, "raw": str(order.raw)}).status_code == 302
    order.refresh_from_db()
    assert (order.raw, order.uuid8, order.compatible, order.post) == (IDS[0], IDS[1], None, 2)
    shown = page.context["adminform"].form
    typed = {name: shown[name].value() for name in shown.fields}
    # A field with a default function is shown twice, so that a new default is no change.
    typed |= {shown.add_initial_prefix(name): value for name, value in typed.items()}
    assert type(shown)(typed, instance=shown.instance).changed_data == []


def rest() -> None:
    """The REST framework reads and writes texts, of 64-bit integers too."""
    client = Client()
    shown = client.get(f"/orders/{IDS[5]}/").json()
    assert (shown["id"], shown["raw"], shown["guid"]) == (str(IDS[5]), str(IDS[5]), str(GUIDS[5]))
    assert (shown["flake"], shown["post"]) == ("8000000000000", str(POSTS[5]))
    body = {"id": "a7rdmuv326nct5if", "raw": None, "guid": str(GUIDS[0]), "flake": "3vgoe12ccb8gh", "post": "-7"}
    made = client.post("/orders/", body, content_type="application/json")
    assert (made.status_code, made.json()["flake"]) == (201, "3vgoe12ccb8gh"), made.content
    assert Order.objects.get(pk="a7rdmuv326nct5if").flake == 4_594_531_474_933_654_033
    refused = client.post(
        "/orders/", {**body, "id": "short", "flake": "-", "post": str(2**63)}, content_type="application/json"
    )
    assert refused.status_code == 400
    assert list(refused.json()) == ["id", "flake", "post"], refused.json()
    assert refused.json()["id"] == ["expected length 16, found 5"]
    for post in ("12.0", " 12", "12 ", "1_000", "007", "+7", "-0", "\u0667", "", 12.0, True, "1" * 5000, [7]):
        refused = client.post("/orders/", {**body, "id": None, "post": post}, content_type="application/json")
        assert (refused.status_code, "post" in refused.json()) == (400, True), (post, refused.content)
    refused = client.post("/orders/", {**body, "id": None, "post": "9" * 25}, content_type="application/json")
    assert "9" * 25 in refused.json()["post"][0], refused.json()
    assert client.patch(f"/orders/{IDS[5]}/", {"post": 7}, content_type="application/json").json()["post"] == "7"
    assert client.get("/orders/short/").status_code in (400, 404)


def main() -> None:
    setup_test_environment()
    migrations(Path(sys.argv[1]))
    columns()
    refusals()
    sql_server()
    admin()
    rest()
    assert issubclass(SnoField, models.Field)


if __name__ == "__main__":
    main()
