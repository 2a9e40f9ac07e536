// Checks the types of schemas: the types in the specification, and the types that libraries infer from schemas.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { initTRPC } from "@trpc/server";
import { type } from "arktype";
import { layout, type RandflakeId, type SnoId } from "polyflake";
import { isValid } from "polyflake/decode";
import { hotguid, randflake, type Schema, sno } from "polyflake/schema";
import * as v from "valibot";
import { z } from "zod";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assertType = <T extends true>(_?: T): void => undefined;

export const allSchemas: (StandardSchemaV1 & StandardJSONSchemaV1)[] = [sno, randflake, hotguid, sno.ofMetabyte(1)];
const userId = sno.ofMetabyte(24, 25);
assertType<Equal<StandardSchemaV1.InferInput<typeof userId>, string>>();
assertType<Equal<StandardSchemaV1.InferOutput<typeof userId>, SnoId<24 | 25>>>();
assertType<Equal<StandardSchemaV1.InferOutput<typeof randflake>, RandflakeId>>();
const tweet = layout.Layout.preset("twitter").schema;
assertType<Equal<StandardSchemaV1.InferOutput<typeof tweet>, bigint>>();
export const issue: StandardSchemaV1.Issue | undefined = sno["~standard"].validate("").issues?.[0];

const Record = type({ id: sno, invoice: randflake });
assertType<Equal<typeof Record.infer, { id: SnoId; invoice: RandflakeId }>>();

const t = initTRPC.create();
export const router = t.router({
  user: t.procedure.input(userId).query(({ input }) => {
    assertType<Equal<typeof input, SnoId<24 | 25>>>();
    return input;
  }),
});

function zodOf<Id extends string>({ "~standard": schema }: Schema<string, Id>): z.ZodType<Id, string> {
  const text = z.string().check(({ value, issues }) => {
    for (const { message, ...params } of schema.validate(value).issues ?? [])
      issues.push({ code: "custom", input: value, message, params });
  });
  return text.meta(schema.jsonSchema.input({ target: "draft-2020-12" })) as unknown as z.ZodType<Id, string>;
}
const zodObject = z.object({ id: zodOf(userId) });
assertType<Equal<z.infer<typeof zodObject>, { id: SnoId<24 | 25> }>>();

const zodSchema = z.object({ id: z.custom<SnoId>(isValid) });
const valibotSchema = v.object({ id: v.custom<SnoId>(isValid) });
assertType<Equal<z.infer<typeof zodSchema>, { id: SnoId }>>();
assertType<Equal<v.InferOutput<typeof valibotSchema>, { id: SnoId }>>();
