// Tests the recipes for URL parameters with valid and invalid HTTP requests. All servers must respond identically.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { randflake, sno } from "polyflake";
import { recipe, run } from "./recipes.mjs";

/** Returns a recipe's program and function, with the given version of the library. */
async function loadProgram(library, version) {
  const text = recipe("integrations/others.md", library).replaceAll(` from "${library}`, ` from "${version}`);
  return run(version, text, ["app", "read"]);
}

async function withExpress(version) {
  const { app, read } = await loadProgram("express", version);
  const { randflake } = await import("polyflake/schema");
  app.get("/twice", read("query", { flake: randflake }), read("query", { other: randflake }), (req, res) =>
    res.json({ flake: typeof req.query.flake, other: typeof req.query.other }),
  );
  return createServer(app);
}

async function withHono(version) {
  const { app, read } = await loadProgram("hono", version);
  const { randflake } = await import("polyflake/schema");
  app.get("/twice", read("query", { flake: randflake, other: randflake }), (c) => {
    const { flake, other } = c.req.valid("query");
    return c.json({ flake: typeof flake, other: typeof other });
  });
  return createServer(async (req, res) => {
    const answer = await app.fetch(new Request(`http://localhost${req.url}`));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    res.end(await answer.text());
  });
}

const PERSON = sno.generate(1);
const ORDER = sno.generate(3);
const FLAKE = randflake.encodeText(-4_594_531_474_933_654_033n);

const REQUESTS = [
  [`people/${PERSON}/orders`, 200, { person: PERSON }],
  [`people/${PERSON}/orders?after=${ORDER}&limit=3`, 200, { person: PERSON, after: ORDER, limit: "3" }],
  ["people/short/orders", 400, { field: "person", code: "invalid_length", message: "expected length 16, found 5" }],
  [
    `people/${PERSON.slice(1)}%20/orders`,
    400,
    { field: "person", code: "invalid_character", message: "invalid character ` ` at position 15", position: 15 },
  ],
  [
    `people/${ORDER}/orders`,
    400,
    { field: "person", code: "out_of_range", message: "expected an ID of metabyte 1, found 3" },
  ],
  [
    `people/${PERSON}/orders?after=`,
    400,
    { field: "after", code: "invalid_length", message: "expected length 16, found 0" },
  ],
  [
    `people/${PERSON}/orders?after=${ORDER}&after=${ORDER}`,
    400,
    { field: "after", code: "invalid_type", message: "expected string, found object" },
  ],
  [`twice?flake=${FLAKE}&other=${FLAKE}`, 200, { flake: "bigint", other: "bigint" }],
  ["twice?flake=07", 400, { field: "flake", code: "not_canonical", message: "expected no leading zero, found one" }],
];

const SERVERS = {
  "Express 4": await withExpress("express-4"),
  "Express 5": await withExpress("express"),
  "Hono 4.0": await withHono("hono-4.0"),
  Hono: await withHono("hono"),
};

for (const [name, server] of Object.entries(SERVERS))
  test(name, async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      for (const [path, status, body] of REQUESTS) {
        const answer = await fetch(`http://127.0.0.1:${server.address().port}/${path}`);
        assert.equal(answer.status, status, path);
        assert.match(answer.headers.get("content-type"), /^application\/json/);
        assert.deepEqual(await answer.json(), body, path);
      }
    } finally {
      server.close();
    }
  });
