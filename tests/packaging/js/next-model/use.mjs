// Uses the example project once its tables exist: `node use.mjs start` or `node use.mjs dev`.
import assert from "node:assert/strict";
import postgres from "pg";
import { sno } from "polyflake";
import { ask, serveApp } from "./started.mjs";

const HOUR = 3_600_000;

async function check(address) {
  const post = async (path, body) => {
    const answer = await ask(`${address}${path}`, { method: "POST", body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  const get = async (path) => {
    const answer = await ask(`${address}${path}`);
    const text = await answer.text();
    return { status: answer.status, body: text && JSON.parse(text) };
  };
  const { body: person } = await post("/people", { name: "Ada" });
  assert.equal(sno.metabyte(person.id), 1);
  const orders = [];
  for (const item of ["a", "b", "c"]) orders.push((await post("/orders", { buyer: person.id, item })).body);
  for (const { id, buyer } of orders) assert.deepEqual([sno.metabyte(id), buyer], [2, person.id]);
  const span = (start, end) => `/orders?${new URLSearchParams({ start: start.toISOString(), end: end.toISOString() })}`;
  const around = (from, to) => span(new Date(Date.now() + from * HOUR), new Date(Date.now() + to * HOUR));
  assert.deepEqual(await get(around(-1, 1)), { status: 200, body: orders });
  assert.deepEqual(await get(around(-2, -1)), { status: 200, body: [] });
  for (const record of [person, ...orders])
    assert.deepEqual(await get(`/records/${record.id}`), { status: 200, body: record });
  assert.equal((await get(`/records/${sno.withMetabyte(person.id, 2)}`)).status, 404);
  for (const id of ["short", sno.withMetabyte(person.id, 9)]) assert.equal((await get(`/records/${id}`)).status, 400);
  const wrong = await post("/orders", { buyer: orders[0].id, item: "d" });
  assert.deepEqual([wrong.status, wrong.body[0].message], [400, "expected the ID of a person"]);
  const page = await (await ask(address)).text();
  for (const { id } of orders) assert(page.includes(`<li id="${id}">`), page);
  const client = new postgres.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  const { rows } = await client.query("SELECT id FROM orders ORDER BY id");
  await client.end();
  assert.deepEqual(
    rows.map(({ id }) => id),
    orders.map(({ id }) => sno.toUuid8(id)),
  );
}

await serveApp(["node_modules/next/dist/bin/next", process.argv[2], "--hostname", "127.0.0.1"], check);
