/** The methods that the generators of all ID formats have in common. */
import { attached, checkAtMost, checkTime, isObject, runWithDates } from "./checks.js";
import type { Handle } from "./handle.js";
import { type AsyncOptions, checkSignal, fillAsync, type Signal } from "./later.js";
import type { Format } from "./lease/formats.js";
import { isUnavailable, rejectLeased, whenGranted } from "./leased.js";
import type { Machine, NextFunction } from "./machine.js";
import { fillAvailable, fillUp } from "./packed.js";
import { register } from "./protocol.js";
import { addDisplay, emptyJson } from "./show.js";

/**
 * The parts of a generator that depend on the ID format.
 */
export interface Family<Id, Many> {
  readonly name: Format;
  /**
   * `size` is the number of bytes in an ID. `batch` is the maximum number of IDs in one call to the backend. `most` is the
   * maximum number of IDs that a caller can request in one call.
   */
  readonly size: number;
  readonly batch: number;
  readonly most: number;
  /** The number of parameters that a call accepts for each ID. */
  readonly parameters: 0 | 1;
  /** Writes the handle and the parameter, which are arguments of every call that generates IDs. */
  readonly ready: (parameter: unknown) => Machine;
  /** Generates one ID from the arguments in the scratch area, or returns undefined if the call failed. */
  readonly next: NextFunction<Id>;
  /** Reads the ID that a call generated. */
  readonly one: (m: Machine) => Id;
  /** Returns a copy of the packed ID that an asynchronous call wrote to the scratch area. */
  readonly packed: (m: Machine) => Uint8Array;
  /** Returns the packed IDs that a batch call generated. The caller must copy them immediately. */
  readonly filled: (m: Machine) => Uint8Array;
  /** Creates an array from packed IDs. */
  readonly many: (packed: Uint8Array) => Many;
  /** Returns the properties, by name, that a console shows in addition to the format. */
  readonly shown?: (handle: Handle) => Readonly<Record<string, unknown>>;
}

/**
 * The base class of all generators. `Parameters` is a tuple type that contains the parameter of `generate`, or is empty if
 * `generate` has no parameter.
 */
export abstract class AnyGenerator<
  Parameters extends unknown[],
  Id,
  Many extends { at(index: number): Id | undefined },
