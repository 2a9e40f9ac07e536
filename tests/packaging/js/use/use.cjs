// A shortened CommonJS version of use.js, for Node and for tools without support for ES modules.
const { backend, hotguid, layout, PolyflakeError, randflake, sno, sparx64, uuid7 } = require("polyflake");
const { metabyte } = require("polyflake/decode");
const { Keyring } = require("polyflake/public");

function expect(holds, what) {
  if (!holds) throw new Error(`expected ${what}`);
}

/**
 * Uses every format and returns the backend, native or wasm. If a check fails, throws an Error that states what is
 * wrong.
 */
exports.use = () => {
  expect(metabyte(sno.generate(7)) === 7, "an ID with metabyte 7");
  try {
    sno.parse("too short");
    expect(false, "a refusal");
  } catch (error) {
    expect(error instanceof PolyflakeError && error.code === "invalid_length", `invalid_length, found ${error}`);
  }
  const secret = new Uint8Array(16);
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
};
