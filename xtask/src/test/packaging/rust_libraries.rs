//! The features of the crates for other people's libraries, in a user's project outside the repository: with the oldest versions that
//! are supported, and with the newest.

use std::fs;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::workspace;

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

pub fn oldest(shell: &Shell) -> Result<()> {
    with(shell, |(library, version)| {
        Ok(cmd!(shell, "cargo update --quiet {library} --precise {version}").run()?)
    })
}

pub fn newest(shell: &Shell) -> Result<()> {
    with(shell, |_| Ok(()))
}

/// Builds a project for each crate, since a project has one `SQLite`, with all features, in the versions that `choose` has chosen.
fn with(shell: &Shell, choose: impl Fn(&(&'static str, &'static str)) -> Result<()>) -> Result<()> {
    CRATES.iter().try_for_each(|features| features.build(shell, &choose))
}

impl Features {
    fn build(
        &self,
        shell: &Shell,
        choose: impl Fn(&(&'static str, &'static str)) -> Result<()>,
    ) -> Result<()> {
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
        Ok(cmd!(shell, "cargo check --quiet").env("CARGO_TARGET_DIR", target).run()?)
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
    fn the_page_on_databases_names_the_oldest_versions() {
        let read = |path: &str| fs::read_to_string(workspace::root().join(path)).unwrap();
        let page = read("docs/databases.md");
        let (_, section) = page.split_once("\n## From Rust\n").unwrap();
        for (library, oldest) in CRATES.iter().flat_map(|of| of.oldest) {
            let cells = row(section, library).unwrap_or_default();
            assert_eq!(cells.get(1), Some(oldest), "{library}");
        }
    }
}
