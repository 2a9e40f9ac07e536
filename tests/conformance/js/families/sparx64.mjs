// The cipher.

import { sparx64 } from "#polyflake";

import { bytesOf, hexOf } from "../values.mjs";

const cipher = ({ key }) => new sparx64.Sparx64(bytesOf(key));

export const OPS = {
  encrypt: (args) => hexOf(cipher(args).encrypt(bytesOf(args.block))),
  decrypt: (args) => hexOf(cipher(args).decrypt(bytesOf(args.block))),
  encrypt_many: (args) => hexOf(cipher(args).encryptMany(bytesOf(args.blocks))),
  decrypt_many: (args) => hexOf(cipher(args).decryptMany(bytesOf(args.blocks))),
};
