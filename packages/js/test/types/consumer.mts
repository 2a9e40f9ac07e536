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
const assertType = <T extends true>(_?: T): void => undefined;

assertType<Equal<ReturnType<typeof backend>, "native" | "wasm">>();
assertType<Equal<typeof afterRestore, () => void>>();
assertType<Equal<typeof watchRestores, () => void>>();
assertType<Equal<ReturnType<typeof clockSource>, "counter" | "system_call" | "host">>();

const snoGenerator = new sno.Generator({
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
assertType<Equal<ReturnType<typeof snoGenerator.generate>, SnoId>>();
assertType<Equal<ReturnType<typeof snoGenerator.generateMany>, sno.SnoArray>>();
assertType<Equal<typeof snoGenerator.partition, number | undefined>>();
assertType<Equal<ReturnType<typeof snoGenerator.close>, sno.Snapshot>>();
assertType<Equal<ReturnType<typeof snoGenerator.generateAsync>, Promise<SnoId>>>();
assertType<Equal<ReturnType<typeof snoGenerator.generateManyAsync>, Promise<sno.SnoArray>>>();
const abortable: AsyncOptions = { signal: abortSignal };
await snoGenerator.generateAsync(1, abortable);
await snoGenerator.generateAsync(1, { signal: undefined });
// @ts-expect-error: a signal has more members
await snoGenerator.generateAsync(1, { signal: { aborted: false } });
assertType<Equal<ReturnType<typeof snoGenerator.stats>, sno.Stats>>();
assertType<Equal<ReturnType<typeof sno.parse>, sno.Fields>>();
assertType<Equal<ReturnType<typeof sno.timeRange>, { lowest: SnoId; highest: SnoId }>>();
assertType<Equal<typeof forcedNative, typeof sno>>();
assertType<Equal<typeof forcedWasm, typeof sno>>();

assertType<Equal<ReturnType<typeof sno.describe>, Description>>();
assertType<Equal<ReturnType<typeof sno.toJsonValue>, SnoId | null>>();
const text: string = sno.fromJsonValue(null, { nullIsZero: true });

const secret = new Uint8Array(16);
const grant: randflake.Grant = new randflake.Grant([1, 2], 1_730_000_000, 1_730_000_001);
const randflakeGenerator = new randflake.Generator(grant, secret, { resumeAfter: 1_730_000_000, onExhausted: "wait" });
assertType<Equal<ReturnType<typeof randflakeGenerator.generate>, RandflakeId>>();
assertType<Equal<ReturnType<typeof randflakeGenerator.generateText>, RandflakeText>>();
assertType<Equal<ReturnType<typeof randflakeGenerator.close>, number | undefined>>();
assertType<Equal<typeof randflakeGenerator.grant, randflake.Grant>>();
const { timestamp, node, sequence }: randflake.Parts = new randflake.Codec(secret).inspect(
  randflakeGenerator.generate(),
);
console.log(timestamp + node + sequence, grant.nodes[0] + grant.start);
const integers: bigint[] = [...randflakeGenerator.generateMany(3)];
const rawIds: BigInt64Array = randflakeGenerator.generateMany(3).ids;
assertType<Equal<ReturnType<typeof randflake.decodeText>, RandflakeId>>();
randflake.encodeText(randflake.fromUnsigned(randflake.toUnsigned(integers[0] ?? rawIds[0]!)));

const hotguidGenerator = new hotguid.Generator({ window: [0, new Date()] });
assertType<Equal<ReturnType<typeof hotguidGenerator.generate>, HotGuidId>>();
const { machine, counter, shardKey }: hotguid.Parts = hotguid.parts(hotguidGenerator.generate(7));
console.log(machine.length + counter + shardKey, hotguid.fromSql(hotguid.toSql(text)));
assertType<Equal<ReturnType<typeof hotguid.timeRange>, { lowest: string; highest: string }>>();
hotguid.timeRange(0, 1, { sql: true });
assertType<Equal<ReturnType<typeof hotguid.uuid8Parts>, hotguid.Uuid8Parts>>();
console.log(hotguid.uuid8Parts(new hotguid.Generator({ uuid8: true }).generate()).machine + 1);
// @ts-expect-error: the machine is a number
hotguid.fromUuid8Parts({ timestamp: 0, machine: new Uint8Array(5), counter: 0, shardKey: 0 });
assertType<Equal<ReturnType<InstanceType<typeof sparx64.Sparx64>["encrypt"]>, Uint8Array>>();
const uuid7Generator = new uuid7.Generator({ workerId: 7, resumeAfter: new Date() });
assertType<Equal<ReturnType<typeof uuid7Generator.generate>, Uuid7Id>>();
assertType<Equal<ReturnType<typeof uuid7Generator.close>, number | undefined>>();
assertType<Equal<ReturnType<uuid7.Uuid7Array["texts"]>, Uuid7Id[]>>();
const { random, unixMs: made }: uuid7.Parts = uuid7.parts(uuid7Generator.generate());
console.log(random + 1n, made + uuid7.workerId(text));
// @ts-expect-error: a version 7 UUID contains no data of the caller
uuid7Generator.generate(7);
// @ts-expect-error: the random bits are a bigint
uuid7.fromParts({ unixMs: made, sequence: 0, random: 0 });
const { perSecond }: { perSecond: bigint | undefined } = hotguid.describe();
console.log(perSecond);

const nodeLayout = new layout.Layout({
  id: "integer",
  bits: 64,
  fields: [
    { kind: "timestamp", bits: 42, tick: "1ms", epoch_ms: 0 },
    { kind: "bindable", bits: 10, name: "node", invert: true },
    { kind: "sequence", bits: 12, start: "1" },
  ],
});
assertType<Equal<typeof nodeLayout, layout.Layout<"integer", { node: number }>>>();
assertType<Equal<ReturnType<typeof nodeLayout.pack>, bigint>>();
const packedId: bigint = nodeLayout.pack({ timestamp: new Date(), sequence: 1n, bindables: { node: 1 } });
const { unixMs, timestamp: when, bindables }: layout.Parsed = nodeLayout.parse(packedId);
console.log(unixMs, when?.toISOString(), bindables.node);
const bytesLayout = new layout.Layout({ id: "bytes", bits: 8, fields: [{ kind: "unused", bits: 8 }] });
assertType<Equal<ReturnType<typeof bytesLayout.pack>, Uint8Array>>();
const description: layout.LayoutDescription = JSON.parse(nodeLayout.toJson());
assertType<Equal<ReturnType<layout.Layout["pack"]>, bigint | Uint8Array>>();
const anyLayout: layout.Layout = new layout.Layout(description);
const sonyflakeGenerator = new layout.Generator(layout.Layout.preset("sonyflake", { machine: 1 }), {
  sequenceOnly: false,
});
assertType<Equal<ReturnType<typeof sonyflakeGenerator.generate>, bigint>>();
assertType<Equal<ReturnType<typeof sonyflakeGenerator.generateMany>, layout.LayoutArray<"integer">>>();
assertType<Equal<typeof sonyflakeGenerator.layout, layout.Layout<"integer", Record<never, never>>>>();
const packedIds: BigInt64Array = sonyflakeGenerator.generateMany(3).packed;
new layout.LayoutArray(packedIds);
new layout.LayoutArray(new Uint8Array(8), 4);
layout.Generator.restore(sonyflakeGenerator.layout, sonyflakeGenerator.close(), { window: [0, 1] });
console.log(
  anyLayout.timeRange(0, 1).lowest,
  new layout.Generator(anyLayout, { bindables: { a: "b" } }).stats().len + 1n,
);

const columns: layout.ParsedColumns = nodeLayout.parseColumns(
  nodeLayout.packColumns({ sequence: new Float64Array(2), bindables: { node: 1 } }).packed,
);
assertType<Equal<typeof columns.sequence, layout.Column | undefined>>();
assertType<Equal<typeof columns.unixMs, BigInt64Array | undefined>>();
const bytesArray: layout.LayoutArray<"bytes"> = bytesLayout.packColumns({
  constants: { c: columns.unixMs!, d: "text" },
});
bytesLayout.parseColumns(bytesArray.packed);
assertType<Equal<ReturnType<typeof sno.SnoArray.from>, sno.SnoArray>>();
assertType<Equal<ReturnType<typeof randflake.RandflakeArray.from>, randflake.RandflakeArray>>();
assertType<Equal<ReturnType<hotguid.HotGuidArray["texts"]>, HotGuidId[]>>();
assertType<Equal<ReturnType<sno.SnoArray["texts"]>, SnoId[]>>();
sno.SnoArray.from(["", ""] as const);
assertType<Equal<ReturnType<typeof layout.LayoutArray.from>, layout.LayoutArray<"bytes">>>();
const integerArray: layout.LayoutArray<"integer"> = layout.LayoutArray.from([1n, "2"]);
randflake.RandflakeArray.from([...integerArray, "0"]);

const snapshot: sno.Snapshot = JSON.parse("{}");
sno.Generator.restore(snapshot, { clock: Date.now }).generateAt(new Date(), 3);
sno.Generator.importOriginal(snapshot).extendWindow(3);
const texts: string[] = [...snoGenerator.generateMany(3)];
sno.fromParts(sno.parse(texts[0]!));
const bytes: Uint8Array = sno.toBytes(sno.fromBytes(snoGenerator.generateMany(1).bytes));
const uuid: string = sno.toUuid(sno.fromUuid(""));

const value: unknown = uuid;
if (sno.isValid(value)) assertType<Equal<typeof value, SnoId>>();
if (decode.isValid(value)) decode.metabyte(value);

try {
  snoGenerator.generate(bytes.length);
} catch (error) {
  if (!(error instanceof PolyflakeError)) throw error;
  assertType<Equal<typeof error.code, ErrorCode>>();
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
snoGenerator.handle;
// @ts-expect-error: a 64-bit ID is a bigint
randflakeGenerator.inspect(1);
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
nodeLayout.parse(1);
// @ts-expect-error: nor is it bytes
nodeLayout.parse(new Uint8Array(8));
// @ts-expect-error: a column is a typed array
nodeLayout.packColumns({ sequence: [1, 2] });
// @ts-expect-error: nor are this layout's packed IDs bytes
nodeLayout.parseColumns(new Uint8Array(8));
// @ts-expect-error: strings of different lengths cannot be packed
randflake.RandflakeArray.from("0123");
// @ts-expect-error: there is no such preset
layout.Layout.preset("snowflake");
// @ts-expect-error: no such kind of field
new layout.Layout({ id: "integer", bits: 64, fields: [{ kind: "node", bits: 64 }] });
// @ts-expect-error: a value is an integer, bytes or text
nodeLayout.pack({ bindables: { node: true } });
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
assertType<Equal<typeof record, User | { kind: "order"; total: number }>>();
assertType<Equal<ReturnType<typeof records.decode>, typeof record>>();
switch (record.kind) {
  case "user":
    assertType<Equal<typeof record, User>>();
    break;
  case "order":
    assertType<Equal<typeof record.total, number>>();
}
records.stringify(record);
assertType<Equal<ReturnType<typeof records.parseMany>, (typeof record)[]>>();
const revivedUsers: User[] = records.revive<User[]>([]);
assertType<Equal<ReturnType<typeof records.revive>, unknown>>();
// Members without a declared type are `unknown`, so spreading them does not change the type of `kind`.
const untypedRecords = byMetabyte({ 24: User, 25: (members) => ({ kind: "order" as const, ...members }) });
const untypedRecord = untypedRecords.parse("");
assertType<Equal<typeof untypedRecord.kind, "user" | "order">>();
byMetabyte({
  25: (members) => {
    assertType<Equal<typeof members, Record<string, unknown>>>();
    return members.total;
  },
});
interface Members {
  id: string;
  total: number;
}
const byInterface = byMetabyte({ 2: ({ total }: Members) => ({ kind: "order" as const, total }) });
assertType<Equal<ReturnType<typeof byInterface.parse>, { kind: "order"; total: number }>>();
console.log(revivedUsers);
// @ts-expect-error: not one of the records
records.stringify({ kind: "other" });
// @ts-expect-error: not a function or class
byMetabyte({ 1: "user" });
JSON.parse("", records.reviver);
const wideJson = withBigints(["id"] as const, { numbers: true });
assertType<Equal<ReturnType<typeof wideJson.parse>, unknown>>();
const json: string = wideJson.stringify({ id: 1n }, 2) + JSON.stringify({ id: 1n }, wideJson.replacer);
JSON.parse(json, wideJson.reviver);
// @ts-expect-error: the names must be a list
withBigints("id");
// @ts-expect-error: no such option
withBigints([], { texts: true });
sno.setDefaultGenerator(undefined);
sno.setDefaultGenerator(snoGenerator);
// @ts-expect-error: a generator of a different format
sno.setDefaultGenerator(new hotguid.Generator());

const keyring = new Keyring({ 1: new Uint8Array(32), 2: new Uint8Array(32) });
const orderType = keyring.of("order");
const wideType = keyring.of("post", { bits: 63 });
assertType<Equal<typeof orderType, IdType<number, "order">>>();
assertType<Equal<ReturnType<typeof orderType.decode>, number>>();
assertType<Equal<ReturnType<typeof orderType.decodeMany>, number[]>>();
assertType<Equal<ReturnType<typeof orderType.encode>, PublicId<"order">>>();
assertType<Equal<ReturnType<typeof wideType.decode>, bigint>>();
const bits: number = 40;
const unknownWidthType = keyring.of("a", { bits });
assertType<Equal<ReturnType<typeof unknownWidthType.decode>, number | bigint>>();
assertType<Equal<ReturnType<ReturnType<typeof keyring.of<"a", 40>>["decode"]>, number>>();
const anyType: IdType = orderType;
const orderText: string = orderType.encode(1n) + anyType.encodeMany([1, 2n])[0];
assertType<Equal<typeof orderText, string>>();
// @ts-expect-error: a string of a different type
orderType.encode(1) satisfies PublicId<"invoice">;
// @ts-expect-error: no such option
keyring.of("order", { bit: 48 });
// @ts-expect-error: a string is not a number
orderType.encode("1");

assertType<Equal<ReturnType<typeof besideScript.init>, Promise<void>>>();
assertType<Equal<Parameters<typeof besideScript.init>[0], Source | undefined>>();
assertType<Equal<typeof besideScript.generate, typeof forcedWasm.generate>>();
// @ts-expect-error: a number is not a module
besideScript.init(1);
await snoAlone.init(address);
