//! Tests lease URLs with a table of cases shared by the tests of all languages.
#![cfg(feature = "hosted")]

use polyflake_lease::protocol::hosted::LeaseUrl;
use serde_json::{Value as Json, json};

/// Returns default values for the parts of a parsed lease URL that a test case may omit.
fn default_parts() -> Json {
    json!({
        "allows_overlayfs": false, "create": null, "lease_ms": null, "environment_worker_id": null, "worker_ids": null, "schema": null, "sigterm": false,
        "wait_ms": null, "renew_ms": null, "strict": false, "storage": null,
    })
}

fn parse_address(case: &Json) -> polyflake_lease::Result<Json> {
    let text = |name: &str| case[name].as_str();
    let place = if case["variable"] == true {
        LeaseUrl::of_variables(text("url"), text("worker_id"), text("namespace"))
    } else {
        LeaseUrl::parse(text("url").unwrap(), text("namespace"))
    };
    Ok(serde_json::from_str(&place?.to_json()?).unwrap())
}

#[test]
fn urls_are_parsed_as_the_table_expects() {
    let table: Json = serde_json::from_str(include_str!("../../tests/leases/urls.json")).unwrap();
    let cases = table["cases"].as_array().unwrap();
    assert!(cases.len() > 80);
    for case in cases {
        match (&case["error"], parse_address(case)) {
            (Json::Null, Ok(found)) => {
                let (mut expected, own) = (default_parts(), case["parsed"].as_object().unwrap());
                expected.as_object_mut().unwrap().extend(own.clone());
                assert_eq!(found, expected, "{case}");
            }
            (Json::Object(expected), Err(error)) => {
                assert_eq!(expected["code"], error.code(), "{case}: {error}");
                for part in expected["says"].as_array().unwrap() {
                    assert!(error.to_string().contains(part.as_str().unwrap()), "{case}: {error}");
                }
                assert!(error.to_string().starts_with("cannot read "), "{error}");
                assert!(error.is_permanent(), "{error}");
                assert!(!format!("{error} {error:?}").contains("sesame"), "{error:?}");
            }
            (_, found) => panic!("{case}: {found:?}"),
        }
    }
}
