//! A headless browser: the machine's, or Debian's package if it can be installed.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use xshell::Shell;

use super::{
    Missing,
    debian::{find, install},
};

/// Installs Chromium and its driver if the machine has none and apt-get can.
pub fn browser(shell: &Shell) -> Result<()> {
    if find_browser().is_none() || find_driver().is_none() {
        install(shell, &["chromium", "chromium-driver"]);
    }
    ensure!(
        find_browser().is_some(),
        Missing(
            "no Chromium on this machine, and apt-get cannot install it here: install it by hand"
        )
    );
    Ok(())
}

/// Installs Firefox if the machine has none and apt-get can.
pub fn firefox(shell: &Shell) -> Result<()> {
    let find_firefox = || find(&["firefox-esr", "firefox"]);
    if find_firefox().is_none() {
        install(shell, &["firefox-esr"]);
    }
    ensure!(
        find_firefox().is_some(),
        Missing(
            "no Firefox on this machine, and apt-get cannot install it here: install it by hand"
        )
    );
    Ok(())
}

/// The driver with which tests of wasm crates control the browser.
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
