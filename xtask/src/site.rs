//! The page that names IDs, and the site around it.

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::{
    build::{self, Language, Purpose},
    tools, workspace,
};

const TARGET: &str = "wasm32-unknown-unknown";
/// The inspector is asked once a letter: it need not be fast.
const PROFILE: &str = "wasm-small";

pub fn main() -> Result<()> {
    let shell = workspace::shell()?;
    tools::rust_targets(&shell)?;
    tools::node(&shell)?;
    tools::site_node(&shell)?;
    build::build(&shell, Language::JavaScript, Purpose::Users)?;
    page(&shell)?;
    tools::browser(&shell)?;
    tools::firefox(&shell)?;
    let _there = shell.push_dir(workspace::root().join("site"));
    Ok(cmd!(shell, "node_modules/.bin/node --test test/*.test.mjs").run()?)
}

/// The page, in one file.
fn page(shell: &Shell) -> Result<()> {
    let chosen = ["--package", "inspect-page", "--target", TARGET, "--profile", PROFILE];
    cmd!(shell, "cargo build --quiet {chosen...}")
        .env("RUSTFLAGS", build::without_local_paths(shell)?)
        .run()?;
    let built = workspace::target().join(TARGET).join(PROFILE).join("inspect_page.wasm");
    let (module, out) = (site().join("wasm"), site().join("dist/inspect"));
    cmd!(shell, "cargo run --quiet --package xtask-wasm -- {built} {module}").run()?;
    let node = workspace::root().join("site/node_modules/.bin/node");
    Ok(cmd!(shell, "{node} site/page/build.mjs {module} {out}").run()?)
}

/// The folder of what is built here.
fn site() -> std::path::PathBuf {
    workspace::target().join("site")
}
