/**
 * Compares two ways to read a JSON object that can have one of several types: `byMetabyte`, which selects the type by the
 * metabyte of the object's ID, and handwritten code.
 */
import { metabyte } from "polyflake/decode";
import { byMetabyte } from "polyflake/json";
import { type Contest, ownEntry, peerEntry } from "./contest.js";

/** A 400-byte record from a service. */
const TEXT = JSON.stringify({
  id: "9afikjv326nct5if",
  name: "Ada Lovelace",
  email: "ada@example.com",
  visits: 1843,
  score: 0.875,
  tags: ["first", "analyst", "poet", "london"],
  address: { street: "12 St James's Square", city: "London", country: "United Kingdom" },
  parent: null,
  note: 'She wrote "the first program", and saw further than others did.',
});

class User {
  readonly id: string;
  readonly name: string;
  readonly address: object;

  constructor(members: { id: string; name: string; address: object }) {
    this.id = members.id;
    this.name = members.name;
    this.address = members.address;
  }
}

class Order {
  readonly id: string;

  constructor(members: { id: string }) {
    this.id = members.id;
  }
}

/** Creates an object from the parsed JSON members that `read` returns. The metabyte of `id` determines the object's type. */
// biome-ignore lint/suspicious/noExplicitAny: the members depend on the ID, which no type checker knows.
const makeRecord = (id: string, read: () => any): User | Order =>
  metabyte(id) === 1 ? new User(read()) : new Order(read());

export function jsonContest(): Contest {
  const records = byMetabyte({ 1: User, 2: Order });
  const parse = ownEntry("by metabyte", () => records.parse(TEXT));
  const twice = peerEntry("parsed twice", () =>
    makeRecord((JSON.parse(TEXT) as { id: string }).id, () => JSON.parse(TEXT)),
  );
  const once = peerEntry("parsed once, told apart by hand", () => {
    const members = JSON.parse(TEXT) as { id: string };
    return makeRecord(members.id, () => members);
  });
  return {
    name: "node: one object of several kinds read from JSON",
    entries: [
      parse,
      ownEntry("by metabyte, a reviver of JSON.parse", () => JSON.parse(TEXT, records.reviver)),
      once,
      twice,
    ],
    goals: [{ name: "node: JSON by metabyte", ours: parse, against: twice, most: 0.95 }],
  };
}
