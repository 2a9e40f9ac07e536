// Hot Guid.

import { hotguid } from "#polyflake";

import { Stage, unknownStep } from "../stage.mjs";
import { bytesOf, decimal, toHex } from "../values.mjs";

/** Returns an ID's fields in the protocol's GUID form. */
function fields(id) {
  const { timestamp, machine, counter, shardKey } = hotguid.parts(id);
  if (hotguid.timestamp(id) !== timestamp || hotguid.shardKey(id) !== shardKey) {
    throw new Error(`${id}: one field alone is another than among all`);
  }
  return {
    text: id,
    timestamp: String(timestamp),
    machine: toHex(machine),
    counter,
    shard_key: shardKey,
    dotnet: toHex(hotguid.toDotnetBytes(id)),
    rfc: toHex(hotguid.toBytes(id)),
    sql_text: hotguid.toSql(id),
  };
}

function fromParts({ timestamp, machine, counter, shard_key }) {
  const parts = { timestamp: Number(timestamp), machine: bytesOf(machine), counter, shardKey: shard_key };
  return fields(hotguid.fromParts(parts));
}

function uuid8Parts({ text }) {
  const { timestamp, machine, counter, shardKey } = hotguid.uuid8Parts(text);
  return { timestamp: String(timestamp), machine: String(machine), counter, shard_key: shardKey };
}

function fromUuid8Parts({ timestamp, machine, counter, shard_key }) {
  return hotguid.fromUuid8Parts({
    timestamp: Number(timestamp),
    machine: Number(machine),
    counter,
    shardKey: shard_key,
  });
}

function timeRange({ from_ms, to_ms }) {
  const ends = (options) => hotguid.timeRange(Number(from_ms), Number(to_ms), options);
  const [plain, sql] = [ends(), ends({ sql: true })];
  const end = (name) => ({ text: plain[name], sql_text: sql[name] });
  return { lowest: end("lowest"), highest: end("highest") };
}

/** A trace that contains only those parts of IDs that do not depend on random bytes. */
class Trace extends Stage {
  #first = {};
  #machines = [];

  build() {
    return new hotguid.Generator({ ...this.options(), uuid8: this.args.uuid8 });
  }

  call(step) {
    switch (step.op) {
      case "generate":
        return this.#generate(step).map((id) => this.#shown(id));
      case "extend_window":
        return this.generator.extendWindow(Number(step.end_ms));
      case "stats":
        return this.#stats();
      case "close":
        return this.generator.close();
      default:
        throw unknownStep(step);
    }
  }

  #generate({ count, shard_key }) {
    return count === undefined
      ? [this.generator.generate(shard_key)]
      : this.generator.generateMany(count, shard_key).texts();
  }

  /**
   * Describes an ID by the index of its machine in the trace and by its counter relative to the first ID of the same
   * second.
   */
  #shown(id) {
    const { timestamp, machine, counter, shardKey } = this.args.uuid8 ? hotguid.uuid8Parts(id) : hotguid.parts(id);
    const first = (this.#first[timestamp] ??= counter);
    const shown = this.args.uuid8 ? machine : toHex(machine);
    if (!this.#machines.includes(shown)) this.#machines.push(shown);
    return {
      timestamp: String(timestamp),
      machine: this.#machines.indexOf(shown),
      counter: (counter - first) & 0xffffff,
      shard_key: shardKey,
    };
  }

  #stats() {
    const { lastSecond, len, closed } = this.generator.stats();
    return { last_second: decimal(lastSecond), len, closed };
  }
}

export const OPS = {
  parse: ({ text }) => fields(hotguid.parse(text)),
  from_parts: fromParts,
  uuid8_parts: uuid8Parts,
  from_uuid8_parts: fromUuid8Parts,
  from_bytes: ({ hex }) => fields(hotguid.fromBytes(bytesOf(hex))),
  from_dotnet: ({ hex }) => fields(hotguid.fromDotnetBytes(bytesOf(hex))),
  to_sql: ({ text }) => hotguid.toSql(text),
  from_sql: ({ text }) => hotguid.fromSql(text),
  time_range: timeRange,
  generate: ({ shard_key }) => fields(hotguid.generate(shard_key)),
  generator: (args) => new Trace(args).run(),
};
