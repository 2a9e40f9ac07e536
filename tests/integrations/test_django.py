"""Django's fields, migrations, admin and REST framework, on SQLite, PostgreSQL and MariaDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import django
import pytest
from django.contrib.auth.models import User
from django.core import serializers
from django.core.checks import run_checks
from django.core.exceptions import ValidationError
from django.db import NotSupportedError, connection, models, transaction
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.test import Client
from django.urls import path, register_converter
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ModelViewSet

from ids import GUID_SPAN, GUIDS, IDS, POST_IDS, POST_SPAN, SNO_SPAN
from polyflake import hotguid, public, randflake, uuid7
from polyflake.django import (
    HotGuidField,
    PublicIdConverter,
    RandflakeConverter,
    SnoConverter,
    SnoField,
    read_sno,
)
from polyflake.rest_framework import IdLookupMixin, ModelSerializer, PublicIdField
from polyflake.sno import Sno
from shop.models import SHOPS, Order

OWN_CHECKS = ["polyflake.E001"]
ORDER_ID_TYPE = public.Keyring(bytes(range(32))).of("order")
# The type and collation of each column of the table, by database.
EXPECTED_TYPES: dict[str, dict[str, tuple[str, str | None]]] = {
    "postgresql": {
        "order.id": ("character varying", "C"),
        "order.raw": ("bytea", None),
        "order.uuid8": ("uuid", None),
        "order.guid": ("uuid", None),
        "textline.order_id": ("character varying", "C"),
    },
    "mysql": {
        "order.id": ("char(16)", "ascii_bin"),
        "order.raw": ("binary(10)", None),
        "order.uuid8": ("binary(16)", None),
        "order.uuid": ("binary(16)", None),
        "order.guid": ("binary(16)", None),
        "order.flake": ("bigint(20)", None),
        "uuid8line.id": ("binary(16)", None),
        "textline.order_id": ("char(16)", "ascii_bin"),
    },
}


@pytest.fixture(scope="module")
def orders(database: str) -> Iterator[str]:
    """Inserts an order for each ID and yields the database's name."""
    with transaction.atomic():
        Order.objects.bulk_create(
            Order(id=id, raw=bytes(id), uuid8=id.uuid, uuid=str(id), guid=guid, flake=-(2**63), post=post)
            for id, guid, post in reversed(list(zip(IDS, GUIDS, POST_IDS, strict=True)))
        )
        yield database
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def _roll_back(orders: str) -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def test_migrations_import_the_fields_and_are_complete(migrations: Path) -> None:
    (written,) = migrations.glob("0001*.py")
    source = written.read_text()
    assert "polyflake.django.SnoField(blank=True, form='bytes', null=True" in source, source
    # Since version 6.1, Django's migrations contain the arguments of a partial function in call syntax.
    expected_arguments = "7" if django.VERSION >= (6, 1) else "*(7,), **{}"
    assert f"functools.partial(polyflake.sno.generate, {expected_arguments})" in source, source
    state = MigrationLoader(connection).project_state()
    assert MigrationAutodetector(state, ProjectState.from_apps(django.apps.apps))._detect_changes() == {}


def column_type_and_collation(table: str, name: str) -> tuple[str, str | None]:
    """Returns a column's type and collation."""
    type_column = "column_type" if connection.vendor == "mysql" else "data_type"
    type_query = (
        f"SELECT {type_column}, collation_name FROM information_schema.columns"
        " WHERE (table_name, column_name) = (%s, %s)"
    )
    with connection.cursor() as cursor:
        cursor.execute(type_query, [f"shop_{table}", name])
        (found,) = cursor.fetchall()
        return found


@pytest.mark.parametrize("name", ["id", "raw", "uuid8", "uuid"])
def test_columns_of_every_form_sort_and_filter_like_the_ids(name: str) -> None:
    assert list(Order.objects.order_by(name).values_list(name, flat=True)) == IDS
    found_orders = Order.objects.filter(**{f"{name}__range": SNO_SPAN}).order_by(name)
    assert [getattr(order, name) for order in found_orders] == IDS[5:10]
    assert Order.objects.get(**{name: str(IDS[3])}).id == IDS[3]
    assert Order.objects.filter(**{f"{name}__gte": IDS[15]}).count() == 5
    assert type(getattr(Order.objects.get(pk=IDS[0]), name)) is Sno


