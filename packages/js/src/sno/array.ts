import { BATCH } from "../machine.js";
import { PackedTexts, packed } from "../packed.js";
import { LENGTH, parse, TEXT_LENGTH } from "./ids.js";
import { machine } from "./machine.js";

const PACKING = {
  machine,
  length: LENGTH,
  width: TEXT_LENGTH,
  batch: BATCH,
  write: "snoTexts",
  read: "snoFromTexts",
  readOne: parse,
} as const;

/** Many IDs, packed: 10 bytes each. */
export class SnoArray extends PackedTexts {
  static override readonly name: string = "SnoArray";
  /**
   * IDs over packed bytes, which are not copied.
   *
   * @throws {PolyflakeError} `invalid_type`; `invalid_length` for other than a multiple of 10.
   */
  constructor(bytes: Uint8Array) {
    super(bytes, PACKING);
  }

  /**
   * The IDs of at most 16,777,216 texts: of an array, or of one string in which they lie side by side, which is read ten times as
   * fast.
   *
   * @throws {PolyflakeError} `invalid_type`; `invalid_length`, or `invalid_character` with the position in its text, each with the
   * `item` where one text is refused; `out_of_range` for more texts.
   */
  static fromTexts(texts: string | readonly string[]): SnoArray {
    return new SnoArray(packed(texts, PACKING));
  }
}
