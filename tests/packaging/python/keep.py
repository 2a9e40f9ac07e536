"""A user's program that stores IDs, a snapshot and a lease, and continues with them after an update."""

from __future__ import annotations

import json
import pathlib

import polyflake
from polyflake import sno

STATE_FILE = pathlib.Path("kept.json")


def main() -> None:
    kept_state = json.loads(STATE_FILE.read_text()) if STATE_FILE.exists() else {"ids": [], "snapshot": None}
    snapshot: str | None = kept_state["snapshot"]
    partition_generator = (
        sno.Generator.restore(sno.Snapshot.from_json(snapshot)) if snapshot else sno.Generator(partition=7)
    )
    lease = polyflake.lease("sqlite:ids.db", "orders")
    leased_generator = sno.Generator(lease=lease)

    new_ids = [str(generator.generate()) for generator in (partition_generator, leased_generator) for _ in range(100)]
    assert all(str(sno.Sno(id)) == id for id in kept_state["ids"] + new_ids)
    assert len({*kept_state["ids"], *new_ids}) == len(kept_state["ids"]) + 200
    assert max(kept_state["ids"], default="") < min(new_ids)

    lease.close()
    STATE_FILE.write_text(json.dumps({"ids": new_ids, "snapshot": partition_generator.close().to_json()}))
    print("continued" if snapshot else "stored")


main()