def test_guids_and_integers_sort_and_filter_by_time() -> None:
    assert list(Order.objects.order_by("guid").values_list("guid", flat=True)) == GUIDS
    assert [order.id for order in Order.objects.filter(guid__range=GUID_SPAN).order_by("guid")] == IDS[5:10]
    assert Order.objects.get(guid=str(GUIDS[3])).id == IDS[3]
    assert list(Order.objects.order_by("post").values_list("post", flat=True)) == POST_IDS
    assert [order.id for order in Order.objects.filter(post__range=POST_SPAN).order_by("post")] == IDS[5:10]
    order = Order.objects.get(pk=IDS[0])
    assert (order.guid, order.flake, order.post) == (GUIDS[0], -(2**63), POST_IDS[0])


def test_columns_sort_by_bytes(database: str) -> None:
    assert Order.objects.aggregate(last=models.Max("id")) == {"last": IDS[-1]}
    stated = EXPECTED_TYPES.get(database, {})
    assert {name: column_type_and_collation(*name.split(".")) for name in stated} == stated


def test_a_default_makes_ids_and_dumps_contain_strings() -> None:
    new_order = Order.objects.create()
    assert (new_order.id.metabyte, new_order.raw) == (7, None)
    serialized_orders = serializers.serialize("json", Order.objects.order_by("id"))
    assert f'"pk": "{IDS[0]}"' in serialized_orders
    assert [item.object.raw for item in serializers.deserialize("json", serialized_orders)] == [*IDS, None]


