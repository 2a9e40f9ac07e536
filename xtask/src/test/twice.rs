//! Duplicate code: function bodies that stand in the folders of two families.

use std::collections::BTreeMap;

/// The families, by the names of their folders and files.
const FAMILIES: [&str; 4] = ["sno", "randflake", "hotguid", "layout"];
/// Bodies of up to this many lines may stand in two families: they call shared code.
const SHORT: usize = 5;

/// Bodies that stand in two families, of the files with these paths and texts.
pub(super) fn bodies<'s>(files: impl Iterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in files {
        let Some(family) = family_of(path) else { continue };
        for body in bodies_of(text, path.strip_suffix(".rs").is_some()) {
            places.entry(body).or_default().push((family, path));
        }
    }
    let is_twice =
        |places: &[(&str, &str)]| places.iter().any(|(family, _)| *family != places[0].0);
    let said = |places: Vec<(&str, &str)>, body: String| {
        let paths: Vec<_> = places.into_iter().map(|(_, path)| path).collect();
        let first = body.lines().next().unwrap_or_default().to_owned();
        format!("one function body stands in {}: {first} ...", paths.join(", "))
    };
    let twice = places.into_iter().filter(|(_, places)| is_twice(places));
    twice.map(|(body, places)| said(places, body)).collect()
}

/// The family that a source file belongs to, by a folder or by its name.
fn family_of(path: &str) -> Option<&'static str> {
    let source = path.strip_suffix(".rs").or_else(|| path.strip_suffix(".ts"))?;
    if !source.contains("/src/") {
        return None;
    }
    let names = |family: &&&str| source.split('/').any(|part| part == **family);
    FAMILIES.iter().find(names).copied()
}

/// The bodies of functions that are longer than short ones, without their indentation.
fn bodies_of(text: &str, is_rust: bool) -> Vec<String> {
    let lines: Vec<_> = text.lines().collect();
    let bodies = (0..lines.len()).filter_map(|at| body_from(&lines[at..], is_rust));
    bodies.filter(|body| body.len() > SHORT).map(|body| body.join("\n")).collect()
}

/// The body of the function that begins with the first of these lines, as formatters indent it.
fn body_from<'t>(lines: &[&'t str], is_rust: bool) -> Option<Vec<&'t str>> {
    let first = lines.first().filter(|line| is_header(line, is_rust))?;
    let indent = &first[..first.len() - first.trim_start().len()];
    let opens = lines.iter().position(|line| line.ends_with(['{', ';']))?;
    let closes = lines.iter().position(|line| line.strip_prefix(indent) == Some("}"))?;
    if lines[opens].ends_with(';') || closes <= opens {
        return None;
    }
    Some(lines[opens + 1..closes].iter().map(|line| line.trim()).collect())
}

/// Returns whether a line begins a function in Rust, or ends the head of one in TypeScript.
fn is_header(line: &str, is_rust: bool) -> bool {
    const OTHERS: [&str; 8] = ["if", "for", "while", "switch", "catch", "}", "return", "//"];
    let line = line.trim_start();
    if is_rust {
        let is_before =
            |word: &str| matches!(word, "const" | "async" | "unsafe" | "extern" | "\"C\"");
        return line
            .split_once("fn ")
            .is_some_and(|(before, _)| after_visibility(before).split_whitespace().all(is_before));
    }
    let begins = OTHERS.iter().any(|word| line.starts_with(word));
    line.ends_with('{') && !begins && (line.contains(") ") || line.contains("):"))
}

/// The part of a header after `pub`, `pub(crate)` or `pub(in path)`.
fn after_visibility(header: &str) -> &str {
    match header.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        Some(rest) => rest,
        None => header,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "    pub fn a(\n        b: u8,\n    ) -> u8 {\n        1;\n        2;\n        3;\n        4;\n        5;\n        6\n    }\n";

    #[test]
    fn a_long_body_in_two_families_is_found_once() {
        let two = [("core/src/sno/a.rs", BODY), ("core/src/layout/b.rs", BODY)];
        let found = bodies(two.into_iter());
        assert_eq!(
            found,
            ["one function body stands in core/src/sno/a.rs, core/src/layout/b.rs: 1; ..."]
        );
    }

    #[test]
    fn one_family_may_repeat_itself_and_so_may_what_is_none() {
        let one = [
            ("core/src/sno/a.rs", BODY),
            ("bindings/src/sno.rs", BODY),
            ("core/src/fork/c.rs", BODY),
        ];
        assert!(bodies(one.into_iter()).is_empty());
    }

    #[test]
    fn a_short_body_may_stand_twice() {
        let short = BODY.replace("        4;\n", "");
        let two = [("core/src/sno/a.rs", &*short), ("core/src/layout/b.rs", &*short)];
        assert!(bodies(two.into_iter()).is_empty());
    }

    #[test]
    fn functions_of_every_visibility_are_found() {
        for header in
            ["fn", "pub(crate) const fn", "pub(in crate::sno) fn", "pub unsafe extern \"C\" fn"]
        {
            let text = BODY.replace("pub fn", header);
            assert_eq!(bodies_of(&text, true).len(), 1, "{header}");
        }
        assert!(bodies_of(&BODY.replace("pub fn", "// a fn"), true).is_empty());
    }

    #[test]
    fn functions_in_typescript_are_found() {
        let text = "  generate(n: number): string {\n    a;\n    b;\n    c;\n    d;\n    e;\n    f;\n  }\n";
        assert_eq!(bodies_of(text, false), ["a;\nb;\nc;\nd;\ne;\nf;"]);
    }
}
