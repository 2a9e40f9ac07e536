/**
 * Compares the files of a release with the files in the registries: `node published.mjs FOLDER [END...]`. Prints the
 * paths of all files that are missing from their registries, in an order suitable for uploads. Fails if a file in a
 * registry has different contents.
 *
 * FOLDER contains `SHA256SUMS`. If END arguments are specified, only files whose names end with one of these arguments
 * are compared. If `POLYFLAKE_REGISTRIES` is set, it is the address of local registries to use instead of the public
 * registries.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Returns a command's standard output. */
const captureOutput = (command, ...rest) => execFileSync(command, rest, { encoding: "utf8" }).trim();

// Ask npm and pip for the addresses of their public registries.
const PIP_SCRIPT = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)";
const localRegistries = process.env.POLYFLAKE_REGISTRIES;
const NPM_REGISTRY = localRegistries
  ? `${localRegistries}/npm`
  : captureOutput("npm", "config", "get", "registry").replace(/\/$/, "");
const SIMPLE_INDEX = localRegistries ? `${localRegistries}/simple` : captureOutput("python3", "-c", PIP_SCRIPT);
const INDEX = localRegistries ? `${localRegistries}/crates/index` : "https://index.crates.io";
// The suffixes of the crates' names. Each crate is listed after the crates that it depends on.
const CRATE_SUFFIXES = ["-clock", "", "-inspect", "-lease", "-sql", "-cli"];

const [folder, ...ends] = process.argv.slice(2);
const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8").trimEnd().split("\n");
const files = sums
  .map((line) => line.split("  "))
  .map(([sha256, path]) => ({ sha256, path: join(folder, path), name: basename(path) }))
  .filter(({ name }) => !name.endsWith(".cdx.json") && !name.startsWith("polyflake-vectors-"))
  .filter(({ name }) => ends.length === 0 || ends.some((end) => name.endsWith(end)));
if (files.length === 0) throw new Error(`expected files ${ends} in ${folder}`);

/** Returns the text at an address, or an empty string if the registry has no file at that address. */
async function fetchText(address) {
  const response = await fetch(address, { cache: "no-store" });
  if (response.status === 404) return "";
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.text();
}

/**
 * Returns the checksum of a local file and the checksum in the registry, which is undefined if the registry lacks the
 * file.
 */
async function compare({ sha256, path, name }) {
  if (name.endsWith(".tgz")) {
    const options = ["--extract", "--gzip", "--to-stdout", "--file"];
    const { name: of, version } = JSON.parse(captureOutput("tar", ...options, path, "package/package.json"));
    const known = JSON.parse((await fetchText(`${NPM_REGISTRY}/${of.replace("/", "%2f")}`)) || "{}");
    const ours = `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}`;
    return [ours, known.versions?.[version]?.dist.integrity];
  }
  const [, of, version] = name.match(/^(.+?)-(\d[^-]*?)(?:\.crate|\.tar\.gz|-.*\.whl)$/);
  if (name.endsWith(".crate")) {
    const lines = (await fetchText(`${INDEX}/${of.slice(0, 2)}/${of.slice(2, 4)}/${of}`)).trim().split("\n");
    const known = lines.filter(Boolean).map((line) => JSON.parse(line));
    return [sha256, known.find(({ vers }) => vers === version)?.cksum];
  }
  const page = await fetchText(`${SIMPLE_INDEX}/${of.replaceAll("_", "-")}/`);
  const link = page.split("<a ").find((part) => part.includes(`>${name}<`));
  return [sha256, link?.match(/#sha256=(\w+)/)?.[1]];
}

/**
 * Returns a file's position in the order of uploads. The main packages depend on the other packages, so the main
 * packages are uploaded last.
 */
function uploadPosition({ name }) {
  const crate = CRATE_SUFFIXES.findIndex((end) => name.match(/^polyflake(-[a-z]+)?-\d/)?.[1] === (end || undefined));
  if (name.endsWith(".crate")) return crate;
  return /^polyflake(-cli)?-\d.*\.tgz$/.test(name) ? 1 : 0;
}

for (const file of files.sort((one, other) => uploadPosition(one) - uploadPosition(other))) {
  const [ours, theirs] = await compare(file);
  if (theirs === undefined) console.log(file.path);
  else if (theirs !== ours) throw new Error(`${file.name}: the registry has other bytes: ${theirs}, not ${ours}`);
}
