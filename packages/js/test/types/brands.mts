// Checks the types of IDs, which are strings and bigints that only the package's functions return.
import { type HotGuidId, hotguid, type RandflakeId, type RandflakeText, randflake, type SnoId, sno } from "polyflake";
import * as decode from "polyflake/decode";
import { commonSno } from "./brands.cjs";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assertType = <T extends true>(_?: T): void => undefined;

// An ID is a string, and each function accepts strings.
const text: string = sno.generate();
const integer: bigint = randflake.decodeText("1");
decode.metabyte(text);
sno.parse("a7rdmuv326nct5if");
hotguid.shardKey(text);
randflake.encodeText(integer + 1n);
const byId: Record<SnoId, number> = { [sno.generate()]: 1 };
byId[sno.generate()] = 2;

// `decode` and `polyflake` have the same types, and so do ES modules and CommonJS modules.
assertType<Equal<decode.SnoId, SnoId>>();
assertType<Equal<decode.HotGuidId, HotGuidId>>();
assertType<Equal<decode.RandflakeId | decode.RandflakeText, RandflakeId | RandflakeText>>();
assertType<Equal<ReturnType<typeof decode.fromUuid8>, SnoId>>();
assertType<Equal<ReturnType<typeof decode.hotguid.parse>, HotGuidId>>();
assertType<Equal<ReturnType<typeof decode.randflake.decodeText>, RandflakeId>>();
assertType<Equal<ReturnType<typeof decode.randflake.encodeText>, RandflakeText>>();
export const commonJsId: SnoId = commonSno;

// A successful check narrows a string to an ID. Otherwise, the type remains `string`.
export function narrowToId(from: string): SnoId | "none" {
  if (decode.isValid(from)) return from;
  assertType<Equal<typeof from, string>>();
  return "none";
}
const value: unknown = text;
if (hotguid.isValid(value)) assertType<Equal<typeof value, HotGuidId>>();
const ids: SnoId[] = [text, "a7rdmuv326nct5if"].filter(sno.isValid);

// Arrays and time ranges contain values of the ID types, whereas conversions to other forms return plain strings.
assertType<Equal<ReturnType<sno.SnoArray["at"]>, SnoId | undefined>>();
assertType<Equal<ReturnType<randflake.RandflakeArray["texts"]>, RandflakeText[]>>();
assertType<Equal<ReturnType<randflake.RandflakeArray["at"]>, RandflakeId | undefined>>();
const flakes: RandflakeId[] = [...new randflake.RandflakeArray(BigInt64Array.of(1n))];
const guids: HotGuidId[] = hotguid.HotGuidArray.from("").toJSON();
const { lowest }: { lowest: SnoId } = sno.timeRange(0, 1);
const range: { highest: HotGuidId } = hotguid.timeRange(0, 1, {});
const sqlRange: { highest: string } = hotguid.timeRange(0, 1, { sql: true });
assertType<Equal<ReturnType<typeof hotguid.toSql>, string>>();
assertType<Equal<ReturnType<typeof sno.toUuid8>, string>>();
console.log(ids, flakes, guids, lowest, range, sqlRange);

// The type of an ID can include the ID's metabyte.
type UserId = SnoId<24>;
const orderGenerator = new sno.Generator();
const userId: UserId = sno.generate(24);
const asyncUserId: UserId = await orderGenerator.generateAsync(24);
const userIds: UserId[] = [
  orderGenerator.generate(24),
  orderGenerator.tryGenerate(24),
  orderGenerator.generateAt(0, 24),
  sno.withMetabyte(userId, 24),
];
const anyId: SnoId = userId;
const eitherId: SnoId<24 | 25> = userId;
const loadUser = (id: UserId) => id;
const inferredId = sno.generate(24);
assertType<Equal<typeof inferredId, UserId>>();
loadUser(inferredId);
const defaultMetabyteId = sno.generate();
assertType<Equal<typeof defaultMetabyteId, SnoId<0>>>();
const plainId = sno.generate(Number(text));
assertType<Equal<typeof plainId, SnoId>>();
const optionalMetabyteId = sno.generate(text ? 24 : undefined);
assertType<Equal<typeof optionalMetabyteId, SnoId>>();
const userGenerator = new sno.Generator({ metabyte: 24, partition: 7 });
const generatedUserIds: UserId[] = [
  userGenerator.generate(),
  await userGenerator.generateAsync(),
  userGenerator.tryGenerate(),
  userGenerator.generateAt(0),
];
const anyUserGenerator: sno.Generator = userGenerator;
if (sno.hasMetabyte(value, 24)) loadUser(value);
if (decode.hasMetabyte(plainId, 24)) loadUser(plainId);
console.log(asyncUserId, userIds, anyId, eitherId, generatedUserIds, anyUserGenerator);

// @ts-expect-error: a string is not an ID
export const noId: SnoId = "a7rdmuv326nct5if";
// @ts-expect-error: an ID of a different format
export const noSno: SnoId = hotguid.generate();
// @ts-expect-error: an integer is not an ID
export const noFlake: RandflakeId = 1n;
// @ts-expect-error: a string is not an integer
export const noInteger: RandflakeId = randflake.encodeText(1n);
// @ts-expect-error: an ID with a different metabyte
export const orderId: SnoId<25> = userId;
// @ts-expect-error: a different metabyte
export const otherUserId: UserId = sno.generate(25);
// @ts-expect-error: an ID with metabyte 0
export const zeroMetabyteId: UserId = sno.generate();
// @ts-expect-error: an ID with the generator's metabyte
export const generatorMismatch: SnoId<25> = userGenerator.generate();
// @ts-expect-error: an ID with the argument's metabyte
export const argumentMismatch: UserId = userGenerator.generate(25);
// @ts-expect-error: the type does not know the generator's metabyte
export const anyGeneratorMismatch: UserId = orderGenerator.generate();
// @ts-expect-error: an ID with any metabyte
export const unknownMetabyteId: UserId = plainId;
// @ts-expect-error: SQL Server's form is not an ID
export const sqlForm: HotGuidId = hotguid.timeRange(0, 1, { sql: true }).lowest;
// @ts-expect-error: the brand exists only in types, and code cannot write its name
export const brand = userId.sno;
