"""Randflake: IDs, texts, grants and generators, against the original's outputs."""

from __future__ import annotations

import array
import copy
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import BAD_CHARACTERS, anything
from polyflake import PolyflakeError, randflake
from polyflake.randflake import Codec, Generator, Grant, RandflakeArray
from support import NOW_MS, NOW_NS, refused, script, vectors

SECRET = bytes.fromhex("dffd6021bb2bd5b0af676290809ec3a5")
FIRST, END = 1_730_000_000, 2_803_741_824
SECOND_NS = 10**9
SECOND = NOW_NS // SECOND_NS
ALWAYS = Grant(42, FIRST, END)
CODEC = Codec(SECRET)

ids = st.integers(-(2**63), 2**63 - 1)


def generator(clock: Callable[[], Any] = lambda: NOW_NS, grant: Grant = ALWAYS, **options: Any) -> Generator:
    return Generator(grant, SECRET, clock=clock, **options)


# IDs and texts.


@pytest.mark.parametrize("case", vectors("randflake.json")["cases"], ids=lambda case: case["encoded"])
def test_ids_are_the_originals(case: dict[str, Any]) -> None:
    codec, id = Codec(bytes.fromhex(case["secret"])), int(case["encrypted_id"])
    fields = (case["timestamp"], case["node_id"], case["sequence"])
    assert codec.encrypt(*fields) == id
    parts = codec.inspect(id)
    assert (parts.timestamp, parts.node, parts.sequence) == fields
    assert parts.datetime.timestamp() == case["timestamp"]
    assert randflake.encode_text(id) == case["encoded"]
    assert randflake.decode_text(case["encoded"]) == id


INVALID = vectors("randflake_invalid.json")


@pytest.mark.parametrize("case", INVALID["cases"], ids=lambda case: ascii(case["input"]))
def test_texts_that_are_no_ids_are_refused_with_code_and_position(case: dict[str, Any]) -> None:
    ours = case["ours"]
    with refused(ours["error"], position=ours.get("position")):
        randflake.decode_text(case["input"])


@pytest.mark.parametrize("case", INVALID["accepted_boundaries"], ids=lambda case: case["input"])
def test_texts_at_the_limits(case: dict[str, str]) -> None:
    assert randflake.decode_text(case["input"]) == int(case["value"])


def refusals(name: str) -> list[Any]:
    """Python expressions that the original refuses, and our answer to each."""
    return [
        pytest.param(expression, ours["error"], id=expression)
        for expression, ours in zip(INVALID[name], INVALID["ours"][name], strict=True)
    ]


@pytest.mark.parametrize(("expression", "code"), refusals("non_strings_rejected"))
def test_what_is_no_text_is_refused(expression: str, code: str) -> None:
    with refused(code):
        randflake.decode_text(eval(expression))


@pytest.mark.parametrize(("expression", "code"), refusals("out_of_range_integers_rejected"))
def test_what_is_no_id_is_refused(expression: str, code: str) -> None:
    for use in (randflake.encode_text, randflake.to_unsigned, CODEC.inspect, generator().inspect):
        with refused(code):
            use(eval(expression))


@pytest.mark.parametrize("bad", BAD_CHARACTERS, ids=ascii)
def test_a_bad_character_is_refused_at_its_position(bad: str) -> None:
    text = "3vgoe12ccb8gh"
    if bad in "01yz-":
        bad = "w"  # 0 and 1 are digits here
    for position in range(len(text)):
        with refused("invalid_character", position=position):
            randflake.decode_text(text[:position] + bad + text[position + 1 :])


@given(ids)
def test_texts_and_unsigned_values_are_other_spellings(id: int) -> None:
    unsigned = randflake.to_unsigned(id)
    assert (unsigned, randflake.from_unsigned(unsigned)) == (id % 2**64, id)
    text = randflake.encode_text(id)
    assert randflake.decode_text(text) == id
    assert int(text, 32) == unsigned
    assert text == text.lower().lstrip("0") or text == "0"


@given(ids)
def test_inspecting_undoes_encrypting(id: int) -> None:
    parts = CODEC.inspect(id)
    assert CODEC.encrypt(parts.timestamp, node=parts.node, sequence=parts.sequence) == id
    assert parts == CODEC.inspect(id)
    assert hash(parts) == hash(CODEC.inspect(id))
    assert str(parts.node) in repr(parts)


def test_a_timestamp_beyond_64_bits_is_told_in_seconds() -> None:
    with refused("time_out_of_range", field="timestamp") as caught:
        CODEC.encrypt(2**63, 0, 0)
    assert str(caught.value) == "expected timestamp in 64-bit seconds, found 9223372036854775808"


