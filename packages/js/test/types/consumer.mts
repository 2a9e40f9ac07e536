// User code that the compiler must accept, and code that it must reject.
import {
  type AsyncOptions,
  type afterRestore,
  type backend,
  type clockSource,
  type Description,
  type ErrorCode,
  type HotGuidId,
  hotguid,
  layout,
  PolyflakeError,
  type RandflakeId,
  type RandflakeText,
  randflake,
  type SnoId,
  type Stall,
  sno,
  sparx64,
  type Uuid7Id,
  uuid7,
  type watchRestores,
} from "polyflake";
import * as decode from "polyflake/decode";
import { byMetabyte, withBigints } from "polyflake/json";
import type { sno as forcedNative } from "polyflake/native";
import { type IdType, Keyring, type PublicId } from "polyflake/public";
import address from "polyflake/sno.wasm";
import type { sno as forcedWasm } from "polyflake/wasm";
import { sno as besideScript, type Source } from "polyflake/web";
import * as snoAlone from "polyflake/web/sno";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(_?: T): void => undefined;

is<Equal<ReturnType<typeof backend>, "native" | "wasm">>();
is<Equal<typeof afterRestore, () => void>>();
is<Equal<typeof watchRestores, () => void>>();
is<Equal<ReturnType<typeof clockSource>, "counter" | "system_call" | "host">>();

const ids = new sno.Generator({
  partition: new Uint8Array(2),
  sequenceMin: 1,
  sequenceMax: 10,
  metabyte: 1,
  window: [new Date(0), 1],
  clock: Date.now,
  onExhausted: "error",
  maxWait: 1,
  onStall: ({ reason, unixMs, stalled, sleptMs }: Stall) => console.log(reason, unixMs, stalled, sleptMs),
});
is<Equal<ReturnType<typeof ids.generate>, SnoId>>();
is<Equal<ReturnType<typeof ids.generateMany>, sno.SnoArray>>();
is<Equal<typeof ids.partition, number | undefined>>();
is<Equal<ReturnType<typeof ids.close>, sno.Snapshot>>();
is<Equal<ReturnType<typeof ids.generateAsync>, Promise<SnoId>>>();
is<Equal<ReturnType<typeof ids.generateManyAsync>, Promise<sno.SnoArray>>>();
const abortable: AsyncOptions = { signal: abortSignal };
await ids.generateAsync(1, abortable);
await ids.generateAsync(1, { signal: undefined });
// @ts-expect-error: a signal has more members
await ids.generateAsync(1, { signal: { aborted: false } });
is<Equal<ReturnType<typeof ids.stats>, sno.Stats>>();
is<Equal<ReturnType<typeof sno.parse>, sno.Fields>>();
is<Equal<ReturnType<typeof sno.timeRange>, { lowest: SnoId; highest: SnoId }>>();
is<Equal<typeof forcedNative, typeof sno>>();
is<Equal<typeof forcedWasm, typeof sno>>();

is<Equal<ReturnType<typeof sno.describe>, Description>>();
is<Equal<ReturnType<typeof sno.toJsonValue>, SnoId | null>>();
const text: string = sno.fromJsonValue(null, { nullIsZero: true });

const secret = new Uint8Array(16);
const grant: randflake.Grant = new randflake.Grant([1, 2], 1_730_000_000, 1_730_000_001);
const flakes = new randflake.Generator(grant, secret, { resumeAfter: 1_730_000_000, onExhausted: "wait" });
is<Equal<ReturnType<typeof flakes.generate>, RandflakeId>>();
is<Equal<ReturnType<typeof flakes.generateText>, RandflakeText>>();
is<Equal<ReturnType<typeof flakes.close>, number | undefined>>();
is<Equal<typeof flakes.grant, randflake.Grant>>();
const { timestamp, node, sequence }: randflake.Parts = new randflake.Codec(secret).inspect(flakes.generate());
console.log(timestamp + node + sequence, grant.nodes[0] + grant.start);
const integers: bigint[] = [...flakes.generateMany(3)];
const raw: BigInt64Array = flakes.generateMany(3).ids;
is<Equal<ReturnType<typeof randflake.decodeText>, RandflakeId>>();
randflake.encodeText(randflake.fromUnsigned(randflake.toUnsigned(integers[0] ?? raw[0]!)));

