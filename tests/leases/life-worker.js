// The Worker that life-workerd.mjs runs. It returns IDs and the events of its lease.
import { sno } from "polyflake";
import { LeaseStore, lease } from "polyflake/lease/cloudflare";

export { LeaseStore };

const events = [];
let heldLease;
let ids;

function startLease({ url, namespace, last }) {
  heldLease = lease(url, namespace, {
    workerIds: [0, last],
    leaseMs: 1000,
    waitMs: 1000,
    watch: (event) => events.push(event),
  });
  ids = new sno.Generator({ lease: heldLease });
}

/** Generates IDs with the lease, as a Worker does when it handles a request. */
async function generateWithLease(context) {
  try {
    await heldLease.ready(context);
    return Array.from({ length: 5 }, () => ids.tryGenerate());
  } catch (error) {
    if (typeof error.code !== "string") throw error;
    return [];
  }
}

/** Generates a few IDs with a generator that is created again for each request, with the same worker ID. */
async function generateWithPartition(partition) {
  const restarted = new sno.Generator({ partition });
  const made = [];
  while (made.length < 5) made.push(await restarted.generateAsync());
  return made;
}

export default {
  async fetch(request, _env, context) {
    const { partition, isLast, ...source } = await request.json();
    if (partition !== undefined) return Response.json({ made: await generateWithPartition(partition), events });
    if (!heldLease) startLease(source);
    const made = await generateWithLease(context);
    if (isLast) await heldLease.close();
    return Response.json({ made, events: events.splice(0) });
  },
};
