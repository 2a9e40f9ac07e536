//! The error codes against `packages/api.toml`, both ways.

use std::collections::BTreeSet;

use polyflake_lease::ErrorKind;

#[test]
fn error_codes_are_those_of_the_contract() {
    let api: toml::Table = include_str!("../../packages/api.toml").parse().unwrap();
    let listed: BTreeSet<_> =
        api["lease"]["errors"].as_table().unwrap().keys().map(String::as_str).collect();
    let ours: BTreeSet<_> = ErrorKind::ALL
        .iter()
        .map(|kind| kind.code())
        .filter(|code| *code != "out_of_range")
        .collect();
    assert_eq!(ours, listed);
    let shared = api["errors"].as_table().unwrap();
    assert!(shared.contains_key("out_of_range"));
    assert!(listed.iter().all(|code| !shared.contains_key(*code)), "one code has one meaning");
}

#[test]
fn the_page_lists_every_code() {
    let page = include_str!("../../docs/leases.md");
    for kind in ErrorKind::ALL.iter().filter(|kind| **kind != ErrorKind::OutOfRange) {
        assert!(page.contains(&format!("| `{}` |", kind.code())), "{}", kind.code());
    }
}
