// The package's types, as a user's compiler sees them.
import { backend, type ErrorCode, layout, PolyflakeError, type RandflakeId, type SnoId, sno } from "polyflake";
import { isValid, metabyte } from "polyflake/decode";
import { snoBytes } from "polyflake/forms";
import { withBigints } from "polyflake/json";
import * as native from "polyflake/native";
import { sno as schema } from "polyflake/schema";
import * as wasm from "polyflake/wasm";

const id: string = sno.generate(7);
const kind: number = metabyte(id);
const timestamp: Date = sno.parse(id).timestamp;

const ids: sno.SnoArray = new sno.Generator({ partition: 3, metabyte: kind }).generateMany(10);
const texts: string[] = ids.texts();
const packed: Uint8Array = ids.bytes;

const value: unknown = JSON.parse('"a7rdmuv326nct5if"');
export const text: string = isValid(value) ? value : (texts[0] ?? "");

export const user: SnoId<7> = sno.generate(7);
export const narrowedId: SnoId | undefined = isValid(value) ? value : undefined;
layout.Layout.preset("sonyflake").pack({ bindables: { machine: 7 } });
const customLayout = new layout.Layout({
  id: "integer",
  bits: 64,
  fields: [{ kind: "bindable", bits: 64, name: "node" }],
});
const node: bigint = customLayout.parse(customLayout.pack({ bindables: { node: 7 } })).bindables.node;
export const invoice: RandflakeId = native.randflake.decodeText("1");
export const issue: string | undefined = schema["~standard"].validate(text).issues?.[0]?.code;

export function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof PolyflakeError ? error.code : undefined;
}

// @ts-expect-error: a metabyte is a number
sno.generate("7");
// @ts-expect-error: a string is not an ID
export const wrongId: SnoId = text;
// @ts-expect-error: a layout has no such bindable
customLayout.pack({ bindables: { worker: 7 } });
// @ts-expect-error: a preset has no such bindable
layout.Layout.preset("sonyflake").pack({ bindables: { worker: 7 } });
// @ts-expect-error: the options have no such member
new sno.Generator({ partitions: 3 });

export const backends: ("native" | "wasm")[] = [backend(), native.backend(), wasm.backend()];
export const parsedMetabyte: number = wasm.sno.parse(native.sno.generate(1)).metabyte;
export const allValues = { timestamp, packed, node, read: withBigints(["id"]).parse('{"id": "7"}') };
export const bytes: Uint8Array = snoBytes.to(sno.generate(1));
