import { arrayLength, checkInteger, checkOptionalInteger, isBytes } from "../checks.js";
import type { GuardedClock } from "../clock.js";
import { PolyflakeError } from "../errors.js";
import { type AnyLease, readLease } from "../leased.js";
import type { Machine } from "../machine.js";
import { checkPair, fields, members } from "../members.js";
import { readSharedSettings, type SharedValues, WINDOW_OPTIONS, type WindowOptions } from "../options.js";
import type { Sharing } from "../sharing.js";

interface MetabyteOption<Metabyte extends number> {
  /** The metabyte, 0..255, of IDs that are generated without an explicit metabyte. The default is 0. */
  metabyte?: Metabyte;
}

/** Options for a generator that continues from a snapshot. */
export type RestoreOptions<Metabyte extends number = number> = Exclude<WindowOptions, { lease: AnyLease }> &
  MetabyteOption<Metabyte>;

/**
 * Options for a generator. A lease provides the partition, the sequence bounds and the window, so you cannot combine these
 * options with a lease.
 */
export type GeneratorOptions<Metabyte extends number = number> = MetabyteOption<Metabyte> &
  WindowOptions &
  (OwnOptions | { lease: AnyLease; partition?: never; sequenceMin?: never; sequenceMax?: never });

interface OwnOptions {
  lease?: never;
  /**
   * The partition, 0..65535, or its two bytes. The partition is the worker ID, so no other generator may use it at the same
   * time, unless their sequence bounds do not overlap.
   *
   * An explicit partition may have been used by an earlier generator, so the first call waits for the next tick, up to 4 ms. If
   * the clock was set back between two runs, the generator creates duplicate IDs unless you restore it from a snapshot.
   *
   * By default, the generator reserves a randomly assigned partition for as long as it generates IDs. The partition differs
   * from all others that any copy of the package has reserved in this realm, or in the whole process if threads share memory.
   *
   * If a default generator has reserved the partition that you configure, calls wait or throw `sequence_exhausted` until that
   * reservation expires, up to a minute later.
   */
  partition?: number | Uint8Array;
  /**
   * The first sequence number in each tick, 0..65535. The default is 0 for an explicit partition, and a random number in
   * 0..32767 for a randomly assigned one.
   */
  sequenceMin?: number;
  /**
   * The last sequence number in each tick, 0..65535. The default is 65535. The bounds must span at least 4 sequence
   * numbers.
   */
  sequenceMax?: number;
}

/**
 * The state of a closed generator. Restore a generator from it only once, because a second one would generate duplicate IDs.
 *
 * A snapshot is a plain object that can be serialized to JSON. Its property names are those of the original Go library.
 * Times are in 4 ms units since 2010.
 */
export interface Snapshot {
  /** The version of the snapshot format. The original library does not write it. */
  format?: number;
  /** The partition, as two big-endian bytes. */
  partition: [number, number];
  /** The first sequence number in each tick. */
  sequenceMin: number;
  /** The last sequence number in each tick. */
  sequenceMax: number;
  /** The last sequence number used in the tick `wallHi`. */
  sequence: number;
  /** The tick at which the snapshot was taken. */
  now: number;
  /** The tick of the last ID. */
  wallHi: number;
  /**
   * The highest tick from which the clock moved back. If the clock moves back again, to this tick or an earlier one, calls
   * wait.
   */
  wallSafe: number;
  /** The number of clock rollbacks. */
  drifts: number;
}

/**
 * A generator's statistics at one point in time. They cannot be used to restore the generator, because it may generate more IDs
 * afterwards.
 */
export interface Stats {
  /** The partition, or undefined if the generator has not picked one yet. */
  partition: number | undefined;
  /** The first sequence number in each tick. */
  sequenceMin: number;
  /** The last sequence number in each tick. */
  sequenceMax: number;
  /** The last sequence number used in the current tick, or `sequenceMin` if the tick is unused. */
  sequence: number;
  /** The number of IDs generated in the current tick. */
  len: number;
  /** The current tick according to the generator's clock, in 4 ms units since 2010. */
  now: number;
  /** The tick of the last ID. */
  wallHi: number;
  /**
   * The highest tick from which the clock moved back. If the clock moves back again, to this tick or an earlier one, calls
   * wait.
   */
  wallSafe: number;
  /** The number of clock rollbacks. */
  drifts: number;
  /** `true` if the generator is closed. */
  closed: boolean;
}

