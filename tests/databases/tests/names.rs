//! Compares `packages/api.toml` with the columns that `polyflake-sql` declares.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn column_names_match_the_contract() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let contract: toml::Table = read("packages/api.toml").parse().unwrap();
    let names = contract["sql"]["names"].as_array().unwrap();
    let names: BTreeSet<_> = names.iter().filter_map(toml::Value::as_str).collect();
    let source = read("crates/sql/src/lib.rs");
    let (_, declared) = source.split_once("\ncolumns! {\n").unwrap();
    let is_name = |line: &&str| line.chars().all(char::is_alphanumeric) && !line.is_empty();
    assert_eq!(declared.lines().map(str::trim).filter(is_name).collect::<BTreeSet<_>>(), names);
    assert!(!names.is_empty());
}
