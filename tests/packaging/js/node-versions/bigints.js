// 64-bit integers in JSON. Integers written as numbers remain exact in engines that support this, and are rejected
// elsewhere. Integers written as strings always remain exact.
import { PolyflakeError, withBigints } from "polyflake/json";

const BIG_INTEGER = 4594531474933654033n;

function numbers() {
  const json = withBigints(["id"], { numbers: true });
  try {
    const { id } = json.parse(`{"id": ${BIG_INTEGER}}`);
    return id === BIG_INTEGER && json.stringify({ id }) === `{"id":${BIG_INTEGER}}` ? "numbers" : "rounded";
  } catch (error) {
    return error instanceof PolyflakeError && error.code === "invalid_type" ? "refused" : String(error);
  }
}

const stringJson = withBigints(["id"]);
const jsonString = stringJson.stringify({ id: BIG_INTEGER });
console.log(
  jsonString === `{"id":"${BIG_INTEGER}"}` && stringJson.parse(jsonString).id === BIG_INTEGER
    ? numbers()
    : `wrong: ${jsonString}`,
);
