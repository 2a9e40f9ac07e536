//! For any bytes, every decoder must give the same result as a simple implementation of its format, including the position
//! of the first invalid character. Every accepted string must be the canonical encoding of its ID.
//!
//! Each target is a test that tries a few thousand random inputs. It is also a fuzz target: `cargo xtask fuzz` runs it with
//! libFuzzer, which searches for inputs that reach new code.
//!
//! Start reading at `verdict` and `texts`, which check decoders. Each format has its own file, and `description` creates
//! layouts from bytes.
#![cfg(test)]

mod arrow;
mod bytes;
mod columns;
mod description;
mod hotguid;
mod layout;
mod layout_columns;
mod machine;
#[path = "../../../crates/columns/tests/producer/mod.rs"]
mod producer;
mod randflake;
mod slices;
mod snapshots;
mod sno;
mod texts;
mod uuid7;
mod verdict;

mod targets {
    use super::{
        arrow, columns, hotguid, layout, machine, randflake, slices, snapshots, sno, uuid7,
    };

    /// Defines the targets. Each target has a name, a function to run, and a maximum input length.
    macro_rules! targets {
        ($($name:ident: $run:path, $most:literal;)*) => {$(
            #[test]
            fn $name() {
                bolero::check!().with_max_len($most).for_each(|input: &[u8]| $run(input));
            }
        )*};
    }

    targets! {
        sno_texts: sno::texts, 48;
        sno_bytes: sno::bytes, 24;
        randflake_texts: randflake::texts, 40;
        randflake_numbers: randflake::numbers, 24;
        hotguid_texts: hotguid::texts, 96;
        hotguid_bytes: hotguid::bytes, 24;
        uuid7_texts: uuid7::texts, 96;
        uuid7_bytes: uuid7::bytes, 24;
        sno_slices: slices::sno, 24;
        sno_columns: columns::sno, 24;
        arrow_columns: arrow::columns, 96;
        randflake_slices: slices::randflake, 24;
        sparx64_slices: slices::sparx64, 32;
        layout_descriptions: layout::descriptions, 512;
        layout_json: layout::json, 1024;
        sno_snapshots: snapshots::sno, 256;
        layout_snapshots: snapshots::layout, 128;
        javascript_calls: machine::calls, 1024;
    }
}
