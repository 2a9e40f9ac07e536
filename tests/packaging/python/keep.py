"""A user's program that stores IDs, a snapshot and a lease, and continues with them after an update."""

from __future__ import annotations

import json
import pathlib

import polyflake
from polyflake import sno

STATE = pathlib.Path("kept.json")


def main() -> None:
    kept = json.loads(STATE.read_text()) if STATE.exists() else {"ids": [], "snapshot": None}
    snapshot: str | None = kept["snapshot"]
    ids = sno.Generator.restore(sno.Snapshot.from_json(snapshot)) if snapshot else sno.Generator(partition=7)
    lease = polyflake.lease("sqlite:ids.db", "orders")
    leased = sno.Generator(lease=lease)

    made = [str(generator.generate()) for generator in (ids, leased) for _ in range(100)]
    assert all(str(sno.Sno(id)) == id for id in kept["ids"] + made)
    assert len({*kept["ids"], *made}) == len(kept["ids"]) + 200
    assert max(kept["ids"], default="") < min(made)

    lease.close()
    STATE.write_text(json.dumps({"ids": made, "snapshot": ids.close().to_json()}))
    print("continued" if snapshot else "stored")


main()
