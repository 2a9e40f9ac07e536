//! The reach of a family: files that carry Hot Guid's name, by path or content, are those in which a fifth family would be written.

use crate::generate;

/// The name, as folders, functions and texts spell it.
const NAMES: [&str; 3] = ["hotguid", "hot_guid", "hot guid"];

/// The most files of a folder that may carry the name. A file counts in the innermost of these folders alone.
const FILES: [(&str, usize); 5] = [
    ("bindings-python/src/", 4),
    ("bindings-js/src/", 4),
    ("columns/src/", 2),
    ("packages/js/src/", 8),
    ("packages/js/src/integrations/", 3),
];

/// The core's folder, and the most lines of code in its files that carry the name: without comments and blank lines.
const LINES: (&str, usize) = ("core/src/", 770);

/// Counts that are too high, or 0, over the files with these paths and texts.
pub(super) fn too_far<'s>(files: impl Iterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    // Generated files are not written by hand, so they cost a further family nothing.
    let files = files.filter(|(_, text)| !text.starts_with(generate::MARK));
    let carriers: Vec<_> = files.filter(|(path, text)| carries(path) || carries(text)).collect();
    let of = |folder| carriers.iter().filter(move |(path, _)| innermost(path) == Some(folder));
    let refused = |(folder, most): (&str, usize), found: usize, what: &str| {
        let said =
            format!("expected 1 to {most} {what} that name Hot Guid in {folder}, found {found}");
        (!(1..=most).contains(&found)).then_some(said)
    };
    let files = FILES.iter().filter_map(|at| refused(*at, of(at.0).count(), "files"));
    let lines = of(LINES.0).map(|(_, text)| code_lines(text)).sum();
    files.chain(refused(LINES, lines, "lines of code in files")).collect()
}

/// The innermost of the counted folders that a file lies in.
fn innermost(path: &str) -> Option<&'static str> {
    let folders = FILES.iter().chain([&LINES]).map(|(folder, _)| *folder);
    folders.filter(|folder| path.starts_with(folder)).max_by_key(|folder| folder.len())
}

fn carries(text: &str) -> bool {
    let text = text.to_lowercase();
    NAMES.iter().any(|name| text.contains(name))
}

/// Lines that are neither blank nor comments.
fn code_lines(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: [(&str, &str); 5] = [
        ("bindings-python/src/hotguid.rs", ""),
        ("columns/src/fields.rs", "HotGuid"),
        ("bindings-js/src/lib.rs", "mod hotguid;"),
        ("packages/js/src/a.ts", "// Hot Guid"),
        ("packages/js/src/integrations/a.ts", "hotguidId"),
    ];

    fn faults(core: &str) -> usize {
        too_far(OTHERS.into_iter().chain([("core/src/hotguid/id.rs", core)])).len()
    }

    #[test]
    fn comments_and_blank_lines_do_not_count() {
        assert_eq!(faults(&format!("a\n{}", "\n// b\n    /// c\n".repeat(LINES.1))), 0);
        assert_eq!(faults(&"a\n".repeat(LINES.1)), 0);
        assert_eq!(faults(&"a\n".repeat(LINES.1 + 1)), 1);
    }

    #[test]
    fn a_file_too_many_is_found_by_path_or_content() {
        let many = (0..4).map(|_| ("bindings-js/src/b.rs", "HotGuid"));
        let core = [("core/src/hotguid/id.rs", "a")];
        assert_eq!(too_far(OTHERS.into_iter().chain(many).chain(core)).len(), 1);
    }

    #[test]
    fn a_file_counts_in_the_innermost_folder_alone() {
        let core = [("core/src/hotguid/id.rs", "a")];
        let some = |path| (0..7).map(move |_| (path, "HotGuid"));
        let faults = |path| too_far(OTHERS.into_iter().chain(some(path)).chain(core));
        assert_eq!(faults("packages/js/src/b.ts"), [""; 0]);
        let said =
            "expected 1 to 3 files that name Hot Guid in packages/js/src/integrations/, found 8";
        assert_eq!(faults("packages/js/src/integrations/b.ts"), [said]);
    }

    #[test]
    fn generated_files_do_not_count() {
        let text = generate::MARK.to_owned() + "HotGuid";
        let generated = (0..9).map(|_| ("packages/js/src/b.ts", &*text));
        let core = [("core/src/hotguid/id.rs", "a")];
        let without = too_far(OTHERS.into_iter().chain(core));
        assert_eq!(too_far(OTHERS.into_iter().chain(generated).chain(core)), without);
    }

    #[test]
    fn a_name_that_nothing_carries_proves_nothing() {
        assert_eq!(too_far([].into_iter()).len(), 6);
    }
}
