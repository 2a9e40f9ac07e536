//! Programs of Debian's packages: they are installed if this is root on Debian, or a user in CI who may become root, and not elsewhere.

use std::path::PathBuf;

use anyhow::Result;
use xshell::{Shell, cmd};

use super::Missing;
use crate::workspace;

/// Finds something, after its package was installed if it was not there before.
fn provided(
    shell: &Shell,
    package: &str,
    find_it: impl Fn() -> Option<PathBuf>,
) -> Result<PathBuf> {
    if find_it().is_none() {
        install(shell, package);
    }
    let missing = || Missing(format!("no {package} on this machine: install it by hand"));
    Ok(find_it().ok_or_else(missing)?)
}

/// The first of these programs, of this package.
fn program(shell: &Shell, package: &str, names: &[&str]) -> Result<PathBuf> {
    provided(shell, package, || find(names))
}

/// Valgrind, which counts instructions.
pub fn valgrind(shell: &Shell) -> Result<PathBuf> {
    program(shell, "valgrind", &["valgrind"])
}

/// The QEMU that runs programs for `AArch64`.
pub fn qemu_aarch64(shell: &Shell) -> Result<PathBuf> {
    program(shell, "qemu-user", &["qemu-aarch64", "qemu-aarch64-static"])
}

/// A headless browser.
pub fn browser(shell: &Shell) -> Result<PathBuf> {
    provided(shell, "chromium", find_browser)
}

/// The machine's Chromium, if it has one.
pub fn find_browser() -> Option<PathBuf> {
    find(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
}

/// The driver with which tests of wasm crates control the browser.
pub fn driver(shell: &Shell) -> Result<PathBuf> {
    browser(shell)?;
    program(shell, "chromium-driver", &["chromedriver"])
}

/// The other headless browser.
pub fn firefox(shell: &Shell) -> Result<PathBuf> {
    program(shell, "firefox-esr", &["firefox-esr", "firefox"])
}

/// The compiler that links for Windows.
pub fn mingw(shell: &Shell) -> Result<PathBuf> {
    program(shell, "gcc-mingw-w64-x86-64-win32", &["x86_64-w64-mingw32-gcc-win32"])
}

/// The library for compression, for Windows.
pub fn mingw_zlib(shell: &Shell) -> Result<PathBuf> {
    provided(shell, "libz-mingw-w64", || file("/usr/x86_64-w64-mingw32/lib/zlib1.dll"))
}

/// The Wine that runs programs for Windows, which Debian keeps off the path.
pub fn wine(shell: &Shell) -> Result<PathBuf> {
    let find_it = || find(&["wine64", "wine"]).or_else(|| file("/usr/lib/wine/wine64"));
    provided(shell, "wine64", find_it)
}

/// The library that shows a process another time.
pub fn faketime(shell: &Shell) -> Result<PathBuf> {
    provided(shell, "libfaketime", find_faketime)
}

/// Debian's keys, which other distributions have in a package.
pub fn debian_keys(shell: &Shell) -> Result<PathBuf> {
    let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
    provided(shell, "debian-archive-keyring", || file(keys))
}

/// Installs `PostgreSQL`, whose programs Debian keeps off the path, for tests that start servers of their own.
pub fn postgresql(shell: &Shell) {
    let is_there = PathBuf::from("/usr/lib/postgresql").is_dir() || find(&["initdb"]).is_some();
    if !is_there {
        install(shell, "postgresql");
    }
}

/// Installs the server of `MariaDB`, which Debian keeps off users' paths, for tests that start one of their own. Where its program
/// has no package of this name, the whole server's package brings it.
pub fn mariadb(shell: &Shell) {
    let is_there =
        || find(&["mariadbd"]).is_some() || PathBuf::from("/usr/sbin/mariadbd").is_file();
    let packages = ["mariadb-server-core", "mariadb-server"];
    packages.iter().filter(|_| !is_there()).for_each(|package| install(shell, package));
}

/// Finds the library in its folder, which some distributions have for each architecture.
fn find_faketime() -> Option<PathBuf> {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    let deeper = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let deeper = deeper.map(|entry| entry.path()).collect::<Vec<_>>();
    let mut places =
        folders.iter().chain(&deeper).map(|folder| folder.join("faketime/libfaketime.so.1"));
    places.find(|library| library.is_file())
}

/// Installs a package if this is root on Debian, or in CI a user who needs no password to become root; callers check whether it is
/// there.
fn install(shell: &Shell, package: &str) {
    let am_root = cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id.trim() == "0");
    let before: &[&str] = if am_root { &["env"] } else { &["sudo", "--non-interactive"] };
    let is_able = am_root || workspace::in_ci();
    let apt = |words: &[&str]| {
        let words = [before, &["DEBIAN_FRONTEND=noninteractive", "apt-get"], words].concat();
        let (program, rest) = (words[0], &words[1..]);
        cmd!(shell, "{program} {rest...}").quiet().ignore_stdout().run()
    };
    if is_able && apt(&["update"]).is_ok() {
        let _ = apt(&["install", "--yes", "--no-install-recommends", package]);
    }
}

/// A file, if it is there.
fn file(path: &str) -> Option<PathBuf> {
    Some(PathBuf::from(path)).filter(|path| path.is_file())
}

/// The first of these programs that is on the path.
pub fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    names
        .iter()
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}
