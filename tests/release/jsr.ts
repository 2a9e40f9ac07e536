// A user's program that uses the JSR package.
import { metabyte } from "@polyflake/polyflake/decode";
import { withBigints } from "@polyflake/polyflake/json";

const foundMetabyte = metabyte("9afikjv326nct5if");
if (foundMetabyte !== 1) throw new Error(`expected metabyte 1, found ${foundMetabyte}`);
const { id } = withBigints(["id"]).parse('{"id":9223372036854775807}') as { id: bigint };
if (id !== 9223372036854775807n) throw new Error(`expected all digits, found ${id}`);
console.log("ok");
