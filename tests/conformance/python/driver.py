"""Answers the conformance suite's requests in Python: reads and writes one JSON value per line (tests/README.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import polyflake
from families import hotguid, layout, public, randflake, sno, sparx64, uuid7
from outcomes import outcome
from values import description_figures

OPS: dict[str, dict[str, Callable[[dict[str, Any]], Any]]] = {
    "sno": sno.OPS,
    "sparx64": sparx64.OPS,
    "randflake": randflake.OPS,
    "hotguid": hotguid.OPS,
    "layout": layout.OPS,
    "public": public.OPS,
    "uuid7": uuid7.OPS,
    "describe": {"": lambda args: description_figures(getattr(polyflake, args["family"]).describe())},
}


def answer(line: str) -> dict[str, Any]:
    request = json.loads(line)
    family, _, name = request["op"].partition(".")
    op = OPS.get(family, {}).get(name)
    if op is None:
        return {"error": {"code": "unknown_op"}}
    return outcome(lambda: op(request["args"]))


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(answer(line)), flush=True)


if __name__ == "__main__":
    main()
