/** Warns of a generator that would repeat the IDs of another generator of this copy of the package. */
import type { Handle } from "./handle.js";
import type { MachineFor } from "./machine.js";
import { MessageWriter } from "./message.js";
import type { PoolCall } from "./pool.js";

/** A generator's claim to IDs that no other may make, for a time whose end is exclusive. */
export interface Claim {
  readonly handle: WeakRef<Handle> | undefined;
  readonly start: number;
  end: number;
}

const claims = /* @__PURE__ */ new Map<string, Claim[]>();
/** Number of keys at which those of collected or closed generators are dropped. */
let room = 64;

/**
 * Makes the claim of a new generator for a time, whose missing bounds are NaN. Claims under one key are compared: the call `pool`
 * refuses two generators that may not be used together. To give a claim up, set its end before its start.
 */
export function claim(handle: Handle, key: string, [from, to]: readonly number[], pool: PoolCall, same: string): Claim {
  const start = Number.isNaN(from) ? -Infinity : from!;
  const own = {
    handle: typeof WeakRef === "function" ? new WeakRef(handle) : undefined,
    start,
    end: Number.isNaN(to) ? Infinity : to!,
  };
  if (claims.size >= room) forget();
  const others = (claims.get(key) ?? []).filter(isHeld);
  if (others.some((other) => other.start < own.end && own.start < other.end && areTwins(other, handle, pool)))
    warn(same);
  claims.set(key, [...others, own]);
  return own;
}

/** Returns whether a claim's generator still exists and is open. */
function isHeld({ handle, start, end }: Claim): boolean {
  return start < end && handle?.deref() !== undefined;
}

function forget(): void {
  for (const [key, held] of claims) if (!held.some(isHeld)) claims.delete(key);
  room = Math.max(64, 2 * claims.size);
}

function areTwins({ handle: weak }: Claim, handle: Handle, pool: PoolCall): boolean {
  const other = weak?.deref();
  const machine: MachineFor<PoolCall> = handle.machine;
  if (other?.machine !== machine) return false;
  const handles = new MessageWriter();
  for (const { number } of [other, handle]) handles.length(number);
  handles.put(machine);
  try {
    machine.check(machine.calls[pool]());
    return false;
  } catch (error) {
    return (error as { code?: unknown }).code === "out_of_range";
  }
}

/** Emits a warning of the process, as Node, Bun and Deno show it; other runtimes have no place for one. */
function warn(same: string): void {
  const host = (globalThis as { process?: { emitWarning?: unknown } }).process;
  if (typeof host?.emitWarning !== "function") return;
  host.emitWarning(`another generator has the same ${same} and time: they repeat each other's IDs`, {
    type: "PolyflakeWarning",
    code: "polyflake_twin",
  });
}
