/**
 * Measures the core in wasm, with SIMD and without: two builds of bench/wasm, which `cargo xtask bench` puts beside this program.
 */
import { readFileSync } from "node:fs";
import { type Contest, type Entry, ours } from "./contest.js";

const BLOCKS = 4096;

type Direction = "encrypt" | "decrypt";
type Exports = Record<Direction, () => number>;

function build(name: string): Exports {
  const module = new WebAssembly.Module(readFileSync(new URL(`${name}.wasm`, import.meta.url)));
  return new WebAssembly.Instance(module).exports as Exports;
}

function entry(name: string, direction: Direction): Entry {
  return { ...ours(name, build(name)[direction]), items: BLOCKS };
}

/** The contest for one direction of the cipher, over a slice. */
export function sparx(direction: Direction): Contest {
  const [scalar, simd128] = [entry("scalar", direction), entry("simd128", direction)];
  const goal = { name: `node: SPARX ${direction} 4096 in wasm, SIMD`, ours: simd128, against: scalar, most: 1 / 5 };
  return { name: `node: SPARX-64 in wasm, 4096 blocks ${direction}ed`, entries: [scalar, simd128], goals: [goal] };
}
