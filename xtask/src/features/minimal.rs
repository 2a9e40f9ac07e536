//! The published crates with the oldest versions of dependencies that they allow, each by itself, as a user's program gets it.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use toml::{Table, Value};
use xshell::{Shell, cmd};

use crate::{tools, workspace};

/// The version of all crates of the workspace, this one among them.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Builds each crate from what `cargo package` makes of it, outside of the workspace: there, what another crate needs of a
/// dependency would have a say in its version.
pub fn build(shell: &Shell) -> Result<()> {
    tools::nightly(shell, &[])?;
    let folder = tempfile::tempdir()?;
    let names = packed(shell, folder.path())?;
    let _apart = shell.push_env("CARGO_TARGET_DIR", workspace::target().join("minimal"));
    for name in &names {
        let root = folder.path().join(name);
        alone(&root.join("Cargo.toml"), &names)?;
        let _there = shell.push_dir(&root);
        cmd!(shell, "cargo +nightly update --quiet -Z direct-minimal-versions").run()?;
        cmd!(shell, "cargo +nightly check --quiet --all-features").run()?;
    }
    Ok(())
}

/// Unpacks the packages into folders of the crates' names.
fn packed(shell: &Shell, folder: &Path) -> Result<Vec<String>> {
    let names = workspace::published(shell)?;
    let chosen = names.iter().flat_map(|name| ["--package", name]);
    let target = folder.join("target");
    cmd!(
        shell,
        "cargo package --quiet --no-verify --allow-dirty --target-dir {target} {chosen...}"
    )
    .run()?;
    for name in &names {
        let into = folder.join(name);
        shell.create_dir(&into)?;
        let file = target.join("package").join(format!("{name}-{VERSION}.crate"));
        cmd!(shell, "tar --extract --gzip --strip-components 1 --file {file} --directory {into}")
            .run()?;
    }
    Ok(names)
}

/// Takes the dependencies of tests out of a manifest, and the other crates from the folders beside it.
fn alone(path: &Path, names: &[String]) -> Result<()> {
    let mut manifest: Table = toml::from_str(&fs::read_to_string(path)?)?;
    let name = manifest["package"]["name"].as_str().context("expected a name")?.to_owned();
    without_tests(&mut manifest);
    let others = names.iter().filter(|other| **other != name).map(|other| {
        let folder = Table::from_iter([("path".to_owned(), Value::from(format!("../{other}")))]);
        (other.clone(), Value::from(folder))
    });
    let patch = Table::from_iter([("crates-io".to_owned(), Value::Table(others.collect()))]);
    manifest.insert("patch".to_owned(), Value::Table(patch));
    Ok(fs::write(path, toml::to_string(&manifest)?)?)
}

/// Removes the dependencies of tests, on every platform, and the tests.
fn without_tests(manifest: &mut Table) {
    manifest.remove("dev-dependencies");
    manifest.remove("test");
    let targets = manifest.get_mut("target").and_then(Value::as_table_mut);
    let tables = targets.into_iter().flatten().filter_map(|(_, table)| table.as_table_mut());
    tables.for_each(|table| drop(table.remove("dev-dependencies")));
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_dependencies_of_tests_are_removed() {
        let text = "[dependencies]\na = \"1\"\n[dev-dependencies]\nb = \"1\"\n[target.'cfg(unix)'.dependencies]\nc = \"1\"\n\
                    [target.'cfg(unix)'.dev-dependencies]\nd = \"1\"\n";
        let mut manifest = toml::from_str(text).expect("a manifest");
        super::without_tests(&mut manifest);
        let left = "[dependencies]\na = \"1\"\n[target.'cfg(unix)'.dependencies]\nc = \"1\"\n";
        assert_eq!(manifest, toml::from_str(left).expect("a manifest"));
    }
}
