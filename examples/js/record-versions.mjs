// Versioned records: an ID's metabyte contains the version number. All versions of a record share the rest of the ID,
// so any version's ID determines the IDs of the adjacent versions.
//
// Run it: node examples/js/record-versions.mjs
import assert from "node:assert/strict";
import { sno } from "polyflake";

/** A store that keeps all versions of each document, from version 0 up to version 255. */
class Documents {
  #ids = new sno.Generator({ metabyte: 0 });
  #versions = new Map();

  create(text) {
    return this.#put(this.#ids.generate(), text);
  }

  /**
   * Adds a version and returns its ID. `id` is the ID of the version that the caller read. That version must still be
   * the latest.
   */
  update(id, text) {
    const nextId = sno.withMetabyte(id, sno.metabyte(id) + 1);
    if (this.#versions.has(nextId)) throw new Error(`stale: ${nextId} is there`);
    return this.#put(nextId, text);
  }

  /** Returns the contents of all versions, starting with the first. `id` can be the ID of any version. */
  history(id) {
    const versions = Array.from({ length: 256 }, (_, version) => sno.withMetabyte(id, version));
    return versions.filter((version) => this.#versions.has(version)).map((version) => this.#versions.get(version));
  }

  #put(id, text) {
    this.#versions.set(id, text);
    return id;
  }
}

const documents = new Documents();
const firstId = documents.create("a draft");
const secondId = documents.update(firstId, "a better draft");
const thirdId = documents.update(secondId, "the final text");
for (const id of [firstId, secondId, thirdId]) console.log(`${id}  version ${sno.metabyte(id)}`);
assert.throws(() => documents.update(secondId, "too late"), /^Error: stale/);
assert.deepEqual(documents.history(secondId), ["a draft", "a better draft", "the final text"]);
assert(firstId < secondId && secondId < thirdId);
assert.equal(sno.parse(firstId).unixMs, sno.parse(thirdId).unixMs);
console.log(documents.history(firstId).join(" -> "));
