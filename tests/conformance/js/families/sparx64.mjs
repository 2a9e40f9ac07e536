// The SPARX-64/128 cipher.

import { sparx64 } from "#polyflake";

import { bytesOf, toHex } from "../values.mjs";

const cipher = ({ key }) => new sparx64.Sparx64(bytesOf(key));

export const OPS = {
  encrypt: (args) => toHex(cipher(args).encrypt(bytesOf(args.block))),
  decrypt: (args) => toHex(cipher(args).decrypt(bytesOf(args.block))),
  encrypt_many: (args) => toHex(cipher(args).encryptMany(bytesOf(args.blocks))),
  decrypt_many: (args) => toHex(cipher(args).decryptMany(bytesOf(args.blocks))),
};
