import { checkInteger } from "../checks.js";
import { checkPair, members } from "../members.js";
import { register } from "../protocol.js";
import { machine } from "./ids.js";

/**
 * The right to use one node, or a range of nodes, during a time span. The time span includes `start` and excludes `end`. Both
 * are Unix timestamps in seconds.
 *
 * The issuer of grants must ensure that no two grants share a node in the same second. Use a grant for only one generator, and
 * only once.
 */
export class Grant {
  /** The first and the last node, both inclusive. */
  readonly nodes: readonly [first: number, last: number];
  /** The first second of the grant, as a Unix timestamp. */
  readonly start: number;
  /** The first second after the grant, as a Unix timestamp. */
  readonly end: number;

  /**
   * Creates a grant for one node, or for a range from the first node to the last one.
   *
   * @throws {PolyflakeError} `invalid_type` if an argument has the wrong type; `out_of_range` if a node is outside 0..131071,
   * if the last node is below the first, or unless 1730000000 <= start < end <= 2803741824.
   */
  constructor(nodes: number | readonly [first: number, last: number], start: number, end: number) {
    const [first, last] = typeof nodes === "number" ? [nodes, nodes] : checkPair(nodes, "nodes", "integers");
    this.nodes = Object.freeze([checkInteger(first, "nodes"), checkInteger(last, "nodes")] as const);
    this.start = checkInteger(start, "start");
    this.end = checkInteger(end, "end");
    Object.freeze(this);
    const m = machine();
    m.numbers.set(numbersOf(this), register.value);
    m.check(m.calls.randflakeGrant());
  }
}

/**
 * Returns the numbers in a grant, in the order in which backend calls read them: the first and the last node, the start and
 * the end.
 */
export function numbersOf(grant: unknown): [first: number, last: number, start: number, end: number] {
  const { nodes, start, end } = members(grant, "grant", ["nodes", "start", "end"], "ignored");
  const [first, last] = checkPair(nodes, "nodes", "integers");
  return [
    checkInteger(first, "nodes"),
    checkInteger(last, "nodes"),
    checkInteger(start, "start"),
    checkInteger(end, "end"),
  ];
}
