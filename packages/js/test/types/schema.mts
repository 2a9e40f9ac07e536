// Checks the input and output types of schemas.
import {
  type HotGuidId,
  type hotguid,
  layout,
  type RandflakeId,
  type randflake,
  type SnoId,
  type sno,
} from "polyflake";
import * as schema from "polyflake/schema";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(_?: T): void => undefined;
type Of<S extends schema.Schema<unknown>> = NonNullable<S["~standard"]["types"]>;

is<Equal<Of<typeof schema.sno>, { readonly input: string; readonly output: SnoId }>>();
is<Equal<Of<typeof schema.randflake>, { readonly input: string | bigint; readonly output: RandflakeId }>>();
is<Equal<Of<typeof schema.hotguid>, { readonly input: string; readonly output: HotGuidId }>>();
is<Equal<typeof sno.schema, typeof schema.sno>>();
is<Equal<typeof randflake.schema, typeof schema.randflake>>();
is<Equal<typeof hotguid.schema, typeof schema.hotguid>>();

const user = schema.sno.ofMetabyte(24, 25);
is<Equal<Of<typeof user>["output"], SnoId<24 | 25>>>();
const result = user["~standard"].validate("");
if (result.issues === undefined) is<Equal<typeof result.value, SnoId<24 | 25>>>();
else {
  const [first] = result.issues;
  const code: schema.ErrorCode | undefined = first?.code;
  const position: number | undefined = first?.position;
  console.log(code, position, first?.message);
}

const discord = layout.Layout.preset("discord");
is<Equal<Of<(typeof discord)["schema"]>, { readonly input: string | bigint; readonly output: bigint }>>();
const ofBytes = new layout.Layout({ id: "bytes", bits: 8, fields: [{ kind: "unused", bits: 8 }] });
is<Equal<Of<(typeof ofBytes)["schema"]>["output"], Uint8Array>>();

// @ts-expect-error: a metabyte is a number
schema.sno.ofMetabyte("24");
// @ts-expect-error: other formats have no metabytes
schema.hotguid.ofMetabyte(24);
