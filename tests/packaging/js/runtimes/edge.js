// An edge worker, whose clock may stand still within a request.
import { sno } from "polyflake";
import { inARow } from "./many.js";

export default {
  async fetch(request) {
    return Response.json(inARow(sno, Number(await request.text())));
  },
};
