// An edge worker, whose clock may not advance within a request.
import { afterRestore, sno } from "polyflake";
import { countDistinctIds } from "./many.js";

export default {
  async fetch(request) {
    const count = Number(await request.text());
    if (count === 0) {
      const before = sno.parse(sno.generate()).partition;
      afterRestore();
      return Response.json(sno.parse(sno.generate()).partition !== before);
    }
    return Response.json(countDistinctIds(sno, count));
  },
};
