//! The clients that install packages from an npm registry.

use anyhow::Result;
use xshell::{Cmd, Shell, cmd};

use super::{Project, Source, Target, generate_and_identify};

const PROGRAMS: &[&str] = &["js/use/main.js", "js/use/use.js", "js/use/keep.js"];

/// Returns the target for a project that runs in Node. The three given functions create the project, add the packages, and
/// return the command that runs a program.
const fn node_target(
    create: fn(&Shell, &Source) -> Result<()>,
    add: fn(&Shell, &Source) -> Result<()>,
    run: for<'s> fn(&'s Shell, &Source, &str) -> Cmd<'s>,
) -> Target {
    Target::Project(Project { programs: PROGRAMS, create, add, run, expected: ("Node", "native") })
}

pub const NPM: Target = node_target(create, npm_install, node_command);
pub const PNPM: Target = node_target(create, pnpm_add, node_command);
pub const YARN: Target = node_target(
    |shell, source| create_with_yarn(shell, source, "node-modules"),
    yarn_add,
    yarn_node_command,
);
pub const YARN_PNP: Target = node_target(
    |shell, source| create_with_yarn(shell, source, "pnp"),
    yarn_add,
    yarn_node_command,
);

pub const BUN: Target = Target::Project(Project {
    programs: PROGRAMS,
    create,
    add: bun_add,
    run: |shell, _, program| {
        let file = program_file_name(program);
        cmd!(shell, "bun {file}")
    },
    expected: ("Bun", "wasm"),
});

pub const DENO: Target = Target::Project(Project {
    programs: PROGRAMS,
    create,
    add: |shell, Source { version, .. }| {
        Ok(deno(shell, &["add", "--quiet", &format!("npm:polyflake@{version}")]).run()?)
    },
    run: deno_run_command,
    expected: ("Deno", "wasm"),
});

const MANIFEST: &str = r#"{ "private": true, "type": "module" }"#;

/// Creates a user's project without dependencies.
fn create(shell: &Shell, Source { address, .. }: &Source) -> Result<()> {
    shell.write_file("package.json", MANIFEST)?;
    // pnpm, Deno and npm read these settings from `.npmrc`.
    let cache = shell.current_dir().join("cache");
    let settings = format!("registry={address}/npm/\ncache={}\nfund=false\n", cache.display());
    Ok(shell.write_file(".npmrc", settings)?)
}

/// Returns the name of the file that contains a user's program.
fn program_file_name(program: &str) -> String {
    let name = if program == "use" { "main" } else { program };
    format!("{name}.js")
}

fn node_command<'s>(shell: &'s Shell, _: &Source, program: &str) -> Cmd<'s> {
    let file = program_file_name(program);
    cmd!(shell, "node {file}")
}

fn npm_install(shell: &Shell, Source { version, .. }: &Source) -> Result<()> {
    Ok(cmd!(shell, "npm install --no-audit --loglevel=error polyflake@{version}").run()?)
}

pub fn npx(shell: &Shell, source: &Source) -> Result<String> {
    create(shell, source)?;
    let version = source.version;
    generate_and_identify(|| cmd!(shell, "npx --yes @polyflake/cli@{version}"))
}

fn pnpm_add(shell: &Shell, Source { version, .. }: &Source) -> Result<()> {
    let store = shell.current_dir().join("store");
    Ok(cmd!(shell, "pnpm add --silent --store-dir {store} polyflake@{version}").run()?)
}

/// Creates a Yarn project that uses the given linker: `node-modules` or `pnp`.
fn create_with_yarn(shell: &Shell, source: &Source, linker: &str) -> Result<()> {
    create(shell, source)?;
    let address = source.address;
    let settings = format!(
        "npmRegistryServer: \"{address}/npm\"\nunsafeHttpWhitelist: [\"127.0.0.1\"]\n\
         enableGlobalCache: false\nenableTelemetry: false\nnodeLinker: {linker}\n"
    );
    shell.write_file(".yarnrc.yml", settings)?;
    // Without a lock file, Yarn looks for a project in the parent folders.
    Ok(shell.write_file("yarn.lock", "")?)
}

/// Returns a Yarn command that ignores package metadata cached by earlier runs. The addresses in that metadata contain the
/// port of an earlier run's registry.
fn with_separate_cache<'s>(shell: &Shell, yarn: Cmd<'s>) -> Cmd<'s> {
    yarn.env("YARN_GLOBAL_FOLDER", shell.current_dir().join("yarn"))
}

fn yarn_add(shell: &Shell, Source { version, .. }: &Source) -> Result<()> {
    let add = cmd!(shell, "yarn add polyflake@{version}");
    let add = add.env("YARN_ENABLE_IMMUTABLE_INSTALLS", "false");
    Ok(with_separate_cache(shell, add).run()?)
}

fn yarn_node_command<'s>(shell: &'s Shell, _: &Source, program: &str) -> Cmd<'s> {
    let file = program_file_name(program);
    with_separate_cache(shell, cmd!(shell, "yarn node {file}"))
}

fn bun_add(shell: &Shell, Source { version, .. }: &Source) -> Result<()> {
    let cache = shell.current_dir().join("bun-cache");
    let add = cmd!(shell, "bun add --silent polyflake@{version}");
    Ok(add.env("BUN_INSTALL_CACHE_DIR", cache).run()?)
}

fn deno<'s>(shell: &'s Shell, words: &[&str]) -> Cmd<'s> {
    let cache = shell.current_dir().join("deno-cache");
    let deno = cmd!(shell, "deno {words...}");
    deno.env("DENO_DIR", cache).env("DENO_NO_UPDATE_CHECK", "1")
}

fn deno_run_command<'s>(shell: &'s Shell, _: &Source, program: &str) -> Cmd<'s> {
    // The default generators read these environment variables. The program that stores state also reads and writes files.
    let permission = match program {
        "use" => "--allow-env=POLYFLAKE_LEASE,POLYFLAKE_WORKER_ID",
        _ => "--allow-all",
    };
    deno(shell, &["run", "--quiet", permission, &program_file_name(program)])
}
