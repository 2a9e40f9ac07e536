import { type Description, figuresOf } from "../describe.js";

/** What the format can do, in figures. */
export function describe(): Description {
  return figuresOf(
    [
      ["timestamp", "timestamp", 39],
      ["tick_tock", "bindable", 1],
      ["metabyte", "bindable", 8],
      ["partition", "bindable", 16],
      ["sequence", "sequence", 16],
    ],
    {
      perSecond: 16_384_000n,
      perSecondInAll: 1_073_741_824_000n,
      firstMs: 1_262_304_000_000n,
      lastMs: 3_461_327_255_548n,
      sortsByTime: true,
      below2_53: false,
      below2_63: false,
    },
  );
}