const guids = new hotguid.Generator({ window: [0, new Date()] });
is<Equal<ReturnType<typeof guids.generate>, HotGuidId>>();
const { machine, counter, shardKey }: hotguid.Parts = hotguid.parts(guids.generate(7));
console.log(machine.length + counter + shardKey, hotguid.fromSql(hotguid.toSql(text)));
is<Equal<ReturnType<typeof hotguid.timeRange>, { lowest: string; highest: string }>>();
hotguid.timeRange(0, 1, { sql: true });
is<Equal<ReturnType<typeof hotguid.uuid8Parts>, hotguid.Uuid8Parts>>();
console.log(hotguid.uuid8Parts(new hotguid.Generator({ uuid8: true }).generate()).machine + 1);
// @ts-expect-error: the machine is a number
hotguid.fromUuid8Parts({ timestamp: 0, machine: new Uint8Array(5), counter: 0, shardKey: 0 });
is<Equal<ReturnType<InstanceType<typeof sparx64.Sparx64>["encrypt"]>, Uint8Array>>();
const uuids = new uuid7.Generator({ workerId: 7, resumeAfter: new Date() });
is<Equal<ReturnType<typeof uuids.generate>, Uuid7Id>>();
is<Equal<ReturnType<typeof uuids.close>, number | undefined>>();
is<Equal<ReturnType<uuid7.Uuid7Array["texts"]>, Uuid7Id[]>>();
const { random, unixMs: made }: uuid7.Parts = uuid7.parts(uuids.generate());
console.log(random + 1n, made + uuid7.workerId(text));
// @ts-expect-error: a version 7 UUID contains no data of the caller
uuids.generate(7);
// @ts-expect-error: the random bits are a bigint
uuid7.fromParts({ unixMs: made, sequence: 0, random: 0 });
const { perSecond }: { perSecond: bigint | undefined } = hotguid.describe();
console.log(perSecond);

const layouts = new layout.Layout({
  id: "integer",
  bits: 64,
  fields: [
    { kind: "timestamp", bits: 42, tick: "1ms", epoch_ms: 0 },
    { kind: "bindable", bits: 10, name: "node", invert: true },
    { kind: "sequence", bits: 12, start: "1" },
  ],
});
is<Equal<typeof layouts, layout.Layout<"integer", { node: number }>>>();
is<Equal<ReturnType<typeof layouts.pack>, bigint>>();
const packed: bigint = layouts.pack({ timestamp: new Date(), sequence: 1n, bindables: { node: 1 } });
const { unixMs, timestamp: when, bindables }: layout.Parsed = layouts.parse(packed);
console.log(unixMs, when?.toISOString(), bindables.node);
const ofBytes = new layout.Layout({ id: "bytes", bits: 8, fields: [{ kind: "unused", bits: 8 }] });
is<Equal<ReturnType<typeof ofBytes.pack>, Uint8Array>>();
const description: layout.LayoutDescription = JSON.parse(layouts.toJson());
is<Equal<ReturnType<layout.Layout["pack"]>, bigint | Uint8Array>>();
const any: layout.Layout = new layout.Layout(description);
const custom = new layout.Generator(layout.Layout.preset("sonyflake", { machine: 1 }), { sequenceOnly: false });
is<Equal<ReturnType<typeof custom.generate>, bigint>>();
is<Equal<ReturnType<typeof custom.generateMany>, layout.LayoutArray<"integer">>>();
is<Equal<typeof custom.layout, layout.Layout<"integer", Record<never, never>>>>();
const packedIds: BigInt64Array = custom.generateMany(3).packed;
new layout.LayoutArray(packedIds);
new layout.LayoutArray(new Uint8Array(8), 4);
layout.Generator.restore(custom.layout, custom.close(), { window: [0, 1] });
console.log(any.timeRange(0, 1).lowest, new layout.Generator(any, { bindables: { a: "b" } }).stats().len + 1n);

