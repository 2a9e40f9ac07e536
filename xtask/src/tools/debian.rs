//! Programs of Debian's packages: they are installed if this is root on Debian, and not elsewhere.

use std::path::PathBuf;

use anyhow::Result;
use xshell::{Shell, cmd};

use super::Missing;
use crate::workspace;

/// Installs Valgrind, which counts instructions.
pub fn valgrind(shell: &Shell) -> Result<()> {
    if find(&["valgrind"]).is_none() {
        install(shell, &["valgrind"]);
    }
    let found = find(&["valgrind"]).map(|_| ());
    found.ok_or_else(|| Missing("no valgrind on this machine: install it by hand").into())
}

/// The QEMU that runs programs for `AArch64`.
pub fn qemu_aarch64(shell: &Shell) -> Result<PathBuf> {
    let find_it = || find(&["qemu-aarch64", "qemu-aarch64-static"]);
    if find_it().is_none() {
        install(shell, &["qemu-user"]);
    }
    find_it().ok_or_else(|| Missing("no qemu-aarch64 on this machine: install it by hand").into())
}

/// The compiler that links for Windows.
pub const MINGW: &str = "x86_64-w64-mingw32-gcc-win32";

/// Installs the compiler that links for Windows.
pub fn mingw(shell: &Shell) -> Result<()> {
    if find(&[MINGW]).is_none() {
        install(shell, &["gcc-mingw-w64-x86-64-win32"]);
    }
    let found = find(&[MINGW]).map(|_| ());
    found.ok_or_else(|| Missing("no mingw-w64 on this machine: install it by hand").into())
}

/// The library for compression, for Windows.
pub fn mingw_zlib(shell: &Shell) -> Result<PathBuf> {
    let library = PathBuf::from("/usr/x86_64-w64-mingw32/lib/zlib1.dll");
    if !library.is_file() {
        install(shell, &["libz-mingw-w64"]);
    }
    let found = library.is_file().then_some(library);
    found.ok_or_else(|| Missing("no zlib1.dll on this machine: install it by hand").into())
}

/// The Wine that runs programs for Windows, which Debian keeps off the path.
pub fn wine(shell: &Shell) -> Result<PathBuf> {
    let find_it = || {
        let debian = PathBuf::from("/usr/lib/wine/wine64");
        find(&["wine64", "wine"]).or_else(|| debian.is_file().then_some(debian))
    };
    if find_it().is_none() {
        install(shell, &["wine64"]);
    }
    find_it().ok_or_else(|| Missing("no wine on this machine: install it by hand").into())
}

/// The library that shows a process another time.
pub fn faketime(shell: &Shell) -> Result<PathBuf> {
    if find_faketime().is_none() {
        install(shell, &["libfaketime"]);
    }
    find_faketime()
        .ok_or_else(|| Missing("no libfaketime on this machine: install it by hand").into())
}

/// Debian's keys, which other distributions have in a package.
pub fn debian_keys(shell: &Shell) -> Result<PathBuf> {
    let keys = PathBuf::from("/usr/share/keyrings/debian-archive-keyring.gpg");
    if !keys.is_file() {
        install(shell, &["debian-archive-keyring"]);
    }
    let found = keys.is_file().then_some(keys);
    found.ok_or_else(|| Missing("no keys of Debian on this machine").into())
}

/// Installs what Python's sources are fetched, unpacked and built with.
pub fn make(shell: &Shell) -> Result<()> {
    const PROGRAMS: [&str; 6] = ["curl", "make", "perl", "cc", "xz", "bzip2"];
    let is_whole = || PROGRAMS.iter().all(|program| find(&[program]).is_some());
    if !is_whole() {
        install(shell, &["curl", "make", "perl", "gcc", "libc6-dev", "xz-utils", "bzip2"]);
    }
    let found = is_whole().then_some(());
    found.ok_or_else(|| Missing("no curl, make, perl, cc, xz or bzip2 on this machine").into())
}

/// Installs `PostgreSQL`, whose programs Debian keeps off the path, for tests that start servers of their own.
pub fn postgresql(shell: &Shell) {
    let is_there = PathBuf::from("/usr/lib/postgresql").is_dir() || find(&["initdb"]).is_some();
    if !is_there {
        install(shell, &["postgresql"]);
    }
}

/// Installs the server of `MariaDB`, which Debian keeps off users' paths, for tests that start one of their own. Where its program
/// has no package of this name, the whole server's package brings it.
pub fn mariadb(shell: &Shell) {
    let is_there =
        || find(&["mariadbd"]).is_some() || PathBuf::from("/usr/sbin/mariadbd").is_file();
    let packages = ["mariadb-server-core", "mariadb-server"];
    packages.iter().filter(|_| !is_there()).for_each(|package| install(shell, &[package]));
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

/// Installs packages if this is root on Debian, or in CI a user who needs no password to become root; callers check whether they are
/// there.
pub fn install(shell: &Shell, packages: &[&str]) {
    let am_root = cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id.trim() == "0");
    let before: &[&str] = if am_root { &["env"] } else { &["sudo", "--non-interactive"] };
    let is_able = am_root || workspace::in_ci();
    let apt = |words: &[&str]| {
        let words = [before, &["DEBIAN_FRONTEND=noninteractive", "apt-get"], words].concat();
        let (program, rest) = (words[0], &words[1..]);
        cmd!(shell, "{program} {rest...}").quiet().ignore_stdout().run()
    };
    if is_able && apt(&["update"]).is_ok() {
        let _ = apt(&[&["install", "--yes", "--no-install-recommends"], packages].concat());
    }
}

/// The first of these programs that is on the path.
pub fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    names
        .iter()
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}
