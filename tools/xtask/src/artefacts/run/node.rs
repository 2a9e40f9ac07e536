//! Runs the addons and the npm package. npm selects a platform's addon from all built addons, and installs it into an empty
//! project. The package's tests run in a copy of the repository in which the built package replaces the package in the
//! checkout.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{
    node_versions::{self, Node},
    output,
    registry::{Registry, platform_options},
};
use crate::{
    artefacts::{platforms::Platform, results::Run, roots},
    tools::{self, MissingTool},
    workspace,
};

/// Strings that occur in test modules that start other programs. These test modules are skipped if the other programs would
/// run without emulation.
const PROGRAM_STARTERS: [&str; 5] =
    ["child_process", "node:cluster", "esbuild", "./browser.mjs", "./realm.mjs"];

pub fn test_addon(
    shell: &Shell,
    platform: &Platform,
    folder: &Path,
    suites: bool,
) -> Result<Vec<Run>> {
    let nodes = node_versions::find_for_addon(shell, platform)?;
    let main = workspace::only_file(&folder.with_file_name("npm"));
    let main = main.map_err(|_| MissingTool("the npm package is not built".into()))?;
    let tree = if suites { Some(tree(shell, platform, &main, folder)?) } else { None };
    let run = |node: &Node| {
        test_in_project(shell, platform, node).context("in an empty project")?;
        let mut what = "an empty project".to_owned();
        if let Some(tree) = &tree {
            what = format!("{what}, {}", run_suite(shell, node, tree)?);
        }
        Ok(Run::new(&node.name, what).under(node.under).installed_by("npm"))
    };
    nodes.iter().map(run).collect()
}

/// Runs the npm package without an addon in an empty project, where it falls back to wasm. This tests both a platform that
/// has no addon and an installation that omits optional packages.
pub fn test_package(shell: &Shell) -> Result<Vec<Run>> {
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
    Ok(vec![Run::new(with, what).installed_by("npm")])
}

/// Installs the package for the given platform into a user's project with npm, and runs the project's program. Among all
/// built addons, npm must select only the addon for this platform.
fn test_in_project(shell: &Shell, platform: &Platform, node: &Node) -> Result<()> {
    let (registry, project) = (Registry::open()?, new_project(shell)?);
    let _there = shell.push_dir(project.path());
    // On this machine's platform, npm must select the right addon without options that specify the platform.
    let options = if node.runs_directly() { Vec::new() } else { platform_options(platform) };
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    registry.install(shell, &options, "polyflake")?;
    let addons = shell.read_dir("node_modules/@polyflake")?;
    let expected = format!("addon-{}", platform.name);
    ensure!(
        addons.len() == 1 && addons[0].ends_with(&expected),
        "expected {expected} alone, found {addons:?}"
    );
    let said = output(node.command(shell).arg("main.js"))?;
    ensure!(said.trim() == "native", "expected native, found {said}");
    Ok(())
}

/// Creates a user's project that contains only a program.
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

/// Runs the package's tests. If child processes would run without emulation, skips the tests that start other programs, and
/// runs the remaining test files one at a time.
fn run_suite(shell: &Shell, node: &Node, tree: &Path) -> Result<String> {
    let _there = shell.push_dir(tree.join("packages/js"));
    let mut tests = shell.read_dir("test")?;
    tests.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    if node.runs_directly() {
        output(node.command(shell).arg("--test").args(tests))?;
        return Ok("the package's tests".to_owned());
    }
    let starts_others = |path: &PathBuf| {
        shell
            .read_file(path)
            .is_ok_and(|text| PROGRAM_STARTERS.iter().any(|name| text.contains(name)))
    };
    tests.retain(|path| !starts_others(path));
    for file in &tests {
        output(node.command(shell).arg(file))
            .with_context(|| format!("{} failed", file.display()))?;
    }
    Ok(format!("{} files of the package's tests", tests.len()))
}

/// Creates a copy of the repository that consists of hard links. In the copy, the built package and this platform's addon
/// replace those in the checkout.
fn tree(shell: &Shell, platform: &Platform, main: &Path, folder: &Path) -> Result<PathBuf> {
    tools::install_node_packages(shell)?;
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
