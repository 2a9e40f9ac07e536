//! The openings of documentation comments: a noun phrase or a verb, not a clause that stands for a noun.

/// Words that begin such a clause.
const CLAUSES: [&str; 10] =
    ["What", "Whether", "How", "Who", "Which", "Where", "When", "So many", "As many", "So few"];

/// Openings of documentation comments, by the end of the file's name.
const OPENINGS: [(&str, &[&str]); 5] = [
    (".rs", &["///", "//!"]),
    (".ts", &["/**"]),
    (".mjs", &["/**"]),
    (".py", &["\"\"\""]),
    (".pyi", &["\"\"\""]),
];

/// Documentation comments that open with a clause, of the files with these paths and texts.
pub(super) fn clauses<'s>(files: impl Iterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    let of_file = |(path, text): (&'s str, &'s str)| {
        let openings = OPENINGS.iter().find(|(end, _)| path.ends_with(end)).map(|(_, all)| *all);
        let lines = openings.into_iter().flat_map(move |openings| opened(text, openings));
        let clauses = lines.filter(|(_, said)| is_clause(said));
        clauses.map(move |(number, said)| {
            format!(
                "{path}:{number}: expected a noun phrase or a verb to open with, found '{said}'"
            )
        })
    };
    files.flat_map(of_file).collect()
}

/// The first lines of documentation comments, with their numbers from 1.
fn opened<'t>(text: &'t str, openings: &'t [&'t str]) -> impl Iterator<Item = (usize, &'t str)> {
    let said = |line: &'t str| {
        let line = line.trim();
        openings.iter().find_map(|opening| Some(line.strip_prefix(opening)?.trim()))
    };
    let mut is_within = false;
    let mut lines = text.lines().peekable();
    let mut number = 0;
    std::iter::from_fn(move || {
        let line = lines.next()?;
        number += 1;
        let begins = said(line).filter(|_| !is_within);
        // Of these, each line begins alike.
        is_within = said(line).is_some() && line.trim_start().starts_with("//");
        // A comment of several lines may open on its second one.
        let first = begins.map(|said| match said {
            "" => {
                (number + 1, lines.peek().map_or("", |next| next.trim().trim_start_matches("* ")))
            }
            said => (number, said),
        });
        Some(first)
    })
    .flatten()
}

fn is_clause(said: &str) -> bool {
    let opens =
        |clause: &&str| said.strip_prefix(clause).is_some_and(|rest| rest.starts_with([' ', ',']));
    CLAUSES.iter().any(opens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        clauses([(path, text)].into_iter()).len()
    }

    #[test]
    fn a_clause_is_found_where_a_comment_opens() {
        assert_eq!(found("a.rs", "    /// Whether it is closed.\nfn a() {}\n"), 1);
        assert_eq!(found("a.rs", "//! What it is.\n"), 1);
        assert_eq!(found("a.ts", "/** How many. */\n/**\n * Which one.\n */\n"), 2);
        assert_eq!(found("a.pyi", "    \"\"\"So many bytes.\"\"\"\n"), 1);
    }

    #[test]
    fn nouns_verbs_and_later_lines_pass() {
        assert_eq!(
            found("a.rs", "/// Returns whether it is closed.\n/// When it is, nothing comes.\n"),
            0
        );
        assert_eq!(found("a.rs", "/// Wherever it is.\n// What it is.\n"), 0);
        assert_eq!(found("a.md", "/// What it is.\n"), 0);
        assert_eq!(found("a.ts", "/**\n * The number of IDs.\n * How many there are.\n */\n"), 0);
    }
}
