//! Writes `docs/platforms.md`: the table of platforms, with the checks that each file passed and the programs that ran it.

use std::{fmt::Write, fs};

use anyhow::Result;

use super::{
    platforms::{self, Platform},
    results::{Row, Run},
};
use crate::workspace;

/// The page's path, relative to the root.
const PAGE: &str = "docs/platforms.md";

const INTRODUCTION: &str = "# Platforms

Written by `cargo xtask artefacts`, which builds every file of a release on one Linux machine, checks each, and runs those that the
machine can run with what Debian, PyPI and npm bring, some under an emulator: in an empty project, for which pip or npm must choose
the file among all of its kind, and by the package's tests. A file that is \"built, not run\" passed its checks, and nobody has loaded
it: reports are welcome. Platforms that are not here install from source (Rust, Python) or work on wasm (JavaScript).
";

const END: &str = "
All files are free of local paths; libraries are stripped and export their entry point, and those for glibc need 2.17 or later.
A wheel named `cp311-abi3` is for CPython 3.11 and all later versions. One named `cp313-cp313` is only for 3.13; pip prefers it, and it is faster.

## Time in edge workers

In Cloudflare's workers and on Vercel's edge the clock stands still while a request runs without input or output. A call cannot wait there for the next tick. The rule of [the first tick](promises.md#the-first-tick) therefore does not apply: two isolates with one explicit worker ID repeat each other's IDs if they make them in the same tick, also one after the other. Use default generators there, or a lease.

Where a thread cannot sleep, as on the main thread of a page, a synchronous call reads the clock until the next tick, for up to 10 ms. If the tick ends later, the call fails with `sequence_exhausted` and the time to retry. The asynchronous call (`generateAsync`) waits without holding the thread.
";

/// An artefact's name and results.
pub type NamedRow = (String, Row);

pub fn write(rows: &[NamedRow]) -> Result<()> {
    Ok(fs::write(workspace::root().join(PAGE), page(&platforms::all_platforms()?, rows))?)
}

/// Returns faults for tidy: the platforms that are missing from the page.
pub fn faults() -> Result<Vec<String>> {
    let page = fs::read_to_string(workspace::root().join(PAGE))?;
    let platforms = platforms::all_platforms()?.into_iter();
    let missing = platforms.filter(|platform| !page.contains(&format!("\n## {}\n", platform.says)));
    Ok(missing.map(|platform| format!("{PAGE}: expected {}", platform.says)).collect())
}

fn page(platforms: &[Platform], rows: &[NamedRow]) -> String {
    let mut text = INTRODUCTION.to_owned();
    for platform in platforms {
        let of = |name: &str| belongs_to_platform(name, &platform.name);
        section(&mut text, &platform.says, rows.iter().filter(|(name, _)| of(name)));
    }
    let is_for_all = |name: &str| !platforms.iter().any(|one| belongs_to_platform(name, &one.name));
    section(&mut text, "Every platform", rows.iter().filter(|(name, _)| is_for_all(name)));
    text + END
}

/// Returns whether an artefact belongs to a platform: `wheel-linux-x64-gnu-cp310` belongs to `linux-x64-gnu`.
pub fn belongs_to_platform(artefact: &str, platform: &str) -> bool {
    let rest = ["wheel-", "addon-", "program-"].iter().find_map(|kind| artefact.strip_prefix(kind));
    rest.and_then(|rest| rest.strip_prefix(platform))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("-cp"))
}

fn section<'r>(text: &mut String, title: &str, rows: impl Iterator<Item = &'r NamedRow>) {
    let _ = write!(text, "\n## {title}\n\n| file | bytes | ran | checked |\n|---|---|---|---|\n");
    for (_, row) in rows {
        for file in &row.files {
            let (checks, ran) = (row.checks.join(", "), run_list(&row.runs));
            let _ = writeln!(text, "| {} | {} | {ran} | {checks} |", file.name, file.bytes);
        }
    }
}

fn run_list(runs: &[Run]) -> String {
    let said = |Run { with, under, what }: &Run| {
        let under = under.as_ref().map_or_else(String::new, |name| format!(" under {name}"));
        format!("{with}{under} ({what})")
    };
    match runs {
        [] => "built, not run".to_owned(),
        runs => runs.iter().map(said).collect::<Vec<_>>().join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artefacts::results::File;

    #[test]
    fn a_file_is_listed_in_its_platforms_section() {
        let file = File { name: "a.whl".to_owned(), bytes: 100, sha256: String::new() };
        let row = Row { files: vec![file], checks: vec!["twine".to_owned()], runs: Vec::new() };
        let run = Run {
            with: "CPython 3.11".to_owned(),
            under: Some("QEMU".to_owned()),
            what: "tests".to_owned(),
        };
        let rows = [
            ("wheel-linux-x64-gnu".to_owned(), Row { runs: vec![run], ..row.clone() }),
            ("sdist".to_owned(), row),
        ];
        let page = page(&platforms::all_platforms().unwrap(), &rows);
        let (first, last) = page.split_once("## Every platform").unwrap();
        assert!(first.contains("| a.whl | 100 | CPython 3.11 under QEMU (tests) | twine |"));
        assert!(last.contains("| a.whl | 100 | built, not run | twine |"));
    }

    #[test]
    fn an_artefact_belongs_to_one_platform() {
        assert!(belongs_to_platform("wheel-linux-x64-gnu-cp310", "linux-x64-gnu"));
        assert!(belongs_to_platform("addon-linux-x64-musl", "linux-x64-musl"));
        assert!(
            !belongs_to_platform("npm", "linux-x64-gnu")
                && !belongs_to_platform("addon-linux-x64-musl", "linux-x64")
        );
    }
}
