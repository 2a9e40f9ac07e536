//! The crate's features for other people's libraries, in a user's project outside the repository: with the oldest versions that are
//! supported, and with the newest.

use std::fs;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::{test::trials::Versions, workspace};

/// The features, which are named like the libraries, with the oldest versions.
const OLDEST: [(&str, &str); 6] = [
    ("arbitrary", "1.4.0"),
    ("diesel", "2.3.0"),
    ("postgres-types", "0.2.9"),
    ("rusqlite", "0.32.0"),
    ("schemars", "1.0.0"),
    ("utoipa", "5.0.0"),
];

pub fn oldest(shell: &Shell) -> Result<Versions> {
    with(shell, || {
        OLDEST.iter().try_for_each(|(library, version)| {
            Ok(cmd!(shell, "cargo update --quiet {library} --precise {version}").run()?)
        })
    })
}

pub fn newest(shell: &Shell) -> Result<Versions> {
    with(shell, || Ok(()))
}

/// Builds a project with all features, in which `choose` has chosen versions, and returns them.
fn with(shell: &Shell, choose: impl FnOnce() -> Result<()>) -> Result<Versions> {
    let project = tempfile::tempdir()?;
    fs::create_dir(project.path().join("src"))?;
    fs::write(project.path().join("src/lib.rs"), "pub use polyflake::sno::Sno;\n")?;
    let manifest = "[package]\nname = \"user\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(project.path().join("Cargo.toml"), manifest)?;
    let _there = shell.push_dir(project.path());
    let core = workspace::root().join("core");
    let features = OLDEST.map(|(library, _)| library).join(",");
    cmd!(shell, "cargo add --quiet polyflake --path {core} --features {features}").run()?;
    cmd!(shell, "cargo generate-lockfile --quiet").run()?;
    choose()?;
    let target = workspace::target().join("rust-libraries");
    cmd!(shell, "cargo check --quiet").env("CARGO_TARGET_DIR", target).run()?;
    let lock: toml::Table = fs::read_to_string(project.path().join("Cargo.lock"))?.parse()?;
    let packages = lock["package"].as_array().context("expected packages in Cargo.lock")?;
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let versions = packages.iter().filter_map(|of| Some((text(of, "name")?, text(of, "version")?)));
    Ok(versions.filter(|(name, _)| OLDEST.iter().any(|(library, _)| library == name)).collect())
}
