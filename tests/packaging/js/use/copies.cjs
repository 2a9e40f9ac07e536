// Loads the package as an ES module and as CommonJS in one process. The two copies must share the process's partitions.
const assert = require("node:assert/strict");

const { sno } = require("polyflake");
const { use } = require("./use.cjs");

async function main() {
  const esm = await import("polyflake");
  const partitions = [sno, esm.sno, sno, esm.sno].map((copy) => copy.parse(new copy.Generator().generate()).partition);
  assert.equal(new Set(partitions).size, 4, `two default generators share a partition: ${partitions}`);
  console.log(use());
}

main();
