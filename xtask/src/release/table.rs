//! The table of a rehearsal: for each file, whether it was built, which clients installed it, and what ran it.

use std::fmt::Write;

use super::{clients::Installed, files::Built};

/// Why no client installed a file that was built.
const NOT_INSTALLED: &str = "not installed: no client here chooses this platform or version";

pub fn text(all: &[String], built: &[Built], installed: &[Installed]) -> String {
    let mut text = "| file | built | installed by | run by |\n|---|---|---|---|\n".to_owned();
    for (_, row) in built {
        for file in &row.files {
            let (clients, mut ran): (Vec<_>, Vec<_>) = installed
                .iter()
                .filter(|one| one.packages.contains(&file.name))
                .map(|one| (one.client.clone(), one.ran.clone()))
                .unzip();
            ran.extend(row.runs.iter().map(|run| format!("{} ({})", run.with, run.what)));
            ran.sort_unstable();
            ran.dedup();
            let clients = join_or(&clients, ", ", NOT_INSTALLED);
            let (sum, ran) = (&file.sha256[..12], join_or(&ran, "; ", "not run"));
            let (name, bytes) = (&file.name, file.bytes);
            let _ = writeln!(text, "| {name} | {bytes} bytes, {sum} | {clients} | {ran} |");
        }
    }
    let is_built = |name: &&String| built.iter().any(|(other, _)| other == *name);
    for name in all.iter().filter(|name| !is_built(name)) {
        let _ = writeln!(text, "| {name} | not built: not chosen | | |");
    }
    text
}

fn join_or(parts: &[String], between: &str, otherwise: &str) -> String {
    if parts.is_empty() { otherwise.to_owned() } else { parts.join(between) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artefacts::results::{File, Row};

    #[test]
    fn each_file_has_its_clients_or_the_reason_why_it_has_none() {
        let sum = "0123456789abcdef".to_owned();
        let file = |name: &str| File { name: name.to_owned(), bytes: 9, sha256: sum.clone() };
        let row = |name| Row { files: vec![file(name)], checks: Vec::new(), runs: Vec::new() };
        let built = [("a".to_owned(), row("a.whl")), ("b".to_owned(), row("b.whl"))];
        let installed = [Installed {
            client: "pip 1".to_owned(),
            packages: vec!["a.whl".to_owned()],
            ran: "all".to_owned(),
        }];
        let all = ["a", "b", "c"].map(str::to_owned);
        let text = text(&all, &built, &installed);
        assert!(text.contains("| a.whl | 9 bytes, 0123456789ab | pip 1 | all |"));
        assert!(
            text.contains(&format!(
                "| b.whl | 9 bytes, 0123456789ab | {NOT_INSTALLED} | not run |"
            ))
        );
        assert!(text.contains("| c | not built: not chosen | | |"));
    }
}
