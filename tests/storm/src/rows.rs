//! The rows of the table in `docs/project/storm.md`. They describe published libraries, each with code from the library's
//! documentation.
//!
//! Each row is a file in `tests/storm/rows`. The environment in which a row's generators run is built in `target/storm`,
//! with the newest version of the library.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::{
    judge::Format,
    process::Program,
    results::RowResult,
    storms::{STORMS, Size, Storm},
};

/// A library, and the setups of its generators.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The library's name in its registry.
    pub package: String,
    /// `python`, `node` or `rust`.
    pub language: String,
    /// The dependency line in `Cargo.toml`, for Rust.
    dependency: Option<String>,
    /// How IDs are compared (see [`crate::order`]). If absent, sorting is not checked.
    order: Option<String>,
    /// The position of the time in an ID (see [`crate::time`]).
    time: Option<String>,
    /// The setups of the library's generators, keyed by name. The usual setup is named `default`. Some libraries have other
    /// setups, for example for several processes.
    set_up: BTreeMap<String, Setup>,
}

/// One setup of a library's generator.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Setup {
    /// Overrides the row's `order`.
    order: Option<String>,
    /// Overrides the row's `time`.
    time: Option<String>,
    /// Whether each forked child creates a separate generator with a unique worker ID.
    #[serde(default)]
    renews: bool,
    /// The adapter's code. It defines a function `generator`, which returns a function that returns an ID.
    code: String,
    /// Statements from the library's documentation, each with the names of the storms to which it applies.
    #[serde(default)]
    documented: BTreeMap<String, Vec<String>>,
}

/// Returns the repository's root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the names of all rows.
pub fn names() -> Result<Vec<String>> {
    let files = fs::read_dir(root().join("tests/storm/rows"))?;
    let name = |file: fs::DirEntry| Some(file.path().file_stem()?.to_str()?.to_owned());
    let mut names: Vec<_> = files.filter_map(Result::ok).filter_map(name).collect();
    names.sort();
    Ok(names)
}

/// Reads a row.
pub fn read(name: &str) -> Result<Row> {
    let path = root().join(format!("tests/storm/rows/{name}.toml"));
    let text = fs::read_to_string(&path)
        .with_context(|| format!("expected the name of a row, found {name:?}"))?;
    toml::from_str(&text).with_context(|| format!("in {}", path.display()))
}

/// Builds the environment for a row, and runs each storm that the row's language supports several times. Returns the
/// results, keyed by setup.
pub fn run(name: &str, size: &Size, runs: u32) -> Result<BTreeMap<String, RowResult>> {
    let row = read(name)?;
    let builder = Builder::new(name, &row)?;
    builder.install()?;
    let date = today()?;
    let result = |(set_up, generator): (&String, &Setup)| {
        let command = builder.command(set_up, &generator.code)?;
        let program = Program { command, is_lines: false, renews: generator.renews };
        let format = row.format(generator)?;
        let mut result = RowResult::new(builder.version()?, date.clone(), runs);
        for storm in STORMS.iter().filter(|storm| row.supports_storm(storm)) {
            for run in 1..=runs {
                println!("{name}, {set_up}: {}, run {run}", storm.name);
                let verdict = storm.run(&program, &format, size);
                match &verdict {
                    Ok(verdict) => println!("{verdict}"),
                    Err(error) => println!("  no verdict: {error:#}"),
                }
                result.add(storm.name, verdict.as_ref().ok());
            }
        }
        Ok((set_up.clone(), result))
    };
    row.set_up.iter().map(result).collect()
}

impl Row {
    /// Returns an error if a value of the row is invalid.
    pub fn check(&self) -> Result<()> {
        let is_known = ["node", "python", "rust"].contains(&self.language.as_str());
        ensure!(is_known, "expected a language with a host, found {}", self.language);
        ensure!(self.dependency.is_some() == (self.language == "rust"), "a dependency is for Rust");
        ensure!(!self.set_up.is_empty(), "expected a set-up");
        let is_storm = |name: &String| STORMS.iter().any(|storm| storm.name == *name);
        let documented = self.set_up.values().flat_map(|set_up| set_up.documented.values());
        ensure!(documented.flatten().all(is_storm), "expected names of storms");
        self.set_up.values().try_for_each(|set_up| self.format(set_up).map(drop))
    }

    /// Returns the statements from the library's documentation about a setup, each with the names of the storms to which it
    /// applies.
    pub fn documented_statements(
        &self,
        set_up: &str,
    ) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.set_up.get(set_up).into_iter().flat_map(|set_up| &set_up.documented)
    }

    /// Returns whether the library's documentation mentions the effect of a storm on a setup.
    #[must_use]
    pub fn is_documented(&self, set_up: &str, storm: &str) -> bool {
        self.documented_statements(set_up)
            .any(|(_, storms)| storms.iter().any(|name| name == storm))
    }

    /// Returns the format of a setup's IDs.
    pub fn format_of(&self, set_up: &str) -> Result<Format> {
        self.format(self.set_up.get(set_up).context("expected a set-up")?)
    }

    fn format(&self, set_up: &Setup) -> Result<Format> {
        let order = set_up.order.as_ref().or(self.order.as_ref());
        let time = set_up.time.as_ref().or(self.time.as_ref());
        let order = order.map(|order| order.parse()).transpose()?;
        Ok(Format { order, time: time.map(|time| time.parse()).transpose()? })
    }

    /// Returns whether the host in this row's language supports a storm. The Node host supports no storm that forks.
    #[must_use]
    pub fn supports_storm(&self, storm: &Storm) -> bool {
        self.language != "node" || matches!(storm.shape, None | Some("threads"))
    }
}