/** The format version that is assumed for a snapshot without a `format`. */
const DEFAULT_FORMAT = 1;
const RESTORE_OPTIONS = ["metabyte", ...WINDOW_OPTIONS] as const;
const BUILD_OPTIONS = ["partition", "sequenceMin", "sequenceMax", ...RESTORE_OPTIONS] as const;
/** The options that cannot be combined with a lease. */
const EXCLUDED_WITH_LEASE = ["snapshot", "partition", "sequenceMin", "sequenceMax", "window"];
const COUNTERS = ["sequenceMin", "sequenceMax", "sequence", "now", "wallHi", "wallSafe", "drifts"] as const;

/**
 * The validated options. They consist of the numbers that are passed to the builder, and of options that only the
 * JavaScript code uses.
 */
export interface Settings {
  readonly shared: SharedValues;
  readonly own: Readonly<Record<"metabyte" | "partition" | "sequenceMin" | "sequenceMax", number>>;
  readonly clock: GuardedClock | undefined;
  readonly sharing: Sharing["options"];
  /** The bounds of the window, as the caller passed them. */
  readonly times: readonly unknown[];
  readonly metabyte: number;
  /** `true` if the generator picks a random partition. */
  readonly leases: boolean;
  readonly lease: AnyLease | undefined;
}

/**
 * Reads the options. Options can include a partition and sequence bounds only if there is no snapshot, because a snapshot
 * already contains these values. `how` is the value of `Origin.how`, which specifies how the generator starts.
 */
export function readSettings(options: unknown, how: number): Settings {
  const names: readonly (typeof BUILD_OPTIONS)[number][] = how === 0 ? BUILD_OPTIONS : RESTORE_OPTIONS;
  const { shared, clock, sharing, times, given } = readSharedSettings(options, names);
  const lease = readLease({ ...given, snapshot: how || undefined }, EXCLUDED_WITH_LEASE);
  const partition = partitionOf(given.partition);
  const metabyte = checkOptionalInteger(given.metabyte, "metabyte");
  const sequenceMin = checkOptionalInteger(given.sequenceMin, "sequenceMin");
  const sequenceMax = checkOptionalInteger(given.sequenceMax, "sequenceMax");
  const bounds = { sequenceMin: sequenceMin || 0, sequenceMax: Number.isNaN(sequenceMax) ? 65535 : sequenceMax };
  return {
    shared,
    own: { metabyte, partition, sequenceMin, sequenceMax },
    clock,
    sharing: sharing && { ...bounds, ...sharing },
    times,
    metabyte: metabyte || 0,
    leases: how === 0 && Number.isNaN(partition) && !lease,
    lease,
  };
}

function partitionOf(value: unknown): number {
  if (!isBytes(value)) return checkOptionalInteger(value, "partition");
  const length = arrayLength(value);
  if (length !== 2) {
    throw new PolyflakeError("invalid_length", `expected 2 bytes of partition, found ${length}`, {
      field: "partition",
    });
  }
  const [high, low] = new Uint8Array(value);
  return (high! << 8) | low!;
}

/**
 * Returns the numbers in a snapshot, in the order that backend calls expect: the format, the partition's two bytes, and the
 * counters.
 */
export function numbersOf(snapshot: unknown): readonly number[] {
  const found = members(snapshot, "snapshot", ["format", "partition", ...COUNTERS], "rejected");
  const given = fields(found, "snapshot", ["partition", ...COUNTERS]);
  const format = found.format === undefined ? DEFAULT_FORMAT : checkInteger(found.format, "format");
  const partition = checkPair(given.partition, "partition", "bytes").map((byte) => checkInteger(byte, "partition"));
  return [format, ...partition, ...COUNTERS.map((name) => checkInteger(given[name], name))];
}

/** Reads the snapshot from the result of the call that closed a generator. */
export function readSnapshot(m: Machine): Snapshot {
  const [format, high, low, ...counters] = m.answer();
  const named = COUNTERS.map((name, k) => [name, counters[k]]);
  return { format, partition: [high, low], ...Object.fromEntries(named) };
}

/** Reads the statistics from the result of a call. */
export function readStats(m: Machine): Stats {
  const [partition, sequenceMin, sequenceMax, sequence, len, now, wallHi, wallSafe, drifts, closed] = m.answer();
  const numbers = { sequenceMin, sequenceMax, sequence, len, now, wallHi, wallSafe, drifts };
  return { partition: Number.isNaN(partition) ? undefined : partition, ...numbers, closed: closed === 1 };
}
