/**
 * Packs the npm packages into a folder. Run it with `npm run pack -- FOLDER`. By default, it packs the main package and
 * the addon's package for the current platform, both from the output of `npm run build`.
 *
 * - `PLATFORM=FILE` packs only the package for that platform, with that addon.
 * - `--main` packs only the main package.
 * - `--program PLATFORM=FILE` packs that platform's command-line program.
 * - `--launcher` packs the package that starts the program.
 *
 * The platforms' packages are optional dependencies, and npm installs only the one for the user's platform. Only the
 * packed package.json lists them: before a release, no registry has them, so a lock file could not contain them.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { addonPackageName, currentPlatform, PLATFORMS } from "./platforms.mjs";
import { PACKAGE, REPOSITORY } from "./tools.mjs";

const LICENCE_FILES = ["LICENSE-APACHE", "LICENSE-MIT"];
const TEXT_FILES = [...LICENCE_FILES, "NOTICE.md", "THIRD-PARTY.md"];

const ownManifest = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));

/**
 * A description of the addon's packages. `packageOf` and `fileOf` return the names of a platform's package and of the
 * binary in it, and `of` is the package that depends on the platforms' packages.
 */
const ADDON_KIND = {
  says: "The native addon of polyflake",
  of: "polyflake",
  folder: PACKAGE,
  texts: TEXT_FILES,
  packageOf: addonPackageName,
  fileOf: ({ name }) => `polyflake.${name}.node`,
};
const PROGRAM_KIND = {
  says: "The program polyflake",
  of: "@polyflake/cli",
  folder: join(REPOSITORY, "cli"),
  texts: [...LICENCE_FILES, "THIRD-PARTY.md"],
  packageOf: ({ name }) => `@polyflake/cli-${name}`,
  fileOf: ({ os }) => (os === "win32" ? "polyflake.exe" : "polyflake"),
};

/** Returns the contents of the published package.json, without the fields that only the build needs. */
export function manifest() {
  const { private: _, scripts, devDependencies, overrides, ...rest } = ownManifest;
  return { ...rest, ...optionalDependencyFields(ADDON_KIND) };
}

/** Returns the contents of package.json for the package that starts the program. */
function launcherManifest() {
  return {
    name: PROGRAM_KIND.of,
    ...commonFields(),
    description: "Inspects any ID and makes polyflake's: formats, fields and times in a terminal or as JSON",
    keywords: ["id", "uuid", "snowflake", "inspect", "cli"],
    type: "commonjs",
    bin: { polyflake: "polyflake.js" },
    files: ["polyflake.js", ...LICENCE_FILES],
    ...optionalDependencyFields(PROGRAM_KIND),
  };
}

function optionalDependencyFields({ packageOf }) {
  const packages = PLATFORMS.map((platform) => [packageOf(platform), ownManifest.version]);
  return { optionalDependencies: Object.fromEntries(packages) };
}

function commonFields() {
  const { version, license, homepage, repository, bugs, engines } = ownManifest;
  return { version, license, homepage, repository, bugs, engines };
}

/** Returns the contents of package.json for a platform's package. */
export function platformManifest(platform, { says, texts, packageOf, fileOf } = ADDON_KIND) {
  const { os, cpu, libc } = platform;
  return {
    name: packageOf(platform),
    ...commonFields(),
    description: `${says} for ${platform.says}`,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    // Yarn must unpack this package, because files inside its archives cannot be loaded or executed.
    preferUnplugged: true,
    type: "commonjs",
    ...(fileOf === ADDON_KIND.fileOf && { main: fileOf(platform) }),
    files: [fileOf(platform), ...texts],
  };
}

/** Writes the package's files to a folder. */
export function stagePackage(folder) {
  for (const name of [...ownManifest.files, "README.md"])
    cpSync(join(PACKAGE, name), join(folder, name), { recursive: true });
  writeManifest(folder, manifest());
}

/** Writes the files of a platform's package to a folder. */
export function stagePlatformPackage(platform, file, folder, kind = ADDON_KIND) {
  const { says, of, packageOf, fileOf } = kind;
  copy(kind.texts, kind.folder, folder);
  copyFileSync(file, join(folder, fileOf(platform)));
  chmodSync(join(folder, fileOf(platform)), 0o755);
  const text = `# ${packageOf(platform)}\n\n${says} for ${platform.says}. Install [\`${of}\`](${ownManifest.homepage}), which brings it.\n`;
  writeFileSync(join(folder, "README.md"), text);
  writeManifest(folder, platformManifest(platform, kind));
}

function stageLauncher(folder) {
  copy([...LICENCE_FILES, "README.md"], PROGRAM_KIND.folder, folder);
  copy(["polyflake.js"], join(PROGRAM_KIND.folder, "npm"), folder);
  writeManifest(folder, launcherManifest());
}

function copy(names, from, to) {
  for (const name of names) copyFileSync(join(from, name), join(to, name));
}

function writeManifest(folder, content) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(content, undefined, 2)}\n`);
}

/** Packs the files that `fill` writes to a temporary folder, and stores the archive in `into`. */
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
  const { values, positionals } = parseArgs({ args: given, options: OPTIONS, allowPositionals: true });
  const { main, launcher, program = [] } = given.length ? values : { main: true };
  const addons = given.length ? positionals : [defaultAddonArgument(currentPlatform())];
  const stages = [
    ...(main ? [stagePackage] : []),
    ...(launcher ? [stageLauncher] : []),
    ...addons.map((part) => createPlatformStage(part, ADDON_KIND)),
    ...program.map((part) => createPlatformStage(part, PROGRAM_KIND)),
  ];
  for (const fill of stages) pack(resolve(into), fill);
}

const OPTIONS = {
  main: { type: "boolean" },
  launcher: { type: "boolean" },
  program: { type: "string", multiple: true },
};

/** Returns the `PLATFORM=FILE` argument for the addon that was built in this folder. */
const defaultAddonArgument = ({ name }) => `${name}=${join(PACKAGE, "prebuilds", name, "polyflake.node")}`;

function createPlatformStage(part, kind) {
  const [wanted, file] = part.split("=");
  const platform = PLATFORMS.find(({ name }) => name === wanted);
  if (!platform) throw new Error(`expected a platform of packages/platforms.toml, found ${wanted}`);
  return (folder) => stagePlatformPackage(platform, resolve(file), folder, kind);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
