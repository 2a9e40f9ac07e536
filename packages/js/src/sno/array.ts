import { BATCH, type Machine } from "../machine.js";
import { PackedTexts } from "../packed.js";
import { LENGTH, TEXT_LENGTH } from "./ids.js";
import { machine } from "./machine.js";

/** Many IDs, packed: 10 bytes each. */
export class SnoArray extends PackedTexts {
  /**
   * IDs over packed bytes, which are not copied.
   *
   * @throws {PolyflakeError} `invalid_type`; `invalid_length` for other than a multiple of 10.
   */
  constructor(bytes: Uint8Array) {
    super(bytes, { length: LENGTH, width: TEXT_LENGTH, batch: BATCH, write });
  }
}

function write(ids: Uint8Array, count: number): Machine {
  const m = machine();
  m.bytes.set(ids);
  m.numbers[0] = count;
  m.check(m.calls.snoTexts());
  return m;
}
