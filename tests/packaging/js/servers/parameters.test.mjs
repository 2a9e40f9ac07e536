// Requests with right and wrong parameters, over HTTP: each server answers alike.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import express5 from "express";
import express4 from "express-4";
import { Hono as Hono4 } from "hono";
import { Hono as Hono40 } from "hono-4.0";
import { hotguid, layout, randflake, sno } from "polyflake";
import * as ofExpress from "polyflake/express";
import * as ofHono from "polyflake/hono";

const PATH = "/people/:person/orders";

const TWEETS = layout.Layout.preset("twitter");
const BYTES = new layout.Layout({ id: "bytes", bits: 72, fields: [{ kind: "bindable", bits: 72, name: "key" }] });

const parsers = ({ hotguidId, layoutId, optional, params, query, randflakeId, snoId }) => [
  params({ person: snoId({ metabyte: 1 }) }),
  query({
    after: optional(snoId({ metabyte: [2, 3] })),
    flake: optional(randflakeId()),
    key: optional(hotguidId()),
    tweet: optional(layoutId(TWEETS)),
    bytes: optional(layoutId(BYTES)),
    any: snoId(),
  }),
];

const answerOf = ({ person }, { any, after, flake, key, tweet, bytes, ...others }) => ({
  values: [person, any, after ?? null, typeof flake === "bigint" ? `${flake}` : null, key ?? null],
  others: Object.keys(others),
  ...(tweet === undefined ? {} : { tweet: [typeof tweet, `${tweet}`] }),
  ...(bytes === undefined ? {} : { bytes: Array.from(bytes) }),
});

function withExpress(express) {
  const app = express();
  const ok = (req, res) => res.json(answerOf(req.params, req.query));
  app.get(PATH, ...parsers(ofExpress), ok);
  return createServer(app);
}

function withHono(Hono) {
  const app = new Hono();
  const ok = (c) => c.json(answerOf(c.req.valid("param"), { ...c.req.query(), ...c.req.valid("query") }));
  app.get(PATH, ...parsers(ofHono), ok);
  return createServer(async (req, res) => {
    const answer = await app.fetch(new Request(`http://localhost${req.url}`));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    res.end(await answer.text());
  });
}

const PERSON = sno.generate(1);
const [ANY, ORDER] = [sno.generate(9), sno.generate(3)];
const FLAKE = -4_594_531_474_933_654_033n;
const KEY = hotguid.generate();
const ALL = `any=${ANY}`;

const REQUESTS = [
  [`${PERSON}/orders?${ALL}&limit=3`, 200, { values: [PERSON, ANY, null, null, null], others: ["limit"] }],
  [
    `${PERSON}/orders?after=${ORDER}&flake=${randflake.encodeText(FLAKE)}&key=${KEY.toUpperCase()}&${ALL}`,
    200,
    { values: [PERSON, ANY, ORDER, `${FLAKE}`, KEY], others: [] },
  ],
  [`short/orders?${ALL}`, 400, { code: "invalid_length", field: "person", message: "expected length 16, found 5" }],
  [
    `${PERSON.slice(1)}%20/orders?${ALL}`,
    400,
    { code: "invalid_character", field: "person", message: "invalid character ' ' at position 15", position: 15 },
  ],
  [
    `${ORDER}/orders?${ALL}`,
    400,
    { code: "out_of_range", field: "person", message: "expected an ID of metabyte 1, found 3" },
  ],
  [
    `${PERSON}/orders?after=${ANY}&${ALL}`,
    400,
    { code: "out_of_range", field: "after", message: "expected an ID of metabyte 2, 3, found 9" },
  ],
  [`${PERSON}/orders`, 400, { code: "missing_field", field: "any", message: "missing value for field `any`" }],
  [`${PERSON}/orders?any=`, 400, { code: "invalid_length", field: "any", message: "expected length 16, found 0" }],
  [
    `${PERSON}/orders?${ALL}&${ALL}`,
    400,
    { code: "invalid_type", field: "any", message: "expected one text for `any`, found object" },
  ],
  [
    `${PERSON}/orders?flake=07&${ALL}`,
    400,
    { code: "not_canonical", field: "flake", message: "expected no leading zero, found one" },
  ],
  [
    `${PERSON}/orders?tweet=1541815603606036480&bytes=0102030405060708ff&${ALL}`,
    200,
    {
      values: [PERSON, ANY, null, null, null],
      others: [],
      tweet: ["bigint", "1541815603606036480"],
      bytes: [1, 2, 3, 4, 5, 6, 7, 8, 255],
    },
  ],
  [
    `${PERSON}/orders?tweet=9223372036854775808&${ALL}`,
    400,
    {
      code: "out_of_range",
      field: "tweet",
      message: "expected id from -9223372036854775808 to 9223372036854775807, found 9223372036854775808",
    },
  ],
  ...["07", "1e3", "", "+1", "1.0", "1".repeat(400)].map((tweet) => [
    `${PERSON}/orders?tweet=${encodeURIComponent(tweet)}&${ALL}`,
    400,
    { code: "not_canonical", field: "tweet", message: /^expected an integer of 64 bits in decimal digits/ },
  ]),
];

const SERVERS = {
  "Express 4": withExpress(express4),
  "Express 5": withExpress(express5),
  "Hono 4.0": withHono(Hono40),
  Hono: withHono(Hono4),
};

for (const [name, server] of Object.entries(SERVERS))
  test(name, async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      for (const [path, status, body] of REQUESTS) {
        const answer = await fetch(`http://127.0.0.1:${server.address().port}/people/${path}`);
        assert.equal(answer.status, status, path);
        assert.match(answer.headers.get("content-type"), /^application\/json/);
        const { message, ...others } = await answer.json();
        if (body.message instanceof RegExp) assert.match(message, body.message);
        else assert.equal(message, body.message, path);
        const { message: _, ...expected } = body;
        assert.deepEqual(others, expected, path);
      }
    } finally {
      server.close();
    }
  });

test("what a program's own parameter throws goes through", () => {
  const thrown = new Error("theirs");
  const fails = () => {
    throw thrown;
  };
  assert.throws(() => ofExpress.params({ id: fails })({ params: { id: "a" } }), thrown);
});

test("members that every object inherits are no parameters", () => {
  const answers = [];
  const response = { status: (status) => ({ json: ({ code }) => answers.push(status, code) }) };
  ofExpress.params({ constructor: ofExpress.snoId() })({ params: {} }, response);
  assert.deepEqual(answers, [400, "missing_field"]);
});

test("only a layout is one", () => {
  for (const wrong of [undefined, null, {}, { schema: {} }, "twitter"])
    assert.throws(() => ofHono.layoutId(wrong), { code: "invalid_type", field: "layout" });
});

test("metabytes are checked where they are given", () => {
  for (const metabyte of [256, -1]) assert.throws(() => ofHono.snoId({ metabyte }), { code: "out_of_range" });
  assert.throws(() => ofHono.snoId({ metabyte: "1" }), { code: "invalid_type" });
  assert.throws(() => ofHono.snoId({ metabyte: [] }), { code: "out_of_range", field: "metabyte" });
  assert.throws(() => ofHono.snoId({ metabytes: 1 }), { code: "unknown_field", field: "metabytes" });
});
