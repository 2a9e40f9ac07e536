/**
 * Takes the reports of panics out of a module. The panic handler of `bindings-wasm` ends the instance without a message, but the
 * compiler keeps all messages, their formatting, and their places in the sources, with paths of the machine that built the module.
 */
import { readFileSync, writeFileSync } from "node:fs";
import binaryen from "binaryen";

/** Functions of the standard library that end in the panic handler on every path. */
const REPORTS =
  /^<?(core|alloc|__rustc)\[.*(panicking::|panic_already|_fail(ed)?$|handle_error|alloc_error|capacity_overflow)/;
/** Functions that format texts and numbers: those of the standard library, which only reports use. */
const FORMATTING =
  /^<?(core|alloc)\[\w+\]::fmt::|^<\S+ as core\[\w+\]::fmt::\w+>::fmt$|^core::fmt::Write::write_fmt|::str::count::do_count_chars/;
/** Path of a source file, as a part of a place. */
const SOURCE = /^[\w./@-]+\.rs$/;
/** Size of a place: address and length of its path, line, column. */
const PLACE = 16;

/**
 * Replaces the functions that report panics, and the formatting that they need, by traps, and their places by zeros: nothing runs or
 * reads either from then on.
 */
export function stripPanics(path) {
  const module = binaryen.readBinary(readFileSync(path));
  const trap = module.unreachable();
  const functions = Array.from({ length: module.getNumFunctions() }, (_, index) => module.getFunctionByIndex(index));
  const isReport = ({ name, results }) => REPORTS.test(name) && results === binaryen.none;
  const infos = functions.map((func) => [func, binaryen.getFunctionInfo(func)]);
  const [gone, kept] = [[], []];
  for (const [func, info] of infos) (isReport(info) || FORMATTING.test(info.name) ? gone : kept).push([func, info]);
  for (const [, { name, body }] of kept) refuseFormatting(name, body);
  for (const [func] of gone) binaryen.Function.setBody(func, trap);
  const stripped = Buffer.from(module.emitBinary());
  for (let index = 0; index < module.getNumDataSegments(); index++) {
    const { data, offset } = module.getDataSegmentInfo(module.getDataSegmentByIndex(index));
    blankPlaces(partOf(stripped, Buffer.from(data)), offset);
  }
  module.dispose();
  writeFileSync(path, stripped);
}

/** Refuses a function that formats by the standard library; the core's `words!` puts messages together. */
function refuseFormatting(name, body) {
  for (const [, quoted, plain] of binaryen.emitText(body).matchAll(/\(call \$(?:"([^"]*)"|([^\s()]+))/g)) {
    const callee = quoted ?? plain;
    if (FORMATTING.test(callee))
      throw new Error(`expected no formatting by the standard library, found ${callee} in ${name}`);
  }
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
