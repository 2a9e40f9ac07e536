// Checks that version 7 and 8 UUIDs pass strict validators, and that the compatible forms do not.
import joi from "joi";
import { hotguid, sno, uuid7 } from "polyflake";
import { toUuid8 } from "polyflake/decode";
import { validate, version } from "uuid";
import * as v from "valibot";
import { z } from "zod";

const ids = new sno.Generator({ partition: 0xffff }).generateMany(10_000).texts();
const samples = [...ids, "2222222222222222", "xxxxxxxxxxxxxxxx"];
const version8Validators = [
  (uuid) => z.uuid().safeParse(uuid).success,
  (uuid) => z.uuid({ version: "v8" }).safeParse(uuid).success,
  (uuid) => validate(uuid) && version(uuid) === 8,
  (uuid) => v.safeParse(v.pipe(v.string(), v.uuid()), uuid).success,
];
const guids = new hotguid.Generator({ uuid8: true }).generateMany(10_000).texts();
for (const uuid of [...samples.map(toUuid8), ...guids]) {
  version8Validators.forEach((accepts, k) => {
    if (!accepts(uuid)) throw new Error(`validator ${k} refuses ${uuid}`);
  });
}
const version7Validators = [
  (uuid) => z.uuid().safeParse(uuid).success,
  (uuid) => z.uuidv7().safeParse(uuid).success,
  (uuid) => validate(uuid) && version(uuid) === 7,
  (uuid) => v.safeParse(v.pipe(v.string(), v.uuid()), uuid).success,
  (uuid) => joi.string().guid({ version: "uuidv7" }).validate(uuid).error === undefined,
];
const highestUuid = "ffffffff-ffff-7fff-bfff-ffffffffffff";
const workerUuids = new uuid7.Generator({ workerId: 0xffff }).generateMany(1000).texts();
const uuids = [...uuid7.generateMany(10_000).texts(), ...workerUuids, uuid7.timeRange(0, 1).lowest, highestUuid];
for (const uuid of uuids)
  version7Validators.forEach((accepts, k) => {
    if (!accepts(uuid)) throw new Error(`validator ${k} refuses ${uuid} of version 7`);
  });
if (z.uuid().safeParse(sno.toUuid("a7rdmuv326nct5if")).success)
  throw new Error("expected the compatible form to be rejected");
if (z.uuid({ version: "v8" }).safeParse(hotguid.generate()).success)
  throw new Error("expected the compatible form to be rejected");
const sortedUuids = ids.map(toUuid8);
if (sortedUuids.some((uuid, k) => k > 0 && sortedUuids[k - 1] >= uuid))
  throw new Error("expected UUIDs in the order of their IDs");
console.log(`${samples.length + guids.length + uuids.length} UUIDs`);
