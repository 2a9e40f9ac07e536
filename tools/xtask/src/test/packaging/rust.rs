//! Tests the core's package in the form that a registry would serve.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{copy, packaging_folder};
use crate::{tools, workspace};

/// The text files that users find next to the sources.
const TEXT_FILES: [&str; 5] =
    ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE.md"];

/// Unpacks the package outside the repository, and checks its text files, its metadata, and a user's project that depends
/// on it.
pub fn test_rust_package(shell: &Shell) -> Result<()> {
    let project = tempfile::tempdir()?;
    copy(&packaging_folder("rust"), project.path())?;
    let package = unpack_core(shell, project.path())?;
    check_texts(&package)?;
    check_metadata(&package)?;
    run(shell, project.path(), "run")
}

/// Runs the unit and documentation tests of the unpacked package.
pub fn run_rust_tests(shell: &Shell) -> Result<()> {
    let folder = tempfile::tempdir()?;
    run(shell, &unpack_core(shell, folder.path())?, "test --features internals,json,public,uuid")
}

/// Runs cargo in a folder outside the repository with the versions in the workspace's lock file, so that a new release of a
/// dependency does not change the result.
fn run(shell: &Shell, folder: &Path, words: &str) -> Result<()> {
    fs::copy(workspace::root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let (_there, words) = (shell.push_dir(folder), words.split(' '));
    let cargo = cmd!(shell, "cargo {words...} --quiet");
    Ok(cargo.env("CARGO_TARGET_DIR", workspace::target().join("packaging-rust")).run()?)
}

/// Builds the documentation as docs.rs does: with the newest nightly, and with labels for items that require a feature.
pub fn build_docs_rs(shell: &Shell) -> Result<()> {
    tools::install_newest_nightly(shell)?;
    let folder = tempfile::tempdir()?;
    let package = unpack_core(shell, folder.path())?;
    let target = workspace::target().join("docs-rs");
    {
        let _there = shell.push_dir(&package);
        cmd!(shell, "cargo +nightly doc --quiet --no-deps --all-features")
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTDOCFLAGS", "--cfg docsrs -D warnings")
            .run()?;
    }
    for (page, feature) in [
        ("sno/fn.generate.html", "std"),
        ("hotguid/struct.HotGuid.html", "uuid"),
        ("layout/struct.Layout.html", "json"),
    ] {
        let html = fs::read_to_string(target.join("doc/polyflake").join(page))
            .with_context(|| format!("expected a page {page}"))?;
        let mut labels =
            html.split("Available on").skip(1).map(|text| text.split("</span>").next());
        let label = format!("<code>{feature}</code>");
        let is_there = labels.any(|text| text.is_some_and(|text| text.contains(&label)));
        ensure!(is_there, "expected a label for `{feature}` in {page}, found none");
    }
    Ok(cmd!(shell, "rustc +nightly --version").run()?)
}

/// Unpacks the packages of the published crates, each into a folder named after the crate. A Cargo setting makes the crates
/// depend on each other's folders, because this version is not available in a registry yet.
pub fn unpack(shell: &Shell, folder: &Path) -> Result<Vec<PathBuf>> {
    let (names, version) = (workspace::published_crates(shell)?, env!("CARGO_PKG_VERSION"));
    let packages = names.iter().flat_map(|name| ["--package", name]);
    let (packed, options) = (folder.join("packed"), ["--quiet", "--no-verify", "--allow-dirty"]);
    cmd!(shell, "cargo package {options...} {packages...} --target-dir {packed}").run()?;
    for name in &names {
        let archive = packed.join("package").join(format!("{name}-{version}.crate"));
        // Set the files' times to the current time. Cargo does not rebuild files that are older than the last build, and
        // the files in a package are dated 2006.
        cmd!(shell, "tar --extract --touch --gzip --file {archive} --directory {folder}").run()?;
        fs::rename(folder.join(format!("{name}-{version}")), folder.join(name))?;
    }
    let beside = names.iter().map(|name| format!("{name} = {{ path = \"{name}\" }}\n"));
    let patch = format!("[patch.crates-io]\n{}", beside.collect::<String>());
    shell.write_file(folder.join(".cargo/config.toml"), patch)?;
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

/// Unpacks only the core's package.
fn unpack_core(shell: &Shell, folder: &Path) -> Result<PathBuf> {
    unpack(shell, folder)?;
    Ok(folder.join("polyflake"))
}

fn check_texts(package: &Path) -> Result<()> {
    for text in TEXT_FILES {
        let found = fs::read_to_string(package.join(text))
            .with_context(|| format!("expected {text} in the package"))?;
        ensure!(found.len() > 500, "expected {text} in full, found {} bytes", found.len());
    }
    ensure!(!package.join("tests").exists(), "expected no tests that read files outside of it");
    Ok(())
}

/// Checks the metadata that a registry would show on the crate's page.
fn check_metadata(package: &Path) -> Result<()> {
    let manifest: toml::Table = fs::read_to_string(package.join("Cargo.toml"))?.parse()?;
    let shown = &manifest["package"];
    for key in ["description", "license", "repository", "documentation", "readme", "rust-version"] {
        ensure!(shown.get(key).is_some_and(toml::Value::is_str), "expected `{key}`, found none");
    }
    let docs = shown.get("metadata").and_then(|of| of.get("docs")?.get("rs")?.get("all-features"));
    ensure!(docs == Some(&true.into()), "expected all features on docs.rs, found {docs:?}");
    Ok(())
}
