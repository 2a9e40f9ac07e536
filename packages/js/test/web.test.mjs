// Tests `polyflake/web`, whose `init` function loads the wasm from separate files.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import * as native from "polyflake";
import * as standsIn from "polyflake/web";
import { assertError } from "./assertions.mjs";
import { browse, REPOSITORY, skipReason } from "./browser.mjs";
import { namesOf } from "./catalogue.mjs";

const PACKAGE_FOLDER = fileURLToPath(new URL("..", import.meta.url));
const FAMILIES = ["hotguid", "layout", "randflake", "sno", "sparx64", "uuid7"];
const bytesOf = (family) => readFileSync(join(PACKAGE_FOLDER, `dist/esm/${family}.wasm`));
const ID = "a7rdmuv326nct5if";

/** The number of copies of the package that have been created. A new copy has not loaded any wasm modules. */
let copyCount = 0;
const loadFreshCopy = async () => {
  copyCount += 1;
  const folder = mkdtempSync(join(PACKAGE_FOLDER, "build/web-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, `copy-${copyCount}.mjs`);
  await build({
    stdin: { contents: 'export * from "polyflake/web";', resolveDir: join(PACKAGE_FOLDER, "test") },
    bundle: true,
    format: "esm",
    conditions: ["browser"],
    outfile,
    logLevel: "error",
  });
  return import(outfile);
};

describe("polyflake/web", () => {
  test("has the names of polyflake and an init in each format", async () => {
    const web = await loadFreshCopy();
    for (const entry of [web, standsIn]) {
      assert.deepEqual(namesOf(entry), namesOf(native));
      for (const family of FAMILIES)
        assert.deepEqual(Object.keys(entry[family]).sort(), Object.keys(native[family]).sort());
    }
  });

  test("is an alias of polyflake outside browsers", async () => {
    for (const family of FAMILIES) await standsIn[family].init();
    assert.equal(standsIn, native);
    const required = createRequire(import.meta.url)("polyflake/web");
    await required.sno.init();
    assert.equal(required.sno.parse(required.sno.generate(7)).metabyte, 7);
    assert.equal(typeof required.backend(), "string");
  });

  test("generates IDs only after init, and parses them before", async () => {
    const { hotguid, layout, randflake, sno, sparx64, uuid7 } = await loadFreshCopy();
    assert.equal(sno.parse(ID).metabyte, 1);
    assertError("backend_unavailable", () => sno.generate());
    await sno.init(bytesOf("sno"));
    assert.equal(sno.parse(sno.generate(7)).metabyte, 7);
    assertError("backend_unavailable", () => hotguid.generate());
    await hotguid.init(new WebAssembly.Module(bytesOf("hotguid")));
    assert(hotguid.isValid(hotguid.generate()));
    assertError("backend_unavailable", () => uuid7.generate());
    await uuid7.init(bytesOf("uuid7"));
    assert(uuid7.isValid(uuid7.generate()));
    await layout.init(Promise.resolve(bytesOf("layout").buffer));
    assert.equal(layout.Layout.preset("discord").parse(0n).sequence, 0);
    await sparx64.init(new Response(bytesOf("randflake")));
    assert(new randflake.Codec(new Uint8Array(16)).inspect(0n).node >= 0);
    assert.equal(new sparx64.Sparx64(new Uint8Array(16)).encrypt(new Uint8Array(8)).length, 8);
  });

  test("a failed init can be retried, and a successful one is not repeated", async () => {
    const { sno } = await loadFreshCopy();
    const sources = [
      [1, "invalid_type"],
      [{}, "invalid_type"],
      [true, "invalid_type"],
      [new Uint8Array(3), "backend_unavailable"],
    ];
    for (const [source, code] of sources) await assert.rejects(sno.init(source), { code });
    await assert.rejects(sno.init(new Response("", { status: 404 })), {
      code: "backend_unavailable",
      message: /status 404/,
    });
    await assert.rejects(
      sno.init("http://127.0.0.1:1/"),
      ({ code, cause }) => code === "backend_unavailable" && cause instanceof TypeError,
    );
    const thrown = new Error("theirs");
    await assert.rejects(sno.init(Promise.reject(thrown)), thrown);
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(bytesOf("sno"));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = new URL(`http://127.0.0.1:${server.address().port}/`);
    const first = sno.init(address);
    assert.equal(sno.init(address.href), first);
    await first;
    await sno.init(1);
    server.close();
    assert.equal(asked, 1);
    assert.equal(sno.generate().length, 16);
  });

  test("esbuild copies the file if its URL is imported", { skip: skipReason }, async () => {
    const folder = mkdtempSync(join(PACKAGE_FOLDER, "build/web-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    const contents = `
      import address from "polyflake/sno.wasm";
      import { sno } from "polyflake/web";
      let before;
      try { sno.generate(); } catch ({ code }) { before = code; }
      await sno.init(address);
      document.title = [before, sno.parse(sno.generate(7)).metabyte].join(" ");`;
    await build({
      stdin: { contents, resolveDir: join(PACKAGE_FOLDER, "test") },
      bundle: true,
      minify: true,
      format: "esm",
      conditions: ["browser"],
      loader: { ".wasm": "file" },
      assetNames: "[name]",
      publicPath: `/${relative(REPOSITORY, folder)}/`,
      outdir: folder,
      entryNames: "page",
      logLevel: "error",
    });
    writeFileSync(join(folder, "index.html"), '<!doctype html><script type="module" src="page.js"></script>');
    const { page, close } = await browse(relative(REPOSITORY, join(folder, "index.html")));
    try {
      await page.waitForFunction("document.title !== ''");
      assert.equal(await page.title(), "backend_unavailable 7");
    } finally {
      await close();
    }
  });

  test("a report of a restore reaches modules that are loaded before and after it", { skip: skipReason }, async () => {
    const { page, close } = await browse("examples/web/style.css");
    try {
      const found =
        await page.evaluate(`import("/packages/js/dist/esm/web.js").then(async ({ afterRestore, hotguid, sno }) => {
        await sno.init();
        const ids = new sno.Generator({ partition: 7 });
        const before = [sno.parse(sno.generate()).partition, sno.parse(ids.generate()).partition];
        afterRestore();
        await hotguid.init();
        let code;
        try { ids.generate(); } catch (error) { code = error.code; }
        const after = sno.parse(sno.generate()).partition;
        return [before[1], code, after !== before[0], hotguid.isValid(hotguid.generate())];
      })`);
      assert.deepEqual(found, [7, "forked", true, true]);
    } finally {
      await close();
    }
  });

  test("without a bundler the file is next to the script", { skip: skipReason }, async () => {
    const { page, close } = await browse("examples/web/style.css");
    try {
      const made = await page.evaluate(`import("/packages/js/dist/esm/web.js").then(async ({ sno }) => {
        await sno.init();
        return sno.generate();
      })`);
      assert(native.sno.isValid(made));
    } finally {
      await close();
    }
  });
});
