//! Checks which CPU features the kernels of the core's instruction sets use.
//!
//! `core/src/arch` calls all kernels from one place. Each architecture has a folder whose `mod.rs` lists the instruction
//! sets in rows, with the CPU features that each set requires. The calls are sound because a kernel may use only three
//! groups of features: the features in the row of its instruction set, the features in the rows above, and the features
//! that are enabled for the whole folder.

use std::collections::BTreeSet;

const CORE: &str = "core/src/";
const ARCH: &str = "core/src/arch/";

/// Returns the faults in the given files, each with its path and text.
pub(super) fn faults<'s>(files: impl Iterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    let core: Vec<_> = files.filter(|(path, _)| path.starts_with(CORE)).collect();
    let read = |file: String| core.iter().find(|(path, _)| *path == file).map(|(_, text)| *text);
    let contract = read(format!("{ARCH}mod.rs")).unwrap_or_default();
    let unproved = core.iter().flat_map(|(path, text)| {
        let place = path.strip_prefix(ARCH).and_then(|place| place.split_once('/'));
        let folder = place.map_or("", |(folder, _)| folder);
        let rows = read(format!("{ARCH}{folder}/mod.rs")).unwrap_or_default();
        let proved =
            guaranteed_features(contract, folder, rows, place.map_or("", |(_, file)| file));
        let unproved =
            enabled_features(text).into_iter().filter(move |feature| !proved.contains(feature));
        unproved.map(move |feature| format!("{path}: nothing proves the feature {feature}"))
    });
    unproved.collect()
}

/// Returns the features that a file's functions enable, including those enabled through `cfg_attr`.
fn enabled_features(text: &str) -> BTreeSet<&str> {
    let attributes = text.split("target_feature(").skip(1);
    let lists = attributes
        .filter_map(|list| list.split_once(')'))
        .flat_map(|(list, _)| quoted_strings(list));
    lists.flat_map(|list| list.split(',')).collect()
}

/// Returns the CPU features that are guaranteed to be available when a kernel in this file runs.
fn guaranteed_features<'t>(
    contract: &'t str,
    folder: &str,
    rows: &'t str,
    file: &str,
) -> BTreeSet<&'t str> {
    let set = file.split(['/', '.']).next().unwrap_or_default();
    let declared = format!("#[path = \"{folder}/mod.rs\"]");
    let lines: Vec<_> = contract.lines().collect();
    let cfg = lines.windows(2).find(|pair| pair[1] == declared).map_or("", |pair| pair[0]);
    let of_all = cfg.split("target_feature = ").skip(1).flat_map(quoted_strings).take(1);
    let rows: Vec<_> = rows.lines().filter_map(parse_set_row).collect();
    let until = rows.iter().position(|(name, _)| *name == set).map_or(0, |last| last + 1);
    of_all.chain(rows[..until].iter().flat_map(|(_, features)| quoted_strings(features))).collect()
}

/// Parses the row of an instruction set, `Name: "name", file, condition;`, and returns the file and the condition.
fn parse_set_row(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.trim().strip_suffix(';')?.split_once(": \"")?;
    rest.split_once("\", ")?.1.split_once(", ")
}

/// Returns the quoted parts of a string, without the quotes.
fn quoted_strings(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: (&str, &str) = (
        "core/src/arch/mod.rs",
        "#[cfg(all(target_arch = \"a\", target_feature = \"base\"))]\n#[path = \"a/mod.rs\"]\nmod machine;\n",
    );
    const ROWS: (&str, &str) = (
        "core/src/arch/a/mod.rs",
        "define_instruction_sets! {\n    /// Low.\n    Low: \"low\", low, has!(\"one\", \"two\");\n    High: \"high\", high, has!(\"three\");\n}\n",
    );

    fn check_file(path: &str, text: &str) -> Vec<String> {
        faults([CONTRACT, ROWS, (path, text)].into_iter())
    }

    fn function_with_feature(feature: &str) -> String {
        format!("#[target_feature(enable = \"{feature}\")]\nfn f() {{}}\n")
    }

    #[test]
    fn a_set_includes_the_features_below_it() {
        for (file, features) in [
            ("low/mod.rs", "one,two"),
            ("low/columns.rs", "two"),
            ("high.rs", "three,one"),
            ("other.rs", "base"),
        ] {
            assert!(
                check_file(&format!("core/src/arch/a/{file}"), &function_with_feature(features))
                    .is_empty(),
                "{file}"
            );
        }
    }

    #[test]
    fn an_unproven_feature_is_a_fault() {
        for (file, features) in [
            ("arch/a/low/mod.rs", "two,three"),
            ("arch/a/other.rs", "one"),
            ("arch/a/high.rs", "four"),
            ("arch/scalar/mod.rs", "base"),
            ("sno/fill.rs", "base"),
        ] {
            assert_eq!(
                check_file(&format!("core/src/{file}"), &function_with_feature(features)).len(),
                1,
                "{file}"
            );
        }
    }

    #[test]
    fn features_are_found_in_every_attribute_form() {
        for attribute in [
            "#[target_feature(enable = \"a\", enable = \"b\")]",
            "#[cfg_attr(x, target_feature(enable = \"a,b\"))]",
            "#[cfg_attr(\n    x,\n    inline,\n    target_feature(\n        enable = \"a\",\n        enable = \"b\"\n    )\n)]",
        ] {
            assert_eq!(enabled_features(attribute), BTreeSet::from(["a", "b"]), "{attribute}");
        }
        assert!(enabled_features("#[cfg(target_feature = \"a\")]").is_empty());
    }
}
