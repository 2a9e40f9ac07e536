// The worker that workerd runs. It receives an array of requests over HTTP, and responds with an array of answers.

import { answer } from "./ops.mjs";

export default {
  async fetch(request) {
    const requests = await request.json();
    return Response.json(requests.map(answer));
  },
};