def test_figures_are_those_of_the_format() -> None:
    figures = randflake.describe()
    assert (figures.bits, figures.per_second, figures.per_second_in_all) == (64, 131_072, 131_072 * 131_072)
    assert [(field.name, field.kind, field.offset, field.bits) for field in figures.fields] == [
        ("timestamp", "timestamp", 0, 30),
        ("node", "bindable", 30, 17),
        ("sequence", "sequence", 47, 17),
    ]
    assert (figures.first_ms, figures.last_ms) == (FIRST * 1000, (END - 1) * 1000)
    assert (figures.sorts_by_time, figures.below_2_53, figures.below_2_63) == (False, False, False)
    assert figures == randflake.describe()
    assert "3 fields in 64 bits" in repr(figures)


# Grants.

GENERATOR = vectors("randflake_generator.json")


@pytest.mark.parametrize("case", GENERATOR["constructors"], ids=lambda case: f"{case['node_id']} {case['start']}")
def test_grants_are_the_originals(case: dict[str, Any]) -> None:
    node = eval(str(case["node_id"]))
    if "ours" in case:
        with refused(case["ours"]["error"]):
            Grant(node, case["start"], case["end_exclusive"])
    else:
        grant = Grant(node, case["start"], case["end_exclusive"])
        assert (grant.nodes, grant.start, grant.end) == ((node, node), case["start"], case["end_exclusive"])


def test_a_grant_is_a_value() -> None:
    grant = Grant((5, 9), SECOND, SECOND + 1)
    assert grant == Grant([5, 9], SECOND, end=SECOND + 1) != Grant((5, 8), SECOND, SECOND + 1)
    assert grant == copy.deepcopy(grant) == pickle.loads(pickle.dumps(grant)) == eval(repr(grant))
    assert hash(grant) == hash(Grant((5, 9), SECOND, SECOND + 1))
    assert Grant(5, SECOND, SECOND + 1) == Grant((5, 5), SECOND, SECOND + 1)
    with pytest.raises(AttributeError):
        grant.end = END  # type: ignore[misc]


@pytest.mark.parametrize(
    ("nodes", "code"),
    [
        (None, "invalid_type"),
        (True, "invalid_type"),
        (1.0, "invalid_type"),
        ("12", "invalid_type"),
        (range(2), "invalid_type"),
        ({1, 2}, "invalid_type"),
        ((1, None), "invalid_type"),
        ((), "invalid_length"),
        ((1,), "invalid_length"),
        ((1, 2, 3), "invalid_length"),
        ((2, 1), "out_of_range"),
        ((-1, 1), "out_of_range"),
        ((0, 131072), "out_of_range"),
    ],
)
def test_nodes_are_one_or_a_range(nodes: Any, code: str) -> None:
    with refused(code):
        Grant(nodes, SECOND, SECOND + 1)


# Generators.


@pytest.mark.parametrize("case", GENERATOR["secrets"], ids=lambda case: case["secret_len"])
def test_secrets_are_the_originals(case: dict[str, Any]) -> None:
    if "ours" in case:
        with refused(case["ours"]["error"]):
            Generator(ALWAYS, bytes(case["secret_len"]))
    else:
        assert Generator(ALWAYS, bytes(case["secret_len"])).generate()


class Trace:
    """A trace of the original: its steps in seconds, as the vectors have them, also those that no clock should say."""

    def __init__(self, trace: dict[str, Any]) -> None:
        self.second: Any = None
        self.codec = Codec(bytes.fromhex(trace["secret"]))
        self.generator = Generator(
            Grant(trace["node_id"], *trace["lease"]), bytes.fromhex(trace["secret"]), clock=self.clock
        )

    def clock(self) -> Any:
        if isinstance(self.second, BaseException):
            raise self.second
        return self.second * SECOND_NS if type(self.second) is int else self.second

    def play(self, step: dict[str, Any]) -> None:
        if step["op"] == "extend_lease":
            return self.extend(step)
        self.second = OSError("no") if step["op"] == "generate, clock raises" else eval(str(step["clock"]))
        if step["op"] == "generate_many":
            return self.exhaust({**step, **step["ours"]})
        if "ours" in step:
            with refused(step["ours"]["error"]):
                self.generator.generate()
            return None
        self.is_the_originals(self.generator.generate(), step)

    def is_the_originals(self, id: int, step: dict[str, Any]) -> None:
        assert (id, randflake.encode_text(id)) == (int(step["id"]), step["encoded"])
        parts = self.codec.inspect(id)
        assert (parts.timestamp, parts.node, parts.sequence) == (step["timestamp"], step["node_id"], step["sequence"])

    def extend(self, step: dict[str, Any]) -> None:
        asked = Grant(step["node_id"], step["start"], step["end_exclusive"])
        if "ours" in step:
            with refused(step["ours"]["error"]):
                self.generator.extend_grant(asked)
        else:
            self.generator.extend_grant(asked)
            assert self.generator.grant == Grant(*step["lease_after"])

    def exhaust(self, step: dict[str, Any]) -> None:
        made = list(self.generator.generate_many(step["produced"]))
        assert (made[0], made[-1], len(set(made))) == (int(step["first"]), int(step["last"]), step["distinct"])
        sequences = [self.generator.inspect(id).sequence for id in (made[0], made[-1])]
        assert sequences == [step["first_sequence"], step["last_sequence"]]
        with refused(step["error"]):
            self.generator.generate_many(step["asked"] - step["produced"])


