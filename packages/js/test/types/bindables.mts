// Checks the types of layout bindables, both for names that the compiler infers and for arbitrary names.
import { layout } from "polyflake";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assertType = <T extends true>(_?: T): void => undefined;
const { Generator, Layout } = layout;

// The bindables of a preset are inferred from its name.
const discord = Layout.preset("discord");
assertType<Equal<typeof discord, layout.Layout<"integer", { worker: number; process: number }>>>();
discord.pack({ bindables: { worker: 1, process: 2n } });
const { worker }: { worker: number } = discord.parse(1n).bindables;
const workers: Float64Array = discord.parseColumns(BigInt64Array.of(1n)).bindables.worker;
discord.packColumns({ timestamp: 0, bindables: { worker: new Float64Array(2), process: 2 } });
discord.timeRange(0, 1, { worker: 1 });
assertType<Equal<ReturnType<typeof discord.parsedFromJson>["bindables"], { worker: number; process: number }>>();
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

// If a bindable has a fixed value in the layout or in the generator, calls that generate an ID do not accept it.
const workerLayout = Layout.preset("discord", { worker: 1 });
assertType<Equal<typeof workerLayout, layout.Layout<"integer", { process: number }>>>();
// @ts-expect-error: no such bindable
Layout.preset("discord", { machine: 1 });
// @ts-expect-error: only one of them exists
Layout.preset("discord", { worker: 1, machine: 1 });
// @ts-expect-error: the value must be an integer
Layout.preset("discord", { worker: "1" });
const workerGenerator = new Generator(discord, { bindables: { worker: 1 }, maxWait: 1 });
workerGenerator.generate({ process: 2 });
workerGenerator.generateMany(3, { process: 2n });
await workerGenerator.generateAsync({ process: 2 }, { signal: abortSignal });
await workerGenerator.generateManyAsync(3, { process: 2 });
workerGenerator.tryGenerate({ process: 2 });
const workerId: number = workerGenerator.layout.parse(workerGenerator.generate({ process: 2 })).bindables.worker;
const restoredGenerator: typeof workerGenerator = Generator.restore(discord, workerGenerator.close(), {
  bindables: { worker: workerId },
});
// @ts-expect-error: a bindable is missing
restoredGenerator.generate();
// @ts-expect-error: a bindable is missing
workerGenerator.generateMany(3);
// @ts-expect-error: a fixed bindable cannot be passed again
workerGenerator.generate({ worker: 1, process: 2 });
// @ts-expect-error: a bindable is missing
workerGenerator.tryGenerateMany(3, {});
// @ts-expect-error: a bindable is missing
await workerGenerator.generateAsync();
// @ts-expect-error: no such bindable
new Generator(discord, { bindables: { machine: 1 } });
// @ts-expect-error: only one of them exists
new Generator(discord, { bindables: { worker: 1, machine: 1 } });
// @ts-expect-error: a bindable is missing
new Generator(discord).generate({ worker: 1 });

// Calls that generate an ID omit the bindables that have a fixed value or a range.
const fixedGenerator = new Generator(discord, { bindables: { worker: 1, process: 2 } });
new Generator(discord, { bindables: { process: 2 }, range: ["worker", 0, 7] }).generate();
new Generator(discord, { range: ["worker", 0n, 7n] }).generate({ process: 2 });
// @ts-expect-error: the other bindable is missing
new Generator(discord, { range: ["worker", 0, 7] }).generate();
// @ts-expect-error: no such bindable
new Generator(discord, { range: ["machine", 0, 7] });
fixedGenerator.generate();
fixedGenerator.generate({});
// @ts-expect-error: a fixed bindable cannot be passed again
fixedGenerator.generate({ worker: 1 });
// @ts-expect-error: a fixed bindable cannot be passed again
await fixedGenerator.generateAsync({ worker: 1 });
const looseGenerator: layout.Generator<"integer"> = fixedGenerator;
console.log(looseGenerator.generate());
// @ts-expect-error: the generator needs a bindable for each ID
export const incompleteGenerator: layout.Generator = workerGenerator;

// The bindables of a layout are inferred from its description if the description is a literal in code.
const ownLayout = new Layout({
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
type OwnBindables = { number: number; bigint: bigint; bytes: Uint8Array; text: string };
assertType<Equal<typeof ownLayout, layout.Layout<"bytes", OwnBindables>>>();
ownLayout.pack({ bindables: { number: 1n, bigint: 1, bytes: new Uint8Array(2), text: "ab" } });
assertType<Equal<ReturnType<typeof ownLayout.parse>["bindables"], OwnBindables>>();
assertType<
  Equal<
    ReturnType<typeof ownLayout.parseColumns>["bindables"],
    { number: Float64Array; bigint: BigInt64Array | undefined }
  >
>();
// @ts-expect-error: a string is not bytes
ownLayout.pack({ bindables: { number: 1n, bigint: 1, bytes: "ab", text: "ab" } });
const layoutWithoutBindables = new Layout({ id: "integer", bits: 64, fields: [{ kind: "unused", bits: 64 }] });
layoutWithoutBindables.pack();
// @ts-expect-error: no such bindable
layoutWithoutBindables.pack({ bindables: { node: 1 } });
// @ts-expect-error: no such bindable
layoutWithoutBindables.timeRange(0, 1, { node: 1 });
// @ts-expect-error: no such bindable
layoutWithoutBindables.packColumns({ sequence: new Float64Array(1), bindables: { node: 1 } });
// @ts-expect-error: no such bindable
new Generator(layoutWithoutBindables, { bindables: { node: 1 } });
const literalDescription = { id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, name: "all" }] } as const;
assertType<Equal<typeof literalDescription.id, layout.LayoutDescription["id"] & "integer">>();
new Layout(literalDescription).pack({ bindables: { all: 1n } });
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
  assertType<Equal<typeof loose, layout.Layout>>();
}
assertType<Equal<ReturnType<typeof Layout.fromJson>, layout.Layout>>();
const unnamedFieldLayout = new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64 }] });
assertType<Equal<typeof unnamedFieldLayout, layout.Layout<"integer">>>();
const namedFieldLayout = new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, name }] });
assertType<Equal<typeof namedFieldLayout, layout.Layout<"integer">>>();
const spreadLayout = new Layout({
  id: "integer",
  bits: 64,
  fields: [...fields, { kind: "bindable", bits: 8, name: "node" }],
});
assertType<Equal<typeof spreadLayout, layout.Layout<"integer">>>();

// A function that accepts any layout accepts each of the layouts above. A class can extend Layout.
const bitsOf = (its: layout.Layout): number => its.bits;
const unixMsOf = (its: layout.Layout<"integer">): bigint => its.parse(1n).unixMs ?? 0n;
console.log(bitsOf(discord), bitsOf(ownLayout), unixMsOf(workerLayout), bitsOf(layoutWithoutBindables));
class Snowflakes extends Layout<"integer"> {
  constructor() {
    super(literalDescription);
  }
}
console.log(new Snowflakes().pack({ bindables: { all: 1 } }), new Snowflakes() instanceof Layout);
// @ts-expect-error: the function is for integer IDs
unixMsOf(ownLayout);
