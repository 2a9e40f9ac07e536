/** Entries for other libraries, which are used as their documentation describes, and for Node's built-in functions. */
import crypto from "node:crypto";
import { TwitterSnowflake } from "@sapphire/snowflake";
import hyperid from "hyperid";
import { nanoid } from "nanoid";
import { uid } from "uid";
import { monotonicFactory, ulid } from "ulid";
import { ulid as unikuUlid } from "uniku/ulid";
import { uuidv7 as unikuUuid } from "uniku/uuid/v7";
import { parse, stringify, v4, v7 } from "uuid";
import { type Entry, type MissingEntry, peerEntry } from "./contest.js";
import { Generator } from "./randflake.js";

/** Available since Node 24. */
const { randomUUIDv7 } = crypto as { randomUUIDv7?: () => string };

export const missingEntries: MissingEntry[] =
  randomUUIDv7 === undefined ? [{ name: "crypto.randomUUIDv7", why: `Node ${process.version} has none` }] : [];

export const SECRET = new TextEncoder().encode("sixteen byte key");

export const unikuText: Entry = peerEntry("uniku, ulid", () => unikuUlid());

export function texts(): Entry[] {
  const monotonic = monotonicFactory();
  return [
    peerEntry("crypto.randomUUID", () => crypto.randomUUID()),
    ...(randomUUIDv7 === undefined ? [] : [peerEntry("crypto.randomUUIDv7", () => randomUUIDv7())]),
    peerEntry("uuid v4", () => v4()),
    peerEntry("uuid v7", () => v7()),
    peerEntry("ulid", () => ulid()),
    peerEntry("ulid, monotonic", () => monotonic()),
    peerEntry("nanoid", () => nanoid()),
    peerEntry("hyperid", hyperid()),
    peerEntry("uid, 11 letters", () => uid()),
    peerEntry("uniku, uuid v7", () => unikuUuid()),
    unikuText,
  ];
}

export const plainRandflake: Entry = peerEntry("Randflake in plain TypeScript", plainGenerator());

export function bigints(): Entry[] {
  return [plainRandflake, peerEntry("@sapphire/snowflake", () => TwitterSnowflake.generate())];
}

export function decodeEntries(): Entry[] {
  const [text, bytes] = [v4(), parse(v4())];
  return [peerEntry("uuid, to bytes", () => parse(text)), peerEntry("uuid, from bytes", () => stringify(bytes))];
}

/**
 * Returns a function that generates IDs with 64 node IDs in turn, so that no node ID runs out of IDs. First, checks with a
 * test value that the TypeScript cipher returns the same ciphertext as this project's cipher.
 */
function plainGenerator(): () => bigint {
  const key = Uint8Array.from({ length: 16 }, (_, k) => 17 * k);
  const published = new Generator(0, key).encrypt(0xefcdab8967452301n);
  if (BigInt.asUintN(64, published) !== 0x985ff50152f1be2bn) throw new Error("the plain cipher is not SPARX-64");
  const nodes = Array.from({ length: 64 }, (_, node) => new Generator(node, SECRET));
  let turn = 0;
  return () => nodes[turn++ & 63]!.generate();
}
