// The worker that workerd runs. It receives an array of requests and returns an array of answers.

import { answer } from "./ops.mjs";

export default {
  async fetch(request) {
    const requests = await request.json();
    return Response.json(requests.map(answer));
  },
};
