"""Django relations with keys of every kind, on every database, compared with Django's built-in UUID field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Case, Count, Exists, F, OuterRef, Prefetch, Q, Value, When
from django.db.models.functions import Coalesce
from django.test import Client

from relations import EXPECTED_ANSWERS, KEYS, LINES_BY_ORDER, ORDERS, PARENTS, TAGS, TAGS_BY_ORDER
from shop.models import SHOPS, Shop


class FilledShop:
    """The models that use one kind of key, filled with the rows of `relations`. `keys[number]` is the key of the row
    with that number.
    """

    def __init__(self, shop: Shop) -> None:
        keys = KEYS[shop.kind]
        self.Tag, self.Order, self.Line, self.Receipt = shop.models
        self.kind, self.keys = shop.kind, keys
        # Keys that do not occur in any row.
        self.new = keys[15:]
        self.Tag.objects.bulk_create(self.Tag(id=keys[k], number=k) for k in TAGS)
        for k in ORDERS:
            self.Order.objects.create(id=keys[k], number=k, parent_id=self.key(PARENTS[k]), other=self.key(PARENTS[k]))
            self.order(k).tags.set([keys[tag] for tag in TAGS_BY_ORDER[k]])
        lines = [(line, k) for k, lines in LINES_BY_ORDER.items() for line in lines]
        self.Line.objects.bulk_create(self.Line(id=keys[line], number=line, order_id=keys[k]) for line, k in lines)
        self.Receipt.objects.bulk_create(self.Receipt(order_id=keys[k], number=k) for k in (0, 3))

    def key(self, number: int | None) -> Any:
        return None if number is None else self.keys[number]

    def order(self, number: int) -> Any:
        return self.Order.objects.get(number=number)


def row_numbers(rows: Iterable[Any]) -> list[int]:
    return sorted(row.number for row in rows)


def map_by_number(rows: Iterable[Any], answer: Callable[[Any], Any]) -> dict[int, Any]:
    return {row.number: answer(row) for row in rows}


def row_number(row: Any) -> int | None:
    return None if row is None else row.number


def tags_by_order(shop: FilledShop) -> dict[int, list[int]]:
    return map_by_number(shop.Order.objects.all(), lambda order: row_numbers(order.tags.all()))


def parents(shop: FilledShop) -> dict[int, int | None]:
    return map_by_number(shop.Order.objects.select_related("parent"), lambda order: row_number(order.parent))


def other_orders(shop: FilledShop) -> dict[int, int]:
    """Returns the number of the key in each order's `other` column."""
    return map_by_number(shop.Order.objects.all(), lambda order: shop.keys.index(order.other))


def change_parents(shop: FilledShop) -> Any:
    orders = list(shop.Order.objects.order_by("number"))
    for order, parent in zip(orders, [None, 3, 3, 0], strict=True):
        order.parent_id = shop.key(parent)
    assert shop.Order.objects.bulk_update(orders, ["parent"]) == 4
    return parents(shop)


def upsert(shop: FilledShop) -> Any:
    orders = [shop.Order(id=shop.keys[k], number=k + 4) for k in (3, 4)]
    # MySQL and MariaDB detect the conflicting key on their own.
    conflict_options = {} if connection.vendor == "mysql" else {"unique_fields": ["id"]}
    shop.Order.objects.bulk_create(orders, update_conflicts=True, update_fields=["number"], **conflict_options)
    return {shop.keys.index(order.id): order.number for order in shop.Order.objects.all()}


def change_tags(shop: FilledShop, act: Callable[[Any], Any]) -> Any:
    act(shop)
    return tags_by_order(shop)


def refresh(row: Any) -> Any:
    row.refresh_from_db()
    return row


def bulk_create_orders(shop: FilledShop, **options: Any) -> Any:
    shop.Order.objects.bulk_create([shop.Order(id=shop.keys[k], number=k) for k in (4, 5)], **options)
    return row_numbers(shop.Order.objects.all())


