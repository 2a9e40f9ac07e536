/**
 * Generators with a lease. A lease from `polyflake/lease` contains the rules and the store. The code in this file switches
 * the generator from one grant to the next. For each grant, the backend creates a new generator whose window is the grant,
 * and the JavaScript generator's handle switches to it.
 *
 * The core guarantees the safety of a grant. The window rejects each tick outside of the grant. Sealing first closes a
 * generator and then reads the generator's last tick, so that no ID can be generated after that tick was read. A grant
 * never begins before the end of the last tick that was used under the previous grant, even if both grants have the same
 * worker ID.
 *
 * Rust and Python use the core's own type for this, which switches between grants without a lock. Here, one thread makes
 * all calls, so that type would have no benefit, but it would increase the size of the package. With that type, the wasm
 * modules of sno and Randflake were about 10 KB larger, mostly because of the code that switches between grants and a
 * second copy of the asynchronous call.
 */
import { isObject } from "./checks.js";
import type { GuardedClock } from "./clock.js";
import { type ErrorDetails, invalidType, PolyflakeError } from "./errors.js";
import type { Handle } from "./handle.js";
import { abortableSleep, type Signal } from "./later.js";
import type { DefaultFormat } from "./lease/formats.js";
import { register } from "./protocol.js";

/**
 * The key of two functions: the lease method that accepts a generator, and the global function that returns leases for
 * default generators. All copies of the package use the same key.
 */
const LEASE_KEY = /* @__PURE__ */ Symbol.for("polyflake.lease");

/** A lease from `polyflake/lease`. As long as it is renewed, no other generator in the namespace has the same worker ID. */
export interface AnyLease {
  /** Resolves once a worker ID is leased. */
  ready(): Promise<unknown>;
  /** Closes the lease and releases the worker ID. */
  close(): Promise<void>;
}

/** The properties and the methods of a generator that its lease uses. */
export interface Grantee {
  readonly settings: Readonly<Record<"family" | "secret" | "layout", string | undefined>> & {
    readonly fields: readonly string[] | undefined;
  };
  /** Returns the generator's time, in Unix milliseconds. */
  now(): number;
  /** Begins a grant, whose start and end are in Unix milliseconds, and seals the generator for the previous grant. */
  begin(number: number, start: number, end: number): void;
  /** Moves the end of the grant to a later time. */
  extend(end: number): void;
  /**
   * Ends the grant permanently. Returns the end of the last tick that was used under it, in Unix milliseconds, or undefined if
   * the grant was not used.
   *
   * @throws if that tick is unknown. Even in this case, the grant has ended, and any of its ticks may have been used.
   */
  seal(): number | undefined;
  /**
   * Stops the generator because the user has closed the lease. The rules then call {@link Grantee.seal}, and release the worker
   * ID.
   */
  close(): void;
}

/** The part of a lease that its generator uses. */
export interface AttachedLease {
  /** Returns the reason why no ID is available, and the earliest time when an ID may become available. */
  reason(): { message: string; until: number | undefined; permanent: boolean };
  /** The maximum time that a call waits for a grant, in milliseconds. */
  readonly longest: number;
  /** `true` once the lease has had a grant. */
  granted: boolean;
  /** `true` once the user has closed the lease. */
  closed: boolean;
  /** `true` after a call has waited for a grant without success. From then on, calls fail immediately until a grant arrives. */
  waited?: boolean;
  /** Begins the grant that the lease already has, if any. */
  attached(): void;
}

/** The settings of an ID format, and the function that creates its generator for a worker ID. */
interface HandleParts {
  readonly settings: Partial<Grantee["settings"]> & { readonly family: string };
  readonly clock: GuardedClock | undefined;
  readonly build: (number: number, start: number, end: number) => Handle;
}

/**
 * Returns the lease in the options. The options in `others` cannot be combined with a lease and are rejected.
 *
 * @throws {PolyflakeError} `invalid_type` unless the option is a lease; `lease_mismatch` if another option conflicts with it.
 */
export function readLease(options: Readonly<Record<string, unknown>>, others: readonly string[]): AnyLease | undefined {
  const { lease } = options;
  if (lease === undefined) return undefined;
  if (!isLease(lease)) throw invalidType("Lease of polyflake/lease", lease, { field: "lease" });
  const field = others.find((name) => options[name] !== undefined);
  if (field === undefined) return lease;
  throw new PolyflakeError("lease_mismatch", `expected no \`${field}\` beside a lease, which decides it`, { field });
}

