/** Checks that the references of the built site have an entry for each public name in `packages/api.toml`. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";

const REPOSITORY = join(import.meta.dirname, "../../..");
const API_FOLDER = join(REPOSITORY, "target/site/dist/api");
const LANGUAGES = ["rust", "python", "js"];
const camelCase = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
/**
 * Returns whether an entry of `packages/api.toml` exists in a language. The entry's `in` lists its languages. By
 * default, an entry exists in the languages of its class, or in all languages.
 */
const isIn = (language, entry, outer) => (entry.in ?? outer?.in ?? LANGUAGES).includes(language);

/**
 * Yields each public name of a language as `[module, class, name]`. The class is `undefined` unless the name is a
 * member of a class.
 */
export function* publicNames(language) {
  const api = parse(readFileSync(join(REPOSITORY, "packages/api.toml"), "utf8"));
  for (const [module, { functions = {}, objects = {}, classes = {} }] of Object.entries(api)) {
    for (const [name, entry] of Object.entries({ ...functions, ...objects }))
      if (isIn(language, entry)) yield [module, undefined, name];
    for (const [name, one] of Object.entries(classes)) {
      if (!isIn(language, one)) continue;
      yield [module, undefined, name];
      for (const [member, entry] of Object.entries(one.members ?? {}))
        if (isIn(language, entry, one)) yield [module, name, member];
    }
  }
  for (const [name, entry] of Object.entries(api.package)) if (isIn(language, entry)) yield ["", undefined, name];
  const lists = {
    rust: { sql: api.sql.names },
    python: api.integrations,
    js: { ...api.libraries, json: api.json.names, schema: api.schema.names, lease: api.leases.names },
  };
  for (const [module, names] of Object.entries(lists[language]))
    for (const name of names) yield [module, undefined, name];
}

const files = (folder) => (existsSync(folder) ? readdirSync(folder) : []);
const idsOf = (path) => Array.from(readFileSync(path, "utf8").matchAll(/\sid="([^"]+)"/g), ([, id]) => id);

/**
 * Returns whether rustdoc documents the name. A name that is not a member has its own file, and a member has an anchor
 * in the file of its type.
 */
function isInRustdoc([module, owner, name]) {
  const crate = module === "sql" ? "polyflake_sql" : join("polyflake", module);
  const folder = join(API_FOLDER, "rust", crate);
  const of = files(folder).filter((file) => new RegExp(`^[a-z]+\\.${owner ?? name}\\.html$`).test(file));
  if (!owner) return of.length > 0;
  // The page of a re-exported type alias loads the alias's members from a separate file when a reader opens the page.
  const paths = of.map((file) => join(file.startsWith("type.") ? join(API_FOLDER, "rust/polyflake") : folder, file));
  return paths.some((path) => idsOf(path.replace("/type.", "/struct.")).some((id) => id.split(".").pop() === name));
}

/** Returns whether the Python pages have a heading for the name. */
function isInPythonPages([module, owner, name]) {
  const path = join(API_FOLDER, "python", module, "index.html");
  if (!existsSync(path)) return false;
  const heading = `>${owner ? `${owner}.` : ""}${name}</h`;
  return readFileSync(path, "utf8").includes(heading);
}

/**
 * Returns whether TypeDoc documents the name. A name that is not a member has its own file, and a member has an anchor
 * in the file of its class. A name that a module re-exports has an anchor in the module's page.
 */
function isInTypeDoc([module, owner, name]) {
  const prefixes = module ? [`polyflake.${module}.`, `polyflake_${module}.`] : ["polyflake."];
  const folders = ["classes", "functions", "interfaces", "types", "variables"].map((name) =>
    join(API_FOLDER, "javascript", name),
  );
  // If the TypeScript package does not export a type as a class, an interface for the constructor declares the type's
  // static members.
  const titles = [camelCase(owner ?? name), ...(owner ? [`${owner}Constructor`] : [])];
  const of = folders.flatMap((folder) =>
    prefixes.flatMap((prefix) => titles.map((title) => join(folder, `${prefix}${title}.html`))).filter(existsSync),
  );
  if (owner) return of.some((path) => idsOf(path).some((id) => id.toLowerCase() === camelCase(name).toLowerCase()));
  const pages = prefixes.map((prefix) => join(API_FOLDER, "javascript/modules", `${prefix}html`)).filter(existsSync);
  return (
    of.length > 0 || pages.some((path) => idsOf(path).some((id) => id.toLowerCase() === camelCase(name).toLowerCase()))
  );
}

/** Returns the names without an entry in the reference of a language. */
export function missingNames(language) {
  const hasEntry = { rust: isInRustdoc, python: isInPythonPages, js: isInTypeDoc }[language];
  return [...publicNames(language)].filter((name) => !hasEntry(name)).map((name) => name.filter(Boolean).join("."));
}
