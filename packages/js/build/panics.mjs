/**
 * Takes the reports of panics out of a module. The panic handler of `bindings-wasm` ends the instance without a message, but the
 * compiler keeps all messages, their formatting, and their places in the sources, with paths of the machine that built the module.
 */
import { readFileSync, writeFileSync } from "node:fs";
import binaryen from "binaryen";

/** Functions of the standard library that end in the panic handler on every path. */
const REPORTS =
  /^<?(core|alloc|__rustc)\[.*(panicking::|panic_already|_fail(ed)?$|handle_error|alloc_error|capacity_overflow)/;
/** Path of a source file, as a part of a place. */
const SOURCE = /^[\w./@-]+\.rs$/;
/** Size of a place: address and length of its path, line, column. */
const PLACE = 16;

/** Replaces the functions that report panics by traps, and their places by zeros, which nothing reads from then on. */
export function stripPanics(path) {
  const module = binaryen.readBinary(readFileSync(path));
  const trap = module.unreachable();
  for (let index = 0; index < module.getNumFunctions(); index++) {
    const func = module.getFunctionByIndex(index);
    const { name, results } = binaryen.getFunctionInfo(func);
    if (REPORTS.test(name) && results === binaryen.none) binaryen.Function.setBody(func, trap);
  }
  const stripped = Buffer.from(module.emitBinary());
  for (let index = 0; index < module.getNumDataSegments(); index++) {
    const { data, offset } = module.getDataSegmentInfo(module.getDataSegmentByIndex(index));
    blankPlaces(partOf(stripped, Buffer.from(data)), offset);
  }
  module.dispose();
  writeFileSync(path, stripped);
}

/** The part of a module that holds the bytes of a data segment. */
export function partOf(module, data) {
  const from = module.indexOf(data);
  if (from < 0) throw new Error(`expected a data segment of ${data.length} bytes in the module, found none`);
  return module.subarray(from, from + data.length);
}

/** Blanks the places of a data segment, which lies at `base` in the memory, and their paths. */
function blankPlaces(data, base) {
  const text = data.toString("latin1");
  for (let at = 0; at + PLACE <= data.length; at += 4) {
    const from = data.readUInt32LE(at) - base;
    const to = from + data.readUInt32LE(at + 4);
    if (from < 0 || to > data.length || !SOURCE.test(text.slice(from, to))) continue;
    data.fill(0, at, at + PLACE);
    data.fill(0, from, to);
  }
}
