// The types of parameters in handlers, as a user's compiler sees them.
import express from "express";
import { Hono } from "hono";
import { layout, type RandflakeId, type SnoId } from "polyflake";
import * as ofExpress from "polyflake/express";
import * as ofHono from "polyflake/hono";

/** Compiles for equal types alone. */
const same =
  <A>() =>
  <B>(_: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? "same" : "different"): void => {};

{
  const { optional, params, query, randflakeId, snoId } = ofExpress;
  const app = express();
  app.get(
    "/people/:person",
    params({ person: snoId({ metabyte: 1 }) }),
    query({ flake: optional(randflakeId()) }),
    (req, res) => {
      const person: SnoId<1> = req.params.person;
      const flake: RandflakeId | undefined = req.query.flake;
      res.json({ person, flake: `${flake}` });
    },
  );
}

{
  const { layoutId, optional, params, query, randflakeId, snoId } = ofHono;
  const app = new Hono<{ Variables: { user: string } }>();
  app.get(
    "/people/:person",
    params({ person: snoId({ metabyte: 1 }) }),
    query({ flake: optional(randflakeId()), tweet: layoutId(layout.Layout.preset("twitter")) }),
    (c) => {
      same<bigint>()<ReturnType<typeof c.req.valid<"query">>["tweet"]>("same");
      const { person } = c.req.valid("param");
      same<SnoId<1>>()<typeof person>("same");
      const { flake } = c.req.valid("query");
      same<RandflakeId | undefined>()<typeof flake>("same");
      // @ts-expect-error: nothing was read from the body
      c.req.valid("json");
      return c.json({ person, flake: `${flake}`, user: c.get("user") });
    },
  );
}
