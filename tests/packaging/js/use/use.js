// Uses the features of the package that work in every environment. use.cjs is a short CommonJS version of this file.
import { backend, hotguid, layout, PolyflakeError, randflake, sno, sparx64, uuid7 } from "polyflake";
import { isValid, metabyte } from "polyflake/decode";
import { Keyring } from "polyflake/public";

function expect(holds, what) {
  if (!holds) throw new Error(`expected ${what}`);
}

function captureError(act) {
  try {
    act();
  } catch (error) {
    expect(error instanceof PolyflakeError, `an error of the package, found ${error}`);
    return error;
  }
  throw new Error("expected a refusal");
}

/**
 * Uses every format and returns the backend, native or wasm. If a check fails, throws an Error that states what is
 * wrong.
 */
export function use() {
  const id = sno.generate(7);
  expect(isValid(id) && metabyte(id) === 7, `an ID with metabyte 7, found ${id}`);
  const { timestamp, unixMs } = sno.parse(id);
  expect(
    timestamp.getTime() === unixMs && Math.abs(Date.now() - unixMs) < 300_000,
    `the current time, found ${timestamp}`,
  );
  const ids = new sno.Generator({ partition: 3 }).generateMany(100);
  expect(new Set(ids.texts()).size === 100, "100 different IDs");
  const { code, position } = captureError(() => sno.parse("9q6kc9o37a32432!"));
  expect(code === "invalid_character" && position === 15, `a bad character at 15, found ${code} at ${position}`);

  const secret = new Uint8Array(16).fill(1);
  const flakes = new randflake.Generator(new randflake.Grant(42, 1_730_000_000, 2_803_741_824), secret);
  expect(flakes.inspect(flakes.generate()).node === 42, "the node of the grant");
  expect(hotguid.shardKey(hotguid.generate(7)) === 7, "the given shard key");
  const [earlier, later] = [uuid7.generate(), uuid7.generate()];
  expect(earlier < later, "UUIDs in order");
  expect(uuid7.workerId(new uuid7.Generator({ workerId: 7 }).generate()) === 7, "the given worker ID");
  expect(
    layout.Layout.preset("twitter").parse(1541815603606036480n).unixMs === 1656432460105n,
    "the time of a known ID",
  );
  expect(new sparx64.Sparx64(secret).encrypt(new Uint8Array(8)).length === 8, "a block");
  const orders = new Keyring(new Uint8Array(32)).of("order");
  expect(orders.decode(orders.encode(42)) === 42, "the number of a public ID");
  return backend();
}
