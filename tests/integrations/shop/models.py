"""A model with fields for every kind of ID, and a set of related models for each kind of key."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

from django.db import models

from ids import FORMS, new_post
from polyflake import hotguid, sno
from polyflake.django import HotGuidField, Int64Field, RandflakeField, SnoField


class Order(models.Model):
    id = SnoField(primary_key=True, default=partial(sno.generate, 7))
    raw = SnoField(form="bytes", null=True, blank=True, unique=True)
    uuid8 = SnoField(form="uuid8", null=True, blank=True)
    uuid = SnoField(form="uuid", null=True, blank=True)
    guid = HotGuidField(default=hotguid.generate)
    flake = RandflakeField(default=1)
    post = Int64Field(default=1)


# The names match relations.KEYS.
FIELDS: dict[str, Callable[..., Any]] = {
    "reference": partial(models.UUIDField, default=uuid4),
    **{form: partial(SnoField, form=form, default=sno.generate) for form in FORMS},
    "hotguid": partial(HotGuidField, default=hotguid.generate),
    "int64": partial(Int64Field, default=new_post),
}


class Shop:
    """The models that use one kind of key."""

    def __init__(self, kind: str) -> None:
        self.kind, key = kind, FIELDS[kind]
        number = models.IntegerField(default=9)
        self.Tag = self._model("Tag", id=key(primary_key=True), number=number.clone())
        self.Order = self._model(
            "Order",
            id=key(primary_key=True),
            number=number.clone(),
            parent=models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="children"),
            tags=models.ManyToManyField(self.Tag, related_name="orders", blank=True),
            other=key(default=None, null=True, blank=True),
        )
        order = models.ForeignKey(self.Order, models.CASCADE, related_name="lines")
        self.Line = self._model("Line", id=key(primary_key=True), number=number.clone(), order=order)
        order = models.OneToOneField(self.Order, models.CASCADE, primary_key=True)
        self.Receipt = self._model("Receipt", order=order, number=number.clone())
        self.models = [self.Tag, self.Order, self.Line, self.Receipt]

    def _model(self, name: str, **fields: Any) -> Any:
        return type(f"{self.kind.title()}{name}", (models.Model,), {"__module__": __name__, **fields})


SHOPS = {kind: Shop(kind) for kind in FIELDS}
