//! The npm tarballs, the package's and that of this platform's addon, in small projects of users: `tests/packaging/js` has a folder
//! for each, and `use` with the files that they share.
//!
//! A project's `test` runs in every run, with the versions that its package.json names, each to the last number; its `thorough` runs
//! with the newest tools, and where it names the oldest supported ones, with these.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tempfile::TempDir;
use xshell::{Shell, cmd};

use super::{copy, packaging};
use crate::{tools, workspace};

/// The tarballs in a project's folder.
const TARBALLS: [&str; 2] = ["./polyflake.tgz", "./addon.tgz"];
const QUIET: [&str; 3] = ["--no-audit", "--no-fund", "--loglevel=error"];

type Versions = BTreeMap<String, String>;

/// A project, and the parts of its package.json that a trial reads.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Project {
    /// The name of its folder.
    #[serde(skip)]
    pub name: String,
    /// The promise that it holds.
    #[serde(rename = "description")]
    pub protects: String,
    scripts: BTreeMap<String, String>,
    dependencies: Versions,
    dev_dependencies: Versions,
    /// The newest versions of packages that do not tag them `latest`, and tools that only trials need.
    newest: Versions,
    /// The oldest versions that are supported.
    oldest: Versions,
}

/// All projects, by name.
pub fn all() -> Result<Vec<Project>> {
    let mut projects = Vec::new();
    for folder in fs::read_dir(packaging("js"))? {
        let folder = folder?;
        let name = folder.file_name().to_string_lossy().into_owned();
        // The shared files have none.
        let Ok(manifest) = fs::read_to_string(folder.path().join("package.json")) else { continue };
        let project: Project = serde_json::from_str(&manifest).with_context(|| name.clone())?;
        ensure!(
            !project.protects.is_empty(),
            "expected a description in the package.json of {name}"
        );
        ensure!(
            project.has_test() || project.has_thorough(),
            "expected a test or a trial of {name}"
        );
        projects.push(Project { name, ..project });
    }
    projects.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(projects)
}

impl Project {
    pub fn has_test(&self) -> bool {
        self.scripts.contains_key("test")
    }

    pub fn has_thorough(&self) -> bool {
        self.scripts.contains_key("thorough")
    }

    pub fn has_oldest(&self) -> bool {
        !self.oldest.is_empty()
    }

    /// Tests it with the versions that its package.json names.
    pub fn pinned(&self, shell: &Shell) -> Result<()> {
        self.run(shell, &Versions::new(), "test")
    }

    /// Tests it with the newest versions.
    pub fn newest(&self, shell: &Shell) -> Result<()> {
        let names = self.dependencies.keys().chain(self.dev_dependencies.keys());
        let mut tools: Versions = names.map(|name| (name.clone(), "latest".to_owned())).collect();
        tools.extend(self.newest.clone());
        self.run(shell, &tools, "thorough")
    }

    /// Tests it with the oldest versions that are supported.
    pub fn oldest(&self, shell: &Shell) -> Result<()> {
        self.run(shell, &self.oldest, "thorough")
    }

    /// Runs a script of the project with the tarballs, and with these versions in place of those that its package.json names.
    fn run(&self, shell: &Shell, versions: &Versions, script: &str) -> Result<()> {
        let project = self.copied(shell)?;
        let _there = shell.push_dir(project.path());
        if versions.contains_key("playwright-core") {
            tools::browser(shell)?;
        }
        let wanted = versions.iter().map(|(name, version)| format!("{name}@{version}"));
        cmd!(shell, "npm install {QUIET...} --save-dev {wanted...} {TARBALLS...}").run()?;
        if !versions.is_empty() {
            cmd!(shell, "npm ls --depth 0").run()?;
        }
        Ok(cmd!(shell, "npm run --silent {script}")
            .env("CHROMIUM", tools::find_browser().unwrap_or_default())
            .env("NEXT_TELEMETRY_DISABLED", "1")
            .env("POLYFLAKE_REPOSITORY", workspace::root())
            .env_remove("POLYFLAKE_BACKEND")
            .run()?)
    }

    /// A copy of its folder outside of the repository, with the shared files and the tarballs.
    fn copied(&self, shell: &Shell) -> Result<TempDir> {
        let (project, packed) = (tempfile::tempdir()?, tempfile::tempdir()?);
        copy(&packaging("js/use"), project.path())?;
        copy(&packaging("js").join(&self.name), project.path())?;
        // A client of `PostgreSQL` needs a server.
        if self.dependencies.keys().any(|name| name.ends_with("pg")) {
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
}

/// The name of the package in a tarball.
fn name_in(shell: &Shell, tarball: impl AsRef<Path>) -> Result<String> {
    let (tarball, options) = (tarball.as_ref(), ["--extract", "--gzip", "--to-stdout", "--file"]);
    let manifest = cmd!(shell, "tar {options...} {tarball} package/package.json").quiet().read()?;
    let manifest: serde_json::Value = serde_json::from_str(&manifest)?;
    Ok(manifest["name"].as_str().context("expected a name")?.to_owned())
}
