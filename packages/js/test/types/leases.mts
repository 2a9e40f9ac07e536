// Checks the types of leases.
import { hotguid, layout, randflake, sno, uuid7 } from "polyflake";
import { type Lease, type LeaseEvent, lease } from "polyflake/lease";

const watch = (event: LeaseEvent): void => void event.text;
const heldLease: Lease = lease("sqlite:a.db", "orders", { watch, workerIds: [0, 3] });
export const number: Promise<number> = heldLease.ready();

new sno.Generator({ lease: heldLease }).generate(1);
new hotguid.Generator({ lease: heldLease }).generate(1);
new uuid7.Generator({ lease: heldLease }).generate();
new randflake.Generator(heldLease, new Uint8Array(16)).generate();

// Callers do not pass values for the fields that hold the worker ID.
const openLayout = layout.Layout.preset("twitter");
export const id: bigint = new layout.Generator(openLayout, {
  lease: heldLease,
  fields: ["datacenter", "worker"],
}).generate();
const fixedLayout = layout.Layout.preset("twitter", { datacenter: 1, worker: 2 });
new layout.Generator(fixedLayout, { lease: heldLease, fields: ["datacenter"] }).generate();

// @ts-expect-error: a misspelled option
lease("sqlite:a.db", "orders", { lease_ms: 1 });
// @ts-expect-error: the lease sets the partition
new sno.Generator({ lease: heldLease, partition: 7 });
// @ts-expect-error: the lease sets the sequence bounds
new sno.Generator({ lease: heldLease, sequenceMin: 7 });
// @ts-expect-error: the lease sets the window
new hotguid.Generator({ lease: heldLease, window: [0, 1] });
// @ts-expect-error: the lease sets the window
new uuid7.Generator({ lease: heldLease, window: [0, 1] });
// @ts-expect-error: the lease sets the worker ID
new uuid7.Generator({ lease: heldLease, workerId: 3 });
// @ts-expect-error: the lease sets the start of its grants
new uuid7.Generator({ lease: heldLease, resumeAfter: 0 });
// @ts-expect-error: a leased generator has a worker ID
new uuid7.Generator({ lease: heldLease, followRollbacks: true });
// @ts-expect-error: the lease sets the start of its grants
new randflake.Generator(heldLease, new Uint8Array(16), { resumeAfter: 0 });
// @ts-expect-error: the lease sets the values of its fields, and the layout those of the others
new layout.Generator(openLayout, { lease: heldLease, fields: ["worker"], bindables: { datacenter: 1 } });
// @ts-expect-error: the lease sets the range
new layout.Generator(fixedLayout, { lease: heldLease, fields: ["datacenter"], range: ["worker", 0, 1] });
// @ts-expect-error: a lease needs a timestamp
new layout.Generator(fixedLayout, { lease: heldLease, fields: ["datacenter"], sequenceOnly: true });
// @ts-expect-error: the fields that hold the leased worker ID are missing
new layout.Generator(fixedLayout, { lease: heldLease });
// @ts-expect-error: the lease sets the window
new layout.Generator(openLayout, { lease: heldLease, fields: ["datacenter", "worker"], window: [0, 1] });
// @ts-expect-error: a snapshot has a partition
sno.Generator.restore(new sno.Generator().close(), { lease: heldLease });

// @ts-expect-error: an object that is not a lease
new sno.Generator({ lease: {} });
