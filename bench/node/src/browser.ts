/** One ID in Chromium, against its own `crypto.randomUUID`. Entries run in a page; this process only says when. */
import { type Contest, type Entry, entry } from "./contest.js";

/** A part of packages/js/test/browser.mjs, which opens pages for the tests. */
interface Browsers {
  isMissing: string | false;
  browse(path: string, headers: Record<string, string>): Promise<{ page: Page; close(): Promise<void> }>;
}

interface Page {
  evaluate<Given, Made>(call: (given: Given) => Made | Promise<Made>, given: Given): Promise<Made>;
}

/** Headers under which a page's clock shows 5 µs instead of 100. */
const ISOLATED = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

const NAME = "node: one ID as text, in Chromium";
const GOAL = "node: a sno text in wasm, in Chromium";

export function isMeantBy(text: string): boolean {
  return [NAME, GOAL].some((name) => name.includes(text));
}

/** The calls, by their names, in the page's own words. */
const CALLS = {
  ours: "new sno.Generator({ partition: 5 }).generate",
  uuid: "() => crypto.randomUUID()",
  now: "Date.now",
  passed: "() => performance.now()",
};

/** The contest, and a function that ends it. */
export async function one(): Promise<[Contest, () => Promise<void>]> {
  const { isMissing, browse }: Browsers = await import(
    new URL("../../../packages/js/test/browser.mjs", import.meta.url).href
  );
  if (isMissing) return [{ name: NAME, entries: [], missing: [{ name: GOAL, why: isMissing }] }, async () => {}];
  const { page, close } = await browse("examples/web/style.css", ISOLATED);
  await page.evaluate(prepare, CALLS);
  const of = (name: string, call: keyof typeof CALLS, ours: boolean): Entry =>
    entry(name, (count) => page.evaluate(timed, { call, count }), ours);
  const [sno, uuid] = [of("sno, in wasm", "ours", true), of("crypto.randomUUID", "uuid", false)];
  const entries = [sno, uuid, of("Date.now alone", "now", false), of("performance.now alone", "passed", false)];
  return [{ name: NAME, entries, goals: [{ name: GOAL, ours: sno, against: uuid, most: 1 }] }, close];
}

type Loops = { loops: Record<string, (count: number) => number> };

/** Compiles a loop around each call, in the page. */
async function prepare(calls: Record<string, string>): Promise<void> {
  const { sno } = await import("/packages/js/dist/esm/wasm.js" as string);
  const body = (call: string) => `const call = ${call};
    return (count) => {
      let last;
      const start = performance.now();
      for (let k = 0; k < count; k++) last = call();
      const nanos = (performance.now() - start) * 1e6;
      if (last === undefined) throw new Error("a call gave nothing");
      return nanos;
    };`;
  const made = Object.entries(calls).map(([name, call]) => [name, new Function("sno", body(call))(sno)]);
  (globalThis as unknown as Loops).loops = Object.fromEntries(made);
}

function timed({ call, count }: { call: string; count: number }): number {
  return (globalThis as unknown as Loops).loops[call]!(count);
}
