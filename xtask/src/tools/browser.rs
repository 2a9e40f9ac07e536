//! A headless browser: the machine's, or Debian's package where that can be installed.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use super::Missing;

/// Installs Chromium and its driver where the machine has none and apt-get can.
pub fn browser(shell: &Shell) -> Result<()> {
    if find_browser().is_none() || find_driver().is_none() {
        install(shell);
    }
    ensure!(
        find_browser().is_some(),
        Missing(
            "no Chromium on this machine, and apt-get cannot install it here: install it by hand"
        )
    );
    Ok(())
}

/// What lets tests of wasm crates drive the browser.
pub fn driver(shell: &Shell) -> Result<PathBuf> {
    browser(shell)?;
    find_driver()
        .ok_or_else(|| Missing("no chromedriver on this machine: install it by hand").into())
}

/// The machine's Chromium, if it has one.
pub fn find_browser() -> Option<PathBuf> {
    find(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
}

fn find_driver() -> Option<PathBuf> {
    find(&["chromedriver"])
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    names
        .iter()
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

/// As root on Debian; anywhere else nothing happens.
fn install(shell: &Shell) {
    let am_root = cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id.trim() == "0");
    if am_root && cmd!(shell, "apt-get update").quiet().ignore_stdout().run().is_ok() {
        let _ =
            cmd!(shell, "apt-get install --yes --no-install-recommends chromium chromium-driver")
                .env("DEBIAN_FRONTEND", "noninteractive")
                .ignore_stdout()
                .run();
    }
}
