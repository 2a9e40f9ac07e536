/** Warns of a generator that can generate the same ID as another generator of this copy of the package. The core compares them. */
import type { Handle } from "./handle.js";

/** A generator's identity, for the comparison and for the warning. */
export interface Identity {
  /** Only generators of the same group are compared, so that many generators are created as fast as few. */
  readonly group: string;
  /** A warning is emitted once per key. */
  readonly key: string;
  /** Returns the identity as the warning states it. */
  readonly same: () => string;
  readonly remedy: string;
}

/** A generator, and its handle. Once the generator is collected, another one may have the number of the handle. */
interface Member {
  readonly owner: WeakRef<object>;
  readonly handle: Handle;
}

const groups = /* @__PURE__ */ new Map<string, Member[]>();
/** The keys for which a warning has been emitted. */
const warned = /* @__PURE__ */ new Set<string>();
/** The number of groups at which groups without a generator are removed. */
let room = 64;

/** Records a new generator. If it can generate the same ID as another one of its group, it emits a warning, once per key. */
export function compare(owner: object, handle: Handle, identity: Identity): void {
  if (typeof WeakRef !== "function") return;
  if (groups.size >= room) forget();
  const { group, key } = identity;
  const others = (groups.get(group) ?? []).filter(isAlive);
  if (!warned.has(key) && others.some((other) => handle.mayRepeat(other.handle))) warn(identity);
  groups.set(group, [...others, { owner: new WeakRef(owner), handle }]);
}

function isAlive({ owner }: Member): boolean {
  return owner.deref() !== undefined;
}

function forget(): void {
  for (const [group, members] of groups) if (!members.some(isAlive)) groups.delete(group);
  room = Math.max(64, 2 * groups.size);
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
