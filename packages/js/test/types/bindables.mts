// Checks the types of layout bindables, both for names that the compiler infers and for arbitrary names.
import { layout } from "polyflake";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(_?: T): void => undefined;
const { Generator, Layout } = layout;

// The bindables of a preset are inferred from its name.
const discord = Layout.preset("discord");
is<Equal<typeof discord, layout.Layout<"integer", { worker: number; process: number }>>>();
discord.pack({ bindables: { worker: 1, process: 2n } });
const { worker }: { worker: number } = discord.parse(1n).bindables;
const workers: Float64Array = discord.parseColumns(BigInt64Array.of(1n)).bindables.worker;
discord.packColumns({ timestamp: 0, bindables: { worker: new Float64Array(2), process: 2 } });
discord.timeRange(0, 1, { worker: 1 });
is<Equal<ReturnType<typeof discord.parsedFromJson>["bindables"], { worker: number; process: number }>>();
// @ts-expect-error: the bindables are missing
discord.pack();
// @ts-expect-error: a bindable is missing
discord.pack({ bindables: { worker: 1 } });
// @ts-expect-error: no such bindable
discord.pack({ bindables: { worker: 1, process: 2, machine: 3 } });
// @ts-expect-error: no such bindable
console.log(worker, workers, discord.parse(1n).bindables.machine);
// @ts-expect-error: a bindable is missing
discord.packColumns({ timestamp: new BigInt64Array(2), bindables: { worker: 1 } });
// @ts-expect-error: no such bindable
discord.timeRange(0, 1, { machine: 1 });

// A fixed bindable is not passed for each ID.
const ofWorker = Layout.preset("discord", { worker: 1 });
is<Equal<typeof ofWorker, layout.Layout<"integer", { process: number }>>>();
// @ts-expect-error: no such bindable
Layout.preset("discord", { machine: 1 });
// @ts-expect-error: only one of them exists
Layout.preset("discord", { worker: 1, machine: 1 });
// @ts-expect-error: the value must be an integer
Layout.preset("discord", { worker: "1" });
const ids = new Generator(discord, { bindables: { worker: 1 }, maxWait: 1 });
ids.generate({ process: 2 });
ids.generateMany(3, { process: 2n });
await ids.generateAsync({ process: 2 }, { signal: abortSignal });
await ids.generateManyAsync(3, { process: 2 });
ids.tryGenerate({ process: 2 });
const read: number = ids.layout.parse(ids.generate({ process: 2 })).bindables.worker;
const restored: typeof ids = Generator.restore(discord, ids.close(), { bindables: { worker: read } });
// @ts-expect-error: a bindable is missing
restored.generate();
// @ts-expect-error: a bindable is missing
ids.generateMany(3);
// @ts-expect-error: a fixed bindable cannot be passed again
ids.generate({ worker: 1, process: 2 });
// @ts-expect-error: a bindable is missing
ids.tryGenerateMany(3, {});
// @ts-expect-error: a bindable is missing
await ids.generateAsync();
// @ts-expect-error: no such bindable
new Generator(discord, { bindables: { machine: 1 } });
// @ts-expect-error: only one of them exists
new Generator(discord, { bindables: { worker: 1, machine: 1 } });
// @ts-expect-error: a bindable is missing
new Generator(discord).generate({ worker: 1 });

// Fixed bindables are not passed for each ID.
const fixed = new Generator(discord, { bindables: { worker: 1, process: 2 } });
new Generator(discord, { bindables: { process: 2 }, range: ["worker", 0, 7] }).generate();
new Generator(discord, { range: ["worker", 0n, 7n] }).generate({ process: 2 });
// @ts-expect-error: the other bindable is missing
new Generator(discord, { range: ["worker", 0, 7] }).generate();
// @ts-expect-error: no such bindable
new Generator(discord, { range: ["machine", 0, 7] });
fixed.generate();
fixed.generate({});
// @ts-expect-error: a fixed bindable cannot be passed again
fixed.generate({ worker: 1 });
// @ts-expect-error: a fixed bindable cannot be passed again
await fixed.generateAsync({ worker: 1 });
const looseGenerator: layout.Generator<"integer"> = fixed;
console.log(looseGenerator.generate());
// @ts-expect-error: the generator needs a bindable for each ID
export const incomplete: layout.Generator = ids;

