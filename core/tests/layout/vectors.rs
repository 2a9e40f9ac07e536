//! `layout64` and `layoutbytes`: results of the original's packing and parsing, except where `ours` differs.

use polyflake::layout::Layout;
use serde_json::Value as Json;

use crate::{
    shared::vectors,
    support::{assert_code, fields, id, layout, list, ours, values},
};

#[test]
fn integer_layouts() {
    let (layouts, checks) = check_all(&vectors("layout64.json"));
    assert_eq!(layouts, 68);
    assert!(checks > 600, "{checks}");
}

#[test]
fn byte_layouts() {
    let file = vectors("layoutbytes.json");
    let (layouts, checks) = check_all(&file);
    assert_eq!(layouts, 94);
    assert!(checks > 500, "{checks}");
    let three_bytes = list(&file, "wrong_length_parse");
    assert!(!three_bytes.is_empty());
    for case in three_bytes {
        let layout = layout(&serde_json::json!({"size_bytes": 3, "size_bits": 24, "fields": [
            {"kind": "bindable", "bits": 8, "name": "a"}, {"kind": "bindable", "bits": 16, "name": "b"}]}));
        check_parse(&layout.unwrap(), case);
    }
}

/// Checks every layout of a file. Returns the number of layouts and of answers.
fn check_all(file: &Json) -> (usize, usize) {
    let layouts = list(file, "layouts");
    (layouts.len(), layouts.iter().map(check).sum())
}

/// Checks one layout and all its cases.
fn check(vector: &Json) -> usize {
    println!("{}", vector["name"]);
    let expected = ours(vector);
    if let Some(code) = expected.get("error").and_then(Json::as_str) {
        assert_code(layout(vector), code);
        return 1;
    }
    assert!(
        expected.get("build_error").is_none_or(Json::is_null),
        "an error of the original needs one of ours"
    );
    let layout = layout(vector).unwrap();
    let (packed, parsed) = (list(vector, "cases"), list(vector, "parse_cases"));
    packed.iter().for_each(|case| check_pack(&layout, case));
    parsed.iter().for_each(|case| check_parse(&layout, case));
    packed.len() + parsed.len()
}

fn check_pack(layout: &Layout, case: &Json) {
    println!("  {case}");
    let expected = ours(case);
    let packed = values(layout, &case["inputs"]).and_then(|values| values.pack());
    if let Some(code) = expected.get("error").and_then(Json::as_str) {
        assert_code(packed, code);
    } else {
        let packed = packed.unwrap();
        assert_eq!(packed.to_string(), expected["id"].as_str().unwrap());
        assert_eq!(fields(&layout.parse(&packed).unwrap()), expected["parsed"]);
    }
}

fn check_parse(layout: &Layout, case: &Json) {
    println!("  {case}");
    let expected = ours(case);
    let id = id(layout, case["id"].as_str().unwrap());
    match expected.get("error").and_then(Json::as_str) {
        Some(code) => drop(assert_code(layout.parse(&id), code)),
        None => assert_eq!(fields(&layout.parse(&id).unwrap()), expected["parsed"]),
    }
}
