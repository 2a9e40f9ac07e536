/** The native addon of Node. */
import { createRequire } from "node:module";
import { arch, platform } from "node:process";
import type { GuardedClock } from "../clock.js";
import { PolyflakeError } from "../errors.js";
import { type Backend, SCRATCH } from "../machine.js";

interface Addon {
  /** The machine of this thread: over the given scratch area, or that of an earlier copy of the package. */
  attach(area: Uint8Array): Required<Pick<Backend, "calls" | "makers">> & { area: Uint8Array };
  /** Sets the clock of the generator that is built next. */
  clock(read: GuardedClock["read"], stalled: GuardedClock["stalled"]): void;
}

let loaded: Backend | undefined;

/** @throws {PolyflakeError} `backend_unavailable`, whose `cause` has an error for each place that was tried. */
function load(): Backend {
  try {
    return (loaded ??= attached(addon()));
  } catch (cause) {
    throw new PolyflakeError("backend_unavailable", `expected a native addon for ${platform}-${arch}, found none that loads`, { cause });
  }
}

function attached({ attach, clock }: Addon): Backend {
  const { area, calls, makers } = attach(new Uint8Array(new ArrayBuffer(SCRATCH)));
  return {
    kind: "native",
    calls,
    makers,
    setClock: ({ read, stalled }) => clock(read, stalled),
    buffer: () => area.buffer as ArrayBuffer,
    offset: area.byteOffset,
  };
}

/** One addon has all families. */
export { load as loadHotguid, load as loadLayout, load as loadRandflake, load as loadSno };
export const backend = () => load().kind;

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
