"""Models for people and their orders. The metabyte of an ID identifies the type of the object."""

from functools import partial

from django.db import models

from polyflake import sno
from polyflake.django import SnoField

PERSON, ORDER = 1, 2


class Person(models.Model):
    id = SnoField(primary_key=True, default=partial(sno.generate, PERSON))
    name = models.CharField(max_length=100)


class Order(models.Model):
    id = SnoField(primary_key=True, default=partial(sno.generate, ORDER))
    buyer = models.ForeignKey(Person, on_delete=models.CASCADE)
    item = models.CharField(max_length=100)
