import { type Description, figuresOf } from "../describe.js";

/** What the format can do, in figures; the fields are in the order of the text. */
export function describe(): Description {
  return figuresOf(
    [
      ["timestamp", "timestamp", 32],
      ["machine", "bindable", 40],
      ["counter", "sequence", 24],
      ["shard_key", "bindable", 32],
    ],
    {
      perSecond: 16_777_216n,
      perSecondInAll: 18_446_744_073_709_551_616n,
      firstMs: 0n,
      lastMs: 4_294_967_295_000n,
      sortsByTime: true,
      below2_53: false,
      below2_63: false,
    },
  );
}
