//! Checks that the crate and `packages/api.toml` contain the same set of error codes.

use std::collections::BTreeSet;

use polyflake_lease::ErrorKind;

/// Error codes that the core crate also uses.
const SHARED_CODES: [&str; 2] = ["out_of_range", "lease_unavailable"];

#[test]
fn error_codes_match_the_contract() {
    let api: toml::Table = include_str!("../../packages/api.toml").parse().unwrap();
    let listed: BTreeSet<_> =
        api["lease"]["errors"].as_table().unwrap().keys().map(String::as_str).collect();
    let ours: BTreeSet<_> = ErrorKind::ALL
        .iter()
        .map(|kind| kind.code())
        .filter(|code| !SHARED_CODES.contains(code))
        .collect();
    assert_eq!(ours, listed);
    let shared = api["errors"].as_table().unwrap();
    assert!(SHARED_CODES.iter().all(|code| shared.contains_key(*code)));
    assert!(listed.iter().all(|code| !shared.contains_key(*code)), "one code has one meaning");
}

#[test]
fn the_page_for_operators_lists_every_error_code() {
    let page = include_str!("../../docs/operate-leases.md");
    for code in ErrorKind::ALL.iter().map(|kind| kind.code()) {
        assert!(page.contains(&format!("\n| [`{code}`](errors.md#{code}) |")), "{code}");
    }
}