const columns: layout.ParsedColumns = layouts.parseColumns(
  layouts.packColumns({ sequence: new Float64Array(2), bindables: { node: 1 } }).packed,
);
is<Equal<typeof columns.sequence, layout.Column | undefined>>();
is<Equal<typeof columns.unixMs, BigInt64Array | undefined>>();
const ofMany: layout.LayoutArray<"bytes"> = ofBytes.packColumns({ constants: { c: columns.unixMs!, d: "text" } });
ofBytes.parseColumns(ofMany.packed);
is<Equal<ReturnType<typeof sno.SnoArray.from>, sno.SnoArray>>();
is<Equal<ReturnType<typeof randflake.RandflakeArray.from>, randflake.RandflakeArray>>();
is<Equal<ReturnType<hotguid.HotGuidArray["texts"]>, HotGuidId[]>>();
is<Equal<ReturnType<sno.SnoArray["texts"]>, SnoId[]>>();
sno.SnoArray.from(["", ""] as const);
is<Equal<ReturnType<typeof layout.LayoutArray.from>, layout.LayoutArray<"bytes">>>();
const ofIntegers: layout.LayoutArray<"integer"> = layout.LayoutArray.from([1n, "2"]);
randflake.RandflakeArray.from([...ofIntegers, "0"]);

const snapshot: sno.Snapshot = JSON.parse("{}");
sno.Generator.restore(snapshot, { clock: Date.now }).generateAt(new Date(), 3);
sno.Generator.importOriginal(snapshot).extendWindow(3);
const texts: string[] = [...ids.generateMany(3)];
sno.fromParts(sno.parse(texts[0]!));
const bytes: Uint8Array = sno.toBytes(sno.fromBytes(ids.generateMany(1).bytes));
const uuid: string = sno.toUuid(sno.fromUuid(""));

const value: unknown = uuid;
if (sno.isValid(value)) is<Equal<typeof value, SnoId>>();
if (decode.isValid(value)) decode.metabyte(value);

try {
  ids.generate(bytes.length);
} catch (error) {
  if (!(error instanceof PolyflakeError)) throw error;
  is<Equal<typeof error.code, ErrorCode>>();
  const numbers: (number | undefined)[] = [error.position, error.retryAt, error.written];
  const field: string | undefined = error.field;
  console.log(numbers, field, error.cause);
}

// @ts-expect-error: a metabyte is a number
sno.generate("7");
// @ts-expect-error: an ID is a string
sno.parse(7n);
// @ts-expect-error: there is no such option
new sno.Generator({ partitions: 3 });
// @ts-expect-error: a clock returns numbers
new sno.Generator({ clock: () => "0" });
// @ts-expect-error: a clock returns its time synchronously
new sno.Generator({ clock: async () => 0 });
// @ts-expect-error: the value must be "wait" or "error"
new sno.Generator({ onExhausted: "raise" });
// @ts-expect-error: users cannot set a generator's start
new sno.Generator({}, {});
// @ts-expect-error: a snapshot contains its partition
sno.Generator.restore(snapshot, { partition: 1 });
// @ts-expect-error: all fields of an ID are required
sno.fromParts({ tick: 1 });
// @ts-expect-error: an array of numbers is not bytes
sno.fromBytes([1, 2, 3]);
// @ts-expect-error: the handle is private
ids.handle;
// @ts-expect-error: a 64-bit ID is a bigint
flakes.inspect(1);
// @ts-expect-error: a string is not an ID either
randflake.encodeText("1");
// @ts-expect-error: a secret is bytes
new randflake.Codec("sixteen byte key");
// @ts-expect-error: node IDs are numbers
new randflake.Grant("1", 0, 1);
// @ts-expect-error: a shard key is a number
hotguid.generate(7n);
// @ts-expect-error: all fields are required
hotguid.fromParts({ timestamp: 0 });
// @ts-expect-error: a block is bytes
new sparx64.Sparx64(secret).encrypt("12345678");
// @ts-expect-error: there are only two reasons
export const reason: Stall["reason"] = "forked";
// @ts-expect-error: an ID of an integer layout is a bigint
layouts.parse(1);
// @ts-expect-error: nor is it bytes
layouts.parse(new Uint8Array(8));
// @ts-expect-error: a column is a typed array
layouts.packColumns({ sequence: [1, 2] });
// @ts-expect-error: nor are this layout's packed IDs bytes
layouts.parseColumns(new Uint8Array(8));
// @ts-expect-error: strings of different lengths cannot be packed
randflake.RandflakeArray.from("0123");
// @ts-expect-error: there is no such preset
layout.Layout.preset("snowflake");
// @ts-expect-error: no such kind of field
new layout.Layout({ id: "integer", bits: 64, fields: [{ kind: "node", bits: 64 }] });
// @ts-expect-error: a value is an integer, bytes or text
layouts.pack({ bindables: { node: true } });
// @ts-expect-error: bytes need the ID's length
new layout.LayoutArray<"bytes">(new Uint8Array(8));

