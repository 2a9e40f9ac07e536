/**
 * Warns about a generator that can generate the same ID as another generator of this copy of the package. The core compares
 * the two generators.
 *
 * A conflict causes a warning and not an error, because tests create such generators on purpose, and a program may create a
 * generator before the previous generator is garbage-collected. Only generators with the same identity are compared,
 * because comparing each new generator with all others would make it slow to create many generators.
 */
import type { Handle } from "./handle.js";

/** A generator's identity, for the comparison and for the warning. */
export interface Identity {
  /**
   * The generator's group. Only generators in the same group are compared, so that creating a generator does not take longer
   * when many generators exist.
   */
  readonly group: string;
  /** The key that prevents repeated warnings. At most one warning is emitted per key. */
  readonly key: string;
  /** Returns the description of the identity for the warning's message. */
  readonly same: () => string;
  /** The consequence of the conflict. By default, the warning states that the generators repeat each other's IDs. */
  readonly effect?: string;
  readonly remedy: string;
}

/**
 * A generator and its handle. Once the generator has been garbage-collected, its handle number may be reused for a
 * different generator.
 */
interface Member {
  readonly owner: WeakRef<object>;
  readonly handle: Handle;
}

const groups = /* @__PURE__ */ new Map<string, Member[]>();
/** The keys for which a warning has been emitted. */
const warnedKeys = /* @__PURE__ */ new Set<string>();
/**
 * When the number of groups reaches this limit, groups without a generator are removed. The limit is then set to twice the
 * number of remaining groups, so that removing groups takes constant time per generator on average.
 */
let pruneThreshold = 64;

/**
 * Records a new generator. Emits a warning, at most once per key, if the new generator can generate the same ID as another
 * generator in its group.
 */
export function recordGenerator(owner: object, handle: Handle, identity: Identity): void {
  if (typeof WeakRef !== "function") return;
  if (groups.size >= pruneThreshold) pruneDeadGroups();
  const { group, key } = identity;
  const liveGenerators = (groups.get(group) ?? []).filter(isAlive);
  if (!warnedKeys.has(key) && liveGenerators.some((other) => handle.mayRepeat(other.handle)))
    warnAboutConflict(identity);
  groups.set(group, [...liveGenerators, { owner: new WeakRef(owner), handle }]);
}

function isAlive({ owner }: Member): boolean {
  return owner.deref() !== undefined;
}

function pruneDeadGroups(): void {
  for (const [group, members] of groups) if (!members.some(isAlive)) groups.delete(group);
  pruneThreshold = Math.max(64, 2 * groups.size);
}

function warnAboutConflict({ key, same, effect = "they repeat each other's IDs", remedy }: Identity): void {
  warnedKeys.add(key);
  emitWarning("polyflake_twin", `another generator has the same ${same()}: ${effect}; ${remedy}`);
}

/** Emits a process warning, which Node, Bun and Deno print. Other runtimes do not support process warnings. */
export function emitWarning(code: string, text: string): void {
  const host = (globalThis as { process?: { emitWarning?: unknown } }).process;
  if (typeof host?.emitWarning === "function") host.emitWarning(text, { type: "PolyflakeWarning", code });
}
