/** Warns if a generator would generate the same IDs as another generator of this copy of the package. */
import type { Handle } from "./handle.js";

/** The first and the last number in a range, or the same string twice. */
export type Span = readonly [first: number | bigint | string, last: number | bigint | string];

/**
 * A generator's claim to IDs that no other generator may generate. It covers the times from `start` to just before `end`, and a
 * range of sequence numbers or a range of values for each bindable field.
 */
export interface Claim {
  readonly handle: WeakRef<Handle> | undefined;
  readonly start: number;
  end: number;
  readonly spans: readonly Span[];
}

/** A generator's identity, for comparisons and for the warning. */
export interface Identity {
  /** The claim's group. Only claims in the same group are compared. */
  readonly group: string;
  /** A warning is emitted once per key. */
  readonly key: string;
  /** Returns the identity as the warning states it. */
  readonly same: () => string;
  readonly remedy: string;
}

const claims = /* @__PURE__ */ new Map<string, Claim[]>();
/** The keys for which a warning has been emitted. */
const warned = /* @__PURE__ */ new Set<string>();
/** The number of groups at which groups without an open generator are removed. */
let room = 64;

/**
 * Records a new generator's claim to the times from `from` to `to`, with the given spans. A missing bound is NaN. If the claim
 * overlaps another one, it emits a warning, once per key. To release a claim, set its end before its start.
 */
export function claim(
  handle: Handle,
  identity: Identity,
  [from, to]: readonly number[],
  spans: readonly Span[] = [],
): void {
  const start = Number.isNaN(from) ? -Infinity : from!;
  const own = {
    handle: typeof WeakRef === "function" ? new WeakRef(handle) : undefined,
    start,
    end: Number.isNaN(to) ? Infinity : to!,
    spans,
  };
  if (claims.size >= room) forget();
  const { group, key } = identity;
  const others = (claims.get(group) ?? []).filter(isHeld);
  if (!warned.has(key) && others.some((other) => overlap(own, other))) warn(identity);
  claims.set(group, [...others, own]);
  handle.claim = own;
}

function overlap(one: Claim, other: Claim): boolean {
  const meet = ([first, last]: Span, index: number): boolean => {
    const [otherFirst, otherLast] = other.spans[index]!;
    return first <= otherLast && otherFirst <= last;
  };
  return one.start < other.end && other.start < one.end && one.spans.every(meet);
}

/** Returns whether a claim's generator still exists and is open. */
function isHeld({ handle, start, end }: Claim): boolean {
  return start < end && handle?.deref() !== undefined;
}

function forget(): void {
  for (const [group, held] of claims) if (!held.some(isHeld)) claims.delete(group);
  room = Math.max(64, 2 * claims.size);
}

function warn({ key, same, remedy }: Identity): void {
  warned.add(key);
  emitWarning("polyflake_twin", `another generator has the same ${same()}: they repeat each other's IDs; ${remedy}`);
}

/** Emits a process warning, which Node, Bun and Deno show. Other runtimes do not support process warnings. */
export function emitWarning(code: string, text: string): void {
  const host = (globalThis as { process?: { emitWarning?: unknown } }).process;
  if (typeof host?.emitWarning === "function") host.emitWarning(text, { type: "PolyflakeWarning", code });
}
