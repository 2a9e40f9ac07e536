//! The npm tarballs, the package's and that of this platform's addon, in small projects of users: `tests/packaging/js` has a folder
//! for each tool, and `use` with the files that they share.
//!
//! A project's `test` runs in every run, with the versions that its package.json names; its `thorough` runs with the newest tools.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tempfile::TempDir;
use xshell::{Cmd, Shell, cmd};

use super::{copy, packaging};
use crate::{tools, workspace};

/// The tarballs in a project's folder.
const TARBALLS: [&str; 2] = ["./polyflake.tgz", "./addon.tgz"];
const QUIET: [&str; 3] = ["--no-audit", "--no-fund", "--loglevel=error"];

/// The tarballs in new projects: `import`, `require`, and types under each way to resolve modules that TypeScript has today; with
/// the addon's package, without it, and from a registry that has those of all platforms.
pub fn javascript(shell: &Shell) -> Result<()> {
    let project = project(shell, "node")?;
    {
        let _there = shell.push_dir(project.path());
        cmd!(shell, "npm install {QUIET...} {TARBALLS...}").run()?;
        npm_run(shell, "test").run()?;
    }
    copy(&packaging("js/types"), project.path())?;
    let _there = shell.push_dir(project.path());
    let tsc = workspace::root().join("tests/node_modules/.bin/tsc");
    for resolution in ["node16.json", "nodenext.json", "bundler.json"] {
        cmd!(shell, "{tsc} --project {resolution}").run()?;
    }
    Ok(())
}

/// Tests a tool's project with the versions that its package.json names, each to the last number.
pub fn pinned(shell: &Shell, tool: &str) -> Result<()> {
    let project = project(shell, tool)?;
    let _there = shell.push_dir(project.path());
    cmd!(shell, "npm install {QUIET...} {TARBALLS...}").run()?;
    Ok(npm_run(shell, "test").run()?)
}

/// Tests a tool's project with the newest versions.
pub fn newest(shell: &Shell, tool: &str) -> Result<()> {
    thorough(shell, tool, Manifest::newest_tools)
}

/// Tests a tool's project with the oldest versions that are supported.
pub fn oldest(shell: &Shell, tool: &str) -> Result<()> {
    thorough(shell, tool, |manifest| manifest.oldest)
}

/// Tests a tool's project with versions that its manifest leads to.
fn thorough(
    shell: &Shell,
    tool: &str,
    chosen: impl FnOnce(Manifest) -> BTreeMap<String, String>,
) -> Result<()> {
    let project = project(shell, tool)?;
    let _there = shell.push_dir(project.path());
    let tools = chosen(Manifest::read(shell)?);
    ensure!(!tools.is_empty(), "expected tools in the package.json of {tool}");
    if tools.contains_key("playwright-core") {
        tools::browser(shell)?;
    }
    let wanted = tools.iter().map(|(name, version)| format!("{name}@{version}"));
    cmd!(shell, "npm install {QUIET...} --save-dev {wanted...} {TARBALLS...}").run()?;
    let browser = tools::find_browser().unwrap_or_default();
    cmd!(shell, "npm ls --depth 0").run()?;
    Ok(npm_run(shell, "thorough").env("CHROMIUM", browser).run()?)
}

/// The parts of a project's package.json that a trial reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
    #[serde(default)]
    dev_dependencies: BTreeMap<String, String>,
    /// The newest versions of packages that do not tag them `latest`, and tools that only trials need.
    #[serde(default)]
    newest: BTreeMap<String, String>,
    /// The oldest versions that are supported.
    #[serde(default)]
    oldest: BTreeMap<String, String>,
}

impl Manifest {
    fn read(shell: &Shell) -> Result<Self> {
        serde_json::from_str(&shell.read_file("package.json")?).context("cannot read package.json")
    }

    fn newest_tools(self) -> BTreeMap<String, String> {
        let names = self.dependencies.into_keys().chain(self.dev_dependencies.into_keys());
        let mut tools: BTreeMap<_, _> = names.map(|name| (name, "latest".to_owned())).collect();
        tools.extend(self.newest);
        tools
    }
}

/// A copy of a tool's folder outside of the repository, with the shared files and the tarballs.
fn project(shell: &Shell, tool: &str) -> Result<TempDir> {
    let (project, packed) = (tempfile::tempdir()?, tempfile::tempdir()?);
    copy(&packaging("js/use"), project.path())?;
    copy(&packaging("js").join(tool), project.path())?;
    // A client of `PostgreSQL` needs a server.
    if fs::read_to_string(project.path().join("package.json"))?.contains("pg\":") {
        tools::postgresql(shell);
    }
    let (_there, into) = (shell.push_dir(workspace::root().join("packages/js")), packed.path());
    cmd!(shell, "npm run --silent pack -- {into}").run()?;
    for tarball in shell.read_dir(into)? {
        let is_addon = name_in(shell, &tarball)?.contains("/addon-");
        fs::copy(tarball, project.path().join(TARBALLS[usize::from(is_addon)]))?;
    }
    Ok(project)
}

/// The name of the package in a tarball.
fn name_in(shell: &Shell, tarball: impl AsRef<Path>) -> Result<String> {
    let (tarball, options) = (tarball.as_ref(), ["--extract", "--gzip", "--to-stdout", "--file"]);
    let manifest = cmd!(shell, "tar {options...} {tarball} package/package.json").quiet().read()?;
    let manifest: serde_json::Value = serde_json::from_str(&manifest)?;
    Ok(manifest["name"].as_str().context("expected a name")?.to_owned())
}

fn npm_run<'sh>(shell: &'sh Shell, script: &str) -> Cmd<'sh> {
    cmd!(shell, "npm run --silent {script}")
        .env("NEXT_TELEMETRY_DISABLED", "1")
        .env("POLYFLAKE_REPOSITORY", workspace::root())
        .env_remove("POLYFLAKE_BACKEND")
}
