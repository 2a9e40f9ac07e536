/** The native addon of Node. */
import { createRequire } from "node:module";
import { arch, platform } from "node:process";
import type { GuardedClock } from "../clock.js";
import { type Backend, type Calls, SCRATCH } from "../machine.js";

type Addon = Calls & {
  /** The scratch area of this thread: the given one, or that of an earlier copy of the package. */
  scratch(area: Uint8Array): Uint8Array;
  /** Sets the clock of the generator that is built next. */
  clock(read: GuardedClock["read"], stalled: GuardedClock["stalled"]): void;
};

function load(): Backend {
  const calls = addon();
  const { buffer, byteOffset } = calls.scratch(new Uint8Array(new ArrayBuffer(SCRATCH)));
  return {
    kind: "native",
    calls,
    setClock: ({ read, stalled }) => calls.clock(read, stalled),
    buffer: () => buffer as ArrayBuffer,
    offset: byteOffset,
  };
}

/** One addon has all families. */
export { load as loadHotguid, load as loadLayout, load as loadRandflake, load as loadSno };

/** The first addon that loads here: Linux has two C libraries. */
function addon(): Addon {
  const require = createRequire(import.meta.url);
  const places = [`${platform}-${arch}`, `${platform}-${arch}-musl`];
  const failures: unknown[] = [];
  for (const place of places) {
    try {
      return require(`../../prebuilds/${place}/polyflake.node`) as Addon;
    } catch (failure) {
      failures.push(failure);
    }
  }
  throw new AggregateError(failures, `no native addon for ${places[0]}`);
}