class User {
  readonly kind = "user";
  readonly name: string;
  constructor(members: { id: string; name: string }) {
    this.name = members.name;
  }
}
const records = byMetabyte({
  1: User,
  2: ({ total }: { id: string; total: number }) => ({ kind: "order" as const, total }),
});
const record = records.parse("");
is<Equal<typeof record, User | { kind: "order"; total: number }>>();
is<Equal<ReturnType<typeof records.decode>, typeof record>>();
switch (record.kind) {
  case "user":
    is<Equal<typeof record, User>>();
    break;
  case "order":
    is<Equal<typeof record.total, number>>();
}
records.stringify(record);
is<Equal<ReturnType<typeof records.parseMany>, (typeof record)[]>>();
const revived: User[] = records.revive<User[]>([]);
is<Equal<ReturnType<typeof records.revive>, unknown>>();
// Members without a declared type are unknown, so the object's type does not change.
const untyped = byMetabyte({ 24: User, 25: (members) => ({ kind: "order" as const, ...members }) });
const one = untyped.parse("");
is<Equal<typeof one.kind, "user" | "order">>();
byMetabyte({
  25: (members) => {
    is<Equal<typeof members, Record<string, unknown>>>();
    return members.total;
  },
});
interface Members {
  id: string;
  total: number;
}
const byInterface = byMetabyte({ 2: ({ total }: Members) => ({ kind: "order" as const, total }) });
is<Equal<ReturnType<typeof byInterface.parse>, { kind: "order"; total: number }>>();
console.log(revived);
// @ts-expect-error: not one of the records
records.stringify({ kind: "other" });
// @ts-expect-error: not a function or class
byMetabyte({ 1: "user" });
JSON.parse("", records.reviver);
const wide = withBigints(["id"] as const, { numbers: true });
is<Equal<ReturnType<typeof wide.parse>, unknown>>();
const json: string = wide.stringify({ id: 1n }, 2) + JSON.stringify({ id: 1n }, wide.replacer);
JSON.parse(json, wide.reviver);
// @ts-expect-error: the names must be a list
withBigints("id");
// @ts-expect-error: no such option
withBigints([], { texts: true });
sno.setDefaultGenerator(undefined);
sno.setDefaultGenerator(ids);
// @ts-expect-error: a generator of a different format
sno.setDefaultGenerator(new hotguid.Generator());

const publicIds = new Keyring({ 1: new Uint8Array(32), 2: new Uint8Array(32) });
const orderIds = publicIds.of("order");
const wideIds = publicIds.of("post", { bits: 63 });
is<Equal<typeof orderIds, IdType<number, "order">>>();
is<Equal<ReturnType<typeof orderIds.decode>, number>>();
is<Equal<ReturnType<typeof orderIds.decodeMany>, number[]>>();
is<Equal<ReturnType<typeof orderIds.encode>, PublicId<"order">>>();
is<Equal<ReturnType<typeof wideIds.decode>, bigint>>();
const bits: number = 40;
const anyIds = publicIds.of("a", { bits });
is<Equal<ReturnType<typeof anyIds.decode>, number | bigint>>();
is<Equal<ReturnType<ReturnType<typeof publicIds.of<"a", 40>>["decode"]>, number>>();
const anyType: IdType = orderIds;
const orderText: string = orderIds.encode(1n) + anyType.encodeMany([1, 2n])[0];
is<Equal<typeof orderText, string>>();
// @ts-expect-error: a string of a different type
orderIds.encode(1) satisfies PublicId<"invoice">;
// @ts-expect-error: no such option
publicIds.of("order", { bit: 48 });
// @ts-expect-error: a string is not a number
orderIds.encode("1");

is<Equal<ReturnType<typeof besideScript.init>, Promise<void>>>();
is<Equal<Parameters<typeof besideScript.init>[0], Source | undefined>>();
is<Equal<typeof besideScript.generate, typeof forcedWasm.generate>>();
// @ts-expect-error: a number is not a module
besideScript.init(1);
await snoAlone.init(address);
