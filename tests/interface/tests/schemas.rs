//! JSON Schema and OpenAPI descriptions of ID strings, and IDs generated from fuzzer input.

use std::collections::HashMap;

use arbitrary::{Arbitrary, Unstructured};
use polyflake::{
    hotguid::HotGuid,
    layout,
    randflake::Randflake,
    sno::{Id, Kind, Sno},
    uuid7::Uuid7,
};
use regex::Regex;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::PartialSchema;

#[derive(Debug)]
struct SnoWithMetabyte<const METABYTE: u8>;

impl<const METABYTE: u8> Kind for SnoWithMetabyte<METABYTE> {
    const METABYTE: u8 = METABYTE;
}

/// Returns the schema that both libraries produce, without its URL and title.
fn schema<T: JsonSchema + PartialSchema>() -> Value {
    let mut json = schema_for!(T).to_value();
    let object = json.as_object_mut().unwrap();
    object.retain(|name, _| name != "$schema" && name != "title");
    assert_eq!(serde_json::to_value(T::schema()).unwrap(), json);
    json
}

/// Returns a type's pattern. Asserts that the pattern matches the type's example and the strings of other IDs.
#[track_caller]
fn pattern<T: JsonSchema + PartialSchema + Serialize>(ids: &[T]) -> Regex {
    let schema = schema::<T>();
    let pattern = Regex::new(schema["pattern"].as_str().unwrap()).unwrap();
    assert!(pattern.is_match(schema["examples"][0].as_str().unwrap()), "{schema}");
    for id in ids {
        let text = serde_json::to_value(id).unwrap();
        assert!(pattern.is_match(text.as_str().unwrap()), "{text} of {schema}");
    }
    pattern
}

#[test]
fn only_valid_strings_match_the_patterns() {
    let sno = pattern(&[Sno::MIN, Sno::MAX]);
    for text in ["222222222222222", "22222222222222222", "222222222222222y", "1222222222222222"] {
        assert!(!sno.is_match(text) && Sno::parse(text).is_err(), "{text}");
    }
    let flakes = pattern(&[0, -1, 1, i64::MAX, i64::MIN].map(Randflake::from_i64));
    for text in ["", "01", "g000000000000", "10000000000000", "w"] {
        assert!(!flakes.is_match(text) && Randflake::parse(text).is_err(), "{text}");
    }
    pattern(&[HotGuid::MIN, HotGuid::MAX]);
    let uuids = pattern(&[Uuid7::MIN, Uuid7::MAX]);
    for text in [
        "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f",
        "017f22e279b07cc398c4dc0c0c07398f",
    ] {
        assert!(!uuids.is_match(text) && Uuid7::parse(text).is_err(), "{text}");
    }
    let bytes = layout::Id::Bytes(vec![0xca, 0xfe]);
    let layouts = pattern(&[layout::Id::Integer(i64::MIN), layout::Id::Integer(0), bytes]);
    assert!(!layouts.is_match("cafe") && !layouts.is_match("007"));
    assert_eq!(
        schema::<Sno>(),
        json!({"type": "string", "pattern": "^[2-9a-x]{16}$", "examples": ["9afikjv326nct5if"]})
    );
    assert_eq!(schema::<HotGuid>()["format"], "uuid");
    assert_eq!(schema::<Uuid7>()["format"], "uuid");
}

#[test]
fn a_typed_ids_pattern_fixes_the_metabyte() {
    #[track_caller]
    fn check<const METABYTE: u8>() {
        let first = Sno::MIN.with_metabyte(METABYTE);
        let last = Sno::MAX.with_metabyte(METABYTE);
        let ids = [first, last].map(|id| Id::<SnoWithMetabyte<METABYTE>>::new(id).unwrap());
        let pattern = pattern(&ids);
        for other in (0..=u8::MAX).filter(|other| *other != METABYTE) {
            for id in [first, last, Sno::parse("9afikjv326nct5if").unwrap()] {
                assert!(!pattern.is_match(&id.with_metabyte(other).text()), "{other}");
            }
        }
    }
    check::<0>();
    check::<7>();
    check::<8>();
    check::<24>();
    check::<255>();
}

#[test]
fn schema_names_match_the_types() {
    assert_eq!(<Sno as utoipa::ToSchema>::name(), "Sno");
    assert_eq!(<Id<SnoWithMetabyte<7>> as JsonSchema>::schema_name(), "SnoOfTypeTag7");
    assert!(<Sno as JsonSchema>::inline_schema());
}

#[test]
fn an_openapi_document_keeps_typed_ids_apart() {
    type UserId = Id<SnoWithMetabyte<2>>;
    type OrderId = Id<SnoWithMetabyte<7>>;

    #[derive(utoipa::ToSchema)]
    #[expect(dead_code, reason = "only the schema of the fields is read")]
    struct Order {
        id: OrderId,
        user: UserId,
    }

    let mut schemas = Vec::new();
    <Order as utoipa::ToSchema>::schemas(&mut schemas);
    let schemas: HashMap<_, _> = schemas.into_iter().collect();
    let order = serde_json::to_value(Order::schema()).unwrap();
    for (member, id) in [("id", schema::<OrderId>()), ("user", schema::<UserId>())] {
        let reference = order["properties"][member]["$ref"].as_str().unwrap();
        let name = reference.strip_prefix("#/components/schemas/").unwrap();
        assert_eq!(serde_json::to_value(&schemas[name]).unwrap(), id, "{member}");
    }
}

#[test]
fn arbitrary_builds_ids_from_bytes() {
    let bytes: Vec<u8> = (1..=80).collect();
    let mut bits = Unstructured::new(&bytes);
    let sno = Sno::arbitrary(&mut bits).unwrap();
    assert_eq!(sno.to_bytes(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let typed = Id::<SnoWithMetabyte<24>>::arbitrary(&mut bits).unwrap();
    assert_eq!((typed.metabyte(), typed.sequence()), (24, 0x13_14));
    assert_eq!(HotGuid::arbitrary(&mut bits).unwrap().to_bytes()[0], 21);
    assert_eq!(Uuid7::arbitrary(&mut bits).unwrap().to_bytes()[0], 37);
    assert_ne!(Randflake::arbitrary(&mut bits).unwrap(), Randflake::default());
    assert!(layout::Id::arbitrary(&mut bits).is_ok());
    assert_eq!((Sno::size_hint(0), HotGuid::size_hint(0)), ((10, Some(10)), (16, Some(16))));
    assert_eq!(Sno::arbitrary(&mut Unstructured::new(&[])).unwrap(), Sno::MIN);
}
