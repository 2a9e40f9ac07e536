// ID types: strings and bigints that only the package's functions return.
import { type HotGuidId, hotguid, type RandflakeId, type RandflakeText, randflake, type SnoId, sno } from "polyflake";
import * as decode from "polyflake/decode";
import { commonSno } from "./brands.cjs";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(_?: T): void => undefined;

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
is<Equal<decode.SnoId, SnoId>>();
is<Equal<decode.HotGuidId, HotGuidId>>();
is<Equal<decode.RandflakeId | decode.RandflakeText, RandflakeId | RandflakeText>>();
is<Equal<ReturnType<typeof decode.fromUuid8>, SnoId>>();
is<Equal<ReturnType<typeof decode.hotguid.parse>, HotGuidId>>();
is<Equal<ReturnType<typeof decode.randflake.decodeText>, RandflakeId>>();
is<Equal<ReturnType<typeof decode.randflake.encodeText>, RandflakeText>>();
export const common: SnoId = commonSno;

// A successful check narrows a string to an ID. Otherwise, the type remains `string`.
export function named(from: string): SnoId | "none" {
  if (decode.isValid(from)) return from;
  is<Equal<typeof from, string>>();
  return "none";
}
const value: unknown = text;
if (hotguid.isValid(value)) is<Equal<typeof value, HotGuidId>>();
const ids: SnoId[] = [text, "a7rdmuv326nct5if"].filter(sno.isValid);

// Lists, ranges and conversions.
is<Equal<ReturnType<sno.SnoArray["at"]>, SnoId | undefined>>();
is<Equal<ReturnType<randflake.RandflakeArray["texts"]>, RandflakeText[]>>();
is<Equal<ReturnType<randflake.RandflakeArray["at"]>, RandflakeId | undefined>>();
const flakes: RandflakeId[] = [...new randflake.RandflakeArray(BigInt64Array.of(1n))];
const guids: HotGuidId[] = hotguid.HotGuidArray.from("").toJSON();
const { lowest }: { lowest: SnoId } = sno.timeRange(0, 1);
const range: { highest: HotGuidId } = hotguid.timeRange(0, 1, {});
const inSql: { highest: string } = hotguid.timeRange(0, 1, { sql: true });
is<Equal<ReturnType<typeof hotguid.toSql>, string>>();
is<Equal<ReturnType<typeof sno.toUuid8>, string>>();
console.log(ids, flakes, guids, lowest, range, inSql);

// The type of an ID can include the ID's metabyte.
type UserId = SnoId<24>;
const orders = new sno.Generator();
const user: UserId = sno.generate(24);
const later: UserId = await orders.generateAsync(24);
const ids2: UserId[] = [
  orders.generate(24),
  orders.tryGenerate(24),
  orders.generateAt(0, 24),
  sno.withMetabyte(user, 24),
];
const any: SnoId = user;
const either: SnoId<24 | 25> = user;
const loadUser = (id: UserId) => id;
const inferred = sno.generate(24);
is<Equal<typeof inferred, UserId>>();
loadUser(inferred);
const untyped = sno.generate();
is<Equal<typeof untyped, SnoId<0>>>();
const plain = sno.generate(Number(text));
is<Equal<typeof plain, SnoId>>();
const perhaps = sno.generate(text ? 24 : undefined);
is<Equal<typeof perhaps, SnoId>>();
const users = new sno.Generator({ metabyte: 24, partition: 7 });
const made: UserId[] = [users.generate(), await users.generateAsync(), users.tryGenerate(), users.generateAt(0)];
const anyUsers: sno.Generator = users;
if (sno.hasMetabyte(value, 24)) loadUser(value);
if (decode.hasMetabyte(plain, 24)) loadUser(plain);
console.log(later, ids2, any, either, made, anyUsers);

// @ts-expect-error: a string is not an ID
export const noId: SnoId = "a7rdmuv326nct5if";
// @ts-expect-error: an ID of a different format
export const noSno: SnoId = hotguid.generate();
// @ts-expect-error: an integer is not an ID
export const noFlake: RandflakeId = 1n;
// @ts-expect-error: a string is not an integer
export const noInteger: RandflakeId = randflake.encodeText(1n);
// @ts-expect-error: an ID with a different metabyte
export const order: SnoId<25> = user;
// @ts-expect-error: a different metabyte
export const other: UserId = sno.generate(25);
// @ts-expect-error: an ID with metabyte 0
export const zero: UserId = sno.generate();
// @ts-expect-error: an ID with the generator's metabyte
export const ofGenerator: SnoId<25> = users.generate();
// @ts-expect-error: an ID with the argument's metabyte
export const ofArgument: UserId = users.generate(25);
// @ts-expect-error: the type does not know the generator's metabyte
export const ofAny: UserId = orders.generate();
// @ts-expect-error: an ID with any metabyte
export const unknown: UserId = plain;
// @ts-expect-error: SQL Server's form is not an ID
export const sqlForm: HotGuidId = hotguid.timeRange(0, 1, { sql: true }).lowest;
// @ts-expect-error: the mark exists only in types, and code cannot write its name
export const mark = user.sno;
