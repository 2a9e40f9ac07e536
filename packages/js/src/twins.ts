/** Warns of a generator that would repeat the IDs of another generator of this copy of the package. */
import type { Handle } from "./handle.js";

/** A generator's claim to IDs that no other may make: for a time whose end is exclusive, with some sequences or numbers. */
export interface Claim {
  readonly handle: WeakRef<Handle> | undefined;
  readonly start: number;
  end: number;
  readonly numbers: readonly [first: number | bigint, last: number | bigint];
}

/** The identity of a generator, for comparison and for the warning. */
export interface Identity {
  /** Only claims of one key are compared. */
  readonly key: string;
  /** Returns the identity as the warning names it. */
  readonly same: () => string;
  readonly remedy: string;
}

const claims = /* @__PURE__ */ new Map<string, Claim[]>();
/** The keys of which a warning was given. */
const warned = /* @__PURE__ */ new Set<string>();
/** Number of keys at which those of collected or closed generators are dropped. */
let room = 64;

/**
 * Makes the claim of a new generator for a time, whose missing bounds are NaN, with the given numbers. Warns once for a key if
 * it overlaps another claim. To give a claim up, set its end before its start.
 */
export function claim(
  handle: Handle,
  identity: Identity,
  [from, to]: readonly number[],
  numbers: Claim["numbers"] = [0, 0],
): void {
  const start = Number.isNaN(from) ? -Infinity : from!;
  const own = {
    handle: typeof WeakRef === "function" ? new WeakRef(handle) : undefined,
    start,
    end: Number.isNaN(to) ? Infinity : to!,
    numbers,
  };
  if (claims.size >= room) forget();
  const { key } = identity;
  const others = (claims.get(key) ?? []).filter(isHeld);
  if (!warned.has(key) && others.some((other) => overlap(own, other))) warn(identity);
  claims.set(key, [...others, own]);
  handle.claim = own;
}

function overlap(one: Claim, other: Claim): boolean {
  const [[first, last], [otherFirst, otherLast]] = [one.numbers, other.numbers];
  return one.start < other.end && other.start < one.end && first <= otherLast && otherFirst <= last;
}

/** Returns whether a claim's generator still exists and is open. */
function isHeld({ handle, start, end }: Claim): boolean {
  return start < end && handle?.deref() !== undefined;
}

function forget(): void {
  for (const [key, held] of claims) if (!held.some(isHeld)) claims.delete(key);
  room = Math.max(64, 2 * claims.size);
}

/** Emits a warning of the process, as Node, Bun and Deno show it; other runtimes have no place for one. */
function warn({ key, same, remedy }: Identity): void {
  warned.add(key);
  const host = (globalThis as { process?: { emitWarning?: unknown } }).process;
  if (typeof host?.emitWarning !== "function") return;
  host.emitWarning(`another generator has the same ${same()}: they repeat each other's IDs; ${remedy}`, {
    type: "PolyflakeWarning",
    code: "polyflake_twin",
  });
}
