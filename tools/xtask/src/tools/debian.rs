//! Provides programs from Debian packages. Missing packages are installed only on Debian, and only if the current user is
//! root or, in CI, can become root.

use std::path::PathBuf;

use anyhow::Result;
use xshell::{Shell, cmd};

use super::MissingTool;
use crate::workspace;

/// Returns the path that `locate_tool` finds. If it finds nothing, installs the package and calls `locate_tool` again.
fn find_or_install(
    shell: &Shell,
    package: &str,
    locate_tool: impl Fn() -> Option<PathBuf>,
) -> Result<PathBuf> {
    if locate_tool().is_none() {
        install(shell, package);
    }
    let missing = || MissingTool(format!("no {package} on this machine: install it by hand"));
    Ok(locate_tool().ok_or_else(missing)?)
}

/// Returns the path of the first named program that is installed. If none of the programs is installed, installs the
/// package that contains these programs and searches again.
fn program(shell: &Shell, package: &str, names: &[&str]) -> Result<PathBuf> {
    find_or_install(shell, package, || find_program(names))
}

/// Returns the path of Valgrind, which counts instructions.
pub fn valgrind(shell: &Shell) -> Result<PathBuf> {
    program(shell, "valgrind", &["valgrind"])
}

/// Returns the path of the QEMU executable that runs `AArch64` programs.
pub fn qemu_aarch64(shell: &Shell) -> Result<PathBuf> {
    program(shell, "qemu-user", &["qemu-aarch64", "qemu-aarch64-static"])
}

/// Returns the path of a headless browser (Chromium or Chrome).
pub fn browser(shell: &Shell) -> Result<PathBuf> {
    find_or_install(shell, "chromium", find_browser)
}

/// Returns the path of Chromium or Chrome, if one of them is installed on this machine.
pub fn find_browser() -> Option<PathBuf> {
    find_program(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
}

/// Returns the path of the driver that controls the browser in the tests of wasm crates.
pub fn browser_driver(shell: &Shell) -> Result<PathBuf> {
    browser(shell)?;
    program(shell, "chromium-driver", &["chromedriver"])
}

/// Returns the path of Firefox, the second headless browser that tests use.
pub fn firefox(shell: &Shell) -> Result<PathBuf> {
    program(shell, "firefox-esr", &["firefox-esr", "firefox"])
}

/// Returns the path of the mingw-w64 compiler, which compiles and links programs for Windows.
pub fn mingw(shell: &Shell) -> Result<PathBuf> {
    program(shell, "gcc-mingw-w64-x86-64-win32", &["x86_64-w64-mingw32-gcc-win32"])
}

/// Returns the path of the zlib library for Windows.
pub fn mingw_zlib(shell: &Shell) -> Result<PathBuf> {
    find_or_install(shell, "libz-mingw-w64", || {
        existing_file("/usr/x86_64-w64-mingw32/lib/zlib1.dll")
    })
}

/// Returns the path of Wine, which runs Windows programs. Debian does not put it on the `PATH`.
pub fn wine(shell: &Shell) -> Result<PathBuf> {
    let locate_tool =
        || find_program(&["wine64", "wine"]).or_else(|| existing_file("/usr/lib/wine/wine64"));
    find_or_install(shell, "wine64", locate_tool)
}

/// Returns the path of the program that checks and tests alerts of Prometheus.
pub fn promtool(shell: &Shell) -> Result<PathBuf> {
    program(shell, "prometheus", &["promtool"])
}

/// Returns the path of the program that checks units of systemd.
pub fn systemd_analyze(shell: &Shell) -> Result<PathBuf> {
    program(shell, "systemd", &["systemd-analyze"])
}

/// Returns the path of libfaketime, a library that changes the time that a process reads from the clock.
pub fn faketime(shell: &Shell) -> Result<PathBuf> {
    find_or_install(shell, "libfaketime", find_faketime)
}

/// Returns the path of Debian's archive keys. Other distributions provide these keys in a package.
pub fn debian_keys(shell: &Shell) -> Result<PathBuf> {
    let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
    find_or_install(shell, "debian-archive-keyring", || existing_file(keys))
}

/// Installs `PostgreSQL` for tests that start their own servers. Debian does not put the server's programs on the `PATH`.
pub fn install_postgresql(shell: &Shell) {
    let is_there =
        PathBuf::from("/usr/lib/postgresql").is_dir() || find_program(&["initdb"]).is_some();
    if !is_there {
        install(shell, "postgresql");
    }
}

/// Installs the `MariaDB` server for tests that start their own server. Also installs the client program that dumps a
/// database. Debian does not put the server on users' `PATH`. If there is no separate server package, installs the package
/// that contains all `MariaDB` programs.
pub fn install_mariadb(shell: &Shell) {
    let programs = [
        ("mariadb-server-core", "mariadbd"),
        ("mariadb-client", "mariadb-dump"),
        ("mariadb-server", "mariadbd"),
    ];
    for (package, name) in programs {
        if find_program(&[name]).or_else(|| existing_file(&format!("/usr/sbin/{name}"))).is_none() {
            install(shell, package);
        }
    }
}

/// Installs the `Redis` server for tests that start their own server.
pub fn install_redis(shell: &Shell) {
    if find_program(&["redis-server"]).is_none() {
        install(shell, "redis-server");
    }
}

/// Installs `PgBouncer` for tests that start their own pooler. Debian does not put it on users' `PATH`.
pub fn install_pgbouncer(shell: &Shell) {
    let is_there = existing_file("/usr/sbin/pgbouncer").or_else(|| find_program(&["pgbouncer"]));
    if is_there.is_none() {
        install(shell, "pgbouncer");
    }
}

/// Finds libfaketime in the usual library folders. Some distributions have a separate folder for each architecture.
fn find_faketime() -> Option<PathBuf> {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    let deeper = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let deeper = deeper.map(|entry| entry.path()).collect::<Vec<_>>();
    let mut places =
        folders.iter().chain(&deeper).map(|folder| folder.join("faketime/libfaketime.so.1"));
    places.find(|library| library.is_file())
}

/// Installs a package if the current user is root on Debian, or can become root without a password in CI. Callers must
/// check afterwards whether the package is available.
fn install(shell: &Shell, package: &str) {
    let am_root = cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id.trim() == "0");
    let before: &[&str] = if am_root { &["env"] } else { &["sudo", "--non-interactive"] };
    let is_able = am_root || workspace::is_ci();
    let apt = |words: &[&str]| {
        let words = [before, &["DEBIAN_FRONTEND=noninteractive", "apt-get"], words].concat();
        let (program, rest) = (words[0], &words[1..]);
        cmd!(shell, "{program} {rest...}").quiet().ignore_stdout().run()
    };
    if is_able && apt(&["update"]).is_ok() {
        let _ = apt(&["install", "--yes", "--no-install-recommends", package]);
    }
}

/// Returns the path of a file if it exists.
fn existing_file(path: &str) -> Option<PathBuf> {
    Some(PathBuf::from(path)).filter(|path| path.is_file())
}

/// Returns the path of the first named program that is on the `PATH`.
pub fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    names
        .iter()
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}
