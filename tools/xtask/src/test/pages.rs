//! Checks the documentation pages: each error code must have a section, and links must not be broken.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Result;

use crate::workspace;

/// The repository's public address, including its branch.
const REPOSITORY_URL: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// The page that describes the error codes in `api.toml`. It has one section for each code, with the code as its heading.
const ERRORS_PAGE: &str = "docs/errors.md";

/// The lists in which a reader can find a page: the list of all pages, and the site's navigation.
const LISTING_PAGES: [&str; 2] = ["docs/guide.md", "tools/site/astro.config.mjs"];

/// The files whose descriptions name all ID formats.
const DESCRIBING_FILES: [&str; 8] = [
    "Cargo.toml",
    "README.md",
    "core/README.md",
    "docs/guide/which-id.md",
    "lease/README.md",
    "packages/js/README.md",
    "packages/python/README.md",
    "packages/python/pyproject.toml",
];

/// Returns the faults in the given pages, each with its path and text.
pub(super) fn faults<'s>(files: impl Iterator<Item = (&'s str, &'s str)>) -> Result<Vec<String>> {
    let api: toml::Table =
        fs::read_to_string(workspace::root().join("packages/api.toml"))?.parse()?;
    let tables = [Some(&api["errors"]), api["lease"].get("errors")];
    let tables = tables.into_iter().flatten().filter_map(toml::Value::as_table);
    let codes: BTreeSet<_> = tables.flat_map(toml::Table::keys).map(String::as_str).collect();
    let (mut faults, mut guide) = (Vec::new(), String::new());
    let read = |list| fs::read_to_string(workspace::root().join(list));
    let lists =
        [(LISTING_PAGES[0], read(LISTING_PAGES[0])?), (LISTING_PAGES[1], read(LISTING_PAGES[1])?)];
    for (path, text) in files.filter(|(path, _)| is_page(path)) {
        faults.extend(unlisted_pages(path, &lists));
        faults.extend(broken_links(path, text));
        faults.extend(unset_variable_lines(path, text));
        if path == ERRORS_PAGE {
            faults.extend(check_sections(text, &codes));
        }
        if path.starts_with("docs/guide/") || path == "docs/public-ids.md" {
            text.split("```").skip(1).step_by(2).for_each(|block| guide.push_str(block));
        }
    }
    faults.extend(names_without_example(&api["guide"], &guide));
    faults.extend(lists_without_a_format(&api, read)?);
    Ok(faults)
}

/// Returns the lists of ID formats that lack a format. A format is a table of `api.toml` that has objects.
fn lists_without_a_format(
    api: &toml::Table,
    read: impl Fn(&'static str) -> std::io::Result<String>,
) -> Result<Vec<String>> {
    let formats: Vec<_> = api
        .iter()
        .filter(|(_, table)| table.get("objects").is_some())
        .map(|(name, _)| name)
        .collect();
    let mut faults = Vec::new();
    let unguided = formats.iter().filter(|name| api["guide"].get(name).is_none());
    faults.extend(unguided.map(|name| format!("packages/api.toml: the guide has no {name}")));
    for path in DESCRIBING_FILES {
        // "Hot Guid" and "UUID v7" are `hotguid` and `uuid7` in `api.toml`.
        let text = read(path)?.to_lowercase().replace(" v", "").replace(' ', "");
        let unnamed = formats.iter().filter(|name| !text.contains(name.as_str()));
        faults.extend(unnamed.map(|name| format!("{path}: expected the format {name}")));
    }
    Ok(faults)
}

/// Returns the example lines that contain the lease's environment variable but would not set the variable when pasted into
/// a shell. In these lines, either `export` is missing, or the value is followed by something other than a comment.
fn unset_variable_lines(path: &str, text: &str) -> Vec<String> {
    let lines = text.split("```").skip(1).step_by(2).flat_map(str::lines);
    let named = lines.filter_map(|line| {
        let (before, value) = line.split_once("POLYFLAKE_LEASE='")?;
        let behind = value.split_once('\'').map_or(value, |(_, behind)| behind).trim_start();
        let is_set = before == "export " && (behind.is_empty() || behind.starts_with('#'));
        (!is_set).then(|| format!("{path}: a shell does not set the variable by `{line}`"))
    });
    named.collect()
}

/// Returns the lists that must contain this page but do not. Only pages that describe a task or a library must be listed.
fn unlisted_pages(path: &str, lists: &[(&str, String)]) -> Vec<String> {
    let Some(name) = path.strip_prefix("docs/").and_then(|name| name.strip_suffix(".md")) else {
        return Vec::new();
    };
    let is_listed = ["guide/", "integrations/"].iter().any(|folder| name.starts_with(folder));
    let names_it = |list: &str| {
        [format!("({name}.md)"), format!("\"{name}\"")].iter().any(|it| list.contains(it))
    };
    let lacking = lists.iter().filter(|(_, list)| is_listed && !names_it(list));
    lacking.map(|(list, _)| format!("{list}: expected the page {path}")).collect()
}

/// Returns the names that `api.toml` lists for the guide but that do not occur in the guide's examples. JavaScript examples
/// contain the names in camelCase.
fn names_without_example(marked: &toml::Value, guide: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: BTreeSet<_> = guide.split(|c| !is_part(c)).map(str::to_lowercase).collect();
    let families = marked.as_table().into_iter().flatten();
    let names = families.flat_map(|(family, names)| {
        let names = names.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
        names.map(move |name| format!("{family}.{name}"))
    });
    let is_taught = |name: &str| {
        let word = name.rsplit('.').next().unwrap_or_default().to_lowercase();
        words.contains(&word) || words.contains(&word.replace('_', ""))
    };
    let missing = names.filter(|name| !is_taught(name));
    missing.map(|name| format!("packages/api.toml: no example of the guide has {name}")).collect()
}

/// Returns whether a path belongs to a Markdown page. The core crate's change log is excluded, because it is a symbolic
/// link to the repository's change log.
fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end == "md") && path != "core/CHANGELOG.md"
}

