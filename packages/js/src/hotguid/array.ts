import { PackedTexts, packed } from "../packed.js";
import { LENGTH, parse, TEXT_LENGTH } from "./ids.js";
import { machine } from "./machine.js";

const PACKING = {
  machine,
  length: LENGTH,
  width: TEXT_LENGTH,
  /** Texts that fit one call. */
  batch: 448,
  write: "hotguidTexts",
  read: "hotguidFromTexts",
  readOne: parse,
} as const;

/** Many IDs, packed: 16 bytes each, in the order of their texts. */
export class HotGuidArray extends PackedTexts {
  static override readonly name: string = "HotGuidArray";
  /**
   * IDs over packed bytes, which are not copied.
   *
   * @throws {PolyflakeError} `invalid_type`; `invalid_length` for other than a multiple of 16.
   */
  constructor(bytes: Uint8Array) {
    super(bytes, PACKING);
  }

  /**
   * The IDs of at most 16,777,216 texts in either case: of an array, or of one string in which they lie side by side.
   *
   * @throws {PolyflakeError} `invalid_type`; `invalid_length`, or `invalid_character` with the position in its text, each with the
   * `item` where one text is refused; `out_of_range` for more texts.
   */
  static fromTexts(texts: string | readonly string[]): HotGuidArray {
    return new HotGuidArray(packed(texts, PACKING));
  }
}
