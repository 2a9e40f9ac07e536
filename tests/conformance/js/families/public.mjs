// Public IDs.

import { public as publicIds } from "#polyflake";

import { bytesOf, decodeValue } from "../values.mjs";

function idType({ secrets, type, bits }) {
  const bytes = Object.entries(secrets).map(([version, secret]) => [version, bytesOf(secret)]);
  return new publicIds.Keyring(Object.fromEntries(bytes)).of(type, { bits });
}

export const OPS = {
  encode: (args) => idType(args).encode(decodeValue(args.number)),
  // A string argument is passed unchanged and is never parsed as an integer.
  decode: (args) => String(idType(args).decode(typeof args.text === "string" ? args.text : decodeValue(args.text))),
  encode_many: (args) => idType(args).encodeMany(args.numbers.map(BigInt)),
  decode_many: (args) => idType(args).decodeMany(args.texts).map(String),
};
