"""Answers the conformance suite's requests in Python: a JSON line in, a JSON line out (tests/README.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import ids
import traces
from outcomes import outcome

OPS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "sno.parse": ids.parse,
    "sno.from_bytes": ids.from_bytes,
    "sno.from_parts": ids.from_parts,
    "sno.metabyte": ids.metabyte,
    "sno.with": ids.with_fields,
    "sno.time_range": ids.time_range,
    "sno.to_uuid": ids.to_uuid,
    "sno.from_uuid": ids.from_uuid,
    "sno.json": ids.in_json,
    "sno.json_value": ids.json_value,
    "sno.to_json": ids.to_json,
    "sno.generate": ids.generate,
    "sno.generator": traces.run,
}


def answer(line: str) -> dict[str, Any]:
    request = json.loads(line)
    op = OPS.get(request["op"])
    if op is None:
        return {"error": {"code": "unknown_op"}}
    return outcome(lambda: op(request["args"]))


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(answer(line)), flush=True)


if __name__ == "__main__":
    main()