// The bindables of a layout are inferred from its description if the description is a literal in code.
const own = new Layout({
  id: "bytes",
  bits: 256,
  fields: [
    { kind: "timestamp", bits: 48, tick: "1ms", epoch_ms: 0 },
    { kind: "constant", bits: 8, name: "region", value: 7 },
    { kind: "bindable", bits: 53, name: "number" },
    { kind: "bindable", bits: 54, name: "bigint", type: "integer" },
    { kind: "bindable", bits: 16, name: "bytes", type: "bytes" },
    { kind: "bindable", bits: 16, name: "text", type: "text", invert: true },
    { kind: "sequence", bits: 61, start: 1 },
  ],
});
type Own = { number: number; bigint: bigint; bytes: Uint8Array; text: string };
is<Equal<typeof own, layout.Layout<"bytes", Own>>>();
own.pack({ bindables: { number: 1n, bigint: 1, bytes: new Uint8Array(2), text: "ab" } });
is<Equal<ReturnType<typeof own.parse>["bindables"], Own>>();
is<
  Equal<ReturnType<typeof own.parseColumns>["bindables"], { number: Float64Array; bigint: BigInt64Array | undefined }>
>();
// @ts-expect-error: a string is not bytes
own.pack({ bindables: { number: 1n, bigint: 1, bytes: "ab", text: "ab" } });
const none = new Layout({ id: "integer", bits: 64, fields: [{ kind: "unused", bits: 64 }] });
none.pack();
// @ts-expect-error: no such bindable
none.pack({ bindables: { node: 1 } });
// @ts-expect-error: no such bindable
none.timeRange(0, 1, { node: 1 });
// @ts-expect-error: no such bindable
none.packColumns({ sequence: new Float64Array(1), bindables: { node: 1 } });
// @ts-expect-error: no such bindable
new Generator(none, { bindables: { node: 1 } });
const written = { id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, name: "all" }] } as const;
is<Equal<typeof written.id, layout.LayoutDescription["id"] & "integer">>();
new Layout(written).pack({ bindables: { all: 1n } });
// @ts-expect-error: a misspelled member
new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, nmae: "all" }] });
// @ts-expect-error: no such type
new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, type: "float" }] });
// @ts-expect-error: no such member
new Layout({ id: "integer", bits: 64, fields: [], name: "own" });

// Layouts from JSON accept any bindables, and so do layouts whose fields or field names are not known at compile time.
const description: layout.LayoutDescription = JSON.parse("{}");
const fields: layout.Field[] = [];
const name: string = "node";
for (const loose of [
  Layout.fromJson(""),
  new Layout(description),
  new Layout({ id: "integer", bits: 64, fields }),
  new Layout({ id: "integer", bits: 64, fields: [...fields, { kind: "bindable", bits: 8, name: "node" }] }),
  new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, name }] }),
  new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64 }] }),
  Layout.preset(JSON.parse("") as layout.PresetName),
] as layout.Layout[]) {
  loose.pack();
  loose.pack({ bindables: { any: "text", of: 1, them: 2n } });
  new Generator(loose).generate();
  new Generator(loose, { bindables: { any: 1 } }).generate({ other: 1 });
  is<Equal<typeof loose, layout.Layout>>();
}
is<Equal<ReturnType<typeof Layout.fromJson>, layout.Layout>>();
const unnamed = new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64 }] });
is<Equal<typeof unnamed, layout.Layout<"integer">>>();
const byName = new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, name }] });
is<Equal<typeof byName, layout.Layout<"integer">>>();
const spread = new Layout({
  id: "integer",
  bits: 64,
  fields: [...fields, { kind: "bindable", bits: 8, name: "node" }],
});
is<Equal<typeof spread, layout.Layout<"integer">>>();

// A function that accepts any layout accepts each of the layouts above. A class can extend Layout.
const bitsOf = (its: layout.Layout): number => its.bits;
const idsOf = (its: layout.Layout<"integer">): bigint => its.parse(1n).unixMs ?? 0n;
console.log(bitsOf(discord), bitsOf(own), idsOf(ofWorker), bitsOf(none));
class Snowflakes extends Layout<"integer"> {
  constructor() {
    super(written);
  }
}
console.log(new Snowflakes().pack({ bindables: { all: 1 } }), new Snowflakes() instanceof Layout);
// @ts-expect-error: the function is for integer IDs
idsOf(own);
