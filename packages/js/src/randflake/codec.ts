import { attached, integer, isObject, signed } from "../checks.js";
import { Kept } from "../kept.js";
import { fields } from "../members.js";
import { putSecret } from "../secret.js";
import { nameOf, nothingOf, present } from "../show.js";
import type { Parts } from "./ids.js";
import { machine } from "./machine.js";

/**
 * Reads IDs, and makes IDs with given fields, under a secret, which is copied and never shown. Any 16 bytes are accepted, even
 * zeros.
 *
 * ```js
 * const codec = new randflake.Codec(secret);
 * codec.inspect(codec.encrypt({ timestamp: 1_763_650_000, node: 42, sequence: 7 })).node; // 42
 * ```
 */
export class Codec {
  static readonly name: string = "Codec";

  readonly #kept: Kept;

  /** @throws {PolyflakeError} `invalid_type`; `invalid_secret` unless the secret has 16 bytes. */
  constructor(secret: Uint8Array) {
    const m = machine();
    this.#kept = new Kept(this, m, "randflakeCodecBuild", [putSecret(m, secret, "secret")]);
    present(this, nothingOf, nameOf);
  }

  /**
   * The fields of an ID. Plausible fields prove nothing: every number decrypts to some.
   *
   * @throws {PolyflakeError} `invalid_type` unless it is a bigint; `out_of_range` outside signed 64 bits.
   */
  inspect(id: bigint): Parts {
    attached(isObject(this) && #kept in this);
    return inspect(this.#kept, id);
  }

  /**
   * The ID with the given fields. Making each ID only once is up to the caller.
   *
   * @throws {PolyflakeError} `missing_field`, `invalid_type`; `time_out_of_range` for the timestamp, `out_of_range` for the others.
   */
  encrypt(parts: Parts): bigint {
    attached(isObject(this) && #kept in this);
    const names = ["timestamp", "node", "sequence"] as const;
    const given = fields(parts, "parts", names);
    this.#kept.machine.numbers.set(
      names.map((name) => integer(given[name], name)),
      1,
    );
    return this.#kept.call("randflakeEncrypt").bigints[0]!;
  }
}

/** The fields that a codec or generator reads from an ID. */
export function inspect(kept: Kept, id: bigint): Parts {
  kept.machine.bigints[1] = signed(id, "id");
  const [timestamp, node, sequence] = kept.call("randflakeInspect").numbers as unknown as number[];
  return { timestamp: timestamp!, node: node!, sequence: sequence! };
}
