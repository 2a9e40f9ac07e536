//! `docs/platforms.md`, and the README's sentence about platforms: from the table of platforms and the kept results.

use std::{collections::BTreeMap, fmt::Write, fs};

use anyhow::{Context, Result};

use super::{
    platforms::{self, Platform},
    results::{Results, Row, Rows, Run},
};
use crate::workspace;

/// The page and the README, by their paths from the root.
const PAGE: &str = "docs/platforms.md";
const README: &str = "README.md";

/// The first words of the README's sentence.
const BEGINNINGS: [&str; 2] = ["Binaries, ", "No binaries "];

/// The size of each artefact that was agreed to.
const LIMITS: &str = "tests/artefacts/sizes.toml";

const HEADER: &str = "# The size of each artefact that was agreed to, in bytes: it may grow by a twentieth before somebody must agree again.\n";

const INTRODUCTION: &str = "# Platforms

Written by `cargo xtask artefacts`, which builds every file of a release on one Linux machine, checks each, and runs those that the
machine can run, some under an emulator: in an empty project, for which pip or npm must choose the file among all of its kind, and by
the package's tests. A file that is \"built, not run\" passed its checks, and nobody has loaded it: reports are welcome. Platforms
that are not here install from source (Rust, Python) or work on wasm (JavaScript).
";

const END: &str = "
All files are free of local paths; libraries are stripped and export their entry point, and those for glibc need 2.17 or later.
Wheels are named for the oldest Python that they serve: `cp311-abi3` is for 3.11 and all later ones.
";

pub fn write() -> Result<()> {
    let (platforms, rows) = (platforms::all()?, checked()?);
    fs::write(workspace::root().join(PAGE), page(&platforms, &rows))?;
    let readme = workspace::root().join(README);
    let text = with_sentence(&fs::read_to_string(&readme)?, &sentence(&platforms, &rows));
    fs::write(readme, text)?;
    let mut limits = limits()?;
    for (name, row) in &rows {
        limits.entry(name.clone()).or_insert_with(|| row.bytes());
    }
    let text = format!("{HEADER}\n{}", toml::to_string(&limits)?);
    Ok(fs::write(workspace::root().join(LIMITS), text)?)
}

/// The README with this sentence in place of the one that it has, which is a line of its own.
fn with_sentence(readme: &str, sentence: &str) -> String {
    let is_it = |line: &str| BEGINNINGS.iter().any(|words| line.starts_with(words));
    let lines = readme.lines().map(|line| if is_it(line) { sentence } else { line });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The agreed sizes; a new artefact's is that of its first build.
fn limits() -> Result<BTreeMap<String, u64>> {
    let text = fs::read_to_string(workspace::root().join(LIMITS))?;
    toml::from_str(&text).with_context(|| format!("cannot read {LIMITS}"))
}

/// Faults for tidy: a stale page, a platform without artefacts, a README that says otherwise, and files that have grown.
pub fn faults() -> Result<Vec<String>> {
    let (platforms, rows) = (platforms::all()?, checked()?);
    let read = |path: &str| fs::read_to_string(workspace::root().join(path)).unwrap_or_default();
    let mut faults = Vec::new();
    if read(PAGE) != page(&platforms, &rows) {
        faults.push(format!("{PAGE} is stale: run `cargo xtask artefacts --page`"));
    }
    let sentence = sentence(&platforms, &rows);
    if !read(README).contains(&sentence) {
        faults.push(format!("{README}: expected the sentence: {sentence}"));
    }
    faults.extend(grown(&rows, &limits()?));
    let failed = rows.iter().filter_map(|(name, row)| Some((name, row.fault.as_ref()?)));
    faults.extend(failed.map(|(name, fault)| format!("{name} did not run: {fault}")));
    Ok(faults)
}

/// The artefacts that passed their checks.
fn checked() -> Result<Rows> {
    let mut rows = Results::read()?;
    rows.retain(|_, row| !row.checks.is_empty());
    Ok(rows)
}

/// Artefacts that are larger than agreed, and those without a limit.
fn grown(rows: &Rows, limits: &BTreeMap<String, u64>) -> Vec<String> {
    let too_large = |(name, row): (&String, &Row)| {
        let bytes = row.bytes();
        let most = limits.get(name).map(|agreed| agreed + agreed / 20);
        match most {
            None => Some(format!("{LIMITS}: expected a size for {name}, found none")),
            Some(most) if bytes > most => {
                Some(format!("{name}: expected at most {most} bytes, found {bytes}"))
            }
            Some(_) => None,
        }
    };
    rows.iter().filter_map(too_large).collect()
}

fn page(platforms: &[Platform], rows: &Rows) -> String {
    let mut text = INTRODUCTION.to_owned();
    for platform in platforms {
        let of = |name: &String| belongs(name, &platform.name);
        section(&mut text, &platform.says, rows.iter().filter(|(name, _)| of(name)));
    }
    let is_for_all = |name: &String| !platforms.iter().any(|one| belongs(name, &one.name));
    section(&mut text, "Every platform", rows.iter().filter(|(name, _)| is_for_all(name)));
    text + END
}

/// Returns whether an artefact is of a platform: `wheel-linux-x64-gnu-cp310` is of `linux-x64-gnu`.
fn belongs(artefact: &str, platform: &str) -> bool {
    let rest = artefact.strip_prefix("wheel-").or_else(|| artefact.strip_prefix("addon-"));
    rest.and_then(|rest| rest.strip_prefix(platform))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("-cp"))
}

