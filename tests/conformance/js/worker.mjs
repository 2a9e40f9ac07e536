// The worker that workerd runs: an array of requests in, an array of answers out.

import { answer } from "./ops.mjs";

export default {
  async fetch(request) {
    const requests = await request.json();
    return Response.json(requests.map(answer));
  },
};
