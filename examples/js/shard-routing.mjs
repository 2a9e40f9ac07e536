// Routing and sharding by a Hot Guid's shard key: an ID shows where its record is stored, without a lookup table.
//
// The application defines the 32 bits of the shard key. Here, 10 bits are the region and 22 bits are the shard.
//
// Run it: node examples/js/shard-routing.mjs
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { hotguid } from "polyflake";

const SHARD_COUNT = 2 ** 22;
const REGIONS = { eu: 0, us: 1, ap: 2 }; // up to 1,024 of them

/** Returns a record's region and shard. */
function locateRecord(id) {
  const shardKey = hotguid.shardKey(id);
  return { region: Math.floor(shardKey / SHARD_COUNT), shard: shardKey % SHARD_COUNT };
}

/** A region's server, which stores the records of each shard and can look up the addresses of the other regions. */
class Region {
  static all = new Map();

  constructor(name, shards) {
    this.number = REGIONS[name];
    this.shards = Array.from({ length: shards }, () => new Map());
    this.server = createServer((request, response) => this.#answer(request.url, response));
    Region.all.set(this.number, this);
  }

  async listen() {
    await once(this.server.listen(0, "127.0.0.1"), "listening");
    this.url = `http://127.0.0.1:${this.server.address().port}`;
  }

  /** Creates a record in this region. All records of a customer are in the same shard. */
  create(customer, record) {
    const shard = [...customer].reduce(
      (hash, character) => (hash * 31 + character.codePointAt(0)) % this.shards.length,
      7,
    );
    const id = hotguid.generate(this.number * SHARD_COUNT + shard);
    this.shards[shard].set(id, record);
    return id;
  }

  /** Responds to /records/<id>, or redirects to the record's region. */
  #answer(url, response) {
    const id = url.slice("/records/".length);
    if (!hotguid.isValid(id)) return response.writeHead(400).end();
    const { region, shard } = locateRecord(id);
    if (region !== this.number) return response.writeHead(307, { location: Region.all.get(region).url + url }).end();
    const record = this.shards[shard]?.get(hotguid.parse(id));
    response.writeHead(record === undefined ? 404 : 200).end(record);
  }
}

const [eu, us] = [new Region("eu", 4096), new Region("us", 512)];
await Promise.all([eu.listen(), us.listen()]);
const orderIds = [eu.create("Ada", "a compass"), us.create("Grace", "a nanosecond"), eu.create("Ada", "a loom")];
for (const id of orderIds) {
  const { region, shard } = locateRecord(id);
  const answer = await fetch(`${us.url}/records/${id.toUpperCase()}`); // any region accepts the request
  console.log(`/records/${id}  ->  region ${region}, shard ${shard}: ${await answer.text()}`);
}
assert.deepEqual(locateRecord(orderIds[0]), locateRecord(orderIds[2]));
assert.equal((await fetch(`${eu.url}/records/${hotguid.generate()}`)).status, 404);
[eu, us].forEach(({ server }) => server.close());
