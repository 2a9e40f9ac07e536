/**
 * Default partitions, one source for all copies of the package in a realm: ESM and CJS, native and wasm.
 *
 * The first copy that needs one leaves its source under a registered symbol, and the others take from it.
 */
import { randomBytes } from "./entropy.js";
import { PolyflakeError } from "./errors.js";

/** A default partition, and the lower bound of its sequences. */
export interface Drawn {
  partition: number;
  sequenceMin: number;
}

const KEY = Symbol.for("polyflake.partitions");
const COUNT = 65_536;

/** The next default partition; `own` is this copy's source, should it be the first. */
export function draw(own: () => Drawn = counting()): Drawn {
  const realm = globalThis as { [KEY]?: unknown };
  if (typeof realm[KEY] !== "function") realm[KEY] = own;
  return (realm[KEY] as () => Drawn)();
}

/** 16 random bits for the first partition, which differ from those of each further one by its number; a random lower bound for each. */
function counting(): () => Drawn {
  let first: number | undefined;
  let taken = 0;
  return () => {
    const [partition, bound] = new Uint16Array(randomBytes(4).buffer) as unknown as [number, number];
    first ??= partition;
    if (taken === COUNT) {
      throw new PolyflakeError("partitions_exhausted", "no default partition is left in this realm");
    }
    return { partition: first ^ taken++, sequenceMin: bound >> 1 };
  };
}
