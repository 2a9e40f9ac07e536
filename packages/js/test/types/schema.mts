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
const assertType = <T extends true>(_?: T): void => undefined;
type TypesOf<S extends schema.Schema<unknown>> = NonNullable<S["~standard"]["types"]>;

assertType<Equal<TypesOf<typeof schema.sno>, { readonly input: string; readonly output: SnoId }>>();
assertType<
  Equal<TypesOf<typeof schema.randflake>, { readonly input: string | bigint; readonly output: RandflakeId }>
>();
assertType<Equal<TypesOf<typeof schema.hotguid>, { readonly input: string; readonly output: HotGuidId }>>();
assertType<Equal<typeof sno.schema, typeof schema.sno>>();
assertType<Equal<typeof randflake.schema, typeof schema.randflake>>();
assertType<Equal<typeof hotguid.schema, typeof schema.hotguid>>();

const userSchema = schema.sno.ofMetabyte(24, 25);
assertType<Equal<TypesOf<typeof userSchema>["output"], SnoId<24 | 25>>>();
const result = userSchema["~standard"].validate("");
if (result.issues === undefined) assertType<Equal<typeof result.value, SnoId<24 | 25>>>();
else {
  const [first] = result.issues;
  const code: schema.ErrorCode | undefined = first?.code;
  const position: number | undefined = first?.position;
  console.log(code, position, first?.message);
}

const discord = layout.Layout.preset("discord");
assertType<Equal<TypesOf<(typeof discord)["schema"]>, { readonly input: string | bigint; readonly output: bigint }>>();
const bytesLayout = new layout.Layout({ id: "bytes", bits: 8, fields: [{ kind: "unused", bits: 8 }] });
assertType<Equal<TypesOf<(typeof bytesLayout)["schema"]>["output"], Uint8Array>>();

// @ts-expect-error: a metabyte is a number
schema.sno.ofMetabyte("24");
// @ts-expect-error: other formats have no metabytes
schema.hotguid.ofMetabyte(24);
