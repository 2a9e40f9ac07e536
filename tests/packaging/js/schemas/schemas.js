// Tests ID schemas in libraries that accept Standard Schema, and IDs in the schemas of other libraries.
import assert from "node:assert/strict";
import { sValidator } from "@hono/standard-validator";
import { standardSchemaResolver } from "@hookform/resolvers/standard-schema";
import { initTRPC } from "@trpc/server";
import { type } from "arktype";
import { Hono } from "hono";
import { layout } from "polyflake";
import { isValid, toUuid8, withMetabyte } from "polyflake/decode";
import { Keyring } from "polyflake/public";
import { hotguid, randflake, sno } from "polyflake/schema";
import * as v from "valibot";
import { z } from "zod";

const USER = "aaaaaaaa55aaaaaa"; // metabyte 24
const ORDER = withMetabyte(USER, 2);
const FLAKE = "3vgoe12ccb8gh";
const NUMBER = 4594531474933654033n;
const userId = sno.ofMetabyte(24);
const orders = new Keyring(new Uint8Array(32)).of("order");

// ArkType accepts the schemas as parts of its own types.
const Record = type({ id: userId, invoice: randflake, key: hotguid, tweet: layout.Layout.preset("twitter").schema });
const record = { id: USER, invoice: FLAKE, key: "691F29D0-BBAA-DDCC-EE01-0203FFFFFF7F", tweet: "1541815603606036480" };
assert.deepEqual(Record(record), {
  id: USER,
  invoice: NUMBER,
  key: record.key.toLowerCase(),
  tweet: 1541815603606036480n,
});
const Order = type({ id: orders.schema });
assert.deepEqual(Order({ id: orders.encode(42) }), { id: 42 });
assert.equal(Order({ id: "invoice_1" }).summary, "expected an ID of the type `order`, found `invoice`");
const wrongResult = Record({ ...record, id: ORDER });
assert(wrongResult instanceof type.errors);
assert.deepEqual([[...wrongResult[0].path], wrongResult.summary], [["id"], "expected an ID of metabyte 24, found 2"]);

// By default, Hono's validator responds with status 400. A hook can respond with the issues and their codes instead.
const app = new Hono()
  .get("/users/:id", sValidator("param", type({ id: userId })), (context) =>
    context.text(context.req.valid("param").id),
  )
  .post(
    "/users",
    sValidator("json", userId, (result, context) => (result.success ? undefined : context.json(result.error, 422))),
    (context) => context.json({ id: context.req.valid("json") }),
  );
assert.equal(await (await app.request(`/users/${USER}`)).text(), USER);
assert.equal((await app.request("/users/7")).status, 400);
const post = (id) => {
  const headers = { "content-type": "application/json" };
  return app.request("/users", { method: "POST", headers, body: JSON.stringify(id) });
};
assert.deepEqual(await (await post(USER)).json(), { id: USER });
const response = await post(`${USER.slice(1)}!`);
assert.equal(response.status, 422);
const [{ code, position }] = await response.json();
assert.deepEqual([code, position], ["invalid_character", 15]);

// tRPC validates a procedure's input with the schemas.
const t = initTRPC.create();
const router = t.router({ invoice: t.procedure.input(randflake).query(({ input }) => typeof input + input) });
const caller = t.createCallerFactory(router)({});
assert.equal(await caller.invoice(FLAKE), `bigint${NUMBER}`);
await assert.rejects(caller.invoice("01"), (error) => {
  assert.equal(error.code, "BAD_REQUEST");
  assert.equal(error.cause.issues[0].code, "not_canonical");
  return true;
});

// React Hook Form validates a form's values through a resolver.
const resolve = standardSchemaResolver(type({ id: userId }));
const context = { fields: {}, shouldUseNativeValidation: false };
assert.deepEqual((await resolve({ id: USER }, undefined, context)).values, { id: USER });
assert.match((await resolve({ id: "7" }, undefined, context)).errors.id.message, /length 16/);

// zod and valibot do not accept other libraries' schemas, but they accept a type guard.
const zodSchema = z.object({ id: z.custom(isValid) });
const valibotSchema = v.object({ id: v.custom(isValid) });
assert.equal(zodSchema.parse({ id: USER }).id, USER);
assert.equal(v.parse(valibotSchema, { id: USER }).id, USER);
assert.equal(zodSchema.safeParse({ id: "7" }).success || v.safeParse(valibotSchema, { id: "7" }).success, false);

// zod and valibot accept a sno as a version 8 UUID.
for (const { success } of [z.uuid().safeParse(toUuid8(USER)), v.safeParse(v.pipe(v.string(), v.uuid()), toUuid8(USER))])
  assert(success);

// With the code from the package's README, zod reports each issue with its code, and generates the JSON Schema.
function zodOf({ "~standard": schema }) {
  const text = z.string().check(({ value, issues }) => {
    for (const { message, ...params } of schema.validate(value).issues ?? [])
      issues.push({ code: "custom", input: value, message, params });
  });
  return text.meta(schema.jsonSchema.input({ target: "draft-2020-12" }));
}
const zodObject = z.object({ id: zodOf(userId) });
assert.deepEqual(zodObject.parse({ id: USER }), { id: USER });
const { error } = zodObject.safeParse({ id: ORDER });
assert.deepEqual(
  [error.issues[0].params.code, error.issues[0].message],
  ["out_of_range", "expected an ID of metabyte 24, found 2"],
);
const { pattern, type: kind } = z.toJSONSchema(zodObject).properties.id;
assert.deepEqual([kind, new RegExp(pattern).test(USER), new RegExp(pattern).test(ORDER)], ["string", true, false]);

// zod 4.2 and later can read the JSON Schema. For older versions, the test uses the schema's regular expression.
for (const [schema, good, bad] of [
  [sno, USER, "7"],
  [userId, USER, ORDER],
  [hotguid, record.key, USER],
  [randflake, FLAKE, "x"],
  [orders.schema, orders.encode(42), "order_42"],
]) {
  const { type, pattern } = schema["~standard"].jsonSchema.input({ target: "draft-2020-12" });
  const read = z.fromJSONSchema?.({ type, pattern }) ?? z.string().regex(new RegExp(pattern));
  assert.deepEqual([read.safeParse(good).success, read.safeParse(bad).success], [true, false]);
}
console.log("schemas in 6 libraries");
