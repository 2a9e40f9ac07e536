//! Addons and the npm package: the package's tests in a copy of the repository whose package is the built one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{emulated, output, python::SUITE};
use crate::{
    artefacts::{platforms::Platform, results, results::Run},
    tools::Missing,
    workspace,
};

pub fn addon(shell: &Shell, platform: &Platform, folder: &Path) -> Result<Vec<Run>> {
    let tree = tree(shell, platform, folder)?;
    match &*platform.name {
        "linux-x64-gnu" => native(shell, &tree),
        "linux-arm64-gnu" => emulated::node_arm64(shell, &tree),
        "linux-x64-musl" => emulated::node_musl(shell, &tree),
        "win32-x64-gnu" => emulated::node_windows(shell, &tree),
        _ => Err(Missing("no Node for this addon on this machine").into()),
    }
}

/// The npm package in an empty project, without an addon: it works on wasm.
pub fn package(shell: &Shell, folder: &Path) -> Result<Vec<Run>> {
    let project = tempfile::tempdir()?;
    let tarball = tarball(folder)?;
    let used = workspace::root().join("tests/packaging/js/use");
    for file in ["main.js", "use.js"] {
        shell.copy_file(used.join(file), project.path())?;
    }
    let _there = shell.push_dir(project.path());
    shell.write_file("package.json", r#"{ "private": true, "type": "module" }"#)?;
    let options = ["--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"];
    cmd!(shell, "npm install {options...} {tarball}").run()?;
    let said = cmd!(shell, "node main.js").read()?;
    ensure!(said == "wasm", "expected wasm, found {said}");
    let with = format!("Node {}", cmd!(shell, "node --version").read()?.trim_start_matches('v'));
    let what = "installed without an addon; a program of users, on wasm".to_owned();
    Ok(vec![Run { with, what, passed: 1 }])
}

/// The whole suite, on the machine's Node and on the newest one.
fn native(shell: &Shell, tree: &Path) -> Result<Vec<Run>> {
    let newest = workspace::artefacts().join("run/node");
    shell.create_dir(&newest)?;
    {
        let _there = shell.push_dir(&newest);
        shell.write_file("package.json", r#"{ "private": true }"#)?;
        cmd!(shell, "npm install --no-audit --no-fund --loglevel=error node@latest").run()?;
    }
    let nodes = [PathBuf::from("node"), newest.join("node_modules/node/bin/node")];
    let _there = shell.push_dir(tree.join("packages/js"));
    let tests = test_files(shell)?;
    let run = |node: &PathBuf| {
        let tests = &tests;
        let said = output(cmd!(shell, "{node} --test --test-reporter tap {tests...}"))?;
        let version = cmd!(shell, "{node} --version").quiet().read()?;
        let with = format!("Node {}", version.trim_start_matches('v'));
        Ok(Run { with, what: SUITE.to_owned(), passed: passed(&said)? })
    };
    nodes.iter().map(run).collect()
}

/// The files of tests in the folder that the shell is in.
fn test_files(shell: &Shell) -> Result<Vec<PathBuf>> {
    let files = shell.read_dir("test")?;
    Ok(files.into_iter().filter(|path| path.to_string_lossy().ends_with(".test.mjs")).collect())
}

/// The number of tests that passed, of the lines that Node's runner ends with.
pub fn passed(said: &str) -> Result<u32> {
    let of = |name: &str| -> Option<u32> {
        said.lines().rev().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    ensure!(of("# fail ") == Some(0), "expected no test to fail");
    of("# pass ").context("expected a number of tests")
}

/// A copy of the repository, by links, with the built package and this platform's addon in place of the checkout's.
fn tree(shell: &Shell, platform: &Platform, folder: &Path) -> Result<PathBuf> {
    let main = tarball(&folder.with_file_name("npm"));
    let main = main.map_err(|_| Missing("the npm package is not built"))?;
    let tree = workspace::artefacts().join("run/trees").join(&platform.name);
    shell.remove_path(&tree)?;
    shell.create_dir(&tree)?;
    for entry in shell.read_dir(workspace::root())? {
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !["target", ".git"].contains(&name) {
            cmd!(shell, "cp --archive --link {entry} {tree}").quiet().run()?;
        }
    }
    let (package, addon) = (tree.join("packages/js"), tarball(folder)?);
    for part in ["dist", "prebuilds", "decode", "json", "native", "wasm", "web"] {
        shell.remove_path(package.join(part))?;
    }
    let options =
        ["--extract", "--gzip", "--strip-components", "1", "--exclude", "package/package.json"];
    cmd!(shell, "tar {options...} --unlink-first --file {main} --directory {package}").run()?;
    let prebuilds = package.join("prebuilds").join(&platform.name);
    shell.create_dir(&prebuilds)?;
    let (name, options) = (&platform.name, ["--extract", "--gzip", "--to-stdout", "--file"]);
    let library = cmd!(shell, "tar {options...} {addon} package/polyflake.{name}.node").output()?;
    shell.write_file(prebuilds.join("polyflake.node"), library.stdout)?;
    Ok(tree)
}

fn tarball(folder: &Path) -> Result<PathBuf> {
    let files = results::files(folder)?;
    Ok(folder.join(&files.first().context("expected a tarball")?.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_passed_are_counted() {
        assert_eq!(passed("ok 1\n# tests 3\n# pass 3\n# fail 0\n").unwrap(), 3);
        assert!(passed("# pass 3\n# fail 1\n").is_err());
        assert!(passed("").is_err());
    }
}
