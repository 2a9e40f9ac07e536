// A Worker whose isolates lease worker IDs from a Durable Object. Other programs lease worker IDs from the same object.

import { env } from "cloudflare:workers";
import { sno } from "polyflake";
import { LeaseStore, lease, serve } from "polyflake/lease/cloudflare";

export { LeaseStore };

const held = lease(env.LEASES, "orders", { leaseMs: 600_000 });
const ids = new sno.Generator({ lease: held });

export default {
  async fetch(request, env, context) {
    const answer = await serve(request, env.LEASES, env.POLYFLAKE_TOKENS);
    if (answer) return answer;
    const workerId = await held.ready(context);
    return Response.json({ workerId, id: await ids.generateAsync() });
  },
};
