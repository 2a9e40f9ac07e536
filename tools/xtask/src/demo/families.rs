//! The ID formats in the demo. Each format defines the requests that generate and read an ID, and the fields that the demo
//! prints.

use jiff::Timestamp;
use serde_json::{Value, json};

/// An ID format in the demonstration.
pub struct Family {
    pub name: &'static str,
    /// Returns the request that generates an ID. The function's argument differs for each runtime.
    pub make: fn(usize) -> Value,
    /// Returns the request that reads a generated ID, and the expected answer.
    pub read: fn(&Value) -> (Value, Value),
    /// Returns an ID's creation time.
    pub time: fn(&Value) -> Option<Timestamp>,
    /// The fields of an ID that the demo prints as columns. Each column has a heading and a JSON pointer (RFC 6901).
    pub columns: &'static [(&'static str, &'static str)],
}

pub const SNO: Family = Family {
    name: "sno",
    make: |index| json!({"op": "sno.generate", "args": {"metabyte": index + 1}}),
    read: |id| (json!({"op": "sno.parse", "args": {"text": id["text"]}}), id.clone()),
    time: |id| timestamp_from_unix_ms(&id["unix_ms"]),
    columns: &[
        ("text", "/text"),
        ("metabyte", "/metabyte"),
        ("partition", "/partition"),
        ("sequence", "/sequence"),
    ],
};

const RANDFLAKE: Family = Family {
    name: "randflake",
    make: |index| {
        let lease =
            json!({"secret": SECRET, "nodes": index + 1, "lease": ["1730000000", "2803741824"]});
        json!({"op": "randflake.generate", "args": lease})
    },
    read: |id| {
        let args = json!({"secret": SECRET, "id": id["id"]});
        (json!({"op": "randflake.inspect", "args": args}), id.clone())
    },
    time: |id| timestamp_from_unix_seconds(&id["timestamp"]),
    columns: &[("ID", "/id"), ("text", "/text"), ("node", "/node"), ("sequence", "/sequence")],
};

const HOT_GUID: Family = Family {
    name: "hotguid",
    // The shard key consists of a 10-bit region and a 22-bit shard.
    make: |index| json!({"op": "hotguid.generate", "args": {"shard_key": (1 << 22) + index}}),
    read: |id| (json!({"op": "hotguid.parse", "args": {"text": id["text"]}}), id.clone()),
    time: |id| timestamp_from_unix_seconds(&id["timestamp"]),
    columns: &[
        ("text", "/text"),
        ("machine", "/machine"),
        ("counter", "/counter"),
        ("shard key", "/shard_key"),
        ("for SQL Server", "/sql_text"),
    ],
};

const UUID7: Family = Family {
    name: "uuid7",
    make: |_| json!({"op": "uuid7.generate", "args": {}}),
    read: |id| (json!({"op": "uuid7.parse", "args": {"text": id["text"]}}), id.clone()),
    time: |id| timestamp_from_unix_ms(&id["unix_ms"]),
    columns: &[("text", "/text"), ("sequence", "/sequence"), ("random", "/random")],
};

const LAYOUT: Family = Family {
    name: "layout",
    make: |index| {
        let args = json!({"layout": layout(), "bindables": {"shard": (index + 1).to_string()}});
        json!({"op": "layout.generate", "args": args})
    },
    read: |id| {
        let args = json!({"layout": layout(), "id": id["id"]});
        (json!({"op": "layout.parse", "args": args}), id["parsed"].clone())
    },
    time: |id| timestamp_from_unix_ms(&id["parsed"]["timestamp_ms"]),
    columns: &[
        ("ID", "/id"),
        ("data centre", "/parsed/constants/data-center"),
        ("shard", "/parsed/bindables/shard"),
        ("sequence", "/parsed/sequence"),
    ],
};

/// All formats except sno. The demo handles sno separately, because it also shows the object types that the metabytes of
/// snos represent.
pub const OTHER_FAMILIES: [&Family; 4] = [&RANDFLAKE, &HOT_GUID, &UUID7, &LAYOUT];

/// The 16-byte secret that all nodes share. It is used only in this demo.
const SECRET: &str = "00112233445566778899aabbccddeeff";

/// Returns a custom snowflake layout: milliseconds since 2017, a data center, a shard, and a sequence.
fn layout() -> Value {
    json!({"id": "integer", "bits": 64, "fields": [
        {"kind": "unused", "bits": 1},
        {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1_483_228_800_000_i64},
        {"kind": "constant", "bits": 5, "name": "data-center", "value": 1},
        {"kind": "bindable", "bits": 5, "name": "shard"},
        {"kind": "sequence", "bits": 12},
    ]})
}

/// IDs of well-known services. Each entry contains the service, the preset, the ID, and its creation time.
pub const KNOWN_SNOWFLAKES: [[&str; 4]; 2] = [
    ["X", "twitter", "1541815603606036480", "1656432460105"],
    ["Discord", "discord", "175928847299117063", "1462015105796"],
];

pub fn timestamp_from_unix_ms(unix_ms: &Value) -> Option<Timestamp> {
    Timestamp::from_millisecond(unix_ms.as_str()?.parse().ok()?).ok()
}

fn timestamp_from_unix_seconds(unix_seconds: &Value) -> Option<Timestamp> {
    Timestamp::from_second(unix_seconds.as_str()?.parse().ok()?).ok()
}
