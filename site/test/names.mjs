/** The public names of `packages/api.toml`, and whether the references of the built site have an entry for each. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";

const REPOSITORY = join(import.meta.dirname, "../..");
const API = join(REPOSITORY, "target/site/dist/api");
const ALL = ["rust", "python", "js"];
const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
/** Whether an entry of the file exists in a language: `in` limits it, by default as its class is limited. */
const isIn = (language, entry, outer) => (entry.in ?? outer?.in ?? ALL).includes(language);

/** Each name of a language, by where it stands: a module, a class or none, and the name itself. */
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

/** rustdoc: a file for each name, and a place in it for each member. */
function inRust([module, owner, name]) {
  const crate = module === "sql" ? "polyflake_sql" : join("polyflake", module);
  const folder = join(API, "rust", crate);
  const of = files(folder).filter((file) => new RegExp(`^[a-z]+\\.${owner ?? name}\\.html$`).test(file));
  if (!owner) return of.length > 0;
  // A module's alias shows the members of its type when it is opened, from a file of its own.
  const paths = of.map((file) => join(file.startsWith("type.") ? join(API, "rust/polyflake") : folder, file));
  return paths.some((path) => idsOf(path.replace("/type.", "/struct.")).some((id) => id.split(".").pop() === name));
}

/** The pages of Python: a heading for each name and member. */
function inPython([module, owner, name]) {
  const path = join(API, "python", module, "index.html");
  if (!existsSync(path)) return false;
  const heading = `>${owner ? `${owner}.` : ""}${name}</h`;
  return readFileSync(path, "utf8").includes(heading);
}

/** TypeDoc: a file for each name, and a place in it for each member. What a module passes on has a place in its own page. */
function inJs([module, owner, name]) {
  const prefixes = module ? [`polyflake.${module}.`, `polyflake_${module}.`] : ["polyflake."];
  const folders = ["classes", "functions", "interfaces", "types", "variables"].map((name) =>
    join(API, "javascript", name),
  );
  // A class without a class of TypeScript has the members of its constructor in an interface.
  const titles = [camel(owner ?? name), ...(owner ? [`${owner}Constructor`] : [])];
  const of = folders.flatMap((folder) =>
    prefixes.flatMap((prefix) => titles.map((title) => join(folder, `${prefix}${title}.html`))).filter(existsSync),
  );
  if (owner) return of.some((path) => idsOf(path).some((id) => id.toLowerCase() === camel(name).toLowerCase()));
  const pages = prefixes.map((prefix) => join(API, "javascript/modules", `${prefix}html`)).filter(existsSync);
  return (
    of.length > 0 || pages.some((path) => idsOf(path).some((id) => id.toLowerCase() === camel(name).toLowerCase()))
  );
}

/** Names without an entry in the reference of a language. */
export function missing(language) {
  const has = { rust: inRust, python: inPython, js: inJs }[language];
  return [...publicNames(language)].filter((name) => !has(name)).map((name) => name.filter(Boolean).join("."));
}