fn section<'r>(text: &mut String, title: &str, rows: impl Iterator<Item = (&'r String, &'r Row)>) {
    let mut lines = String::new();
    for (_, row) in rows {
        for file in &row.files {
            let (checks, ran) = (row.checks.join(", "), ran(row));
            let (name, bytes, sum) = (&file.name, file.bytes, &file.sha256);
            let Row { date, commit, .. } = row;
            let built = format!("{date}, {commit}");
            let _ = writeln!(lines, "| {name} | {bytes} | {built} | {ran} | {checks} | `{sum}` |");
        }
    }
    let _ = write!(text, "\n## {title}\n\n");
    if lines.is_empty() {
        text.push_str("Not built yet.\n");
        return;
    }
    text.push_str("| file | bytes | built | ran | checked | sha256 |\n|---|---|---|---|---|---|\n");
    text.push_str(&lines);
}

fn ran(row: &Row) -> String {
    let runs: Vec<_> = row
        .runs
        .iter()
        .map(|run| format!("{}{}: {} passed ({})", run.with, under(run), run.passed, run.what))
        .collect();
    match &row.fault {
        Some(_) => "failed to run".to_owned(),
        None if runs.is_empty() => "built, not run".to_owned(),
        None => runs.join("; "),
    }
}

/// The README's sentence: which platforms have binaries, and which of them were tested.
fn sentence(platforms: &[Platform], rows: &Rows) -> String {
    let is_built = |platform: &&Platform| rows.keys().any(|name| belongs(name, &platform.name));
    let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
    for platform in platforms.iter().filter(is_built) {
        let tested = tested(platform, rows);
        match parts.iter_mut().find(|(said, _)| *said == tested) {
            Some((_, names)) => names.push(&platform.says),
            None => parts.push((tested, vec![&platform.says])),
        }
    }
    if parts.is_empty() {
        return "No binaries are built yet.".to_owned();
    }
    let parts = parts.iter().map(|(said, names)| format!("{said} for {}", names.join(", ")));
    let parts = parts.collect::<Vec<_>>().join("; ").replace(" or later", "");
    format!("Binaries, from these versions on: {parts} ([each file](docs/platforms.md)).")
}

