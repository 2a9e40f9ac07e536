/**
 * A straightforward TypeScript implementation of Randflake, for comparison. It uses numbers for the cipher's 16-bit words,
 * and bigints for 64-bit values.
 */

const EPOCH = 1_730_000_000;
const STEPS = 8;
const ROUNDS = 3;
/** Number of subkeys per branch and step. */
const WORDS = 2 * ROUNDS;

/**
 * Applies one round of the cipher to two 16-bit words, without combining the words with a subkey. The mapping is bijective.
 */
function speckey(x: number, y: number): [number, number] {
  const a = (((x << 9) | (x >>> 7)) + y) & 0xffff;
  const b = (((y << 2) | (y >>> 14)) ^ a) & 0xffff;
  return [a, b];
}

/** Expands a key of eight 16-bit words into 17 groups of 6 subkeys. */
function expandKey(secret: Uint8Array): Uint16Array {
  const key = Array.from({ length: 8 }, (_, k) => (secret[2 * k]! << 8) | secret[2 * k + 1]!);
  const subkeys = new Uint16Array((2 * STEPS + 1) * WORDS);
  for (let step = 0; step <= 2 * STEPS; step++) {
    for (let k = 0; k < WORDS; k++) subkeys[step * WORDS + k] = key[k]!;
    [key[0], key[1]] = speckey(key[0]!, key[1]!);
    key[2] = (key[2]! + key[0]) & 0xffff;
    key[3] = (key[3]! + key[1]) & 0xffff;
    key[7] = (key[7]! + step + 1) & 0xffff;
    key.unshift(key.pop()!);
    key.unshift(key.pop()!);
  }
  return subkeys;
}

/** Encrypts a block of four words in place with SPARX-64/128. */
function encrypt(subkeys: Uint16Array, block: Uint16Array): void {
  for (let step = 0; step < STEPS; step++) {
    for (let branch = 0; branch < 2; branch++) {
      const from = (2 * step + branch) * WORDS;
      let [x, y] = [block[2 * branch]!, block[2 * branch + 1]!];
      for (let round = 0; round < ROUNDS; round++) {
        [x, y] = speckey(x ^ subkeys[from + 2 * round]!, y ^ subkeys[from + 2 * round + 1]!);
      }
      block[2 * branch] = x;
      block[2 * branch + 1] = y;
    }
    const [a, b] = [block[0]!, block[1]!];
    const mixed = a ^ b;
    const rotated = (mixed << 8) | (mixed >>> 8);
    const [c, d] = [block[2]! ^ a ^ rotated, block[3]! ^ b ^ rotated];
    block.set([c, d, a, b]);
  }
  const from = 2 * STEPS * WORDS;
  for (let k = 0; k < 4; k++) block[k] = block[k]! ^ subkeys[from + k]!;
}

export class Generator {
  readonly #node: number;
  readonly #subkeys: Uint16Array;
  readonly #bytes = new DataView(new ArrayBuffer(8));
  readonly #block = new Uint16Array(4);
  #second = 0;
  #sequence = 0;

  constructor(node: number, secret: Uint8Array) {
    this.#node = node;
    this.#subkeys = expandKey(secret);
  }

  generate(): bigint {
    const second = Math.floor(Date.now() / 1000) - EPOCH;
    if (second > this.#second) {
      this.#second = second;
      this.#sequence = 0;
    }
    if (this.#sequence > 131_071) throw new Error("the sequence of this second is used up");
    const raw = (BigInt(this.#second) << 34n) | (BigInt(this.#node) << 17n) | BigInt(this.#sequence++);
    return this.encrypt(raw);
  }

  encrypt(raw: bigint): bigint {
    this.#bytes.setBigUint64(0, raw, true);
    for (let k = 0; k < 4; k++) this.#block[k] = this.#bytes.getUint16(2 * k);
    encrypt(this.#subkeys, this.#block);
    for (let k = 0; k < 4; k++) this.#bytes.setUint16(2 * k, this.#block[k]!);
    return this.#bytes.getBigInt64(0, true);
  }
}
