//! The clients that install packages from an npm registry.

use anyhow::{Result, ensure};
use xshell::{Cmd, Shell, cmd};

use super::{Source, copy, names_ids};

const MANIFEST: &str = r#"{ "private": true, "type": "module" }"#;

/// Creates a user's project that contains only a program.
fn project(shell: &Shell, registry: &str) -> Result<()> {
    copy(shell, &["js/use/main.js", "js/use/use.js"])?;
    shell.write_file("package.json", MANIFEST)?;
    // pnpm, Deno and npm read this file.
    let cache = shell.current_dir().join("cache");
    let settings = format!("registry={registry}\ncache={}\nfund=false\n", cache.display());
    Ok(shell.write_file(".npmrc", settings)?)
}

/// Runs the project's program, which must use this backend.
fn uses(run: &Cmd<'_>, runtime: &str, backend: &str) -> Result<String> {
    let said = run.read()?;
    ensure!(said.trim() == backend, "expected {backend}, found {said}");
    Ok(format!("{runtime} uses every format on {backend}"))
}

pub fn npm(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    project(shell, &format!("{address}/npm/"))?;
    let quiet = ["--no-audit", "--loglevel=error"];
    cmd!(shell, "npm install {quiet...} polyflake@{version}").run()?;
    uses(&cmd!(shell, "node main.js"), "Node", "native")
}

pub fn npx(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    project(shell, &format!("{address}/npm/"))?;
    names_ids(|| cmd!(shell, "npx --yes @polyflake/cli@{version}"))
}

pub fn pnpm(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    project(shell, &format!("{address}/npm/"))?;
    let store = shell.current_dir().join("store");
    cmd!(shell, "pnpm add --silent --store-dir {store} polyflake@{version}").run()?;
    uses(&cmd!(shell, "node main.js"), "Node", "native")
}

/// Installs with Yarn, in one of its two ways to link packages.
fn with_yarn(shell: &Shell, source: &Source, linker: &str) -> Result<String> {
    let Source { address, version } = source;
    project(shell, &format!("{address}/npm/"))?;
    let settings = format!(
        "npmRegistryServer: \"{address}/npm\"\nunsafeHttpWhitelist: [\"127.0.0.1\"]\n\
         enableGlobalCache: false\nenableTelemetry: false\nnodeLinker: {linker}\n"
    );
    shell.write_file(".yarnrc.yml", settings)?;
    // Yarn keeps packuments, whose addresses contain the port of the registry of an earlier run.
    let kept = shell.current_dir().join("yarn");
    // Without a lock file, Yarn looks for a project in the folders above.
    shell.write_file("yarn.lock", "")?;
    let add = cmd!(shell, "yarn add polyflake@{version}");
    add.env("YARN_ENABLE_IMMUTABLE_INSTALLS", "false").env("YARN_GLOBAL_FOLDER", &kept).run()?;
    let run = cmd!(shell, "yarn node main.js").env("YARN_GLOBAL_FOLDER", &kept);
    uses(&run, "Node", "native")
}

pub fn yarn(shell: &Shell, source: &Source) -> Result<String> {
    with_yarn(shell, source, "node-modules")
}

pub fn yarn_pnp(shell: &Shell, source: &Source) -> Result<String> {
    with_yarn(shell, source, "pnp")
}

pub fn bun(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    project(shell, &format!("{address}/npm/"))?;
    let cache = shell.current_dir().join("bun-cache");
    let add = cmd!(shell, "bun add --silent polyflake@{version}");
    add.env("BUN_INSTALL_CACHE_DIR", cache).run()?;
    uses(&cmd!(shell, "bun main.js"), "Bun", "wasm")
}

pub fn deno(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    project(shell, &format!("{address}/npm/"))?;
    let cache = shell.current_dir().join("deno-cache");
    let deno = |words: &[&str]| {
        let words = words.to_owned();
        cmd!(shell, "deno {words...}").env("DENO_DIR", &cache).env("DENO_NO_UPDATE_CHECK", "1")
    };
    deno(&["add", "--quiet", &format!("npm:polyflake@{version}")]).run()?;
    // The default generators read these variables.
    let permission = "--allow-env=POLYFLAKE_LEASE,POLYFLAKE_NODE";
    uses(&deno(&["run", "--quiet", permission, "main.js"]), "Deno", "wasm")
}
