// The same from CommonJS, and both copies in one process: they must share the process's partitions.
const assert = require("node:assert/strict");

const { PolyflakeError, sno } = require("polyflake");
const { metabyte } = require("polyflake/decode");

async function main() {
  const id = sno.generate(7);
  assert.equal(metabyte(id), 7);
  assert.throws(() => sno.parse("too short"), PolyflakeError);

  const esm = await import("polyflake");
  assert.equal(esm.sno.parse(id).metabyte, 7);
  const partitions = [sno, esm.sno, sno, esm.sno].map((copy) => copy.parse(new copy.Generator().generate()).partition);
  assert.equal(new Set(partitions).size, 4, `two default generators share a partition: ${partitions}`);
}

main();
