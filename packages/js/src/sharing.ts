/**
 * Shares the generators with explicit worker IDs. A process has at most one live generator for a worker ID, so a generator
 * that is constructed again with equal options has the handle of the first one. A server that constructs a generator for
 * each request therefore neither waits nor repeats an ID, and the backend keeps one state for all of them.
 *
 * All other generators with the worker ID are rejected (`worker_id_in_use`). The addon has a registry for this, which all
 * threads of the process use. It also shares generators between threads, unless they have callbacks. The wasm modules have no
 * registry, because it would make them up to a seventh larger, so this file finds the generators to compare.
 *
 * A collected generator may still have its state, because finalizers run later. Until then, a generator with equal options
 * continues with that state, and a generator with other options releases it.
 */
import type { GuardedClock } from "./clock.js";
import { PolyflakeError } from "./errors.js";
import { Handle, type HeldState, release } from "./handle.js";
import type { Machine } from "./machine.js";
import { register } from "./protocol.js";

/** What identifies a generator with an explicit worker ID. */
export interface Sharing {
  /** The format, and what else generators must have in common to generate the same ID, such as a secret or a layout. */
  readonly scheme: string;
  /** The worker ID, or a range of worker IDs. */
  readonly worker: string;
  readonly isRange?: boolean;
  /** The option that contains the worker ID. */
  readonly option: string;
  /**
   * The values of all other options, by name, or undefined for a generator that is restored from a snapshot, which is never
   * shared. Callbacks are compared by identity.
   */
  readonly options: Readonly<Record<string, unknown>> | undefined;
  /** The end of the window in Unix milliseconds, or NaN if it does not end. */
  readonly ends: number;
}

/** A live generator with an explicit worker ID. Its handle is gone once all its owners have been collected. */
export interface SharedGenerator {
  readonly sharing: Sharing;
  readonly handle: Pick<WeakRef<Handle>, "deref">;
  readonly held: HeldState;
  readonly clock: GuardedClock | undefined;
}

/** Generators that can have the same worker ID are under one key. */
const keyOf = ({ scheme, worker, isRange }: Sharing): string => (isRange ? scheme : `${scheme}\n${worker}`);

/**
 * Returns the handle of the live generator with these options, or calls `build`. Without `sharing`, always calls `build`.
 *
 * @throws {PolyflakeError} the errors of `build`; `worker_id_in_use` if another generator uses the worker ID. If that
 * generator is known, `field` names the option that differs.
 */
export function shareHandle(m: Machine, sharing: Sharing | undefined, build: () => Handle): Handle {
  if (!sharing) return build();
  const known = (m.shared.get(keyOf(sharing)) ?? []).filter(isUsable);
  const same = known.find((other) => findDifference(sharing, other) === "");
  if (same) return same.handle.deref() ?? adopt(same);
  releaseCollected(known);
  const handle = namingDifference(sharing, known, build);
  const isInUse = m.kind === "wasm" && findOverlap(m, handle, sharing, NaN);
  if (!isInUse) return record(sharing, handle);
  release(handle.held);
  throw inUseError(sharing, known);
}

/**
 * Checks that a generator may extend its window to the given end.
 *
 * @throws {PolyflakeError} `worker_id_in_use` if another generator uses the worker ID in the added time.
 */
export function checkExtension(handle: Handle, end: number): void {
  const { machine: m, held } = handle;
  if (m.kind !== "wasm" || !held.shared) return;
  const { sharing } = held.shared;
  if (findOverlap(m, handle, sharing, end)) throw inUseError(sharing, []);
}

/** Returns whether a generator is open and belongs to this process. */
function isUsable({ held: { machine: m, number } }: SharedGenerator): boolean {
  m.catchUp();
  m.numbers[register.handle] = number;
  m.check(m.calls.generatorIsUsable());
  return m.numbers[register.answer] === 1;
}

/**
 * Returns the name of the first option that differs, or an empty string if all options are equal. Returns undefined for
 * generators with different worker IDs, and for restored generators.
 */
function findDifference({ worker, options }: Sharing, { sharing: other }: SharedGenerator): string | undefined {
  if (worker !== other.worker || !options || !other.options) return undefined;
  return Object.keys(options).find((name) => options[name] !== other.options![name]) ?? "";
}

/** Releases the states of collected generators, which do not use their worker IDs any more. */
function releaseCollected(generators: readonly SharedGenerator[]): void {
  for (const { handle, held } of generators) if (!handle.deref()) release(held);
}

/** Returns whether another generator can generate the same ID, also if this one's window ended at `end`. */
function findOverlap(m: Machine, handle: Handle, sharing: Sharing, end: number): boolean {
  const { scheme, isRange } = sharing;
  const ranges = m.shared.get(scheme) ?? [];
  const singles = isRange
    ? [...m.shared].flatMap(([key, each]) => (key.startsWith(`${scheme}\n`) ? each : []))
    : (m.shared.get(keyOf(sharing)) ?? []);
  const others = [...ranges, ...singles].filter(({ held }) => held !== handle.held && !(held.ends! <= Date.now()));
  releaseCollected(others);
  return others.some(
    (other) => !Number.isNaN(other.held.number) && handle.mayRepeat(other.held.number, end) && isUsable(other),
  );
}

/** Returns a new handle on the state of a collected generator. */
function adopt({ sharing, held, clock }: SharedGenerator): Handle {
  const { machine: m, number, ends } = held;
  const write = (): void => void (m.numbers[register.handle] = number);
  const handle = new Handle(m, write, () => 0);
  // The state already has the clock. The constructor would set it for the next generator.
  handle.clock = clock;
  held.number = NaN;
  forget(held);
  return record({ ...sharing, ends: ends! }, handle);
}

/** Records a generator until its state is released. */
function record(sharing: Sharing, handle: Handle): Handle {
  const { held, clock } = handle;
  const { shared } = held.machine;
  held.shared = { sharing, handle: refer(handle), held, clock };
  held.ends = sharing.ends;
  shared.set(keyOf(sharing), [...(shared.get(keyOf(sharing)) ?? []), held.shared]);
  return handle;
}

/** Removes the record of a generator. */
export function forget({ machine: { shared }, shared: entry }: HeldState): void {
  if (!entry) return;
  const key = keyOf(entry.sharing);
  const others = shared.get(key)!.filter((other) => other !== entry);
  if (others.length > 0) shared.set(key, others);
  else shared.delete(key);
}

/** Returns a weak reference, or a strong one in edge runtimes that lack weak references. */
function refer(handle: Handle): SharedGenerator["handle"] {
  return typeof WeakRef === "function" ? new WeakRef(handle) : { deref: () => handle };
}

/** Calls `build`. If the addon finds that the worker ID is in use, the error names the option that differs. */
function namingDifference(sharing: Sharing, known: readonly SharedGenerator[], build: () => Handle): Handle {
  try {
    return build();
  } catch (error) {
    const isInUse = error instanceof PolyflakeError && error.code === "worker_id_in_use";
    throw isInUse && known.some((other) => findDifference(sharing, other)) ? inUseError(sharing, known) : error;
  }
}

function inUseError(sharing: Sharing, known: readonly SharedGenerator[]): PolyflakeError {
  const difference = known.map((other) => findDifference(sharing, other)).find(Boolean);
  const reason = difference
    ? `expected the options of the live generator with this worker ID, found another \`${difference}\``
    : "expected a worker ID without a live generator in this process, found one in use";
  const remedy = "use equal options, extend or close that generator first, or configure another worker ID";
  return new PolyflakeError("worker_id_in_use", `${reason}: ${remedy}`, { field: difference ?? sharing.option });
}