/** Returns whether a value is a lease from any copy of the package. */
export function isLease(value: unknown): value is AnyLease & { [LEASE_KEY](grantee: Grantee): AttachedLease } {
  return isObject(value) && typeof Reflect.get(value, LEASE_KEY) === "function";
}

/**
 * Creates the handle for a generator with a lease. Until the first grant, the handle refers to a closed generator that
 * exists only to validate the options.
 *
 * @throws {PolyflakeError} the same errors as a generator's constructor; `lease_mismatch` if the lease already has a generator.
 */
export function createLeasedHandle(lease: AnyLease, { settings, clock, build }: HandleParts): Handle {
  const handle = createClosedGenerator(build);
  const take = (lease as unknown as { [LEASE_KEY](grantee: Grantee): AttachedLease })[LEASE_KEY];
  handle.lease = take.call(lease, {
    settings: { secret: undefined, layout: undefined, fields: undefined, ...settings },
    now: clock ? clock.read : Date.now,
    ...grantMethods(handle, build),
  } as Grantee);
  handle.lease.attached();
  return handle;
}

/** Creates a generator without a grant, which rejects every call. */
function createClosedGenerator(build: HandleParts["build"]): Handle {
  const built = build(0, NaN, NaN);
  built.call("generatorSeal");
  return built;
}

/** Returns the methods that a lease calls to switch a generator's handle from one grant to the next. */
function grantMethods(
  handle: Handle,
  build: HandleParts["build"],
): Pick<Grantee, "begin" | "extend" | "seal" | "close"> {
  let isOpen = false;
  let used = NaN;
  const seal = (): number | undefined => {
    if (!isOpen) return undefined;
    isOpen = false;
    try {
      const end = handle.call("generatorSeal").numbers[register.answer]!;
      if (!Number.isNaN(end)) used = end;
      return Number.isNaN(end) ? undefined : end;
    } finally {
      // This also ends calls in progress, even if sealing the generator failed.
      handle.become(createClosedGenerator(build));
    }
  };
  /**
   * Returns the result that `seal` reports to the rules. After the user has closed the lease, it is the result of sealing
   * the generator at the time of closing.
   */
  let reported = seal;
  return {
    begin(number, start, end) {
      if (handle.lease!.closed) throw leaseUnavailableError(handle.lease!, {});
      seal();
      // The same worker ID may be leased again, but no two grants may use the same tick.
      handle.become(build(number, Number.isNaN(used) ? start : Math.max(start, used), end));
      isOpen = true;
      handle.lease!.granted = true;
      handle.lease!.waited = false;
    },
    extend(end) {
      if (isOpen) handle.extend(end);
    },
    seal: () => reported(),
    close() {
      if (handle.lease!.closed) return;
      handle.lease!.closed = true;
      reported = captureResult(seal);
    },
  };
}

