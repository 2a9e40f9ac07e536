//! The tables of a rehearsal. For each file, they show which clients installed the file, and which test runs used it or why
//! it was not run.

use std::{fmt::Write, path::Path};

use anyhow::Result;
use jiff::Timestamp;

use super::files::BuiltArtefact;
use crate::artefacts::{
    page, platforms,
    results::{File, Installation, Row, Run},
};

/// The reason shown for a file that was built but that no client installed.
const NOT_INSTALLED: &str = "no client here chooses it";

/// A table and its title, which is also the title of a section of `docs/project/platforms.md`.
pub type Section = (String, String);

/// Returns one table for each platform for which files were built, and one table for the files that do not depend on a
/// platform.
pub fn sections(built: &[BuiltArtefact], installed: &[Installation]) -> Result<Vec<Section>> {
    let platforms = platforms::all_platforms()?;
    let is_for_all =
        |name: &str| !platforms.iter().any(|one| platforms::is_for_platform(name, &one.name));
    let of = |title: &str, is_meant: &dyn Fn(&str) -> bool| {
        let rows = built.iter().filter(|(name, _)| is_meant(name)).map(|(_, row)| row);
        (title.to_owned(), table(rows, installed))
    };
    let mut sections: Vec<_> = platforms
        .iter()
        .map(|platform| {
            of(&platform.says, &|name| platforms::is_for_platform(name, &platform.name))
        })
        .collect();
    sections.push(of(page::EVERY_PLATFORM, &is_for_all));
    sections.retain(|(_, table)| !table.is_empty());
    Ok(sections)
}

/// Returns the sections as one text. The text also names the artefacts that were not built.
pub fn text(all: &[String], built: &[BuiltArtefact], sections: &[Section]) -> String {
    let mut text = String::new();
    for (title, table) in sections {
        let _ = writeln!(text, "## {title}\n\n{table}");
    }
    let is_built = |name: &String| built.iter().any(|(other, _)| other == name);
    let others: Vec<_> = all.iter().filter(|name| !is_built(name)).map(String::as_str).collect();
    if !others.is_empty() {
        let _ = writeln!(text, "Not built, because not chosen: {}", others.join(", "));
    }
    text
}

/// Writes the sections into the platforms page.
pub fn write_page(sections: &[Section]) -> Result<()> {
    let date = Timestamp::now().strftime("%Y-%m-%d");
    sections.iter().try_for_each(|(title, table)| {
        page::set_section(title, &format!("Rehearsed on {date}.\n\n{table}"))
    })
}

/// Returns a table of files, or an empty string if there are no rows.
fn table<'r>(rows: impl Iterator<Item = &'r Row>, installed: &[Installation]) -> String {
    let lines = rows.flat_map(|row| row.files.iter().map(move |file| (file, row)));
    let lines: String = lines.map(|(file, row)| line(file, row, installed)).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("| file | bytes | installed by | run by |\n|---|---|---|---|\n{lines}")
}

fn line(file: &File, row: &Row, installed: &[Installation]) -> String {
    let File { name, bytes, .. } = file;
    let chosen = || installed.iter().filter(move |one| one.packages.contains(name));
    let runs = || row.runs.iter().filter(move |run| uses_file(run, name));
    let mut clients: Vec<_> = chosen().map(|one| one.client.clone()).collect();
    for client in runs().filter_map(|run| run.client.as_deref()) {
        let is_it = |known: &String| known.split(' ').next() == Some(client);
        if !clients.iter().any(is_it) {
            clients.push(client.to_owned());
        }
    }
    let ran = chosen().map(|one| one.ran.clone()).chain(runs().map(Run::description));
    let mut ran: Vec<_> = ran.collect();
    ran.sort_unstable();
    ran.dedup();
    let reason = row.why_not_run.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    let clients = join_or_default(&clients, ", ", NOT_INSTALLED);
    let ran = join_or_default(&ran, "; ", &format!("not run{reason}"));
    format!("| {name} | {bytes} | {clients} | {ran} |\n")
}

/// Returns whether a run used this file. An artefact may have one file for npm and another file for pip.
fn uses_file(run: &Run, file: &str) -> bool {
    let is_for_npm = Path::new(file).extension().is_some_and(|end| end == "tgz");
    run.client.as_ref().is_none_or(|client| (client == "npm") == is_for_npm)
}

fn join_or_default(parts: &[String], between: &str, otherwise: &str) -> String {
    if parts.is_empty() { otherwise.to_owned() } else { parts.join(between) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a built artefact whose files have these names. The artefact's record contains the given runs, or the reason
    /// why the artefact was not run.
    fn built_artefact(
        name: &str,
        files: &[&str],
        runs: Vec<Run>,
        why_not_run: Option<&str>,
    ) -> BuiltArtefact {
        let file = |name: &&str| File { name: (*name).to_owned(), bytes: 9, sha256: String::new() };
        let why_not_run = why_not_run.map(str::to_owned);
        let files = files.iter().map(file).collect();
        (name.to_owned(), Row { files, checks: Vec::new(), runs, why_not_run })
    }

    fn installation(client: &str, package: &str) -> Installation {
        let (client, packages) = (client.to_owned(), vec![package.to_owned()]);
        Installation { client, packages, ran: "all".to_owned() }
    }

    #[test]
    fn each_file_has_its_clients_or_the_reason_why_it_has_none() {
        let built = [
            built_artefact("wheel-linux-x64-gnu", &["a.whl"], Vec::new(), None),
            built_artefact("addon-darwin-x64", &["b.tgz"], Vec::new(), Some("no Mac")),
        ];
        let sections = sections(&built, &[installation("pip 1", "a.whl")]).unwrap();
        let all = ["wheel-linux-x64-gnu", "addon-darwin-x64", "npm"].map(str::to_owned);
        let text = text(&all, &built, &sections);
        let (first, second) = text.split_once("## macOS 10.12 or later on Intel\n").unwrap();
        assert!(first.contains("| a.whl | 9 | pip 1 | all |"));
        assert!(second.contains(&format!("| b.tgz | 9 | {NOT_INSTALLED} | not run: no Mac |")));
        assert!(second.ends_with("Not built, because not chosen: npm\n"));
    }

    #[test]
    fn a_run_counts_for_the_file_that_its_client_installs() {
        let runs = vec![Run::new("it", "b").installed_by("pip")];
        let built = [built_artefact("program-linux-x64-gnu", &["a.tgz", "a.whl"], runs, None)];
        let table = &sections(&built, &[]).unwrap()[0].1;
        assert!(table.contains("| a.whl | 9 | pip | it (b) |"));
        assert!(table.contains(&format!("| a.tgz | 9 | {NOT_INSTALLED} | not run |")));
    }

    #[test]
    fn a_client_is_named_once_with_its_version() {
        let run = Run::new("CPython", "a project").under(Some("QEMU")).installed_by("pip");
        let built = [built_artefact("wheel-linux-x64-gnu", &["a.whl"], vec![run], None)];
        let sections = sections(&built, &[installation("pip 1", "a.whl")]).unwrap();
        assert!(
            sections[0].1.contains("| a.whl | 9 | pip 1 | CPython under QEMU (a project); all |")
        );
    }
}
