// Tests that the entry points for all export conditions, once bundled, generate IDs without Node.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { parse } from "smol-toml";
import { namesOf } from "./catalogue.mjs";

const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
process.on("exit", () => rmSync(folder, { recursive: true }));

/** Returns a bundler plugin that imports wasm modules in compiled form, as edge runtimes do. */
const compiledModules = (seen) => ({
  name: "compiled-modules",
  setup({ onResolve, onLoad, initialOptions }) {
    onResolve({ filter: /\.wasm(\?module)?$/ }, ({ path, resolveDir }) => {
      if (!seen.includes(path)) seen.push(path);
      return { path: join(resolveDir, path.replace("?module", "")), namespace: "compiled" };
    });
    onLoad({ filter: /.*/, namespace: "compiled" }, ({ path }) => ({
      contents: `import { readFileSync } from "node:fs"; export default new WebAssembly.Module(readFileSync(${JSON.stringify(path)}));`,
      loader: "js",
    }));
    initialOptions.external = ["node:fs"];
  },
});

async function bundle(conditions, format, path = "polyflake", name = "sno") {
  const seen = [];
  const file = [...conditions, name === "*" ? "all" : name].join("-");
  const outfile = join(folder, `${file}.${format === "esm" ? "mjs" : "cjs"}`);
  const names = name === "*" ? name : `{ ${name} }`;
  const source = format === "esm" ? `export ${names} from "${path}";` : `module.exports = require("${path}");`;
  await build({
    stdin: { contents: source, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    platform: "neutral",
    format,
    conditions: [...conditions, "module"],
    outfile,
    plugins: [compiledModules(seen)],
  });
  const module = await import(pathToFileURL(outfile));
  return { seen, ...module.default, ...module };
}

test("ES modules and CommonJS have the same names", async () => {
  const require = createRequire(import.meta.url);
  for (const name of ["wasm", "decode", "json", "schema", "drizzle", "forms", "prisma"]) {
    const [esm, cjs] = [await import(`../dist/esm/${name}.js`), require(`../dist/cjs/${name}.js`)];
    assert.deepEqual(namesOf(esm), namesOf(cjs), name);
    for (const family of namesOf(esm).filter((name) => typeof esm[name] === "object"))
      assert.deepEqual(namesOf(esm[family]), namesOf(cjs[family]), `${name}.${family}`);
  }
});

test("in Node, import and require return the same copy", async () => {
  const require = createRequire(import.meta.url);
  for (const path of ["polyflake", "polyflake/native", "polyflake/wasm", "polyflake/decode", "polyflake/schema"])
    assert.equal((await import(path)).PolyflakeError, require(path).PolyflakeError, path);
  assert.equal((await import("polyflake")).sno, require("polyflake").sno);
});

const MODULE_QUERIES = { workerd: "", "edge-light": "?module" };

for (const [condition, query] of Object.entries(MODULE_QUERIES)) {
  test(`${condition} has the module compiled by the runtime`, async () => {
    const { seen, sno } = await bundle([condition, "browser", "node"], "esm");
    const modules = ["hotguid", "layout", "public", "randflake", "sno", "uuid7"].map(
      (family) => `./${family}.wasm${query}`,
    );
    assert.deepEqual(seen.sort(), modules);
    assert.equal(sno.parse(sno.generate(3)).metabyte, 3);
  });
}

test("polyflake/lease/cloudflare exports the names that api.toml lists", async () => {
  const { seen, default: _, ...module } = await bundle(["workerd"], "esm", "polyflake/lease/cloudflare", "*");
  assert.deepEqual(seen, ["./lease.wasm"]);
  const { cloudflare } = parse(readFileSync(new URL("../../api.toml", import.meta.url), "utf8"));
  assert.deepEqual(namesOf(module), ["PolyflakeError", ...cloudflare.names].sort());
});

for (const conditions of [["deno", "node"], ["bun", "node"], ["browser"], []]) {
  for (const format of ["esm", "cjs"]) {
    test(`${conditions.join(", ") || "default"} (${format}) has its module in the script`, async () => {
      const { seen, sno } = await bundle(conditions, format);
      assert.deepEqual(seen, []);
      assert.equal(sno.parse(sno.generate(3)).metabyte, 3);
    });
  }
}

for (const conditions of [["workerd"], ["edge-light"], ["deno", "node"], ["bun", "node"], ["browser"], []]) {
  test(`${conditions.join(", ") || "default"}: polyflake/public includes no other module`, async () => {
    const compiled = Object.hasOwn(MODULE_QUERIES, conditions[0]);
    for (const format of compiled ? ["esm"] : ["esm", "cjs"]) {
      const { seen, Keyring } = await bundle(conditions, format, "polyflake/public", "Keyring");
      assert.deepEqual(seen, compiled ? [`./public.wasm${MODULE_QUERIES[conditions[0]]}`] : []);
      const secret = Uint8Array.from({ length: 32 }, (_, k) => k);
      assert.equal(new Keyring(secret).of("order").encode(0), "order_1abpg7dgwhjba5j");
    }
  });
}

for (const conditions of [["workerd"], ["edge-light"], ["deno", "node"], ["bun", "node"], ["browser"], []]) {
  test(`${conditions.join(", ") || "default"}: a report of a restore reaches all formats`, async () => {
    const names = "afterRestore, hotguid, layout, randflake, sno, uuid7";
    for (const format of Object.hasOwn(MODULE_QUERIES, conditions[0]) ? ["esm"] : ["esm", "cjs"]) {
      const polyflake = await bundle(conditions, format, "polyflake", names);
      const { afterRestore, hotguid, layout, randflake, sno, uuid7 } = polyflake;
      const explicit = [
        new sno.Generator({ partition: 7 }),
        new randflake.Generator(new randflake.Grant(7, 1_730_000_000, 2_803_741_824), new Uint8Array(16)),
        new layout.Generator(layout.Layout.preset("discord", { worker: 7, process: 7 })),
        new uuid7.Generator({ workerId: 7 }),
      ];
      for (const ids of explicit) ids.generate();
      const found = () => [sno.parse(sno.generate()).partition, hotguid.parts(hotguid.generate()).machine.join()];
      const before = found();
      afterRestore();
      for (const ids of explicit) assert.throws(() => ids.generate(), { code: "forked" });
      found().forEach((one, k) => assert.notEqual(one, before[k]));
    }
  });
}