QUESTIONS: dict[str, Callable[[FilledShop], Any]] = {
    "tags": tags_by_order,
    "tags loaded ahead": lambda shop: map_by_number(
        shop.Order.objects.prefetch_related("tags"), lambda order: row_numbers(order.tags.all())
    ),
    "tags loaded ahead, some": lambda shop: map_by_number(
        shop.Order.objects.prefetch_related(Prefetch("tags", shop.Tag.objects.exclude(id=shop.keys[0]), "some")),
        lambda order: row_numbers(order.some),
    ),
    "orders of tags": lambda shop: map_by_number(shop.Tag.objects.all(), lambda tag: row_numbers(tag.orders.all())),
    "orders of tags loaded ahead": lambda shop: map_by_number(
        shop.Tag.objects.prefetch_related("orders"), lambda tag: row_numbers(tag.orders.all())
    ),
    "lines": lambda shop: map_by_number(shop.Order.objects.all(), lambda order: row_numbers(order.lines.all())),
    "lines loaded ahead": lambda shop: map_by_number(
        shop.Order.objects.prefetch_related("lines"), lambda order: row_numbers(order.lines.all())
    ),
    "orders of lines by a join": lambda shop: map_by_number(
        shop.Line.objects.select_related("order"), lambda line: line.order.number
    ),
    "orders of lines loaded ahead": lambda shop: map_by_number(
        shop.Line.objects.prefetch_related("order"), lambda line: line.order.number
    ),
    "parents": lambda shop: map_by_number(shop.Order.objects.all(), lambda order: row_number(order.parent)),
    "parents loaded ahead": lambda shop: map_by_number(
        shop.Order.objects.prefetch_related("parent"), lambda order: row_number(order.parent)
    ),
    "children of children": lambda shop: map_by_number(
        shop.Order.objects.prefetch_related("children__children"),
        lambda order: row_numbers(deep for child in order.children.all() for deep in child.children.all()),
    ),
    "receipts": lambda shop: map_by_number(
        shop.Order.objects.exclude(**{f"{shop.Receipt.__name__.lower()}": None}).select_related(
            shop.Receipt.__name__.lower()
        ),
        lambda order: getattr(order, shop.Receipt.__name__.lower()).number,
    ),
    "orders of receipts": lambda shop: map_by_number(
        shop.Receipt.objects.prefetch_related("order"), lambda receipt: receipt.order.number
    ),
    "in": lambda shop: row_numbers(shop.Order.objects.filter(id__in=[shop.keys[1], shop.keys[3]])),
    "in texts": lambda shop: row_numbers(shop.Order.objects.filter(id__in=[str(shop.keys[1]), str(shop.keys[3])])),
    "not in": lambda shop: row_numbers(shop.Order.objects.exclude(id__in=[shop.keys[1], shop.keys[3]])),
    "in a subquery": lambda shop: row_numbers(
        shop.Order.objects.filter(tags__in=shop.Tag.objects.filter(id=shop.keys[0]).values("id"))
    ),
    "exists": lambda shop: row_numbers(
        shop.Order.objects.filter(Exists(shop.Line.objects.filter(order=OuterRef("pk"), id__gte=shop.keys[0])))
    ),
    "of a tag": lambda shop: row_numbers(shop.Order.objects.filter(tags=shop.keys[0])),
    "of tags": lambda shop: row_numbers(shop.Order.objects.filter(tags__in=shop.Tag.objects.all()).distinct()),
    "of a parent": lambda shop: row_numbers(shop.Order.objects.filter(parent=shop.order(0))),
    "counted": lambda shop: map_by_number(shop.Order.objects.annotate(n=Count("tags__id")), lambda order: order.n),
    "a range": lambda shop: row_numbers(shop.Order.objects.filter(id__range=(shop.keys[1], shop.keys[2]))),
    "the last": lambda shop: shop.Order.objects.order_by("-id").first().number,
    "by keys": lambda shop: row_numbers(shop.Order.objects.in_bulk([shop.keys[0], shop.keys[2]]).values()),
    "united": lambda shop: sorted(
        shop.keys.index(key)
        for key in shop.Order.objects.filter(number=0)
        .values_list("id", flat=True)
        .union(shop.Order.objects.filter(number=3).values_list("id", flat=True))
    ),
    "replaced nulls": lambda shop: map_by_number(
        shop.Order.objects.annotate(key=Coalesce("other", "id")), lambda order: shop.keys.index(order.key)
    ),
    "a choice of two": lambda shop: map_by_number(
        shop.Order.objects.annotate(
            key=Case(
                When(Q(parent=shop.keys[0]) & ~Q(number=2), then=F("parent_id")),
                default=Value(shop.keys[1], output_field=shop.Order._meta.pk),
            )
        ),
        lambda order: shop.keys.index(order.key),
    ),
    "a generator's default": lambda shop: shop.Order.objects.filter(pk=shop.Order.objects.create().pk).exists(),
    "made many": bulk_create_orders,
    "made many, in order": lambda shop: [
        row.number for row in shop.Order.objects.bulk_create([shop.Order(id=shop.keys[k], number=k) for k in (5, 4)])
    ],
    "made many, some there": lambda shop: (
        shop.Order.objects.bulk_create([shop.Order(id=shop.keys[k], number=k) for k in (3, 4)], ignore_conflicts=True)
        and row_numbers(shop.Order.objects.all())
    ),
    "made many or changed": upsert,
    "changed many": change_parents,
    "changed by keys": lambda shop: (
        shop.Order.objects.filter(id__in=[shop.keys[1], shop.keys[3]]).update(number=7)
        and {shop.keys.index(order.id): order.number for order in shop.Order.objects.all()}
    ),
    "got or made": lambda shop: [
        (row.number, made)
        for row, made in (shop.Order.objects.get_or_create(id=key) for key in (shop.keys[0], shop.new[0]))
    ],
    "changed or made": lambda shop: (
        [
            shop.Order.objects.update_or_create(id=key, defaults={"number": number})
            for key, number in ((shop.keys[0], 7), (shop.keys[9], 9))
        ]
        and {shop.keys.index(order.id): order.number for order in shop.Order.objects.all()}
    ),
    "tags set": lambda shop: change_tags(
        shop, lambda shop: (shop.order(0).tags.set([shop.keys[2]]), shop.order(2).tags.set(shop.order(3).tags.all()))
    ),
    "tags added and removed": lambda shop: change_tags(
        shop,
        lambda shop: (
            shop.order(0).tags.add(*shop.Tag.objects.all()),
            shop.order(0).tags.remove(shop.keys[0]),
        ),
    ),
    "deleted": lambda shop: (
        shop.Line.objects.filter(order=shop.keys[0]).delete()
        and shop.Order.objects.filter(id=shop.keys[3]).delete()
        and map_by_number(shop.Order.objects.prefetch_related("lines"), lambda order: row_numbers(order.lines.all()))
    ),
    "read again": lambda shop: refresh(shop.order(0)).number,
    "locked": lambda shop: row_numbers(shop.Order.objects.select_for_update().filter(id=shop.keys[0])),
}


