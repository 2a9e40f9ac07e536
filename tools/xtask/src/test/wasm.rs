//! Tests the wasm crate by itself. The crate is built with the tools that its users run, not with the build script of the
//! npm package.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::{tools, workspace};

/// Runs the crate's tests in a browser page.
pub fn test_in_browser(shell: &Shell) -> Result<()> {
    let (driver, runner) = (tools::browser_driver(shell)?, tools::wasm_test_runner(shell)?);
    let tests =
        cmd!(shell, "cargo test --package polyflake-wasm --target wasm32-unknown-unknown --tests");
    Ok(tests
        .env("CHROMEDRIVER", driver)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner)
        .run()?)
}

/// Builds the crate with wasm-pack, and uses the resulting module in Node to generate an ID.
pub fn test_wasm_pack(shell: &Shell) -> Result<()> {
    tools::install(shell, &tools::WASM_PACK)?;
    tools::install_wasm_bindgen(shell)?;
    let out = workspace::target().join("wasm-pack");
    shell.remove_path(&out)?;
    // Use the mode `no-install`, because wasm-pack otherwise downloads wasm-bindgen if the right version is not installed.
    cmd!(shell, "wasm-pack build bindings-wasm --mode no-install --out-dir {out}").run()?;
    let program = workspace::root().join("tests/packaging/wasm-pack/use.mjs");
    let script = out.join("polyflake_wasm.js");
    let options = ["--experimental-wasm-modules", "--no-warnings"];
    let said = cmd!(shell, "node {options...} {program} {script}").read()?;
    ensure!(said == "ok", "expected ok, found {said}");
    Ok(())
}
