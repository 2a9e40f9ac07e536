"""The functions that pickles and copies of records call, since records have no constructors."""

from __future__ import annotations

from types import GetSetDescriptorType, SimpleNamespace
from typing import Any


def restore(cls: Any, fields: tuple[Any, ...]) -> Any:
    """A record of these fields."""
    return cls._restore(*fields)


def reduce(record: Any) -> Any:
    """The result of ``__reduce__`` for a record that its attributes describe."""
    cls = type(record)
    names = [name for name, member in vars(cls).items() if isinstance(member, GetSetDescriptorType)]
    return restore, (cls, (SimpleNamespace(**{name: getattr(record, name) for name in names}),))
