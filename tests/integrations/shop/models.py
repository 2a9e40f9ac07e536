"""A model with an ID of every kind."""

from functools import partial

from django.db import models

from polyflake import hotguid, sno
from polyflake.django import HotGuidField, Int64Field, RandflakeField, SnoField


class Order(models.Model):
    id = SnoField(primary_key=True, default=partial(sno.generate, 7))
    raw = SnoField(form="bytes", null=True, blank=True, unique=True)
    uuid8 = SnoField(form="uuid8", null=True, blank=True)
    compatible = SnoField(form="uuid", null=True, blank=True)
    guid = HotGuidField(default=hotguid.generate)
    flake = RandflakeField(default=1)
    post = Int64Field(default=1)


class Line(models.Model):
    id = SnoField(form="uuid8", primary_key=True, default=sno.generate)
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
