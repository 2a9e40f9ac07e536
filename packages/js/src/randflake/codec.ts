import {
  arrayLength,
  attached,
  byteRange,
  checkBigInt64Array,
  checkInteger,
  checkSigned,
  isObject,
} from "../checks.js";
import type { RandflakeId } from "../decode/randflake.js";
import { Handle, release } from "../handle.js";
import { fields } from "../members.js";
import { BATCH, register } from "../protocol.js";
import { secretWriter } from "../secret.js";
import { addDisplay, emptyJson, nameOf } from "../show.js";
import type { Parts } from "./ids.js";
import { machine } from "./ids.js";

/** The fields of many IDs, as columns with one number per ID. */
export interface PartsColumns {
  /** The creation times, in Unix seconds, 1730000000..2803741823. */
  timestamp: Uint32Array;
  /** The nodes (0..131071) of the generators that created the IDs. */
  node: Uint32Array;
  /** The sequence numbers, 0..131071, which distinguish IDs that a node generated in the same second. */
  sequence: Uint32Array;
}

/** The Unix time that timestamp 0 represents (`EPOCH`), and the highest node or sequence number (`LAST_NODE`). */
const EPOCH = 1_730_000_000;
const LAST_NODE = 0x1_ffff;

/**
 * A codec that uses a 16-byte secret to decrypt IDs and to encrypt fields into IDs. The secret is copied and never shown. Any
 * 16 bytes are accepted, even zeros.
 *
 * ```js
 * const codec = new randflake.Codec(secret);
 * codec.inspect(codec.encrypt({ timestamp: 1_763_650_000, node: 42, sequence: 7 })).node; // 42
 * ```
 */
export class Codec {
  static readonly name: string = "Codec";

  readonly #handle: Handle;
  /** The cipher with the same secret, for batches of IDs. */
  readonly #cipher: Handle;

  /**
   * Creates a codec.
   *
   * @throws {PolyflakeError} `invalid_type` unless the secret is a Uint8Array; `invalid_secret` unless the secret has 16 bytes.
   */
  constructor(secret: Uint8Array) {
    const loaded = machine();
    const m = loaded;
    this.#handle = new Handle(loaded, secretWriter(m, secret, "secret"), m.calls.randflakeCodecBuild);
    this.#cipher = new Handle(loaded, secretWriter(m, secret, "secret"), m.calls.sparx64Build);
    addDisplay(this, emptyJson, nameOf);
  }

  /**
   * Returns the fields of an ID. Every 64-bit number decrypts to values that look like valid fields, so plausible fields do
   * not prove that the number is an ID.
   *
   * @throws {PolyflakeError} `invalid_type` unless the ID is a bigint; `out_of_range` unless it fits in a signed 64-bit
   * integer.
   */
  inspect(id: bigint): Parts {
    attached(isObject(this) && #handle in this);
    return inspect(this.#handle, id);
  }

  /**
   * Returns the fields of many IDs as columns. This is much faster than inspecting the IDs one at a time.
   *
   * ```js
   * codec.inspectColumns(generator.generateMany(1000).ids).node[999];
   * ```
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type.
   */
  inspectColumns(ids: BigInt64Array): PartsColumns {
    attached(isObject(this) && #handle in this);
    const count = arrayLength(checkBigInt64Array(ids, "ids"));
    const columns = {
      timestamp: new Uint32Array(count),
      node: new Uint32Array(count),
      sequence: new Uint32Array(count),
    };
    for (let from = 0; from < count; from += BATCH) {
      const here = Math.min(BATCH, count - from);
      const m = this.#cipher.machine;
      m.bytes.set(byteRange(ids, from * 8, here * 8));
      m.numbers[register.count] = here;
      this.#cipher.call("sparx64Decrypt");
      const words = new Uint32Array(m.bytes.buffer, m.bytes.byteOffset, 2 * here);
      for (let k = 0; k < here; k++) {
        const [low, high] = [words[2 * k]!, words[2 * k + 1]!];
        columns.timestamp[from + k] = EPOCH + (high >>> 2);
        columns.node[from + k] = ((high << 15) | (low >>> 17)) & LAST_NODE;
        columns.sequence[from + k] = low & LAST_NODE;
      }
    }
    return columns;
  }

  /**
   * Returns the ID with the given fields. The caller must ensure that no two calls return the same ID.
   *
   * @throws {PolyflakeError} `missing_field` if a field is missing; `invalid_type` if a field has the wrong type;
   * `time_out_of_range` if the timestamp is out of range; `out_of_range` if any other field is out of range.
   */
  encrypt(parts: Parts): RandflakeId {
    attached(isObject(this) && #handle in this);
    const given = fields(parts, "parts", ["timestamp", "node", "sequence"]);
    const m = this.#handle.machine;
    const { timestamp, node, sequence } = given;
    const numbers = [
      checkInteger(timestamp, "timestamp"),
      checkInteger(node, "node"),
      checkInteger(sequence, "sequence"),
    ];
    m.numbers.set(numbers, register.value);
    return this.#handle.call("randflakeEncrypt").bigints[register.answer] as RandflakeId;
  }
}

/** Returns the fields that a codec or generator reads from an ID. */
export function inspect(handle: Handle, id: bigint): Parts {
  const m = handle.machine;
  m.bigints[register.value] = checkSigned(id, "id");
  const { numbers } = handle.call("randflakeInspect");
  const at = register.answer;
  return { timestamp: numbers[at]!, node: numbers[at + 1]!, sequence: numbers[at + 2]! };
}

/**
 * Returns a string that identifies a secret without revealing it: the decrypted fields of ID 0.
 *
 * @throws {PolyflakeError} the same errors as the constructor of {@link Codec}.
 */
export function fingerprint(secret: unknown): string {
  const m = machine();
  const handle = new Handle(m, secretWriter(m, secret, "secret"), m.calls.randflakeCodecBuild);
  const { timestamp, node, sequence } = inspect(handle, 0n);
  release(handle.held);
  return `${timestamp} ${node} ${sequence}`;
}
