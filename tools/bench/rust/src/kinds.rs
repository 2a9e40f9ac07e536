//! Benchmarks for reading JSON that contains several object types, distinguished by the metabytes of their IDs, compared
//! with approaches that don't use a metabyte.

use polyflake::sno::{Sno, by_metabyte};
use serde::Deserialize;

use crate::{
    contest::{Comparison, Entry, Goal},
    measure::{Work, repeat},
};

/// The members of a service's JSON record, except for the ID: 300 bytes in total.
const MEMBERS: &str = r#""name":"Ada Lovelace","email":"ada@example.com","visits":1843,"score":0.875,"tags":["first","analyst","poet","london"],"address":{"street":"12 St James's Square","city":"London","country":"United Kingdom"},"parent":null,"note":"She wrote \"the first program\", and saw further than others did."#;

#[derive(Deserialize)]
#[allow(dead_code)]
struct User {
    id: Sno,
    name: String,
    email: String,
    visits: u64,
    score: f64,
    tags: Vec<String>,
    address: Address,
    parent: Option<Sno>,
    note: String,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Address {
    street: String,
    city: String,
    country: String,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Order {
    id: Sno,
    total: u64,
}

by_metabyte! {
    #[allow(dead_code)]
    enum Record {
        1 => User(User),
        2 => Order(Order),
    }
}

/// The ID of a JSON object, deserialized without the other members.
#[derive(Deserialize)]
struct IdOnly {
    id: Sno,
}

fn json_with_id_first() -> String {
    format!(r#"{{"id":"9afikjv326nct5if",{MEMBERS}"}}"#)
}

fn json_with_id_last() -> String {
    format!(r#"{{{MEMBERS}","id":"9afikjv326nct5if"}}"#)
}

const ID_FIRST: &str = "by metabyte, the ID first";
const ID_LAST: &str = "by metabyte, the ID last";
const PARSED_TWICE: &str = "parsed twice";
const VALUE: &str = "serde_json::Value, then its type";

pub(crate) fn json_comparison() -> Comparison {
    Comparison::new(
        "rust: one object of several kinds read from JSON",
        vec![
            Entry::own_entry(ID_FIRST, by_metabyte(json_with_id_first())),
            Entry::own_entry(ID_LAST, by_metabyte(json_with_id_last())),
            Entry::peer_entry("its type, known beforehand", parse_known_type(json_with_id_first())),
            Entry::peer_entry(PARSED_TWICE, parse_twice(json_with_id_first())),
            Entry::peer_entry(VALUE, parse_through_value(json_with_id_first())),
            Entry::peer_entry("serde, a tag in front", parse_tagged(&json_with_id_first())),
        ],
        vec![
            Goal::new("rust: JSON by metabyte, the ID first", ID_FIRST, PARSED_TWICE, 0.9),
            Goal::new("rust: JSON by metabyte, the ID last", ID_LAST, VALUE, 1.0),
        ],
    )
}

fn by_metabyte(text: String) -> Work {
    repeat(move || serde_json::from_str::<Record>(&text).expect("a record"))
}

fn parse_known_type(text: String) -> Work {
    repeat(move || serde_json::from_str::<User>(&text).expect("a user"))
}

fn parse_twice(text: String) -> Work {
    repeat(move || {
        let head: IdOnly = serde_json::from_str(&text).expect("an ID");
        match head.id.metabyte() {
            1 => Record::User(serde_json::from_str(&text).expect("a user")),
            _ => Record::Order(serde_json::from_str(&text).expect("an order")),
        }
    })
}

fn parse_through_value(text: String) -> Work {
    repeat(move || {
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let id: Sno = value["id"].as_str().expect("an ID").parse().expect("an ID");
        match id.metabyte() {
            1 => Record::User(serde_json::from_value(value).expect("a user")),
            _ => Record::Order(serde_json::from_value(value).expect("an order")),
        }
    })
}

fn parse_tagged(text: &str) -> Work {
    #[derive(Deserialize)]
    #[serde(tag = "type")]
    #[allow(dead_code)]
    enum TaggedRecord {
        User(User),
        Order(Order),
    }
    let text = format!(r#"{{"type":"User",{}"#, &text[1..]);
    repeat(move || serde_json::from_str::<TaggedRecord>(&text).expect("a record"))
}
