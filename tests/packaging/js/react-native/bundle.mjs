// Builds a script for Hermes, React Native's engine, which supports neither WebAssembly nor classes. The script is
// compiled as React Native's bundler would compile it, and contains every test vector.
import { copyFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { transformAsync } from "@babel/core";
import { build } from "esbuild";

const repository = process.env.POLYFLAKE_REPOSITORY;
copyFileSync(join(repository, "packages/js/test/decode-vectors.mjs"), "decode-vectors.js");
const { VECTOR_FILES } = await import("./decode-vectors.js");
const vectors = Object.fromEntries(
  VECTOR_FILES.map((name) => [name, JSON.parse(readFileSync(join(repository, `tests/vectors/${name}.json`), "utf8"))]),
);

const contents = `
  import * as decode from "polyflake/decode";
  import { byMetabyte, withBigints } from "polyflake/json";
  import * as schema from "polyflake/schema";
  import { readVectors } from "./decode-vectors.js";

  if (typeof WebAssembly !== "undefined") throw new Error("expected an engine without WebAssembly");
  const { answers, wrong } = readVectors(decode, ${JSON.stringify(vectors)});
  if (wrong.length > 0 || answers < 3000) throw new Error(answers + " answers, wrong: " + wrong.slice(0, 5).join("; "));
  const text = '{"id": "aaaaaaaa55aaaaaa", "foo": "bar"}';
  if (byMetabyte({ 24: ({ foo }) => foo }).parse(text) !== "bar") throw new Error("expected the object of its kind");
  const bigints = withBigints(["id"]);
  const { id } = bigints.parse(bigints.stringify({ id: 4594531474933654033n }));
  if (id !== 4594531474933654033n) throw new Error("expected an integer that stays whole, found " + id);
  const read = schema.randflake["~standard"].validate("3vgoe12ccb8gh");
  if (read.value !== id || !schema.sno["~standard"].validate("1").issues) throw new Error("expected schemas that read IDs");
  print(answers + " answers");`;

const babel = {
  name: "babel",
  setup({ onLoad }) {
    const preset = [
      "@react-native/babel-preset",
      { disableImportExportTransform: true, unstable_transformProfile: "default" },
    ];
    const options = { presets: [preset], babelrc: false, configFile: false };
    onLoad({ filter: /polyflake[/\\]dist|decode-vectors/ }, async ({ path }) => {
      const { code } = await transformAsync(readFileSync(path, "utf8"), { ...options, filename: path });
      return { contents: code, resolveDir: dirname(path) };
    });
  },
};

await build({
  stdin: { contents, resolveDir: "." },
  bundle: true,
  format: "iife",
  target: "es2016",
  supported: { bigint: true, "const-and-let": true },
  outfile: "out.js",
  logLevel: "error",
  plugins: [babel],
});
