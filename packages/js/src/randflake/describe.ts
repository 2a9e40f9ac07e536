import { type Description, figuresOf } from "../describe.js";

/** What the format can do, in figures; the fields are those of the raw value, which only the secret shows. */
export function describe(): Description {
  return figuresOf(
    [
      ["timestamp", "timestamp", 30],
      ["node", "bindable", 17],
      ["sequence", "sequence", 17],
    ],
    {
      perSecond: 131_072n,
      perSecondInAll: 17_179_869_184n,
      firstMs: 1_730_000_000_000n,
      lastMs: 2_803_741_823_000n,
      sortsByTime: false,
      below2_53: false,
      below2_63: false,
    },
  );
}