@pytest.mark.parametrize("trace", GENERATOR["traces"], ids=lambda trace: trace["name"])
def test_traces_are_the_originals(trace: dict[str, Any]) -> None:
    player = Trace(trace)
    for step in trace["steps"]:
        player.play(step)


def test_a_full_second_is_an_error_unless_waiting_is_asked_for() -> None:
    ids = generator()
    ids.generate_many(131_072)
    with refused("sequence_exhausted", retry_at=NOW_MS + 1000, written=None):
        ids.generate()
    with refused("sequence_exhausted", written=0):
        ids.generate_many(1)
    waiting = generator(script([NOW_NS, NOW_NS + 1, NOW_NS + SECOND_NS]), on_exhausted="wait")
    waiting.generate_many(131_072)
    assert CODEC.inspect(waiting.generate()).timestamp == SECOND + 1


def test_nothing_waits_where_asked_not_to() -> None:
    told: list[object] = []
    clock = script([NOW_NS, NOW_NS, NOW_NS - SECOND_NS, NOW_NS])
    ids = generator(clock, on_stall=told.append, on_exhausted="error")
    ids.generate_many(131_072)
    for code in ("sequence_exhausted", "clock_behind"):
        with refused(code):
            ids.generate()
    assert told == []


def test_a_batch_says_how_many_were_made() -> None:
    with refused("sequence_exhausted", written=131_072):
        generator().generate_many(131_073)


def test_a_range_of_nodes_goes_on_with_the_next() -> None:
    ids = generator(grant=Grant((7, 8), FIRST, END))
    made = ids.generate_many(262_144)
    nodes = [CODEC.inspect(made[at]).node for at in (0, 131_071, 131_072, 262_143)]
    assert nodes == [7, 7, 8, 8]
    assert len(set(made)) == 262_144
    with refused("sequence_exhausted"):
        ids.generate()


def test_a_generator_resumes_after_the_last_second_used() -> None:
    first = generator()
    assert first.generate_text()
    assert first.close() == SECOND
    second = generator(resume_after=SECOND)
    with refused("sequence_exhausted", retry_at=NOW_MS + 1000):
        second.generate()
    assert generator().close() is None
    later = generator(lambda: NOW_NS + SECOND_NS, resume_after=SECOND)
    assert CODEC.inspect(later.generate()).timestamp == SECOND + 1


def test_a_closed_generator_makes_nothing_more() -> None:
    ids = generator()
    ids.generate()
    ids.close()
    for use in (ids.generate, ids.generate_text, ids.close, lambda: ids.generate_many(1)):
        with refused("generator_closed"):
            use()
    assert ids.stats().closed
    assert ids.inspect(0).node >= 0


def test_stats_tell_of_the_last_second() -> None:
    ids = generator()
    before = ids.stats()
    assert (before.last_second, before.len, before.closed) == (None, 0, False)
    ids.generate_many(5)
    stats = ids.stats()
    assert (stats.last_second, stats.len) == (SECOND, 5)
    assert stats == ids.stats() != before
    assert f"5 IDs in second {SECOND}" in repr(stats)


def test_the_last_second_and_those_past_2041() -> None:
    for second in (2_266_870_912, END - 1):
        ids = generator(lambda second=second: second * SECOND_NS + SECOND_NS - 1)
        assert CODEC.inspect(ids.generate()).timestamp == second
    with refused("lease_expired"):
        generator(lambda: END * SECOND_NS).generate()
    for early in (FIRST * SECOND_NS - 1, 0, -1, -(2**63)):
        with refused("lease_not_started", retry_at=FIRST * 1000):
            generator(lambda early=early: early).generate()


