//! Builds the documentation site, which includes a page that identifies IDs.

use std::path::PathBuf;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::{
    build::{self, Part, Purpose},
    test::readme,
    tools, workspace,
};

/// The path of the site's Node executable, relative to the site's folder. This Node is newer than the oldest version that
/// the package supports.
const NODE: &str = "node_modules/.bin/node";
const TARGET: &str = "wasm32-unknown-unknown";
/// The build profile that minimizes code size. The page's code runs only once for each keystroke, so it does not have to be
/// fast.
const PROFILE: &str = "wasm-small";

/// The crates whose public items the site lists.
const CRATES: [&str; 3] = ["polyflake", "polyflake-lease", "polyflake-sql"];

pub fn main() -> Result<()> {
    let shell = workspace::shell()?;
    readme::check_guide(&shell)?;
    tools::install_rust_targets(&shell)?;
    tools::npm_install(&shell, "tools/site")?;
    build::build(&shell, Part::Javascript, Purpose::Users)?;
    shell.remove_path(public_folder())?;
    build_page(&shell)?;
    write_names(&shell)?;
    build_pages(&shell)?;
    tools::browser(&shell)?;
    tools::firefox(&shell)?;
    let _there = shell.push_dir(workspace::root().join("tools/site"));
    Ok(cmd!(shell, "{NODE} --test test/*.test.mjs").run()?)
}

/// Builds, as a single file, the page that identifies IDs.
fn build_page(shell: &Shell) -> Result<()> {
    let chosen = ["--package", "inspect-page", "--target", TARGET, "--profile", PROFILE];
    cmd!(shell, "cargo build --quiet {chosen...}")
        .env("RUSTFLAGS", build::rustflags_without_local_paths(shell)?)
        .run()?;
    let built = workspace::target().join(TARGET).join(PROFILE).join("inspect_page.wasm");
    let (module, out) = (output_folder().join("wasm"), public_folder().join("inspect"));
    cmd!(shell, "cargo run --quiet --package xtask-wasm -- {built} {module}").run()?;
    let _there = shell.push_dir(workspace::root().join("tools/site"));
    Ok(cmd!(shell, "{NODE} page/build.mjs {module} {out}").run()?)
}

/// Lists all public names. rustdoc lists the names of the crates, `TypeDoc` lists the names of the npm package, and
/// `tools/site/python/reference.py` lists the names of the wheel.
fn write_names(shell: &Shell) -> Result<()> {
    let (docs, api) = (output_folder().join("rustdoc"), public_folder().join("api"));
    let chosen = CRATES.iter().flat_map(|name| ["--package", name]);
    cmd!(shell, "cargo doc --quiet --no-deps --all-features {chosen...} --target-dir {docs}")
        .run()?;
    let pages = output_folder().join("python");
    shell.remove_path(&pages)?;
    let python = tools::default_python(shell)?;
    cmd!(shell, "{python} tools/site/python/reference.py {pages}").run()?;
    shell.create_dir(&api)?;
    let (from, to) = (docs.join("doc"), api.join("rust"));
    cmd!(shell, "cp -R {from} {to}").run()?;
    let _there = shell.push_dir(workspace::root().join("tools/site"));
    let types = [
        "index",
        "public",
        "lease",
        "lease-cloudflare",
        "decode",
        "json",
        "forms",
        "schema",
        "drizzle",
        "prisma",
    ];
    let types = types.map(|name| format!("../../packages/js/dist/cjs/{name}.d.ts"));
    let out = api.join("javascript");
    let options = ["--options", "typedoc.json", "--out"];
    Ok(cmd!(shell, "{NODE} node_modules/typedoc/bin/typedoc {options...} {out} {types...}")
        .run()?)
}

/// Builds the Markdown pages and the files that accompany them.
fn build_pages(shell: &Shell) -> Result<()> {
    let _there = shell.push_dir(workspace::root().join("tools/site"));
    let public = public_folder();
    cmd!(shell, "{NODE} build.mjs {public}").run()?;
    let build = cmd!(shell, "{NODE} node_modules/astro/bin/astro.mjs build --silent");
    Ok(build.env("ASTRO_TELEMETRY_DISABLED", "1").run()?)
}

/// Returns the folder of files that the site serves unchanged.
fn public_folder() -> PathBuf {
    output_folder().join("public")
}

/// Returns the folder for the built files of the site.
fn output_folder() -> PathBuf {
    workspace::target().join("site")
}
