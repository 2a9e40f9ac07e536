"""Tests IDs as Python objects. The objects must behave the same in wheels for the stable ABI and in wheels for one
Python version.
"""

import copy
import gc
import inspect
import pickle
import sys
import uuid
import weakref
from collections.abc import Callable

import pytest

from polyflake import hotguid, sno, uuid7


def test_an_id_holds_one_reference_to_its_class() -> None:
    def reference_counts() -> tuple[int, int]:
        """Returns the number of references to the class while 2001 IDs exist, and after they are deleted."""
        ids = [sno.generate() for _ in range(1000)] + list(sno.generate_many(1000)) + [sno.Sno(sno.generate_text())]
        assert len(set(ids)) == len(ids) == 2001
        count_during = sys.getrefcount(sno.Sno)
        ids.clear()
        return count_during, sys.getrefcount(sno.Sno)

    # The first calls create references that are never released.
    _, before = reference_counts()
    assert reference_counts() == (before + 2001, before)


def test_an_id_survives_the_garbage_collector_and_cannot_be_subclassed() -> None:
    ids = [sno.generate() for _ in range(1000)]
    texts = [str(id) for id in ids]
    gc.collect()
    assert [str(id) for id in ids] == texts
    assert not gc.get_referents(ids[0]) or gc.get_referents(ids[0]) == [sno.Sno]
    with pytest.raises(TypeError):
        type("Own", (sno.Sno,), {})


@pytest.mark.parametrize("generate", [hotguid.generate, uuid7.generate])
def test_a_generated_uuid_equals_a_constructed_one(generate: Callable[[], uuid.UUID]) -> None:
    generated_uuid = generate()
    constructed = uuid.UUID(int=generated_uuid.int)
    assert type(generated_uuid) is uuid.UUID
    assert (generated_uuid, hash(generated_uuid), repr(generated_uuid)) == (
        constructed,
        hash(constructed),
        repr(constructed),
    )
    assert generated_uuid.is_safe is constructed.is_safe is uuid.SafeUUID.unknown
    assert (
        pickle.loads(pickle.dumps(generated_uuid))
        == copy.copy(generated_uuid)
        == copy.deepcopy(generated_uuid)
        == constructed
    )
    assert weakref.ref(generated_uuid)() is generated_uuid
    with pytest.raises(TypeError, match="immutable"):
        generated_uuid.int = 0  # type: ignore[misc]


@pytest.mark.parametrize("call", [sno.generate, sno.generate_text, hotguid.generate, hotguid.generate_text])
def test_a_direct_call_has_the_usual_signature_and_errors(call: Callable[..., object]) -> None:
    (parameter,) = inspect.signature(call).parameters.values()
    assert parameter.name in {"metabyte", "shard_key"}
    assert (call.__doc__ or "").startswith("Returns a new ID")
    assert pickle.loads(pickle.dumps(call)) is call
    assert type(call()) is type(call(7)) is type(call(**{parameter.name: 7}))
    with pytest.raises(TypeError, match="unexpected keyword"):
        call(other=1)
    with pytest.raises(TypeError):
        call(1, 2)
