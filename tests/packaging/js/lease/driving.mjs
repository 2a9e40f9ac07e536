// A thread that does what the suite in conformance.test.mjs asks of a driver, which it finds in the package's sources.
import { createRequire } from "node:module";
import { join } from "node:path";
import { env } from "node:process";
import { workerData } from "node:worker_threads";

const { cells, driver: url, fault } = workerData;
const at = createRequire(join(env.POLYFLAKE_REPOSITORY, "packages/js/package.json"));
const from = (file) => `export * from "${join(env.POLYFLAKE_REPOSITORY, "packages/js/src", file)}";`;
const { outputFiles } = await at("esbuild").build({
  stdin: {
    contents: from("lease/sqlite.ts") + from("lease/postgresql.ts") + from("lease/driver.ts") + from("lease/rules.ts"),
    resolveDir: ".",
  },
  bundle: true,
  write: false,
  format: "cjs",
  platform: "node",
  plugins: [
    {
      name: "rules",
      setup(build) {
        build.onResolve({ filter: /^#lease-base64$/ }, () => ({ path: "rules", namespace: "rules" }));
        const base64 = at("node:fs").readFileSync(
          join(env.POLYFLAKE_REPOSITORY, "packages/js/build/out/lease.wasm"),
          "base64",
        );
        build.onLoad({ filter: /./, namespace: "rules" }, () => ({ contents: `export const base64 = "${base64}";` }));
      },
    },
  ],
});
const module = { exports: {} };
new Function("module", "exports", "require", outputFiles[0].text)(module, module.exports, at);
const { failureOf, postgresql, Rules, sqlite } = module.exports;
const driver = url.startsWith("sqlite:") ? sqlite(url.slice(7), new Rules()) : postgresql(url);

const [state, text] = [new Int32Array(cells, 0, 2), new Uint8Array(cells, 8)];
let connection;

async function answer({ open, run, close }) {
  if (open) {
    connection = await driver.open();
    return connection.name;
  }
  if (close) await connection.close(false);
  if (!run) return null;
  const rows = [];
  try {
    for (const [text, values] of run) rows.push(await connection.run(text, values));
  } catch (error) {
    return { rows, failure: failureOf(error) };
  }
  if (fault === "rows") return { rows: rows.map((found) => found.slice(0, 1)), failure: null };
  const textOf = (value) => (typeof value === "number" ? String(value) : value);
  return { rows: fault === "texts" ? rows.map((found) => found.map((row) => row.map(textOf))) : rows, failure: null };
}

for (;;) {
  Atomics.wait(state, 0, 0);
  const found = await answer(JSON.parse(new TextDecoder().decode(text.slice(0, state[1]))));
  const bytes = new TextEncoder().encode(JSON.stringify(found));
  text.set(bytes);
  state[1] = bytes.length;
  Atomics.store(state, 0, 0);
  Atomics.notify(state, 0);
}