> {
  /**
   * Returns a new ID.
   *
   * This is a property of each generator, not a method of the class, so that you can detach it and call it as a plain function.
   * The property also prevents the generator from being cloned.
   */
  declare readonly generate: (...parameters: Parameters) => Id;
  readonly #handle: Handle;
  readonly #family: Family<Id, Many>;

  constructor(handle: Handle, family: Family<Id, Many>) {
    this.#handle = handle;
    this.#family = family;
    addDisplay(this, emptyJson, AnyGenerator.#shown);
    const { ready, next } = family;
    // A rest parameter would be slower, because each call would create an array.
    const generate = (parameter?: unknown): Id => {
      ready(parameter);
      return next() ?? handle.throwError();
    };
    this.generate = generate as unknown as typeof this.generate;
  }

  /**
   * Returns `count` new IDs. The count can be at most 16,777,216, and a layout's IDs can take up at most 256 MiB in total.
   * The IDs are sorted by time if the format's or the layout's `describe()` reports `sortsByTime`.
   *
   * @throws {PolyflakeError} the same errors as `generate`, with `written` set to the number of IDs that were generated before
   * the error; `out_of_range` if the count is invalid.
   */
  generateMany(count: number, ...parameters: Parameters): Many {
    attached(isObject(this) && #handle in this);
    const { size, batch, many } = this.#family;
    const some = (count: number, made: number) => this.#fill("generatorFill", count, parameters[0], made);
    return many(fillUp(this.#room(count), size, batch, some));
  }

  /**
   * Returns a new ID if one is available without waiting. `onExhausted` and `maxWait` are ignored.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt` if the call would have to wait; otherwise
   * the same errors as `generate`.
   */
  tryGenerate(...parameters: Parameters): Id {
    attached(isObject(this) && #handle in this);
    const m = this.#family.ready(parameters[0]);
    this.#handle.check(m.calls.generatorTryGenerate());
    return this.#family.one(m);
  }

  /**
   * Returns up to `count` new IDs without waiting. The array is shorter than `count`, or empty, if fewer IDs are available.
   *
   * @throws {PolyflakeError} the same errors as {@link AnyGenerator.generateMany}, except `sequence_exhausted` and
   * `clock_behind`.
   */
  tryGenerateMany(count: number, ...parameters: Parameters): Many {
    attached(isObject(this) && #handle in this);
    const { size, batch, many } = this.#family;
    const some = (count: number, made: number) => this.#fill("generatorTryFill", count, parameters[0], made);
    return many(fillAvailable(this.#room(count), size, batch, some));
  }

  /**
   * Resolves to a new ID.
   *
   * The call does not block the thread while it waits. `onExhausted`, `maxWait` and `onStall` have the same effect as in
   * `generate`.
   *
   * @throws {PolyflakeError} the same errors as `generate`, and the signal's reason if the signal is aborted. The promise
   * rejects with the error.
   */
  async generateAsync(...parameters: [...Parameters, options?: AsyncOptions]): Promise<Id> {
    attached(isObject(this) && #handle in this);
    const id = await this.#later(parameters[0], this.#signal(parameters));
    return this.#family.many(id).at(0)!;
  }

  /**
   * Resolves to `count` new IDs, with the same limits as {@link AnyGenerator.generateMany}. The call yields to other work at
   * least once every 65,536 IDs. If the call is aborted, the IDs that it has generated are lost.
   *
   * @throws {PolyflakeError} the same errors as {@link AnyGenerator.generateMany}, and the signal's reason if the signal is
   * aborted. The promise rejects with the error.
   */
  async generateManyAsync(count: number, ...parameters: [...Parameters, options?: AsyncOptions]): Promise<Many> {
    attached(isObject(this) && #handle in this);
    const signal = this.#signal(parameters);
    const { size, batch, many } = this.#family;
    const some = (count: number, made: number) => this.#some(count, parameters[0], made);
    const one = (made: number) => this.#later(parameters[0], signal, made);
    return many(await fillAsync(this.#room(count), size, batch, { some, one }, signal));
  }

  /** Returns what a console shows: the format, the properties that identify the generator, and its backend. */
  static #shown(this: AnyGenerator<unknown[], unknown, { at(index: number): unknown }>): string {
    const { name, shown } = this.#family;
    const { lease, machine } = this.#handle;
    const members = { format: name, ...shown?.(this.#handle), lease: lease !== undefined, backend: machine.kind };
    const texts = Object.entries(members).map(([key, value]) => `${key}: ${value}`);
    return `${this.constructor.name} { ${texts.join(", ")} }`;
  }

  #room(count: unknown): Uint8Array {
    return new Uint8Array(checkAtMost(count, "count", this.#family.most) * this.#family.size);
  }

  /** Returns the signal from the options, which are the last parameter of a call. */
  #signal(parameters: readonly unknown[]): Signal | undefined {
    const options = parameters[this.#family.parameters];
    return checkSignal(options === undefined ? {} : options);
  }

  /** Generates one ID, waiting if needed, and returns its bytes. */
  #later(parameter: unknown, signal: Signal | undefined, made?: number): Promise<Uint8Array> {
    const one = () => {
      this.#family.ready(parameter);
      return this.#handle.later("generatorGenerateAsync", this.#family.packed, signal, made);
    };
    return this.#handle.lease ? whenGranted(this.#handle, signal, one) : one();
  }

  /**
   * Generates at most `count` IDs without waiting. While the generator's lease has no grant, this method returns an empty
   * array, so that the caller requests the next ID through a call that waits for the grant.
   */
  #some(count: number, parameter: unknown, made: number): Uint8Array {
    try {
      return this.#fill("generatorTryFill", count, parameter, made);
    } catch (error) {
      if (isUnavailable(this.#handle, error)) return new Uint8Array(0);
      throw error;
    }
  }

  /**
   * Generates `count` IDs or, with `generatorTryFill`, as many as are available without waiting. The caller must copy the
   * bytes immediately.
   */
  #fill(call: "generatorFill" | "generatorTryFill", count: number, parameter: unknown, made: number): Uint8Array {
    const m = this.#family.ready(parameter);
    m.numbers[register.count] = count;
    this.#handle.check(m.calls[call](), made, false, call === "generatorFill" ? "generateManyAsync" : undefined);
    return this.#family.filled(m);
  }
}

/** The base class of all generators that can have a window. */
export abstract class WindowGenerator<
  Parameters extends unknown[],
  Id,
  Many extends { at(index: number): Id | undefined },
> extends AnyGenerator<Parameters, Id, Many> {
  readonly #handle: Handle;

  constructor(handle: Handle, family: Family<Id, Many>) {
    super(handle, family);
    this.#handle = handle;
  }

  /**
   * Moves the end of the window to a later time, which is a Date or an integer in Unix milliseconds. The call has no effect
   * if the new end is not later than the current one, or if the generator has no window.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type; `out_of_range` if the end is before the start
   * of the window; `time_out_of_range` if the end is past the format's time range; `unknown_field` if the layout has no
   * timestamp; `worker_id_in_use` if another generator uses the worker ID in the added time.
   */
  extendWindow(end: Date | number): void {
    attached(isObject(this) && #handle in this);
    rejectLeased(this.#handle);
    const later = checkTime(end, "end");
    runWithDates([end], () => this.#handle.extend(later));
  }
}
