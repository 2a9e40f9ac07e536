/** The pages of the site, which are Markdown files of the repository. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parse } from "smol-toml";

export const REPOSITORY = join(import.meta.dirname, "../../..");
export const REPOSITORY_URL = "https://example.invalid/polyflake";
const FILES_URL = `${REPOSITORY_URL}/blob/main/`;

/**
 * The files outside of `docs`, keyed by their path in the site. `PAGE_TITLES` overrides the titles of pages, because
 * several files have the same title.
 */
const OTHER_FILES = {
  index: "README.md",
  rust: "core/README.md",
  python: "packages/python/README.md",
  npm: "packages/js/README.md",
  lease: "lease/README.md",
  program: "cli/README.md",
  inspector: "crates/inspect/README.md",
  changes: "CHANGELOG.md",
};
const PAGE_TITLES = {
  index: "What is polyflake?",
  bench: "Benchmarks",
  lease: "The Rust crate polyflake-lease",
  leases: "Fenced worker IDs: the protocol",
  safety: "Verification",
  comparison: "Compared with others",
  "public-ids": "Hide integer keys: public IDs",
  rust: "Rust package",
  python: "Python package",
  npm: "JavaScript package",
};

// `docs/project` is for maintainers, who read it in the repository.
const docsPages = readdirSync(join(REPOSITORY, "docs"), { recursive: true })
  .filter((name) => name.endsWith(".md") && !name.startsWith("project/"))
  .map((name) => [name.replace(/(\/README)?\.md$/, ""), `docs/${name}`]);

/** The reference of the Python package, with a page for each module. `python/reference.py` writes it. */
const PYTHON_PLACE = "api/python";
const PYTHON_FOLDER = "target/site/python";
const pythonPages = readdirSync(join(REPOSITORY, PYTHON_FOLDER)).map((name) => [
  name === "index.md" ? PYTHON_PLACE : `${PYTHON_PLACE}/${name.replace(".md", "")}`,
  `${PYTHON_FOLDER}/${name}`,
]);

/** The page generated from `packages/api.toml`, which lists the public names of all languages. */
const NAMES_PLACE = "api/names";
const NAMES_FILE = "packages/api.toml";

/** The list of changes is neither in the navigation nor in the search. The references have their own indexes. */
export const isSearchable = (place) => place !== "changes" && !place.startsWith("api/");

/** The files from which pages are generated, keyed by the page's path in the site. */
export const FILES = new Map([...Object.entries(OTHER_FILES), ...docsPages, ...pythonPages, [NAMES_PLACE, NAMES_FILE]]);
/**
 * The path of each file's page. A link to `tools/site/README.md`, which describes the page that identifies IDs, leads to that
 * page.
 */
const PATHS_BY_FILE = new Map([
  ...[...FILES].map(([place, file]) => [file, place]),
  ["tools/site/README.md", "inspect"],
]);

/** Pages for those who verify or change polyflake, which `llms.txt` leaves out. */
const NOT_FOR_USERS = new Set(["changes", "leases", "safety", "bench", "inspector"]);
export const isForUsers = (place) => !NOT_FOR_USERS.has(place);

export const addressOf = (place) => (place === "index" ? "/" : `/${place}/`);

/** Returns the target of a link in a file. A link to a file without a page leads to the repository. */
function target(link, file) {
  if (link.startsWith("#") || (/^[a-z]+:/.test(link) && !link.startsWith(FILES_URL))) return link;
  const [path, ...anchor] = link.split("#");
  const there = path.startsWith(FILES_URL) ? path.slice(FILES_URL.length) : normalize(join(dirname(file), path));
  const hash = anchor.length > 0 ? `#${anchor.join("#")}` : "";
  if (PATHS_BY_FILE.has(there)) return addressOf(PATHS_BY_FILE.get(there)) + hash;
  if (there.startsWith("docs/") && there.endsWith(".svg")) return there.slice("docs".length);
  return FILES_URL + there + hash;
}

/** Applies a function to the lines outside of fenced blocks. */
function mapProse(text, change) {
  let fenced = false;
  return text
    .split("\n")
    .map((line) => {
      if (line.trimStart().startsWith("```")) fenced = !fenced;
      return fenced ? line : change(line);
    })
    .join("\n");
}

const toPlainText = (markdown) => markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");

/**
 * Formats an entry of `api.toml` as a list item. If the entry is a string, it is the summary of a name that exists in
 * all languages.
 */
function item(name, entry) {
  const languages = entry.in ?? ["rust", "python", "js"];
  const shown = languages.map((language) => ({ rust: "Rust", python: "Python", js: "JavaScript" })[language]);
  return `- \`${name}\`${shown.length === 3 ? "" : ` (${shown.join(", ")})`}: ${entry.summary ?? entry}\n`;
}

/** Returns the page that lists the public names in all languages. The names that the guide teaches come first. */
function namesPage() {
  const { guide, ...api } = parse(readFileSync(join(REPOSITORY, "packages/api.toml"), "utf8"));
  const body = Object.entries(guide).map(([family, taught]) => {
    const { functions = {}, classes = {} } = api[family];
    const members = Object.entries(classes).flatMap(([name, one]) => [
      [name, one],
      ...Object.entries(one.members ?? {}).map(([member, entry]) => {
        const { summary = entry, in: languages = one.in } = Object(entry) === entry ? entry : {};
        return [`${name}.${member}`, { summary, in: languages }];
      }),
    ]);
    const all = [...Object.entries(functions), ...members];
    const rank = ([name]) => (taught.includes(name) ? taught.indexOf(name) : taught.length);
    const [first, others] = [
      all.filter(([name]) => taught.includes(name)),
      all.filter(([name]) => !taught.includes(name)),
    ];
    const list = (some) => some.map(([name, entry]) => item(name, entry)).join("");
    first.sort((a, b) => rank(a) - rank(b));
    return `\n## ${family}\n\n${list(first)}\n### Other names of ${family}\n\n${list(others)}`;
  });
  const description =
    "The public names, with those that the guides use first. In JavaScript, names are in camelCase. Languages in parentheses are the only ones that have the name.";
  const elsewhere = `Each name's documentation: [Rust](/api/rust/polyflake/), [Python](/${PYTHON_PLACE}/), [JavaScript](/api/javascript/).`;
  return {
    title: "Names in all languages",
    description,
    body: `\n${description}\n\n${elsewhere}\n${body.join("")}`,
    file: NAMES_FILE,
  };
}

/**
 * Returns a page: its title, its first sentence, and the Markdown after the title with its links adapted to the site.
 */
export function readPage(place) {
  if (place === NAMES_PLACE) return namesPage();
  const file = FILES.get(place);
  const text = readFileSync(join(REPOSITORY, file), "utf8");
  const [, title, rest] = /^# (.+)\n([\s\S]*)$/.exec(text) ?? [];
  if (!title) throw new Error(`expected a title in the first line of ${file}`);
  const body = mapProse(rest, (line) => line.replace(/\]\(([^)\s]+)\)/g, (_, link) => `](${target(link, file)})`));
  const prose = rest.replace(/^```[\s\S]*?^```$/gm, "").split(/\n\n+/);
  const sentences = prose.map((part) => toPlainText(part.trim().replaceAll("\n", " ")).split(/(?<=[.]) /)[0]);
  const isSentence = (text) => /^[A-Za-z0-9][^|]*\.$/.test(text) && text.split(" ").length > 4;
  const description = sentences.find(isSentence) ?? `${toPlainText(title)}.`;
  return { title: PAGE_TITLES[place] ?? toPlainText(title), description, body, file };
}