/// Returns whether a page is a package's README. Registries show the README on their own pages, where its relative links do
/// not work.
fn is_package_readme(path: &str) -> bool {
    let folder = path.strip_suffix("/README.md").unwrap_or_default();
    [
        "cli",
        "core",
        "crates/clock",
        "crates/inspect",
        "crates/sql",
        "lease",
        "packages/js",
        "packages/python",
    ]
    .contains(&folder)
}

/// Returns error codes without a section, and sections whose heading is not an error code.
fn check_sections(text: &str, codes: &BTreeSet<&str>) -> Vec<String> {
    let heading = |line: &'_ str| -> Option<String> {
        Some(line.strip_prefix("## `")?.strip_suffix('`')?.to_owned())
    };
    let sections: BTreeSet<_> = text.lines().filter_map(heading).collect();
    let sections: BTreeSet<_> = sections.iter().map(String::as_str).collect();
    let differing = codes.symmetric_difference(&sections);
    differing
        .map(|code| format!("{ERRORS_PAGE}: {code} is on one side of it and api.toml only"))
        .collect()
}

/// Returns links to files that do not exist.
fn broken_links(path: &str, text: &str) -> Vec<String> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let files = targets.map(|(target, _)| target.split('#').next().unwrap_or_default());
    let is_path = |target: &str| {
        !target.is_empty() && !target.contains(|c: char| c.is_whitespace() || ":<>(\"'".contains(c))
    };
    let is_there = |target: &str| match target.strip_prefix(REPOSITORY_URL) {
        Some(file) => workspace::root().join(file).exists(),
        None if is_path(target) => {
            !is_package_readme(path) && workspace::root().join(folder).join(target).exists()
        }
        None => true,
    };
    let broken = files.filter(|target| !is_there(target));
    broken.map(|target| format!("{path}: {target} leads nowhere")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_sections_must_correspond() {
        let codes = BTreeSet::from(["a", "b"]);
        assert!(check_sections("## `a`\ntext\n## `b`\n", &codes).is_empty());
        assert_eq!(check_sections("## `a`\n## `c`\n", &codes).len(), 2);
    }

    #[test]
    fn task_and_library_pages_are_listed() {
        let lists = [("a.md", "[a](guide/a.md)".to_owned()), ("b.mjs", "\"guide/a\"".to_owned())];
        assert!(unlisted_pages("docs/guide/a.md", &lists).is_empty());
        assert_eq!(unlisted_pages("docs/guide/b.md", &lists).len(), 2);
        assert!(unlisted_pages("docs/leases.md", &lists).is_empty());
    }

    #[test]
    fn every_marked_name_needs_an_example() {
        let marked = toml::toml! { sno = ["generate_many", "Sno.parse", "close"] };
        let guide = "ids.generateMany(2); Sno::parse(text); closed";
        let faults = names_without_example(&marked.into(), guide);
        assert_eq!(faults, ["packages/api.toml: no example of the guide has sno.close"]);
    }

    #[test]
    fn a_variable_must_be_set_by_a_whole_command() {
        let block = |line: &str| format!("text\n```sh\n{line}\n```\n");
        assert!(
            unset_variable_lines("a.md", &block("export POLYFLAKE_LEASE='sqlite:/a' # or another"))
                .is_empty()
        );
        for line in ["POLYFLAKE_LEASE='sqlite:/a'", "export POLYFLAKE_LEASE='sqlite:/a' or b"] {
            assert_eq!(unset_variable_lines("a.md", &block(line)).len(), 1, "{line}");
        }
    }

    #[test]
    fn links_are_resolved_relative_to_their_page() {
        assert!(
            broken_links("docs/a.md", "[b](errors.md#code) [c](../README.md) [d](#e)").is_empty()
        );
        assert_eq!(broken_links("docs/a.md", "[b](README.md) [c](../errors.md)").len(), 2);
    }

    #[test]
    fn package_pages_must_link_by_full_urls() {
        let (page, address) = ("core/README.md", env!("CARGO_PKG_REPOSITORY"));
        assert!(
            broken_links(page, &format!("[a]({REPOSITORY_URL}Cargo.toml#L1) [b]({address})"))
                .is_empty()
        );
        let broken = format!("[a]({REPOSITORY_URL}cargo.md) [b](CHANGELOG.md)");
        assert_eq!(broken_links(page, &broken).len(), 2);
    }
}
