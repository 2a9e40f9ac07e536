"""Custom layouts against the vectors: the original's answers, save where ``ours`` says otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from polyflake import layout
from polyflake.layout import Layout
from support import refused, vectors

TICKS = {"ms": "1ms", "s": "1s", "s_builtin": "1s"}
KINDS = {
    "bindable_bytes": {"kind": "bindable", "type": "bytes"},
    "bindable_string": {"kind": "bindable", "type": "text"},
    "constant_bytes": {"kind": "constant", "type": "bytes"},
    "constant_string": {"kind": "constant", "type": "text"},
    "constant_flip_before": {"kind": "constant", "invert": True},
}


def description(vector: dict[str, Any]) -> dict[str, Any]:
    """A vector's description under our names."""
    fields = [field(entry) for entry in vector["fields"]]
    is_bytes = "size_bytes" in vector or vector["size_bits"] != 64 or any("type" in field for field in fields)
    return {"id": "bytes" if is_bytes else "integer", "bits": vector["size_bits"], "fields": fields}


def field(entry: dict[str, Any]) -> dict[str, Any]:
    entry = {**entry, **KINDS.get(entry["kind"], {})}
    if "tick" in entry:
        entry["tick"] = TICKS.get(entry["tick"], entry["tick"])
    if isinstance(entry.get("value"), dict):
        entry["value"] = entry["value"].get("text", entry["value"].get("hex"))
    return entry


def ours(case: dict[str, Any]) -> dict[str, Any]:
    """Our answer: the original's, with the members of ``ours``."""
    if "ours" not in case:
        return case
    return {name: value for name, value in case.items() if name != "error"} | case["ours"]


def value(written: Any) -> Any:
    """The Python value of a decimal string, ``{"hex"}`` or ``{"text"}``."""
    if isinstance(written, str):
        return int(written)
    return written["text"] if "text" in written else bytes.fromhex(written["hex"])


def values(written: dict[str, Any] | None) -> dict[str, Any]:
    return {name: value(entry) for name, entry in (written or {}).items()}


def identifier(of: Layout, written: str) -> int | bytes:
    return int(written) if of.is_integer else bytes.fromhex(written)


def inputs(written: dict[str, Any]) -> dict[str, Any]:
    names = {"timestamp_ms": "timestamp", "sequence": "sequence"}
    given: dict[str, Any] = {names[name]: value(entry) for name, entry in written.items() if name in names}
    if "bind" in written:
        given["bindables"] = values(written["bind"])
    if "constant_override" in written:
        given["constants"] = values(written["constant_override"])
    return given


def holds(parsed: layout.Parsed, written: dict[str, Any]) -> None:
    expected = {
        "unix_ms": value(written["timestamp_ms"]) if "timestamp_ms" in written else None,
        "sequence": value(written["sequence"]) if "sequence" in written else None,
        "bindables": values(written.get("bindables")),
        "constants": values(written.get("constants")),
    }
    assert {name: getattr(parsed, name) for name in expected} == expected


def check_pack(of: Layout, case: dict[str, Any]) -> None:
    expected = ours(case)
    if "error" in expected:
        with refused(expected["error"]):
            of.pack(**inputs(case["inputs"]))
        return
    id = of.pack(**inputs(case["inputs"]))
    assert id == identifier(of, expected["id"]), case
    holds(of.parse(id), expected["parsed"])


def check_parse(of: Layout, case: dict[str, Any]) -> None:
    expected = ours(case)
    if "error" in expected:
        with refused(expected["error"]):
            of.parse(identifier(of, case["id"]))
    else:
        holds(of.parse(identifier(of, case["id"])), expected["parsed"])


def written_alike(of: Layout) -> None:
    """A layout equals its JSON's layout and its copies."""
    assert Layout.from_json(of.to_json()) == of == Layout(json.loads(of.to_json()))
    assert Layout.from_json(of.to_json()).to_json() == of.to_json()


LAYOUTS = vectors("layout64.json")["layouts"] + vectors("layoutbytes.json")["layouts"]


@pytest.mark.parametrize("vector", LAYOUTS, ids=lambda vector: vector["name"])
def test_layouts_are_the_originals(vector: dict[str, Any]) -> None:
    makers: list[Callable[[], Layout]] = [
        lambda: Layout(description(vector)),
        lambda: Layout.from_json(json.dumps(description(vector))),
    ]
    expected = ours(vector)
    if "error" in expected:
        for make in makers:
            with refused(expected["error"]):
                make()
        return
    assert expected.get("build_error") is None
    of = makers[0]()
    assert of == makers[1]()
    written_alike(of)
    for case in vector.get("cases", []):
        check_pack(of, case)
    for case in vector.get("parse_cases", []):
        check_parse(of, case)