fn today() -> Result<String> {
    read_output(Command::new("date").args(["-u", "+%F"]))
}

/// Runs a command and returns its output. Fails if the command fails.
fn read_output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {errors}");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// A builder of the environment in which a row's storms run.
struct Builder<'r> {
    name: &'r str,
    row: &'r Row,
    folder: PathBuf,
}

impl<'r> Builder<'r> {
    fn new(name: &'r str, row: &'r Row) -> Result<Self> {
        let folder = root().canonicalize()?.join("target/storm").join(&row.language);
        fs::create_dir_all(&folder)?;
        Ok(Self { name, row, folder })
    }

    /// Returns whether the row's library is the polyflake package, which `cargo xtask build` builds.
    fn is_own_package(&self) -> bool {
        self.row.package == "polyflake"
    }

    fn python(&self) -> PathBuf {
        let own = root().join("target/venv/bin/python");
        if self.is_own_package() { own } else { self.folder.join("bin/python") }
    }

    /// Installs the newest version of the library.
    fn install(&self) -> Result<()> {
        let package = &self.row.package;
        match self.row.language.as_str() {
            _ if self.is_own_package() => self.link(),
            "python" => {
                if !self.python().exists() {
                    read_output(Command::new("python3").args(["-m", "venv"]).arg(&self.folder))?;
                }
                let install = ["-m", "pip", "install", "--quiet", "--upgrade", package];
                read_output(Command::new(self.python()).args(install)).map(drop)
            }
            "node" => {
                fs::write(self.folder.join("package.json"), "{ \"private\": true }\n")?;
                let newest = format!("{package}@latest");
                let install = ["install", "--no-save", "--no-audit", "--no-fund", &newest];
                read_output(Command::new("npm").args(install).current_dir(&self.folder)).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Makes the polyflake package available to Node.
    fn link(&self) -> Result<()> {
        let link = self.folder.join("node_modules/polyflake");
        if self.row.language == "node" && !link.exists() {
            fs::create_dir_all(self.folder.join("node_modules"))?;
            std::os::unix::fs::symlink(root().canonicalize()?.join("packages/js"), link)?;
        }
        Ok(())
    }

    /// Returns the installed version.
    fn version(&self) -> Result<String> {
        let package = &self.row.package;
        match self.row.language.as_str() {
            _ if self.is_own_package() => Ok(env!("CARGO_PKG_VERSION").to_owned()),
            "python" => {
                let code = format!("from importlib.metadata import *; print(version('{package}'))");
                read_output(Command::new(self.python()).args(["-c", &code]))
            }
            "node" => {
                let file = self.folder.join("node_modules").join(package).join("package.json");
                let text = fs::read_to_string(file)?;
                let json: serde_json::Value = serde_json::from_str(&text)?;
                Ok(json["version"].as_str().context("expected a version")?.to_owned())
            }
            _ => {
                let (set_up, _) = self.row.set_up.first_key_value().context("no set-up")?;
                let lock = self.folder.join(format!("{}-{set_up}/Cargo.lock", self.name));
                let lock: toml::Table = fs::read_to_string(lock)?.parse()?;
                let packages = lock["package"].as_array().into_iter().flatten();
                let mut named = packages.filter(|found| found["name"].as_str() == Some(package));
                // If the lock file contains several versions of the package, the newest version comes last.
                let version = named.next_back().context("expected the package in its lock file")?;
                Ok(version["version"].as_str().context("expected a version")?.to_owned())
            }
        }
    }

    /// Returns the command that runs the adapter in its host.
    fn command(&self, set_up: &str, code: &str) -> Result<Vec<String>> {
        let name = format!("{}-{set_up}", self.name);
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let hosts = root().join("tests/storm/hosts");
        let adapter = |end: &str| -> Result<PathBuf> {
            let path = self.folder.join(format!("{name}.{end}"));
            fs::write(&path, code)?;
            Ok(path)
        };
        Ok(match self.row.language.as_str() {
            "python" => {
                vec![text(self.python()), text(hosts.join("host.py")), text(adapter("py")?)]
            }
            "node" => vec!["node".into(), text(hosts.join("host.mjs")), text(adapter("mjs")?)],
            _ => vec![text(self.build(&name, code)?)],
        })
    }

    /// Builds a Rust host in a separate project, with the newest dependency versions.
    fn build(&self, name: &str, code: &str) -> Result<PathBuf> {
        let (project, root) = (self.folder.join(name), root().canonicalize()?);
        let dependency = self.row.dependency.as_ref().context("expected a dependency")?;
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
             idstorm = {{ path = \"ROOT/tests/storm\", default-features = false }}\n{dependency}\n"
        );
        let manifest = manifest.replace("ROOT", &root.to_string_lossy());
        fs::create_dir_all(project.join("src"))?;
        fs::write(project.join("Cargo.toml"), manifest)?;
        let main = "fn main() {\n    idstorm::host::serve(generator);\n}\n";
        let head = "#[allow(unused_imports)]\nuse idstorm::host::Made;\n";
        fs::write(project.join("src/main.rs"), format!("{head}{code}\n{main}"))?;
        let target = self.folder.join("target");
        let cargo = |words: &[&str]| {
            let mut command = Command::new("cargo");
            command.args(words).current_dir(&project).env("CARGO_TARGET_DIR", &target);
            read_output(&mut command)
        };
        cargo(&["update", "--quiet"])?;
        cargo(&["build", "--quiet", "--release"])?;
        Ok(target.join("release").join(name))
    }
}
