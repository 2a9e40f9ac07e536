// Compares the IDs of a process with the IDs of a real copy of that process. Before the copy generates IDs, it reports
// that it was restored. See `restored.py`.
//
// Usage: `node --single-threaded --v8-pool-size=0 restored.mjs COPY IDS BACKEND`. A copy contains only the thread that
// created it, so V8 must not wait for other threads.
import assert from "node:assert/strict";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process, { argv } from "node:process";

const [path, total, backend] = [argv[2], Number(argv[3]), argv[4]];
const copyProcess = createRequire(import.meta.url)(path);
const { afterRestore, hotguid, layout, randflake, sno, uuid7 } = await import(`polyflake/${backend}`);

/** A generator of each format, and whether it has an explicit worker ID. */
const GENERATORS = {
  sno: [false, () => new sno.Generator()],
  "Hot Guid": [false, () => new hotguid.Generator()],
  "UUID v7": [false, () => new uuid7.Generator()],
  "sno, partition": [true, (partition) => new sno.Generator({ partition })],
  Randflake: [
    true,
    (node) => new randflake.Generator(new randflake.Grant(node, 1_730_000_000, 2_803_741_824), new Uint8Array(16)),
  ],
  "Discord's layout": [true, (worker) => new layout.Generator(layout.Layout.preset("discord", { worker, process: 0 }))],
};

/** Generates IDs in batches. Each batch contains only IDs that are available without waiting. */
function* chunks(ids, count) {
  for (let left = count; left > 0; ) {
    const made = ids.tryGenerateMany(Math.min(10_000, left));
    left -= made.length;
    if (made.length > 0) yield Array.from(made, String);
  }
}

/** Reports the restore in the copy, and returns the generator that the copy uses from then on. */
function reportRestore(create, ids, isExplicit) {
  afterRestore();
  if (!isExplicit) return ids;
  assert.throws(() => ids.generate(), { code: "forked" });
  return create(2);
}

/** Writes IDs to a temporary file, and then renames the file to the given name. */
function write(name, ids, count) {
  const file = openSync(`${name}.new`, "w");
  for (const chunk of chunks(ids, count)) writeSync(file, `${chunk.join("\n")}\n`);
  closeSync(file);
  renameSync(`${name}.new`, name);
}

/** Returns the number of IDs that the original and the copy both generated. */
function countRepeats(name, [isExplicit, create], count, reports) {
  const ids = create(1);
  for (let k = 0; k < 10; k++) ids.generate();
  const child = copyProcess();
  if (child === 0) {
    try {
      write(name, reports ? reportRestore(create, ids, isExplicit) : ids, count);
    } finally {
      // A normal exit would wait for other threads. `process.pid` still contains the ID of the original process.
      process.kill(Number(readlinkSync("/proc/self")), "SIGKILL");
    }
  }
  assert(child > 0, "no copy");
  const made = new Set();
  for (const chunk of chunks(ids, count)) for (const id of chunk) made.add(id);
  assert.equal(made.size, count);
  const end = Date.now() + 600_000;
  while (!existsSync(name)) {
    assert(Date.now() < end, "the copy failed");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
  const others = new Set(readFileSync(name, "utf8").trimEnd().split("\n"));
  assert.equal(others.size, count);
  return [...others].filter((id) => made.has(id)).length;
}

const folder = mkdtempSync(join(tmpdir(), "copies-"));
try {
  assert(countRepeats(join(folder, "control"), GENERATORS.Randflake, 1000, false) > 0, "not a copy");
  for (const [title, generator] of Object.entries(GENERATORS)) {
    const equal = countRepeats(join(folder, title), generator, total, true);
    console.log(`Node, ${backend}, ${title}: ${equal} of ${total} equal`);
    assert.equal(equal, 0);
  }
} finally {
  rmSync(folder, { recursive: true });
}
