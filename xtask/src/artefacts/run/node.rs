//! Addons and the npm package: npm takes the addon of a platform from all that were built, into an empty project; and the package's
//! tests run in a copy of the repository whose package is the built one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{
    nodes::{self, Node},
    output,
    registry::{Registry, as_on},
};
use crate::{
    artefacts::{platforms::Platform, results::Run, roots},
    tools::Missing,
    workspace,
};

/// Modules of tests that start other programs, which would not be emulated.
const STARTING: [&str; 5] =
    ["child_process", "node:cluster", "esbuild", "./browser.mjs", "./realm.mjs"];

pub fn addon(shell: &Shell, platform: &Platform, folder: &Path) -> Result<Vec<Run>> {
    let (nodes, tree) = (nodes::of_addon(shell, platform)?, tree(shell, platform, folder)?);
    let run = |node: &Node| {
        project(shell, platform, node).context("in an empty project")?;
        let what = format!("an empty project, {}", suite(shell, node, &tree)?);
        Ok(Run { with: node.name.clone(), under: node.under.map(str::to_owned), what })
    };
    nodes.iter().map(run).collect()
}

/// The npm package in an empty project without an addon, where it works on wasm: on a platform that has none, and where npm is told
/// to leave out what is optional.
pub fn package(shell: &Shell) -> Result<Vec<Run>> {
    let registry = Registry::open()?;
    for option in ["--os=freebsd", "--omit=optional"] {
        let project = new_project(shell)?;
        let _there = shell.push_dir(project.path());
        registry.install(shell, &[option], "polyflake")?;
        let said = cmd!(shell, "node main.js").read()?;
        ensure!(said == "wasm", "{option}: expected wasm, found {said}");
    }
    let with = format!("Node {}", cmd!(shell, "node --version").read()?.trim_start_matches('v'));
    let what =
        "empty projects on wasm: of a platform without an addon, and without optional packages";
    Ok(vec![Run { with, under: None, what: what.to_owned() }])
}

/// Lets npm install the package as on this platform, where it must take this addon alone, and runs a program of users.
fn project(shell: &Shell, platform: &Platform, node: &Node) -> Result<()> {
    let (registry, project) = (Registry::open()?, new_project(shell)?);
    let _there = shell.push_dir(project.path());
    // On the machine's own platform npm must see by itself what to take.
    let options = if node.starts_others() { Vec::new() } else { as_on(platform) };
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    registry.install(shell, &options, "polyflake")?;
    let addons = shell.read_dir("node_modules/@polyflake")?;
    let expected = format!("addon-{}", platform.name);
    ensure!(
        addons.len() == 1 && addons[0].ends_with(&expected),
        "expected {expected} alone, found {addons:?}"
    );
    let said = output(node.start(shell).arg("main.js"))?;
    ensure!(said.trim() == "native", "expected native, found {said}");
    Ok(())
}

/// A project of users that has nothing but a program.
fn new_project(shell: &Shell) -> Result<tempfile::TempDir> {
    let project = tempfile::tempdir()?;
    let used = workspace::root().join("tests/packaging/js/use");
    for file in ["main.js", "use.js"] {
        shell.copy_file(used.join(file), project.path())?;
    }
    let manifest = project.path().join("package.json");
    shell.write_file(manifest, r#"{ "private": true, "type": "module" }"#)?;
    Ok(project)
}

/// Runs all tests; where a new process would not be emulated, those that start no other program, one by one.
fn suite(shell: &Shell, node: &Node, tree: &Path) -> Result<String> {
    let _there = shell.push_dir(tree.join("packages/js"));
    let mut tests = shell.read_dir("test")?;
    tests.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    if node.starts_others() {
        output(node.start(shell).arg("--test").args(tests))?;
        return Ok("the package's tests".to_owned());
    }
    let starts_others = |path: &PathBuf| {
        shell.read_file(path).is_ok_and(|text| STARTING.iter().any(|name| text.contains(name)))
    };
    tests.retain(|path| !starts_others(path));
    for file in &tests {
        output(node.start(shell).arg(file))
            .with_context(|| format!("{} failed", file.display()))?;
    }
    Ok(format!("{} files of the package's tests", tests.len()))
}

/// A copy of the repository, by links, with the built package and this platform's addon in place of the checkout's.
fn tree(shell: &Shell, platform: &Platform, folder: &Path) -> Result<PathBuf> {
    let main = workspace::only_file(&folder.with_file_name("npm"));
    let main = main.map_err(|_| Missing("the npm package is not built".into()))?;
    let tree = roots::folder().join("trees").join(&platform.name);
    shell.remove_path(&tree)?;
    shell.create_dir(&tree)?;
    for entry in shell.read_dir(workspace::root())? {
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !["target", ".git"].contains(&name) {
            cmd!(shell, "cp --archive --link {entry} {tree}").quiet().run()?;
        }
    }
    let (package, addon) = (tree.join("packages/js"), workspace::only_file(folder)?);
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
