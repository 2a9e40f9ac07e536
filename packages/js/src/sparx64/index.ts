/**
 * SPARX-64/128, the block cipher behind Randflake, with 8-byte blocks and a 16-byte key.
 *
 * The cipher hides and shuffles values but does not authenticate them. Equal plaintext blocks always encrypt to equal
 * ciphertext blocks.
 *
 * @module
 */

import { load, init as open } from "#machine/sparx64";
import { arrayLength, attached, byteRange, checkBytes, isObject } from "../checks.js";
import { PolyflakeError } from "../errors.js";
import { Handle } from "../handle.js";
import type { Init } from "../init.js";
import { loadOnDemand } from "../machine.js";
import { BATCH, register } from "../protocol.js";
import { secretWriter } from "../secret.js";
import { addDisplay, emptyJson, nameOf } from "../show.js";

/** Loads the wasm module. See {@link Init}. */
export const init: Init = open;

/** The backend of the cipher. Randflake's module contains the cipher. */
const machine = /* @__PURE__ */ loadOnDemand(load);

const BLOCK_LENGTH = 8;

/**
 * The SPARX-64/128 cipher with a fixed key. The key is copied and never displayed. Any 16 bytes are accepted, even all
 * zeros.
 *
 * ```js
 * const cipher = new sparx64.Sparx64(crypto.getRandomValues(new Uint8Array(16)));
 * cipher.decrypt(cipher.encrypt(new Uint8Array(8))); // eight zeros
 * ```
 */
export class Sparx64 {
  static readonly name: string = "Sparx64";

  readonly #handle: Handle;

  /**
   * Creates the cipher from a key.
   *
   * @throws {PolyflakeError} `invalid_type` unless the key is a Uint8Array; `invalid_secret` unless the key has 16 bytes.
   */
  constructor(key: Uint8Array) {
    const loaded = machine();
    const m = loaded;
    this.#handle = new Handle(loaded, secretWriter(m, key, "key"), m.calls.sparx64Build);
    addDisplay(this, emptyJson, nameOf);
  }

  /**
   * Encrypts one 8-byte block.
   *
   * @throws {PolyflakeError} `invalid_type` unless the block is a Uint8Array; `invalid_length` unless it has 8 bytes.
   */
  encrypt(block: Uint8Array): Uint8Array {
    attached(isObject(this) && #handle in this);
    return this.#work("sparx64Encrypt", copyBlock(block));
  }

  /**
   * Decrypts one 8-byte block.
   *
   * @throws {PolyflakeError} the same errors as {@link Sparx64.encrypt}.
   */
  decrypt(block: Uint8Array): Uint8Array {
    attached(isObject(this) && #handle in this);
    return this.#work("sparx64Decrypt", copyBlock(block));
  }

  /**
   * Encrypts consecutive blocks, each independently.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type; `invalid_length` unless the length is a
   * multiple of 8.
   */
  encryptMany(blocks: Uint8Array): Uint8Array {
    attached(isObject(this) && #handle in this);
    return this.#work("sparx64Encrypt", copyBlocks(blocks));
  }

  /**
   * Decrypts consecutive blocks, each independently.
   *
   * @throws {PolyflakeError} the same errors as {@link Sparx64.encryptMany}.
   */
  decryptMany(blocks: Uint8Array): Uint8Array {
    attached(isObject(this) && #handle in this);
    return this.#work("sparx64Decrypt", copyBlocks(blocks));
  }

  #work(call: "sparx64Encrypt" | "sparx64Decrypt", blocks: Uint8Array): Uint8Array {
    const m = this.#handle.machine;
    for (let from = 0; from < blocks.length; from += BATCH * BLOCK_LENGTH) {
      const some = blocks.subarray(from, from + BATCH * BLOCK_LENGTH);
      m.bytes.set(some);
      m.numbers[register.count] = some.length / BLOCK_LENGTH;
      this.#handle.call(call);
      some.set(m.bytes.subarray(0, some.length));
    }
    return blocks;
  }
}

/** Returns a copy of one block. */
function copyBlock(block: Uint8Array): Uint8Array {
  const length = arrayLength(checkBytes(block, "block"));
  if (length !== BLOCK_LENGTH)
    throw new PolyflakeError("invalid_length", `expected length ${BLOCK_LENGTH}, found ${length}`, { field: "block" });
  return copyOf(block, length);
}

/** Returns a copy of many blocks. */
function copyBlocks(blocks: Uint8Array): Uint8Array {
  const length = arrayLength(checkBytes(blocks, "blocks"));
  if (length % BLOCK_LENGTH !== 0)
    throw new PolyflakeError("invalid_length", `expected a multiple of ${BLOCK_LENGTH} bytes, found ${length}`, {
      field: "blocks",
    });
  return copyOf(blocks, length);
}

const copyOf = (value: Uint8Array, length: number): Uint8Array => new Uint8Array(byteRange(value, 0, length));
