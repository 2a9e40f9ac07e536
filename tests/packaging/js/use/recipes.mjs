// Runs the documentation's recipes as modules, using exactly the code in the documentation.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cwd, env } from "node:process";

const REPOSITORY = env.POLYFLAKE_REPOSITORY;

/** Returns the only code block in a document that imports a module. */
export function recipe(document, module) {
  const text = readFileSync(join(REPOSITORY, "docs", document), "utf8");
  const blocks = [...text.matchAll(/^```(?:javascript|js|ts)\n(.*?)^```$/gms)].map(([, block]) => block);
  const found = blocks.filter((block) => block.includes(` from "${module}";`));
  if (found.length !== 1) throw new Error(`expected one recipe of ${module}, found ${found.length}`);
  return found[0];
}

/**
 * Runs a recipe and returns what it defines under the given names. Type annotations are stripped before the recipe
 * runs.
 */
export async function run(name, text, names) {
  const { transformSync } = createRequire(join(REPOSITORY, "tests/"))("esbuild");
  const { code } = transformSync(`${text}\nexport { ${names.join(", ")} };\n`, { loader: "ts", format: "esm" });
  mkdirSync("recipes", { recursive: true });
  const path = join(cwd(), "recipes", `${name}.mjs`);
  writeFileSync(path, code);
  return import(path);
}
