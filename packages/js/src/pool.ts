import { isObject } from "./checks.js";
import { invalidType, PolyflakeError } from "./errors.js";
import type { Handle } from "./handle.js";
import { fillLater, type Signal } from "./later.js";
import type { Machine, MachineFor } from "./machine.js";
import { MessageWriter } from "./message.js";
import { fillBy, fillNow } from "./packed.js";
import type { CallName } from "./protocol.js";

/** The calls that refuse generators that may not be used together. */
export type PoolCall = Extract<CallName, `${string}Pool`>;

/** A generator, as a pool sees it. */
export interface Member {
  readonly handle: Handle;
  /** Metabyte of IDs made without one; the same for all members. */
  readonly metabyte?: number;
  /**
   * Makes `count` IDs, at most a batch, and returns their bytes, to be copied at once. Without waiting there may be fewer, or none;
   * errors count the IDs `made` before.
   */
  fill(count: number, about: unknown, made: number, waits: boolean): Uint8Array;
  /** Makes one ID, or throws if none can be made now. */
  now(about: unknown): unknown;
  /** Makes one ID, waiting if needed, and returns its bytes; errors of a batch count the IDs `made` before. */
  later(about: unknown, signal: Signal | undefined, made?: number): Promise<Uint8Array>;
}

/** Most members: each is tried before a call waits. */
const MOST = 65_536;

const enrolled = /* @__PURE__ */ new WeakMap<object, Member>();

/** Registers a generator for pools. */
export function enroll(generator: object, member: Member): void {
  enrolled.set(generator, member);
}

/**
 * A generator of a family's class.
 *
 * @throws {PolyflakeError} `invalid_type` for anything else.
 */
export function generatorOf<G extends object>(value: unknown, Generator: new () => G): G {
  if (isObject(value) && enrolled.has(value) && value instanceof Generator) return value;
  throw invalidType("Generator of this copy of the package", value, { field: "generator" });
}

/** Generators of one family, used one after the other, so that a tick holds the IDs of all of them. */
export class Members<G extends object> {
  /** The generators. */
  readonly all: readonly G[];
  readonly #members: readonly Member[];
  /** Index of the member that made the last ID, and so most likely has another. */
  #current = 0;

  /**
   * Takes at least one generator, all of one machine; `check` is the call that refuses two generators that might repeat each
   * other's IDs.
   *
   * @throws {PolyflakeError} as the constructors of pools.
   */
  constructor(generators: unknown, machine: Machine, check: PoolCall) {
    const all = listOf(generators);
    this.#members = all.map((generator, item) => memberOf(generator, machine, item));
    this.all = Object.freeze(all as G[]);
    this.#check(machine, check);
    this.#members.forEach(({ metabyte }, item) => this.#checkMetabyte(metabyte, item));
  }

  /**
   * Fills `many` with packed IDs of `size` bytes each, in calls for at most `batch` IDs.
   *
   * @throws {PolyflakeError} the error of a member, with `written`, the number of IDs made before it.
   */
  fill(many: Uint8Array, size: number, batch: number, about?: unknown): Uint8Array {
    return fillBy(many, size, batch, (count, made) => {
      const some = this.#some(count, about, made);
      return some.length > 0 || count === 0 ? some : this.#members[this.#current]!.fill(1, about, made, true);
    });
  }

  /** Fills `many` without waiting, and returns the part that is filled. */
  fillNow(many: Uint8Array, size: number, batch: number, about?: unknown): Uint8Array {
    return fillNow(many, size, batch, (count, made) => this.#some(count, about, made));
  }

  /** Fills `many`, waiting without holding the thread. */
  fillLater(
    many: Uint8Array,
    size: number,
    batch: number,
    signal: Signal | undefined,
    about?: unknown,
  ): Promise<Uint8Array> {
    const some = (count: number, made: number) => this.#some(count, about, made);
    const one = (made: number) => this.#members[this.#current]!.later(about, signal, made);
    return fillLater(many, size, batch, { some, one }, signal);
  }

  /**
   * The ID that the members just made, or, if they had none, one of the current member.
   *
   * @throws {PolyflakeError} the error of the current member.
   */
  one<Id>(made: Id | undefined, about?: unknown): Id {
    return made ?? (this.#members[this.#current]!.now(about) as Id);
  }

  /** IDs of the first member that has any now; empty if no member has. */
  #some(count: number, about: unknown, made: number): Uint8Array {
    const { length } = this.#members;
    for (let k = 0; ; k++) {
      const place = (this.#current + k) % length;
      const some = this.#members[place]!.fill(count, about, made, false);
      if (some.length > 0 || count === 0) this.#current = place;
      else if (k < length - 1) continue;
      return some;
    }
  }

  /** Lets the core check that no two members can repeat each other's IDs. */
  #check(machine: MachineFor<PoolCall>, check: PoolCall): void {
    const handles = new MessageWriter();
    for (const { handle } of this.#members) handles.length(handle.number);
    handles.put(machine);
    machine.check(machine.calls[check]());
  }

  #checkMetabyte(metabyte: number | undefined, item: number): void {
    const first = this.#members[0]!.metabyte;
    if (metabyte === first) return;
    const message = `item ${item}: expected the same metabyte in all members, found ${first} and ${metabyte}`;
    throw new PolyflakeError("out_of_range", message, { field: "metabyte", item });
  }
}

/** The items of an iterable; its errors pass through. */
function listOf(value: unknown): unknown[] {
  const isList = isObject(value) && !ArrayBuffer.isView(value); // a view holds numbers, and one without its memory throws
  const iterate = isList ? (value as Iterable<unknown>)[Symbol.iterator] : undefined;
  if (typeof iterate !== "function") throw invalidType("iterable of generators", value, { field: "members" });
  const list: unknown[] = [];
  for (const item of { [Symbol.iterator]: () => iterate.call(value) }) if (list.push(item) > MOST) break;
  if (list.length > 0 && list.length <= MOST) return list;
  const found = list.length === 0 ? "none" : "more";
  throw new PolyflakeError("out_of_range", `expected from 1 to ${MOST} members, found ${found}`, { field: "members" });
}

function memberOf(generator: unknown, machine: Machine, item: number): Member {
  const member = isObject(generator) ? enrolled.get(generator) : undefined;
  if (member?.handle.machine === machine) return member;
  const { code, message } = invalidType("generator of this family, made by the same copy of the package", generator);
  throw new PolyflakeError(code, `item ${item}: ${message}`, { item });
}
