//! Tests enums for which serde selects the variant by the metabyte of an ID.

use std::collections::BTreeMap;

use polyflake::{
    Error,
    sno::{ByMetabyte, ReadError, Sno, by_metabyte},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct User {
    id: Sno,
    foo: String,
    baz: String,
}

/// An object with values of every JSON type.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct Order {
    total: f64,
    count: u8,
    debt: i64,
    large: u64,
    letter: char,
    none: Option<u8>,
    some: Option<u8>,
    list: Vec<(u8, String)>,
    map: BTreeMap<String, bool>,
    paid: Payment,
    other: Payment,
    named: Payment,
    both: Payment,
    wrapped: Wrapped,
    unit: (),
    anything: OptionalBools,
    id: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct Wrapped(u8);

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
enum Payment {
    Not,
    Partly(u64),
    Wholly { by: String },
    Twice(u8, u8),
}

/// A list is used instead of `serde_json::Value`, because CBOR has no type for arbitrary JSON values.
type OptionalBools = Vec<Option<bool>>;

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Tag<'a> {
    name: &'a str,
    id: &'a str,
}

by_metabyte! {
    /// The enum that the tests deserialize.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(untagged)]
    enum Record {
        24 => User(User),
        /// Two versions of an order.
        1 | 2 => Order(Order),
    }
}

const USER_ID: &str = "aaaaaaaa55aaaaaa";
const USER_JSON: &str = r#"{"id": "aaaaaaaa55aaaaaa", "foo": "bar", "baz": "bar"}"#;

fn user() -> User {
    User { id: USER_ID.parse().unwrap(), foo: "bar".into(), baz: "bar".into() }
}

fn id_with_metabyte(metabyte: u8) -> Sno {
    Sno::default().with_metabyte(metabyte)
}

fn order() -> Order {
    Order {
        total: 2.5,
        count: 255,
        debt: -1,
        large: u64::MAX,
        letter: 'é',
        none: None,
        some: Some(0),
        list: vec![(1, "one".into()), (2, "two\n".into())],
        map: BTreeMap::from([("yes".into(), true)]),
        paid: Payment::Not,
        other: Payment::Partly(3),
        named: Payment::Wholly { by: "card".into() },
        both: Payment::Twice(4, 5),
        wrapped: Wrapped(6),
        unit: (),
        anything: vec![None, Some(true)],
        id: id_with_metabyte(2).to_string(),
    }
}

/// Deserializes JSON text with each entry point of `serde_json`. Values can borrow from strings and slices, but not from a
/// reader. Errors are compared without their positions, because the reader counts positions differently.
#[track_caller]
fn deserialize_each_way<T: DeserializeOwned + std::fmt::Debug + PartialEq>(
    text: &str,
) -> Result<T, String> {
    let told =
        |error: serde_json::Error| error.to_string().split(" at line").next().unwrap().into();
    let read = serde_json::from_str(text).map_err(told);
    assert_eq!(read, serde_json::from_slice(text.as_bytes()).map_err(told));
    assert_eq!(read, serde_json::from_reader(text.as_bytes()).map_err(told));
    read
}

