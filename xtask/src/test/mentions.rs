//! Comments and pages: they name files that exist, in lines that a reader's eye can follow.

use std::path::Path;

/// The kinds of files whose names are checked.
const KINDS: [&str; 9] = ["rs", "ts", "mjs", "py", "pyi", "sql", "toml", "md", "json"];

/// Names of files that other tools make or users write.
const FOREIGN: [&str; 2] = ["env.py", "layout.json"];

/// The longest line of a comment in Rust, which `rustfmt.toml` leaves alone, and of a page outside its tables, in characters.
const LONGEST_COMMENT: usize = 140;
const LONGEST_PROSE: usize = 420;

/// Pages that are not checked: the changes of old versions may name what is gone, and licences are other people's words.
const UNREAD: [&str; 2] = ["CHANGELOG.md", "THIRD-PARTY.md"];

/// Faults of the files with these paths and texts.
pub(super) fn faults(files: &[(&str, &str)]) -> Vec<String> {
    let is_read = |path: &str| is_kind(path) && !UNREAD.iter().any(|name| path.ends_with(name));
    let read = files.iter().filter(|(path, _)| is_read(path));
    read.flat_map(|(path, text)| {
        let gone = stale(text, files).map(move |name| format!("{path}: no file is named {name}"));
        gone.chain(too_long(path, text))
    })
    .collect()
}

fn is_kind(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| KINDS.iter().any(|kind| end == *kind))
}

/// The names between backticks, as they are or as the end of a path, that no file has. Capitals stand for any name.
fn stale<'t>(text: &'t str, files: &[(&str, &str)]) -> impl Iterator<Item = &'t str> {
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted.filter(|name| is_file_name(name) && !FOREIGN.contains(name)).filter(move |name| {
        let name = name.trim_start_matches(['.', '/']);
        let is_it = |path: &str| {
            path.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        };
        !files.iter().any(|(path, _)| is_it(path))
    })
}

fn is_file_name(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    let is_any = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase());
    let mut names = text.split('/').filter_map(|part| part.split('.').next());
    is_kind(text) && text.chars().all(is_of_name) && !names.any(is_any)
}

fn too_long(path: &str, text: &str) -> Option<String> {
    let end = Path::new(path).extension()?;
    let (is_prose, most): (fn(&str) -> bool, _) = match end.to_str()? {
        "rs" => (|line| line.trim_start().starts_with("//"), LONGEST_COMMENT),
        "md" => (|line| !line.starts_with(['|', '{']), LONGEST_PROSE),
        _ => return None,
    };
    let mut lines = text.lines().enumerate().filter(|(_, line)| is_prose(line));
    let (at, line) = lines.find(|(_, line)| line.chars().count() > most)?;
    Some(format!(
        "{path}:{}: expected at most {most} characters of prose, found {}",
        at + 1,
        line.chars().count()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        faults(&[(path, text), ("core/src/clock/mod.rs", ""), ("docs/guide.md", "")])
    }

    /// Names in a comment, written so that this file names none of them.
    fn naming(names: &[&str]) -> String {
        format!("// `{}`\n", names.join("`, `"))
    }

    #[test]
    fn a_name_that_no_file_has_is_found() {
        assert_eq!(found("a.rs", &naming(&["clock/mod.rs", "docs/guide.md"])), [""; 0]);
        assert_eq!(
            found("a.rs", &naming(&["lock/mod.rs"])),
            ["a.rs: no file is named lock/mod.rs"]
        );
        assert_eq!(found("docs/a.md", &naming(&["clock.rs"])).len(), 1);
    }

    #[test]
    fn placeholders_and_what_is_no_file_pass() {
        let text = "// `NAME/ids.rs` `env.py` `Sno::parse` `${name}.rs` `*.rs` `a b.rs`\n";
        assert_eq!(found("a.rs", text), [""; 0]);
    }

    #[test]
    fn long_lines_of_prose_are_found_and_tables_pass() {
        let long = "x".repeat(LONGEST_PROSE + 1);
        assert_eq!(found("docs/a.md", &format!("a\n{long}\n")).len(), 1);
        assert_eq!(found("docs/a.md", &format!("| {long} |\n")), [""; 0]);
        assert_eq!(found("a.rs", &format!("    // {}\n", &long[..LONGEST_COMMENT])).len(), 1);
        assert_eq!(found("a.rs", &format!("const A: &str = \"{long}\";\n")), [""; 0]);
    }
}
