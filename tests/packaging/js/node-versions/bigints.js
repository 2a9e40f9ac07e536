// 64-bit integers in JSON. Integers written as numbers remain exact in engines that support this, and are rejected
// elsewhere. Integers written as strings always remain exact.
import { PolyflakeError, withBigints } from "polyflake/json";

const BIG = 4594531474933654033n;

function numbers() {
  const json = withBigints(["id"], { numbers: true });
  try {
    const { id } = json.parse(`{"id": ${BIG}}`);
    return id === BIG && json.stringify({ id }) === `{"id":${BIG}}` ? "numbers" : "rounded";
  } catch (error) {
    return error instanceof PolyflakeError && error.code === "invalid_type" ? "refused" : String(error);
  }
}

const texts = withBigints(["id"]);
const written = texts.stringify({ id: BIG });
console.log(written === `{"id":"${BIG}"}` && texts.parse(written).id === BIG ? numbers() : `wrong: ${written}`);