/** Calls a function, and returns a function that returns the same result or throws the same error. */
function captureResult<T>(call: () => T): () => T {
  try {
    const result = call();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The time between two checks by a call that waits for a grant, in nanoseconds. */
const POLL_NANOS = 10e6;

/**
 * Calls `make`, and retries the call as long as it fails because the lease has no grant. Gives up after the lease's maximum
 * wait. The process stays alive during the wait.
 */
export async function whenGranted<T>(handle: Handle, signal: Signal | undefined, make: () => Promise<T>): Promise<T> {
  for (let waited = 0; ; waited += POLL_NANOS / 1e6) {
    try {
      return await make();
    } catch (error) {
      if (!isUnavailable(handle, error)) throw error;
      const lease = handle.lease!;
      if (waited >= lease.longest) lease.waited = true;
      if (lease.waited || lease.reason().permanent) throw error;
    }
    await abortableSleep(POLL_NANOS, signal);
  }
}

/** Returns whether an error means that a generator's lease currently has no grant. */
export function isUnavailable(handle: Handle, error: unknown): boolean {
  return handle.lease !== undefined && error instanceof PolyflakeError && error.code === "lease_unavailable";
}

/** Creates the error for a call to a generator whose lease is closed or has no grant. */
export function leaseUnavailableError(lease: AttachedLease, details: ErrorDetails): PolyflakeError {
  if (lease.closed) return new PolyflakeError("generator_closed", "generator is closed", details);
  const { message, until } = lease.reason();
  return new PolyflakeError(
    "lease_unavailable",
    message,
    until === undefined ? details : { retryAt: until, ...details },
  );
}

/** Throws an error if the generator has a lease. The methods that call this function do not support leases. */
export function rejectLeased({ lease }: Handle): void {
  if (!lease) return;
  const reason = "expected a generator without a lease; to end this one, close its lease";
  throw new PolyflakeError("lease_mismatch", reason);
}

/**
 * Returns the options for a format's default generator. They contain a lease if the `POLYFLAKE_LEASE` or
 * `POLYFLAKE_WORKER_ID` environment variable is set.
 *
 * @throws {PolyflakeError} `lease_unavailable` if `polyflake/lease` is not loaded; other errors if a variable is invalid.
 */
function environmentOptions(family: DefaultFormat): { lease?: AnyLease } {
  const name = findLeaseVariable();
  if (name === undefined) return {};
  const realm = globalThis as { [LEASE_KEY]?: (family: string) => AnyLease };
  if (realm[LEASE_KEY]) return { lease: realm[LEASE_KEY](family) };
  throw new PolyflakeError(
    "lease_unavailable",
    `expected polyflake/lease, since ${name} is set, found it not loaded in this realm: start with node --import polyflake/lease, or import it first (Jest: setupFiles); edge runtimes have no leases`,
  );
}

/**
 * Warns that a generator picks a random worker ID although an environment variable requests a leased worker ID. Another
 * process may have leased the worker ID that the generator picks.
 */
export function warnWithoutLease(): void {
  let name: string | undefined;
  try {
    name = findLeaseVariable();
  } catch {
    // If Deno denies access to the environment variables, continue, because the generator does not need them.
  }
  if (name === undefined) return;
  emitWarning(
    "polyflake_unleased",
    `${name} is set, but this generator picks a random partition, which may be leased: pass a lease`,
  );
}

/** Emits a process warning, which Node, Bun and Deno print. Other runtimes do not support process warnings. */
function emitWarning(code: string, text: string): void {
  const host = (globalThis as { process?: { emitWarning?: unknown } }).process;
  if (typeof host?.emitWarning === "function") host.emitWarning(text, { type: "PolyflakeWarning", code });
}

/**
 * The name of a global map from formats to default generators with a lease, which all copies of the package on a thread share.
 */
const DEFAULT_GENERATORS_KEY = /* @__PURE__ */ Symbol.for("polyflake.lease.generators");

type DefaultGenerators = Map<string, { lease: AnyLease; generator: object }>;

/**
 * Returns the generator that a format's `generate` uses. With `POLYFLAKE_LEASE`, another copy of the package on this thread
 * may already have created it. All copies share that generator, because a second generator would need a second worker ID,
 * and a synchronous call cannot wait for a worker ID.
 *
 * @throws {PolyflakeError} the same errors as {@link environmentOptions}.
 */
export function defaultGenerator<G extends object>(
  family: DefaultFormat,
  make: (options: { lease?: AnyLease }) => G,
): G {
  const realm = globalThis as { [DEFAULT_GENERATORS_KEY]?: DefaultGenerators };
  const held = realm[DEFAULT_GENERATORS_KEY]?.get(family);
  if (held) return held.generator as G;
  const { lease } = environmentOptions(family);
  if (!lease) return make({});
  const generator = make({ lease });
  (realm[DEFAULT_GENERATORS_KEY] ??= new Map()).set(family, { lease, generator });
  return generator;
}

/** Removes a closed lease's default generators, so that the next default generator starts a new lease. */
export function removeDefaultGenerators(lease: AnyLease): void {
  const all = (globalThis as { [DEFAULT_GENERATORS_KEY]?: DefaultGenerators })[DEFAULT_GENERATORS_KEY];
  for (const [family, held] of all ?? []) if (held.lease === lease) all!.delete(family);
}

/**
 * Returns the name of the environment variable that requests a lease, or undefined if no such variable is set.
 *
 * @throws {PolyflakeError} `lease_unavailable` in Deno, unless the program has permission to read the variables.
 */
function findLeaseVariable(): string | undefined {
  const { process: host } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return ["POLYFLAKE_LEASE", "POLYFLAKE_WORKER_ID"].find((name) => host?.env?.[name] !== undefined);
  } catch (cause) {
    throw new PolyflakeError(
      "lease_unavailable",
      "expected the permission to read POLYFLAKE_LEASE, found none: start with deno run --allow-env=POLYFLAKE_LEASE,POLYFLAKE_WORKER_ID",
      { cause },
    );
  }
}