@pytest.fixture(scope="module", params=SHOPS)
def filled_shop(request: pytest.FixtureRequest, database: str) -> Iterator[FilledShop]:
    with transaction.atomic():
        yield FilledShop(SHOPS[request.param])
        transaction.set_rollback(True)


@pytest.fixture
def shop(filled_shop: FilledShop) -> Iterator[FilledShop]:
    """Yields the shop, and restores it afterwards."""
    with transaction.atomic():
        yield filled_shop
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    "lookup", ["iexact", "contains", "icontains", "startswith", "istartswith", "endswith", "iendswith"]
)
def test_string_lookups_find_a_whole_id(shop: FilledShop, lookup: str) -> None:
    def find_orders(text: str, leave: Callable[..., Any]) -> list[int]:
        return row_numbers(leave(**{f"id__{lookup}": text}))

    orders = shop.Order.objects
    assert find_orders(str(shop.keys[1]), orders.filter) == [1]
    assert find_orders(str(shop.keys[1]), orders.exclude) == [0, 2, 3]
    assert (find_orders("no ID", orders.filter), find_orders("no ID", orders.exclude)) == ([], list(ORDERS))


@pytest.mark.parametrize("question", EXPECTED_ANSWERS)
def test_relations_work_with_id_keys(shop: FilledShop, question: str) -> None:
    assert QUESTIONS[question](shop) == EXPECTED_ANSWERS[question]


def submitted_values(form: Any) -> dict[str, Any]:
    """Returns the values that a browser submits for a form that was not edited."""
    values = {name: "" if form[name].value() is None else form[name].value() for name in form.fields}
    # A browser submits a field with a default function twice, so that a new default does not count as a change.
    return {add(name): value for add in (form.add_prefix, form.add_initial_prefix) for name, value in values.items()}


def test_the_admin_edits_related_rows(shop: FilledShop) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("admin"))
    list_url = f"/admin/shop/{shop.Order._meta.model_name}/"
    for query, expected_numbers in [
        ({"q": str(shop.keys[1])}, [1, 3]),
        ({"q": "no ID"}, []),
        ({"tags__id__exact": str(shop.keys[0])}, [0, 3]),
    ]:
        assert row_numbers(client.get(list_url, query).context["cl"].result_list) == expected_numbers
    page = client.get(f"{list_url}{shop.keys[0]}/change/")
    form, lines = page.context["adminform"].form, page.context["inline_admin_formsets"][0].formset
    edited_values = submitted_values(form) | {"tags": [str(shop.keys[2])], "parent": str(shop.keys[3])}
    for one in [lines.management_form, *lines.forms]:
        edited_values |= submitted_values(one)
    edited_values[lines.forms[0].add_prefix("number")] = 70
    save_response = client.post(f"{list_url}{shop.keys[0]}/change/", edited_values)
    assert save_response.status_code == 302, save_response.context["errors"]
    assert (tags_by_order(shop)[0], parents(shop)[0], row_numbers(shop.order(0).lines.all())) == ([2], 3, [1, 2, 70])
    confirmation_response = client.post(
        list_url, {"action": "delete_selected", "_selected_action": [str(shop.keys[3])]}
    )
    assert str(shop.keys[4]) in confirmation_response.content.decode()  # one of the order's lines
    assert client.post(f"{list_url}{shop.keys[1]}/delete/", {"post": "yes"}).status_code == 302
    assert not shop.Order.objects.filter(id=shop.keys[1]).exists()


def test_the_rest_framework_writes_related_rows(shop: FilledShop) -> None:
    client, list_url = Client(), f"/{shop.kind}-orders/"
    tags = [str(shop.keys[0]), str(shop.keys[1])]
    body = {"id": str(shop.keys[9]), "number": 5, "other": None, "parent": str(shop.keys[0]), "tags": tags}
    create_response = client.post(list_url, body, content_type="application/json")
    assert create_response.status_code == 201, create_response.content
    for answer in (create_response.json(), client.get(f"{list_url}{shop.keys[9]}/").json()):
        assert {**answer, "tags": sorted(answer["tags"])} == {**body, "tags": sorted(tags)}
    assert tags_by_order(shop)[5] == [0, 1]
