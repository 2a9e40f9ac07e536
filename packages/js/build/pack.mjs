/**
 * Packs what npm serves, as `npm run pack -- FOLDER`: the package, and that of this machine's addon, as `npm run build` left them.
 * With `PLATFORM=FILE` packs that platform's package alone, with that addon; with `--main` the package alone.
 *
 * The package names the addons' packages as optional dependencies, of which npm installs the one that fits the machine. They stand in
 * the packed package.json alone: before a release no registry has them, so a lock file could not hold them.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { PLATFORMS, packageOf, thisPlatform } from "./platforms.mjs";
import { PACKAGE } from "./tools.mjs";

const TEXTS = ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE.md", "THIRD-PARTY.md"];

const ours = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));

/** The package's package.json, without what only its own build needs. */
export function manifest() {
  const { private: _, scripts, devDependencies, overrides, ...rest } = ours;
  const addons = PLATFORMS.map((platform) => [packageOf(platform), ours.version]);
  return { ...rest, optionalDependencies: Object.fromEntries(addons) };
}

/** The package.json of a platform's package. */
export function manifestOf(platform) {
  const { version, license, homepage, repository, bugs, engines } = ours;
  const { os, cpu, libc, says } = platform;
  return {
    name: packageOf(platform),
    version,
    description: `The native addon of polyflake for ${says}`,
    license,
    homepage,
    repository,
    bugs,
    engines,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    // Files inside archives cannot be loaded.
    preferUnplugged: true,
    type: "commonjs",
    main: fileOf(platform),
    files: [fileOf(platform), ...TEXTS],
  };
}

const fileOf = ({ name }) => `polyflake.${name}.node`;

/** Puts the files of the package into a folder. */
export function stage(folder) {
  for (const name of [...ours.files, "README.md"]) cpSync(join(PACKAGE, name), join(folder, name), { recursive: true });
  writeManifest(folder, manifest());
}

/** Puts the files of a platform's package into a folder. */
export function stageOf(platform, addon, folder) {
  for (const name of TEXTS) copyFileSync(join(PACKAGE, name), join(folder, name));
  copyFileSync(addon, join(folder, fileOf(platform)));
  const { homepage } = ours;
  const text = `# ${packageOf(platform)}\n\nThe native addon of [polyflake](${homepage}) for ${platform.says}. Install \`polyflake\`, which brings it.\n`;
  writeFileSync(join(folder, "README.md"), text);
  writeManifest(folder, manifestOf(platform));
}

function writeManifest(folder, content) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(content, undefined, 2)}\n`);
}

/** Packs the files that `fill` puts into a folder. */
function pack(into, fill) {
  const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
  try {
    fill(folder);
    const options = { cwd: folder, stdio: ["ignore", "ignore", "inherit"] };
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", into], options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function main([into, ...given]) {
  if (!into) throw new Error("expected a folder to pack into");
  mkdirSync(into, { recursive: true });
  const parts = given.length ? given : ["--main", built(thisPlatform())];
  for (const part of parts) pack(resolve(into), part === "--main" ? stage : addonStage(part));
}

/** The addon that was built in this folder, as an argument. */
const built = ({ name }) => `${name}=${join(PACKAGE, "prebuilds", name, "polyflake.node")}`;

function addonStage(part) {
  const [wanted, addon] = part.split("=");
  const platform = PLATFORMS.find(({ name }) => name === wanted);
  if (!platform) throw new Error(`expected a platform of packages/platforms.toml, found ${wanted}`);
  return (folder) => stageOf(platform, resolve(addon), folder);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
