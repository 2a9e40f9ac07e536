//! The features of the crates for other people's libraries, in a user's project outside the repository: with the oldest versions that
//! are supported, and with the newest.

use std::fs;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::{test::trials::Versions, workspace};

/// A crate's features, which are named like the libraries, with the oldest versions of these.
struct Features {
    package: &'static str,
    folder: &'static str,
    oldest: &'static [(&'static str, &'static str)],
}

const CRATES: [Features; 2] = [
    Features {
        package: "polyflake",
        folder: "core",
        oldest: &[
            ("arbitrary", "1.4.0"),
            ("diesel", "2.3.0"),
            ("postgres-types", "0.2.9"),
            ("rusqlite", "0.32.0"),
            ("schemars", "1.0.0"),
            ("utoipa", "5.0.0"),
        ],
    },
    Features {
        package: "polyflake-sql",
        folder: "sql",
        oldest: &[("sea-orm", "2.0.0"), ("sqlx", "0.9.0")],
    },
];

pub fn oldest(shell: &Shell) -> Result<Versions> {
    with(shell, |(library, version)| {
        Ok(cmd!(shell, "cargo update --quiet {library} --precise {version}").run()?)
    })
}

pub fn newest(shell: &Shell) -> Result<Versions> {
    with(shell, |_| Ok(()))
}

/// Builds a project for each crate, since a project has one `SQLite`, with all features, and returns the versions that `choose` has
/// chosen.
fn with(
    shell: &Shell,
    choose: impl Fn(&(&'static str, &'static str)) -> Result<()>,
) -> Result<Versions> {
    let mut found = Versions::new();
    for features in CRATES {
        found.extend(features.build(shell, &choose)?);
    }
    Ok(found)
}

impl Features {
    fn build(
        &self,
        shell: &Shell,
        choose: impl Fn(&(&'static str, &'static str)) -> Result<()>,
    ) -> Result<Versions> {
        let project = tempfile::tempdir()?;
        fs::create_dir(project.path().join("src"))?;
        let name = self.package.replace('-', "_");
        fs::write(project.path().join("src/lib.rs"), format!("pub use {name} as ids;\n"))?;
        let manifest = "[package]\nname = \"user\"\nedition = \"2024\"\n\n[workspace]\n";
        fs::write(project.path().join("Cargo.toml"), manifest)?;
        let _there = shell.push_dir(project.path());
        let (package, folder) = (self.package, workspace::root().join(self.folder));
        let names = self.oldest.iter().map(|(library, _)| *library).collect::<Vec<_>>().join(",");
        cmd!(shell, "cargo add --quiet {package} --path {folder} --features {names}").run()?;
        cmd!(shell, "cargo generate-lockfile --quiet").run()?;
        self.oldest.iter().try_for_each(choose)?;
        let target = workspace::target().join("rust-libraries");
        cmd!(shell, "cargo check --quiet").env("CARGO_TARGET_DIR", target).run()?;
        self.versions(&fs::read_to_string(project.path().join("Cargo.lock"))?)
    }

    /// The versions of the libraries in a lock.
    fn versions(&self, lock: &str) -> Result<Versions> {
        let lock: toml::Table = lock.parse()?;
        let packages = lock["package"].as_array().context("expected packages in Cargo.lock")?;
        let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
        let all = packages.iter().filter_map(|of| Some((text(of, "name")?, text(of, "version")?)));
        Ok(all.filter(|(name, _)| self.oldest.iter().any(|(library, _)| library == name)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells of the row of a library in a table, whose first cell names it.
    fn row<'p>(page: &'p str, library: &str) -> Option<Vec<&'p str>> {
        let plain = |text: &str| text.replace('-', "").to_lowercase();
        let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
        let mut rows = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
        rows.find(|cells| plain(cells[0]).contains(&plain(library)))
    }

    #[test]
    fn the_page_on_databases_names_the_versions_that_were_tried() {
        let read = |path: &str| fs::read_to_string(workspace::root().join(path)).unwrap();
        let page = read("docs/databases.md");
        let (_, section) = page.split_once("\n## From Rust\n").unwrap();
        let results: toml::Table = read(crate::test::trials::RESULTS).parse().unwrap();
        let newest = &results["rust-libraries-newest"]["tools"];
        for (library, oldest) in CRATES.iter().flat_map(|of| of.oldest) {
            let cells = row(section, library).unwrap_or_default();
            let tried = newest.get(library).and_then(toml::Value::as_str).unwrap_or("no trial");
            assert_eq!(cells.get(1..3), Some(&[*oldest, tried][..]), "{library}");
        }
    }
}