def test_options_are_checked() -> None:
    for grant in (None, (1, FIRST, END), {"nodes": 1}, SECRET):
        with refused("invalid_type"):
            Generator(grant, SECRET)  # type: ignore[arg-type]
        with refused("invalid_type"):
            generator().extend_grant(grant)  # type: ignore[arg-type]
    for text in ("", "WAIT", "\ud800"):
        with refused("out_of_range", field="on_exhausted"):
            generator(on_exhausted=text)
    for name in ("clock", "on_stall"):
        for value in (0, "time", SECOND, object()):
            with refused("invalid_type"):
                Generator(ALWAYS, SECRET, **{name: value})


@pytest.mark.parametrize("copying", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_generator_and_a_codec_cannot_be_copied(copying: Callable[[object], object]) -> None:
    for value in (generator(), CODEC):
        with refused("invalid_type") as caught:
            copying(value)
        assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "cls", [Generator, Codec, Grant, RandflakeArray, randflake.Parts, randflake.Stats], ids=lambda cls: cls.__name__
)
def test_classes_cannot_be_extended_or_made_by_the_back_door(cls: type) -> None:
    with pytest.raises(TypeError):
        type("Mine", (cls,), {})
    with pytest.raises(TypeError):
        object.__new__(cls)


def test_threads_share_a_generator() -> None:
    ids, made = Generator(Grant((0, 99), FIRST, END), SECRET), []
    start = threading.Barrier(8)

    def work() -> None:
        mine: list[int] = []
        start.wait()
        for _ in range(500):
            mine.append(ids.generate())
            mine.extend(ids.generate_many(20))
            mine.append(randflake.decode_text(ids.generate_text()))
        made.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == len(set(made)) == 8 * 500 * 22


# Arrays.


@given(st.lists(ids, max_size=40), st.data())
def test_an_array_is_a_list_of_integers(plain: list[int], data: st.DataObject) -> None:
    packed = RandflakeArray(array.array("q", plain))
    assert list(packed) == plain
    assert packed.texts() == [randflake.encode_text(id) for id in plain]
    part = data.draw(st.slices(len(plain)))
    assert list(packed[part]) == plain[part]
    assert memoryview(packed).tolist() == plain
    assert packed == RandflakeArray(packed) == copy.deepcopy(packed) == pickle.loads(pickle.dumps(packed))
    assert hash(packed) == hash(RandflakeArray(packed))
    for index in range(-len(plain), len(plain)):
        assert packed[index] == plain[index]
    for index in (len(plain), -len(plain) - 1, 2**200):
        with pytest.raises(IndexError):
            packed[index]


def test_numpy_sees_int64_without_a_copy() -> None:
    packed = generator().generate_many(1000)
    column = np.asarray(packed)
    assert (column.shape, column.dtype, column.flags.writeable) == ((1000,), np.int64, False)
    assert np.shares_memory(column, np.asarray(packed))
    assert column.tolist() == list(packed)
    assert np.asarray(packed[:0]).shape == (0,)
    assert RandflakeArray(column[::-2]) == packed[::-2]
    view = memoryview(packed)
    assert (view.format, view.itemsize, view.shape, view.strides, view.readonly) == ("q", 8, (1000,), (8,), True)
    assert view.c_contiguous
    assert view.f_contiguous
    assert bytes(packed) == column.tobytes()


def test_integers_are_read_wherever_they_lie() -> None:
    unaligned = np.frombuffer(b"x" + bytes(range(16)), np.uint8)[1:].view(np.int64)
    assert list(RandflakeArray(unaligned)) == unaligned.tolist()
    assert list(RandflakeArray(np.array([[1, 2], [3, 4]]))) == [1, 2, 3, 4]
    with refused("invalid_type"):  # as numbers they are others than as bytes
        RandflakeArray(np.array([1], ">i8" if sys.byteorder == "little" else "<i8"))


@pytest.mark.parametrize(
    "value",
    [None, 7, [1, 2.0], "12345678", bytes(8), np.zeros(2), np.zeros(2, np.uint64), np.zeros(2, np.int32), object()],
    ids=repr,
)
def test_an_array_is_made_of_signed_64_bit_integers(value: Any) -> None:
    with refused("invalid_type"):
        RandflakeArray(value)


@given(anything)
def test_anything_else_is_refused_with_a_typed_error_or_taken(value: Any) -> None:
    for call in (
        randflake.encode_text,
        randflake.decode_text,
        randflake.to_unsigned,
        randflake.from_unsigned,
        Codec,
        CODEC.inspect,
        RandflakeArray,
        lambda v: CODEC.encrypt(v, v, v),
        lambda v: Grant(v, v, v),
        lambda v: Grant(v, FIRST, END),
        lambda v: Generator(v, v),
        lambda v: generator(v),
        lambda v: generator(on_stall=v),
    ):
        try:
            call(value)
        except PolyflakeError as error:
            assert error.code