@pytest.mark.parametrize(
    "case", vectors("layoutbytes.json")["wrong_length_parse"], ids=lambda case: case["id"] or "none"
)
def test_ids_of_another_length_are_refused(case: dict[str, Any]) -> None:
    fields = [{"kind": "bindable", "bits": 8, "name": "a"}, {"kind": "bindable", "bits": 16, "name": "b"}]
    check_parse(Layout({"id": "bytes", "bits": 24, "fields": fields}), case)


@pytest.mark.parametrize("case", vectors("presets.json")["cases"], ids=lambda case: f"{case['preset']} {case['id']}")
def test_presets_read_ids(case: dict[str, Any]) -> None:
    of, id = Layout.preset(case["preset"]), int(case["id"])
    parsed = of.parse(id)
    holds(parsed, case["parsed"])
    assert parsed.datetime is not None
    assert parsed.datetime.isoformat(timespec="milliseconds") == case["time"].replace("Z", "+00:00")
    # Unused bits are ignored when an ID is read, and zero when it is written.
    used = id & (2**63 - 1) if of.describe().fields[0].kind == "unused" else id
    packed = of.pack(timestamp=parsed.unix_ms, sequence=parsed.sequence, bindables=parsed.bindables)
    assert packed == used
    fixed = Layout.preset(case["preset"], **parsed.bindables)
    assert fixed.parse(id).constants == parsed.bindables
    assert fixed.pack(timestamp=parsed.unix_ms, sequence=parsed.sequence) == used


@pytest.mark.parametrize(
    "case",
    [case for case in vectors("ranges.json")["cases"] if case["family"] == "layout"],
    ids=lambda case: f"{case['name']} {case.get('note', '')}",
)
def test_ranges_span_whole_ticks(case: dict[str, Any]) -> None:
    of = Layout(description(case))
    arguments = (int(case["from_ms"]), int(case["to_ms"]), values(case.get("bind")))
    if "error" in case:
        with refused(case["error"]):
            of.time_range(*arguments)
    else:
        assert of.time_range(*arguments) == (identifier(of, case["lowest"]), identifier(of, case["highest"]))


GENERATOR = vectors("layout_generator.json")
EPOCH = int(GENERATOR["epoch_ms"])
PARTS = re.compile(r"(\d+) (unused|ts ms|seq)(?: from (\d+))?")


def described(short: str) -> dict[str, Any]:
    """A layout as the generator's vectors write it."""
    fields: list[dict[str, Any]] = []
    for part in short.split(", "):
        found = PARTS.fullmatch(part)
        assert found is not None, part
        bits = int(found[1])
        kinds: dict[str, dict[str, Any]] = {
            "unused": {"kind": "unused"},
            "ts ms": {"kind": "timestamp", "tick": "1ms", "epoch_ms": EPOCH},
            "seq": {"kind": "sequence", "start": int(found[3] or 0)},
        }
        fields.append({**kinds[found[2]], "bits": bits})
    return {"id": "integer", "bits": 64, "fields": fields}


@pytest.mark.parametrize(
    "scenario", [each for each in GENERATOR["scenarios"] if "steps" in each], ids=lambda scenario: scenario["name"]
)
def test_generators_are_the_originals(scenario: dict[str, Any]) -> None:
    readings: list[int] = []

    def make() -> layout.Generator:
        return layout.Generator(
            Layout(described(scenario["layout"])),
            clock=lambda: next_of(readings),
            sequence_only="ts" not in scenario["layout"],
        )

    if "ours" in scenario:
        with refused(scenario["ours"]["error"]):
            make()
        return
    ids, made = make(), []
    for step in scenario["steps"]:
        readings[:] = [(EPOCH + reading) * 1_000_000 for reading in step["clock_ms_minus_epoch"]]
        expected = ours(step)
        if "error" in expected:
            with refused(expected["error"]):
                ids.generate()
        else:
            made.append(ids.generate())
            assert made[-1] == int(expected["id"]), step
            assert len(set(made)) == len(made)


def next_of(readings: list[int]) -> int:
    """The next reading; the last one stays."""
    return readings.pop(0) if len(readings) > 1 else readings[0]