/// The tests that a platform's binaries had, in words: those for Python, and the one for Node.
fn tested(platform: &Platform, rows: &Rows) -> String {
    let of = |kind: &str| -> Vec<&Row> {
        let is_it = |name: &str| name.starts_with(kind) && belongs(name, &platform.name);
        rows.iter().filter(|(name, _)| is_it(name)).map(|(_, row)| row).collect()
    };
    let (wheels, addons) = (of("wheel-"), of("addon-"));
    let ran = |rows: &[&Row]| rows.iter().filter(|row| !row.runs.is_empty()).count();
    let runs = wheels.iter().chain(&addons).flat_map(|row| &row.runs);
    let under = runs.map(under).max().unwrap_or_default();
    match (ran(&wheels), ran(&addons)) {
        (0, 0) => "not tested".to_owned(),
        (_, 0) => format!("wheels alone tested{under}"),
        (0, _) => format!("addon alone tested{under}"),
        (all, some) if all == wheels.len() && some == addons.len() => {
            format!("tested{under}")
        }
        _ => format!("mostly tested{under}"),
    }
}

/// The emulator that ran something, in words; nothing for the machine itself.
fn under(run: &Run) -> String {
    run.under.as_ref().map_or_else(String::new, |name| format!(" under {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artefacts::results::File;

    fn rows(runs: Vec<Run>) -> Rows {
        let file = File { name: "a.whl".to_owned(), bytes: 105, sha256: "00".to_owned() };
        let (date, commit, inputs) = Default::default();
        let checks = vec!["twine".to_owned()];
        let row =
            Row { date, commit, inputs, checks, files: vec![file], tests: None, fault: None, runs };
        Rows::from([("wheel-linux-x64-gnu".to_owned(), row)])
    }

    #[test]
    fn every_platform_has_a_section() {
        let platforms = platforms::all().unwrap();
        let text = page(&platforms, &rows(Vec::new()));
        for platform in &platforms {
            assert!(text.contains(&format!("## {}\n", platform.says)), "{}", platform.name);
        }
        assert!(text.contains("| a.whl | 105 | ,  | built, not run | twine | `00` |"));
        assert_eq!(text.matches("Not built yet.").count(), platforms.len());
    }

    #[test]
    fn the_sentence_says_what_ran() {
        let platforms = platforms::all().unwrap();
        let says = platforms[0].says.replace(" or later", "");
        let said = |under: Option<&str>| {
            let (with, what) = ("CPython 3.11".to_owned(), "tests".to_owned());
            let run = Run { with, under: under.map(str::to_owned), what, passed: 7 };
            let mut rows = rows(vec![run]);
            let wheels = sentence(&platforms, &rows);
            rows.insert("addon-linux-x64-gnu".to_owned(), rows["wheel-linux-x64-gnu"].clone());
            (wheels, sentence(&platforms, &rows))
        };
        let (wheels, both) = said(None);
        assert!(wheels.starts_with(&format!(
            "Binaries, from these versions on: wheels alone tested for {says} (["
        )));
        assert!(
            both.starts_with(&format!("Binaries, from these versions on: tested for {says} (["))
        );
        assert!(!both.contains("macOS"));
        assert!(said(Some("Wine")).1.contains("tested under Wine for"));
        let none = sentence(&platforms, &rows(Vec::new()));
        assert!(none.contains(&format!("not tested for {says}")));
    }

    #[test]
    fn the_sentence_of_the_readme_is_replaced() {
        let readme = "# a\n\nBinaries, of all kinds.\n\nmore\n";
        assert_eq!(with_sentence(readme, "No binaries."), "# a\n\nNo binaries.\n\nmore\n");
    }

    #[test]
    fn files_may_grow_by_a_twentieth() {
        let with = |most: u64| {
            let limits = BTreeMap::from([("wheel-linux-x64-gnu".to_owned(), most)]);
            grown(&rows(Vec::new()), &limits).len()
        };
        assert_eq!((with(100), with(99)), (0, 1));
        assert_eq!(grown(&rows(Vec::new()), &BTreeMap::new()).len(), 1);
    }

    #[test]
    fn artefacts_belong_to_one_platform() {
        assert!(belongs("wheel-linux-x64-gnu-cp310", "linux-x64-gnu"));
        assert!(belongs("addon-linux-x64-musl", "linux-x64-musl"));
        assert!(!belongs("npm", "linux-x64-gnu") && !belongs("addon-linux-x64-musl", "linux-x64"));
    }
}