@pytest.mark.parametrize(
    ("given", "code"), [("short", "invalid_length"), ("A" * 16, "invalid_character"), (7, "invalid_type")]
)
@pytest.mark.parametrize(
    "read",
    [read_sno, SnoField().to_python, lambda given: Order.objects.filter(id=given)],
    ids=["all", "field", "query"],
)
def test_an_invalid_id_is_rejected_with_its_code(read: Any, given: Any, code: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read(given)
    assert caught.value.code == code


@pytest.mark.parametrize("post", ["12.0", " 12", "1_000", 12.0, True])
def test_a_non_integer_is_rejected(post: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        Order.objects.filter(post=post)
    assert caught.value.code in ("not_canonical", "invalid_type")


def test_id_like_values_are_accepted() -> None:
    if django.VERSION >= (5, 0):  # Django 4.2 leaves the check to the database
        assert list(Order.objects.filter(post=2**63)) == []
    assert Order.objects.filter(post=str(POST_IDS[3])).get().id == IDS[3]
    assert read_sno(IDS[0].uuid) == read_sno(IDS[0].uuid8) == IDS[0]
    with pytest.raises(ValueError, match="found 'binary'"):
        SnoField(form="binary")  # type: ignore[arg-type]


class Backend:
    """A stub of the SQL Server backend, because the tests run without SQL Server."""

    vendor = "microsoft"

    class features:
        has_native_uuid_field = True


@pytest.mark.parametrize("form", ["uuid8", "uuid"])
def test_sql_server_rejects_columns_that_do_not_sort_by_time(form: Any) -> None:
    with pytest.raises(NotSupportedError, match="expected form 'text' or 'bytes'"):
        SnoField(form=form).get_db_prep_value(IDS[0], Backend())


def test_sql_server_columns_are_checked() -> None:
    assert SnoField().get_db_prep_value(IDS[0], Backend()) == str(IDS[0])
    with patch.object(connection, "vendor", "microsoft"):
        found = {error.obj.model.__name__ for error in run_checks(databases=["default"]) if error.id in OWN_CHECKS}
    assert found == {"Order", *(f"{form}{name}" for form in ("Uuid", "Uuid8") for name in ("Order", "Tag", "Line"))}
    assert run_checks(databases=["default"]) == []


def test_sql_server_stores_guids_in_its_sort_order() -> None:
    field, backend = HotGuidField(), Backend()
    stored_guid = field.get_db_prep_value(GUIDS[0], backend)
    assert stored_guid == hotguid.to_sql(GUIDS[0])
    assert field.from_db_value(stored_guid, None, backend) == GUIDS[0]
    assert field.get_db_prep_value(GUIDS[0], connection, prepared=True) in (GUIDS[0], GUIDS[0].hex, GUIDS[0].bytes)


def test_the_admin_shows_edits_and_validates_ids() -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("admin"))
    page = client.get("/admin/shop/order/")
    assert str(IDS[0]) in page.content.decode()
    change_url = f"/admin/shop/order/{IDS[0]}/change/"
    page = client.get(change_url)
    assert f'value="{IDS[0]}"' in page.content.decode()
    order = Order.objects.get(pk=IDS[0])
    assert page.context["adminform"].form.initial["raw"] == str(IDS[0])
    form: dict[str, Any] = {"id": str(order.id), "raw": "short", "uuid8": str(IDS[1]), "guid": str(order.guid)}
    form |= {"flake": 1, "post": 2, "uuid": ""}
    response = client.post(change_url, form)
    assert "expected length 16, found 5" in response.content.decode()
    assert client.post(change_url, {**form, "raw": str(order.raw)}).status_code == 302
    order.refresh_from_db()
    assert (order.raw, order.uuid8, order.uuid, order.post) == (IDS[0], IDS[1], None, 2)
    admin_form = page.context["adminform"].form
    form_values = {name: admin_form[name].value() for name in admin_form.fields}
    # For a field with a default function, the form contains a second, hidden copy, so that a new default does not count
    # as a change.
    form_values |= {admin_form.add_initial_prefix(name): value for name, value in form_values.items()}
    assert type(admin_form)(form_values, instance=admin_form.instance).changed_data == []


def test_the_rest_framework_reads_and_writes_integers_as_strings() -> None:
    client = Client()
    shown = client.get(f"/orders/{IDS[5]}/").json()
    assert (shown["id"], shown["raw"], shown["guid"]) == (str(IDS[5]), str(IDS[5]), str(GUIDS[5]))
    assert (shown["flake"], shown["post"]) == ("8000000000000", str(POST_IDS[5]))
    body = {"id": "a7rdmuv326nct5if", "raw": None, "guid": str(GUIDS[0]), "flake": "3vgoe12ccb8gh", "post": "-7"}
    create_response = client.post("/orders/", body, content_type="application/json")
    assert (create_response.status_code, create_response.json()["flake"]) == (201, "3vgoe12ccb8gh"), (
        create_response.content
    )
    assert Order.objects.get(pk="a7rdmuv326nct5if").flake == 4_594_531_474_933_654_033
    response = client.post(
        "/orders/", {**body, "id": "short", "flake": "-", "post": str(2**63)}, content_type="application/json"
    )
    assert response.status_code == 400
    assert list(response.json()) == ["id", "flake", "post"], response.json()
    assert response.json()["id"] == ["expected length 16, found 5"]
    for post in ("12.0", " 12", "12 ", "1_000", "007", "+7", "-0", "\u0667", "", 12.0, True, "1" * 5000, [7]):
        response = client.post("/orders/", {**body, "id": None, "post": post}, content_type="application/json")
        assert (response.status_code, "post" in response.json()) == (400, True), (post, response.content)
    response = client.post("/orders/", {**body, "id": None, "post": "9" * 25}, content_type="application/json")
    assert "9" * 25 in response.json()["post"][0], response.json()
    assert client.patch(f"/orders/{IDS[5]}/", {"post": 7}, content_type="application/json").json()["post"] == "7"
    assert client.get("/orders/short/").status_code in (400, 404)


class NumberedSerializer(ModelSerializer):
    id = PublicIdField(ORDER_ID_TYPE, read_only=True)

    class Meta:
        model = SHOPS["int64"].Order
        fields = ("id", "number")


class RandflakeSerializer(ModelSerializer):
    class Meta:
        model = Order
        fields = ("id", "flake")


def send_request(serializer: Any, method: str, text: str, **options: Any) -> Any:
    """Returns the response of a view set that uses the mixin. `text` is the lookup value from the URL."""
    members = {"queryset": serializer.Meta.model.objects.all(), "serializer_class": serializer, **options}
    view = type(
        "View", (IdLookupMixin, ModelViewSet), {**members, "authentication_classes": (), "permission_classes": ()}
    )
    actions = {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}
    request = getattr(APIRequestFactory(), method)(
        "/", {"number": 8}, **({} if method == "get" else {"format": "json"})
    )
    return view.as_view(actions)(request, **{options.get("lookup_field", "pk"): text})


@pytest.mark.usefixtures("orders")
def test_a_view_finds_a_row_only_by_its_serialized_id() -> None:
    rows, text = SHOPS["int64"].Order.objects, ORDER_ID_TYPE.encode(42)
    with transaction.atomic():
        rows.create(id=42, number=7)
        assert send_request(NumberedSerializer, "get", text).data == {"id": text, "number": 7}
        assert send_request(NumberedSerializer, "patch", text).data == {"id": text, "number": 8}
        for method in ("get", "patch", "delete"):
            for other in ("42", ORDER_ID_TYPE.encode(43), text[:-1], text.upper()):
                assert send_request(NumberedSerializer, method, other).status_code == 404, (method, other)
        assert send_request(NumberedSerializer, "delete", text).status_code == 204
        assert not rows.filter(id=42).exists()

        Order.objects.filter(id=IDS[5]).update(flake=7)
        shown = send_request(RandflakeSerializer, "get", randflake.encode_text(7), lookup_field="flake")
        assert (shown.data["id"], shown.data["flake"]) == (str(IDS[5]), randflake.encode_text(7))
        assert send_request(RandflakeSerializer, "get", "7x", lookup_field="flake").status_code == 404
        assert send_request(RandflakeSerializer, "get", str(IDS[5])).data["id"] == str(IDS[5])
        transaction.set_rollback(True)
    with pytest.raises(AssertionError, match="expected a field for 'post'"):
        send_request(RandflakeSerializer, "get", "7", lookup_field="post")


def test_path_converters_parse_ids() -> None:
    class OrderConverter(PublicIdConverter):
        of = ORDER_ID_TYPE

    cases: list[tuple[type, Any, str]] = [
        (SnoConverter, IDS[0], str(IDS[0])),
        (RandflakeConverter, 4_594_531_474_933_654_033, "3vgoe12ccb8gh"),
        (OrderConverter, 42, ORDER_ID_TYPE.encode(42)),
    ]
    for converter, id, text in cases:
        name = converter.__name__
        register_converter(converter, name)
        pattern = path(f"orders/<{name}:id>/", lambda request, id: None)
        resolver_match = pattern.resolve(f"orders/{text}/")
        assert resolver_match is not None and resolver_match.kwargs == {"id": id}
        assert converter().to_url(id) == text
        for wrong in (text[:-1] + "y", "42_", text.upper()):
            assert pattern.resolve(f"orders/{wrong}/") is None, wrong


@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize("name", ["id", "raw", "uuid8", "uuid"])
def test_a_value_without_an_output_field_is_found(name: str) -> None:
    found = Order.objects.filter(**{name: models.Value(IDS[5])}).values_list("id", flat=True)
    assert list(found) == [IDS[5]]


class Event(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7.generate)

    class Meta:
        app_label = "unlisted"  # so that it belongs to no migration
        managed = False


@pytest.mark.usefixtures("orders")
def test_djangos_own_field_stores_version_7_uuids_in_order() -> None:
    table, column = map(connection.ops.quote_name, (Event._meta.db_table, "id"))
    with connection.cursor() as cursor:
        kind = Event._meta.pk.db_type(connection)
        cursor.execute(f"CREATE TEMPORARY TABLE {table} ({column} {kind} PRIMARY KEY)")
    ids = [Event.objects.create().id for _ in range(20)]
    found = Event.objects.filter(id__range=(ids[5], ids[9])).order_by("id").values_list("id", flat=True)
    assert list(found) == ids[5:10] == sorted(ids)[5:10]
