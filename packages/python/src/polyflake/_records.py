"""The functions that copy and unpickle records.

Only the compiled module creates records, such as statistics, so they have no constructors. Pickling a record stores its
attributes, and unpickling recreates the record with a private class method.
"""

from __future__ import annotations

from types import GetSetDescriptorType, SimpleNamespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def restore(cls: Any, fields: tuple[Any, ...]) -> Any:
    """Returns a record with the given fields."""
    return cls._restore(*fields)


def reduce(record: Any) -> Any:
    """Returns the result of ``__reduce__`` for a record. The record's attributes contain all of its data."""
    cls = type(record)
    names = [name for name, member in vars(cls).items() if isinstance(member, GetSetDescriptorType)]
    return restore, (cls, (SimpleNamespace(**{name: getattr(record, name) for name in names}),))