#[test]
fn the_id_selects_the_variant() {
    assert_eq!(deserialize_each_way::<Record>(USER_JSON), Ok(Record::User(user())));
    let list = format!(r#"[{USER_JSON}, {{"id": "{}"}}]"#, id_with_metabyte(3));
    assert!(
        deserialize_each_way::<Vec<Record>>(&list).unwrap_err().starts_with("expected an ID of")
    );
    let text = serde_json::to_string(&Record::User(user())).unwrap();
    assert_eq!(deserialize_each_way::<Record>(&text), Ok(Record::User(user())));
    assert_eq!(serde_json::from_value::<Record>(json!(user())).unwrap(), Record::User(user()));
}

#[test]
fn the_id_can_be_at_any_position() {
    let members = [r#""foo":"b\u0061r""#, r#""baz":"bar""#];
    let id = format!(r#""i\u0064":"{USER_ID}""#);
    for place in 0..=members.len() {
        let mut members: Vec<_> = members.iter().map(|member| (*member).to_owned()).collect();
        members.insert(place, id.clone());
        let text = format!("{{{}}}", members.join(","));
        assert_eq!(deserialize_each_way::<Record>(&text), Ok(Record::User(user())), "{text}");
    }
}

#[test]
fn members_before_the_id_are_read_like_those_after_it() {
    let last = serde_json::to_string(&order()).unwrap();
    let id = format!(r#","id":"{}"}}"#, order().id);
    let first = format!(r#"{{"id":"{}",{}}}"#, order().id, &last[1..last.len() - id.len()]);
    assert!(last.ends_with(&id));
    assert_eq!(deserialize_each_way::<Record>(&last), Ok(Record::Order(order())));
    assert_eq!(deserialize_each_way::<Record>(&first), Ok(Record::Order(order())));
}

/// Integers that only a decimal string can represent exactly are rejected if they precede the ID, and are never rounded.
#[test]
fn integers_of_128_bits_must_follow_the_id() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Large {
        n: u128,
    }
    by_metabyte! {
        #[derive(Debug, PartialEq)]
        enum Kinds {
            24 => Large(Large),
        }
    }
    let n = u128::MAX - 1;
    let read = deserialize_each_way(&format!(r#"{{"id":"{USER_ID}","n":{n}}}"#));
    assert_eq!(read, Ok(Kinds::Large(Large { n })));
    let error =
        deserialize_each_way::<Kinds>(&format!(r#"{{"n":{n},"id":"{USER_ID}"}}"#)).unwrap_err();
    assert!(error.starts_with("invalid type: floating point"), "{error}");
    let small = deserialize_each_way(&format!(r#"{{"n":{},"id":"{USER_ID}"}}"#, u64::MAX));
    assert_eq!(small, Ok(Kinds::Large(Large { n: u64::MAX.into() })));
}

#[test]
fn strings_are_borrowed_from_the_input() {
    by_metabyte! {
        #[derive(Debug, PartialEq)]
        enum Borrowed<'a> {
            24 => Tag(Tag<'a>),
        }
    }
    for text in
        [r#"{"id":"aaaaaaaa55aaaaaa","name":"a"}"#, r#"{"name":"a","id":"aaaaaaaa55aaaaaa"}"#]
    {
        let Borrowed::Tag(tag) = serde_json::from_str(text).unwrap();
        assert_eq!(tag, Tag { name: "a", id: USER_ID });
        assert!(text.as_bytes().as_ptr_range().contains(&tag.name.as_ptr()));
        assert!(text.as_bytes().as_ptr_range().contains(&tag.id.as_ptr()));
    }
}

#[test]
fn the_member_name_and_a_catch_all_variant_are_configurable() {
    const SECOND_METABYTE: u8 = 2;
    #[derive(Debug, PartialEq, Deserialize)]
    struct Pair {
        left: Option<Box<Named>>,
        right: Vec<Named>,
    }
    by_metabyte! {
        #[derive(Debug, PartialEq)]
        enum Named by "_id" {
            SECOND_METABYTE => Second(Value),
            3..=4 => Pair(Pair),
            _ => Rest(Option<BTreeMap<String, u8>>),
        }
    }
    let second = json!({"_id": id_with_metabyte(2), "id": 1});
    assert_eq!(deserialize_each_way::<Named>(&second.to_string()), Ok(Named::Second(second)));
    let second =
        r#"{"_id":"2222222222222222"}"#.replace("2222222222222222", &id_with_metabyte(2).text());
    let (three, four) = (id_with_metabyte(3), id_with_metabyte(4));
    let inner = format!(r#"{{"right":[{second}],"left":null,"_id":"{four}"}}"#);
    let pair = format!(r#"{{"left":{inner},"_id":"{three}","right":[{inner}]}}"#);
    let second = || Named::Second(json!({"_id": id_with_metabyte(2)}));
    let inner = || Named::Pair(Pair { left: None, right: vec![second()] });
    let pair_read = Named::Pair(Pair { left: Some(Box::new(inner())), right: vec![inner()] });
    assert_eq!(deserialize_each_way::<Named>(&pair), Ok(pair_read));
    let other = json!({"a": 1, "_id": id_with_metabyte(9), "b": 2});
    assert!(
        deserialize_each_way::<Named>(&other.to_string())
            .unwrap_err()
            .contains("invalid type: string")
    );
}

/// Tests variants whose types customize their deserialization.
#[test]
fn a_variant_accepts_any_deserializable_type() {
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(transparent)]
    struct Outer(Inner);
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        id: Sno,
        n: u8,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Flat {
        n: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct NoId {
        n: u8,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "type")]
    enum Tagged {
        A { n: u8 },
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Newtype(Option<NoId>);
    by_metabyte! {
        #[derive(Debug, PartialEq)]
        enum Kinds {
            1 => Outer(Outer),
            2 => Flat(Flat),
            3 => NoId(NoId),
            4 => Tagged(Tagged),
            5 => Map(BTreeMap<String, Value>),
            6 => Newtype(Newtype),
            7 => Number(u8),
            8 => Ignored(serde::de::IgnoredAny),
        }
    }
    let read = |metabyte: u8| {
        let id = id_with_metabyte(metabyte);
        let first = deserialize_each_way(&format!(r#"{{"id":"{id}","n":7,"type":"A"}}"#));
        let last = deserialize_each_way(&format!(r#"{{"type":"A","n":7,"id":"{id}"}}"#));
        assert_eq!(first.is_ok(), last.is_ok(), "{first:?} {last:?}");
        assert!(first.is_err() || first == last, "{first:?} {last:?}");
        first
    };
    let rest = |metabyte: u8| {
        BTreeMap::from([
            ("id".into(), json!(id_with_metabyte(metabyte))),
            ("type".into(), json!("A")),
        ])
    };
    assert!(read(1).unwrap_err().starts_with("unknown field `type`"));
    let text = format!(r#"{{"n":7,"id":"{}"}}"#, id_with_metabyte(1));
    let inner = Inner { id: id_with_metabyte(1), n: 7 };
    assert_eq!(deserialize_each_way::<Kinds>(&text), Ok(Kinds::Outer(Outer(inner))));
    assert_eq!(read(2), Ok(Kinds::Flat(Flat { n: 7, rest: rest(2) })));
    assert_eq!(read(3), Ok(Kinds::NoId(NoId { n: 7 })));
    assert_eq!(read(4), Ok(Kinds::Tagged(Tagged::A { n: 7 })));
    let mut map = rest(5);
    map.insert("n".into(), json!(7));
    assert_eq!(read(5), Ok(Kinds::Map(map)));
    assert_eq!(read(6), Ok(Kinds::Newtype(Newtype(Some(NoId { n: 7 })))));
    assert!(read(7).unwrap_err().starts_with("invalid type: map"));
    assert_eq!(read(8), Ok(Kinds::Ignored(serde::de::IgnoredAny)));
}

/// Returns the error for the ID in JSON text, and asserts that serde's error has the same message.
#[track_caller]
fn rejection(text: &str) -> Error {
    let told = deserialize_each_way::<Record>(text).unwrap_err();
    match Record::read(&mut serde_json::Deserializer::from_str(text)) {
        Err(ReadError::Id(error)) => {
            assert!(told.starts_with(&error.to_string()), "{told}: {error}");
            assert_eq!(error.field(), Some("id"));
            error
        }
        read => panic!("expected a rejected ID, found {read:?}"),
    }
}

#[test]
fn a_rejected_id_reports_its_code() {
    let unknown = rejection(&format!(r#"{{"a":1,"id":"{}","b":2}}"#, id_with_metabyte(3)));
    assert_eq!(unknown.code(), "out_of_range");
    assert_eq!(unknown.to_string(), "expected an ID of metabyte 24, 1 | 2, found 3");
    for none in ["{}", r#"{"foo":"bar"}"#, r#"{"ID":"aaaaaaaa55aaaaaa"}"#] {
        let missing = rejection(none);
        assert_eq!(missing.code(), "missing_field");
        assert_eq!(missing.to_string(), "missing value for field `id`");
    }
    for (id, found) in [
        ("1", "an integer"),
        ("-1", "an integer"),
        ("1.5", "a number"),
        ("null", "null"),
        ("true", "a boolean"),
        ("[]", "a list"),
        ("{}", "an object"),
    ] {
        let wrong = rejection(&format!(r#"{{"id":{id}}}"#));
        assert_eq!(wrong.code(), "invalid_type");
        assert_eq!(wrong.to_string(), format!("expected text for `id`, found {found}"));
    }
    assert_eq!(rejection(r#"{"id":""}"#).code(), "invalid_length");
    let wrong = rejection(r#"{"id":"aaaaaaaa55aaaaa!"}"#);
    assert_eq!((wrong.code(), wrong.position()), ("invalid_character", Some(15)));
}

#[test]
fn other_errors_come_from_the_data_format() {
    let other = |text: &str| {
        let told = deserialize_each_way::<Record>(text).unwrap_err();
        match Record::read(&mut serde_json::Deserializer::from_str(text)) {
            Err(ReadError::Other(error)) => assert!(error.to_string().starts_with(&told)),
            read => panic!("expected an error of the format, found {read:?}"),
        }
        told
    };
    let twice = [
        format!(r#"{{"id":"{USER_ID}","id":"{USER_ID}","foo":"","baz":""}}"#),
        format!(r#"{{"foo":"","id":"{USER_ID}","baz":"","i\u0064":1}}"#),
    ];
    for text in twice {
        assert!(other(&text).starts_with("duplicate field `id`"));
    }
    by_metabyte! {
        #[derive(Debug, PartialEq)]
        enum Any {
            _ => Whole(Value),
        }
    }
    let whole =
        deserialize_each_way::<Any>(&format!(r#"{{"id":"{USER_ID}","a":1,"id":"{USER_ID}"}}"#));
    assert_eq!(whole, Err("duplicate field `id`".into()));
    let twice = format!(r#"{{"foo":"","foo":"","id":"{USER_ID}","baz":""}}"#);
    assert!(other(&twice).starts_with("duplicate field `foo`"));
    assert!(other(&format!(r#"{{"id":"{USER_ID}","foo":""}}"#)).starts_with("missing field `baz`"));
    for value in ["1", "null", "\"aaaaaaaa55aaaaaa\"", "[\"aaaaaaaa55aaaaaa\"]"] {
        let expected = "expected an object with a sno ID as its `id`";
        assert!(other(value).contains(expected), "{}", other(value));
    }
    assert!(other("{").starts_with("EOF"));
    assert!(other(&format!(r#"{{"a":{}"#, "[".repeat(200))).starts_with("recursion limit"));
}

#[test]
fn errors_display_their_source() {
    use std::error::Error as _;
    let error = Record::read(&mut serde_json::Deserializer::from_str("{}")).unwrap_err();
    assert_eq!(error.to_string(), "missing value for field `id`");
    assert!(error.source().is_none());
    let file = std::io::Read::take(std::io::repeat(b'{'), 1);
    let error = Record::read(&mut serde_json::Deserializer::from_reader(file)).unwrap_err();
    assert!(error.to_string().starts_with("EOF"));
}

/// Values can be read from self-describing binary formats. Other binary formats return an error.
#[test]
fn self_describing_binary_formats_are_read() {
    let record = Record::User(user());
    let mut bytes = Vec::new();
    ciborium::into_writer(&record, &mut bytes).unwrap();
    assert_eq!(ciborium::from_reader::<Record, _>(&*bytes).unwrap(), record);
    let bytes = rmp_serde::to_vec_named(&record).unwrap();
    assert_eq!(rmp_serde::from_slice::<Record>(&bytes).unwrap(), record);
    let order = Record::Order(order());
    let mut bytes = Vec::new();
    ciborium::into_writer(&order, &mut bytes).unwrap();
    assert_eq!(ciborium::from_reader::<Record, _>(&*bytes).unwrap(), order);
    let bytes = postcard::to_stdvec(&record).unwrap();
    postcard::from_bytes::<Record>(&bytes).unwrap_err();
}

#[test]
fn every_vector_is_read() {
    by_metabyte! {
        enum Any {
            _ => Whole(Value),
        }
    }
    let file = include_str!("../../vectors/polymorphic.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let mut found = 0;
    for case in file["cases"].as_array().unwrap() {
        if case["pointer"] != "/id" {
            continue;
        }
        let text = case["json"].as_str().unwrap();
        let Any::Whole(whole) = serde_json::from_str(text).unwrap();
        assert_eq!(whole, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(whole["id"], case["id"]);
        found += 1;
    }
    assert!(found > 5);
}

/// The type of a variant. A macro might use the name `D` for a type parameter, too.
#[derive(Debug, PartialEq, Deserialize)]
struct D {
    id: Sno,
}

by_metabyte! {
    #[derive(Debug, PartialEq)]
    enum SharedDField {
        24 => D(D),
    }
}

#[test]
fn a_variants_type_can_have_any_name() {
    let text = format!(r#"{{"id": "{USER_ID}"}}"#);
    assert_eq!(
        deserialize_each_way::<SharedDField>(&text),
        Ok(SharedDField::D(D { id: USER_ID.parse().unwrap() }))
    );
}

/// Reads a value with `serde_json` alone, and as a member before and after the ID. All three reads must return the same
/// value, or all three must fail.
macro_rules! assert_alike {
    ($($value:ty: $($text:literal)+;)+) => {$({
        #[derive(Debug, PartialEq, Deserialize)]
        struct Content {
            value: $value,
        }

        by_metabyte! {
            #[derive(Debug, PartialEq)]
            enum SharedShape {
                24 => Content(Content),
            }
        }

        for text in [$($text),+] {
            let direct = serde_json::from_str::<$value>(text).ok();
            let expected = direct.map(|value| SharedShape::Content(Content { value }));
            let first = format!(r#"{{"id":"{USER_ID}","value":{text}}}"#);
            let last = format!(r#"{{"value":{text},"id":"{USER_ID}"}}"#);
            assert_eq!(deserialize_each_way::<SharedShape>(&first).ok(), expected, "{first}");
            assert_eq!(deserialize_each_way::<SharedShape>(&last).ok(), expected, "{last}");
        }
    })+};
}

#[test]
fn values_before_and_after_the_id_are_read_identically() {
    assert_alike! {
        Payment: "0" "1" "-1" "0.0" "null" "true" "[0]" "\"Not\"" "\"Never\"" "\"Partly\"" "\"Wholly\"" "\"Twice\""
            "{\"Partly\":1}" "{\"Partly\":1,\"Not\":null}" "{\"Not\":1}" "{\"0\":1}"
            "{\"Not\":null}" "{\"Wholly\":[\"card\"]}" "{\"Twice\":[1,2]}" "{}";
        BTreeMap<u8, bool>: "{}" "{\"1\":true}" "{\"256\":true}" "{\"-1\":true}" "{\" 1\":true}" "{\"x\":true}"
            "{\"+1\":true}" "{\"01\":true}" "{\"\":true}" "{\"1.0\":true}" "{\"1 \":true}";
        BTreeMap<i64, bool>: "{\"-1\":true}" "{\"9223372036854775808\":true}" "{\"-0\":true}";
        BTreeMap<i128, u8>: "{\"170141183460469231731687303715884105727\":1}";
        BTreeMap<u128, u8>: "{\"340282366920938463463374607431768211455\":1}" "{\"-1\":1}";
        BTreeMap<bool, u8>: "{\"true\":1}" "{\"false\":1}" "{\"maybe\":1}";
        BTreeMap<char, u8>: "{\"a\":1}" "{\"1\":1}" "{\"ab\":1}";
        BTreeMap<String, u8>: "{\"1\":1}" "{\"true\":1}";
        BTreeMap<Option<u8>, u8>: "{\"1\":1}" "{\"null\":1}";
        BTreeMap<(), u8>: "{\"null\":1}";
        BTreeMap<PaymentKey, u8>: "{\"Not\":1}" "{\"0\":1}";
        Vec<BTreeMap<WrappedKey, u8>>: "[{\"1\":1}]" "[{\"x\":1}]";
        String: "1" "\"a\"" "null";
        f64: "1" "1.5" "-0.0" "null" "\"1\"";
        f32: "1.00000017881393432617187499" "16777217" "0.1";
        char: "\"a\"" "97" "\"\"" "\"no\"";
        u8: "1.0" "256" "-1" "\"1\"";
        u64: "-1" "18446744073709551615" "18446744073709551616";
        Vec<(u8, String)>: "[[1,\"one\"]]" "[[1,\"one\",2]]" "[[1]]";
        BTreeMap<String, bool>: "{\"yes\":true}" "[]";
        Option<u8>: "null" "0" "[]";
        (): "null" "0" "[]" "{}";
        Option<()>: "null" "0";
        (u8, u8): "[1,2]" "[1]" "[1,2,3]" "{}";
        Wrapped: "6" "[6]" "{\"0\":6}";
        std::net::IpAddr: "\"::1\"" "[0]" "1";
        std::time::Duration: "{\"secs\":1,\"nanos\":2}" "[1,2]" "1";
        Result<u8, u8>: "{\"Ok\":1}" "{\"0\":1}" "0";
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
enum PaymentKey {
    Not,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct WrappedKey(u8);
