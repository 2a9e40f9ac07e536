//! Tests the npm tarballs of the package and of this platform's addon in small user projects. `tests/packaging/js` contains
//! a folder for each project, and the folder `use` with the shared files.
//!
//! Every test run executes a project's `test` script, with the exact versions in the project's package.json. A thorough run
//! also executes the project's `thorough` script with the newest tools. If the project lists oldest supported versions, the
//! script runs again with those versions.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tempfile::TempDir;
use xshell::{Shell, cmd};

use super::{copy, packaging_folder};
use crate::{tools, workspace};

/// The paths of the tarballs in a project's folder.
const TARBALLS: [&str; 2] = ["./polyflake.tgz", "./addon.tgz"];
const NPM_FLAGS: [&str; 3] = ["--no-audit", "--no-fund", "--loglevel=error"];

type Versions = BTreeMap<String, String>;

/// A project, with the parts of its package.json that these tests read.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Project {
    /// The name of the project's folder.
    #[serde(skip)]
    pub name: String,
    /// The guarantee that this project tests.
    #[serde(rename = "description")]
    pub protects: String,
    scripts: BTreeMap<String, String>,
    dependencies: Versions,
    dev_dependencies: Versions,
    /// The versions to install when the newest dependencies are tested. They replace the `latest` tag for packages whose
    /// tag points to a different version, and add tools that only these tests need.
    newest: Versions,
    /// The oldest supported versions.
    oldest: Versions,
}

/// Returns all projects, sorted by name.
pub fn all_projects() -> Result<Vec<Project>> {
    let mut projects = Vec::new();
    for folder in fs::read_dir(packaging_folder("js"))? {
        let folder = folder?;
        let name = folder.file_name().to_string_lossy().into_owned();
        // The folder of shared files has no package.json.
        let Ok(manifest) = fs::read_to_string(folder.path().join("package.json")) else { continue };
        let project: Project = serde_json::from_str(&manifest).with_context(|| name.clone())?;
        ensure!(
            !project.protects.is_empty(),
            "expected a description in the package.json of {name}"
        );
        ensure!(
            project.has_test() || project.has_thorough_test(),
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

    pub fn has_thorough_test(&self) -> bool {
        self.scripts.contains_key("thorough")
    }

    pub fn has_oldest_versions(&self) -> bool {
        !self.oldest.is_empty()
    }

    /// Tests the project with the versions in its package.json.
    pub fn test_pinned_versions(&self, shell: &Shell) -> Result<()> {
        self.run(shell, &Versions::new(), "test")
    }

    /// Tests the project with the newest versions.
    pub fn test_newest_versions(&self, shell: &Shell) -> Result<()> {
        let names = self.dependencies.keys().chain(self.dev_dependencies.keys());
        let mut tools: Versions = names.map(|name| (name.clone(), "latest".to_owned())).collect();
        tools.extend(self.newest.clone());
        self.run(shell, &tools, "thorough")
    }

    /// Tests the project with the oldest supported versions.
    pub fn test_oldest_versions(&self, shell: &Shell) -> Result<()> {
        self.run(shell, &self.oldest, "thorough")
    }

    /// Runs one of the project's scripts with the tarballs. The given versions replace those in the project's package.json.
    fn run(&self, shell: &Shell, versions: &Versions, script: &str) -> Result<()> {
        let project = self.copy_to_temp(shell)?;
        let _there = shell.push_dir(project.path());
        if versions.contains_key("playwright-core") {
            tools::browser(shell)?;
        }
        let wanted = versions.iter().map(|(name, version)| format!("{name}@{version}"));
        cmd!(shell, "npm install {NPM_FLAGS...} --save-dev {wanted...} {TARBALLS...}").run()?;
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

    /// Copies the project's folder, the shared files and the tarballs to a temporary folder outside the repository.
    fn copy_to_temp(&self, shell: &Shell) -> Result<TempDir> {
        let (project, packed) = (tempfile::tempdir()?, tempfile::tempdir()?);
        copy(&packaging_folder("js/use"), project.path())?;
        copy(&packaging_folder("js").join(&self.name), project.path())?;
        // Tests of a `PostgreSQL` client need a server.
        if self.dependencies.keys().any(|name| name.ends_with("pg")) {
            tools::install_postgresql(shell);
        }
        let (_there, into) = (shell.push_dir(workspace::root().join("packages/js")), packed.path());
        cmd!(shell, "npm run --silent pack -- {into}").run()?;
        for tarball in shell.read_dir(into)? {
            let is_addon = read_package_name(shell, &tarball)?.contains("/addon-");
            fs::copy(tarball, project.path().join(TARBALLS[usize::from(is_addon)]))?;
        }
        Ok(project)
    }
}

/// Returns the name of the package in a tarball.
fn read_package_name(shell: &Shell, tarball: impl AsRef<Path>) -> Result<String> {
    let (tarball, options) = (tarball.as_ref(), ["--extract", "--gzip", "--to-stdout", "--file"]);
    let manifest = cmd!(shell, "tar {options...} {tarball} package/package.json").quiet().read()?;
    let manifest: serde_json::Value = serde_json::from_str(&manifest)?;
    Ok(manifest["name"].as_str().context("expected a name")?.to_owned())
}
