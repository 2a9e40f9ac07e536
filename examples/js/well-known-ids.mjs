// Decodes X and Discord IDs with presets, to show when a message was written and which machine made its ID.
//
// The JSON of both services contains IDs as strings, because JavaScript numbers would round them. This example converts
// each string directly to a bigint, so no digits are lost.
//
// Run it: node examples/js/well-known-ids.mjs
import assert from "node:assert/strict";
import { layout } from "polyflake";

const TWITTER = layout.Layout.preset("twitter");
const DISCORD = layout.Layout.preset("discord");

/** Shortened responses of the two services. */
const RESPONSES = [
  [TWITTER, '{"data": {"id": "1541815603606036480", "text": "a post"}}', ({ data }) => data.id],
  [DISCORD, '{"id": "175928847299117063", "content": "a message"}', ({ id }) => id],
];

const parsedIds = RESPONSES.map(([service, json, idOf]) => service.parse(BigInt(idOf(JSON.parse(json)))));
for (const { timestamp, sequence, bindables } of parsedIds) {
  console.log(`${timestamp.toISOString()}  number ${sequence} of ${JSON.stringify(bindables)}`);
}
assert.deepEqual(parsedIds[0].bindables, { datacenter: 11, worker: 26 });
assert.deepEqual(parsedIds[1].timestamp, new Date("2016-04-30T11:18:25.796Z"));

// All Discord messages of a day are BETWEEN these two IDs.
const dayRange = DISCORD.timeRange(new Date("2016-04-30"), new Date("2016-05-01"));
assert(dayRange.lowest <= 175928847299117063n && 175928847299117063n <= dayRange.highest);
console.log(`2016-04-30 on Discord: ${dayRange.lowest} to ${dayRange.highest}`);

// A JavaScript number has already lost the ID's last digits, so it is rejected.
assert.throws(() => DISCORD.parse(JSON.parse("175928847299117063")), { code: "invalid_type" });
