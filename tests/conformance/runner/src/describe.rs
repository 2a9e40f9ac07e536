//! Descriptions of the formats: size, fields, rate and time span. Layouts are described by the module that generates them.

use serde_json::{Value, json};

use super::case::{Case, Pattern};

/// The formats and their constants.
const FAMILIES: [(&str, u32, &str, &str, &str); 4] = [
    ("sno", 80, "16384000", "1262304000000", "3461327255548"),
    ("randflake", 64, "131072", "1730000000000", "2803741823000"),
    ("hotguid", 128, "16777216", "0", "4294967295000"),
    ("uuid7", 128, "262144000", "0", "281474976710655"),
];

pub(crate) fn family_cases() -> impl Iterator<Item = Case> {
    FAMILIES.into_iter().map(|(family, bits, per_second, first_ms, last_ms)| {
        let text = |text: &str| Value::from(text);
        let expected = Pattern::ok_with_members([
            ("bits", bits.into()),
            ("per_second", text(per_second)),
            ("first_ms", text(first_ms)),
            ("last_ms", text(last_ms)),
        ]);
        Case::new(format!("describe {family}"), "describe", json!({"family": family}), expected)
    })
}
