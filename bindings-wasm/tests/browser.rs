//! Tests the module in a page, as built by wasm-bindgen alone: `wasm-pack test --headless --chrome bindings-wasm`.
//!
//! The package's own tests (packages/js/test) cover each call. This test covers the path without the package.
#![cfg(target_arch = "wasm32")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "all numbers here are small and whole"
)]

use js_sys::{Float64Array, Function, Object, Reflect, Uint8Array, WebAssembly};
use polyflake::sno::Sno;
use polyflake_js::{NUMBERS, slot};
use polyflake_wasm as machine;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

/// The slot of the second number in an error.
const RETRY_AT: usize = slot::ERROR_POSITION + 1;

fn memory() -> js_sys::ArrayBuffer {
    wasm_bindgen::memory().unchecked_into::<WebAssembly::Memory>().buffer().unchecked_into()
}

fn area() -> u32 {
    u32::try_from(machine::scratch() as usize).unwrap()
}

fn numbers() -> Float64Array {
    Float64Array::new_with_byte_offset_and_length(&memory(), area(), NUMBERS as u32)
}

fn put(slot: usize, number: f64) {
    numbers().set_index(u32::try_from(slot).unwrap(), number);
}

fn number(slot: usize) -> f64 {
    numbers().get_index(u32::try_from(slot).unwrap())
}

/// Writes the options of a new generator with a default partition, leased from the lent table.
fn put_defaults() {
    for slot in [
        slot::OPTIONS_WINDOW_START,
        slot::OPTIONS_WINDOW_END,
        slot::OPTIONS_ON_EXHAUSTED,
        slot::OPTIONS_MAX_WAIT,
    ] {
        put(slot, f64::NAN);
    }
    for slot in [
        slot::SNO_OPTIONS_METABYTE,
        slot::SNO_OPTIONS_PARTITION,
        slot::SNO_OPTIONS_SEQUENCE_MIN,
        slot::SNO_OPTIONS_SEQUENCE_MAX,
    ] {
        put(slot, f64::NAN);
    }
    put(slot::OPTIONS_SKIPS_FIRST_TICK, 1.0);
    put(slot::SNO_OPTIONS_HOW, 0.0);
    put(slot::SNO_OPTIONS_IS_LENT, 1.0);
}

/// Writes the arguments for one ID.
fn put_one(handle: f64, metabyte: f64) {
    put(slot::OBJECT_HANDLE, handle);
    put(slot::SNO_ONE_METABYTE, metabyte);
}

/// Generates IDs with metabyte 0, and returns the status.
fn fill(handle: f64, count: f64) -> u32 {
    put_one(handle, 0.0);
    put(slot::MANY_COUNT, count);
    machine::sno_fill()
}

fn bytes(length: u32) -> Vec<u8> {
    let at = area() + 8 * NUMBERS as u32;
    Uint8Array::new_with_byte_offset_and_length(&memory(), at, length).to_vec()
}

fn text(length: u32) -> String {
    String::from_utf8(bytes(length)).unwrap()
}

/// Lends a table whose partitions are all free.
fn lend_table() {
    let table = Object::new();
    for (name, body) in [
        ("random", "return 6"),
        ("next", "return 500"),
        ("until", "return 0"),
        ("swap", "return 1"),
    ] {
        Reflect::set(&table, &name.into(), &Function::new_no_args(body)).unwrap();
    }
    machine::lend(&table);
}

/// Builds a generator with partition 7 and a clock. Its partition is marked in the table.
fn build(clock: Option<&str>) -> f64 {
    lend_table();
    if let Some(body) = clock {
        let clock = Object::new();
        Reflect::set(&clock, &"read".into(), &Function::new_no_args(body)).unwrap();
        machine::clock(machine::keep(&clock));
    }
    put_defaults();
    put(slot::SNO_OPTIONS_PARTITION, 7.0);
    assert_eq!(machine::sno_build(), 0);
    number(slot::OBJECT_HANDLE)
}

#[wasm_bindgen_test]
fn an_id_made_with_the_pages_clock_is_parsed() {
    let handle = build(None);
    put_one(handle, 9.0);
    assert_eq!(machine::sno_generate(), 0);
    // The next call reads the strings from where this one left them.
    put(slot::TEXTS_COUNT, 1.0);
    assert_eq!(machine::sno_from_texts(), 0);
    let id = Sno::from_slice(&bytes(10)).unwrap();
    assert!((js_sys::Date::now() - id.unix_ms() as f64).abs() < 60_000.0);
    assert_eq!((id.metabyte(), id.partition()), (9, 7));
}

#[wasm_bindgen_test]
fn a_clock_that_throws_or_returns_no_number_is_an_error() {
    for clock in ["throw new Error('no')", "return NaN", "return {}", ""] {
        let handle = build(Some(clock));
        put_one(handle, 0.0);
        assert_eq!(machine::sno_generate(), 1);
        assert_eq!(text(12), "clock_failed");
    }
}

#[wasm_bindgen_test]
fn an_exhausted_tick_is_an_immediate_error_in_a_page() {
    let handle = build(Some("return 1767225600000"));
    for _ in 0..64 {
        assert_eq!(fill(handle, 1024.0), 0);
    }
    assert_eq!(fill(handle, 1.0), 1);
    assert_eq!(text(18), "sequence_exhausted");
    assert_eq!(number(RETRY_AT), 1_767_225_600_004.0);
}

#[wasm_bindgen_test]
fn default_partitions_come_from_the_provided_table() {
    machine::lend(&JsValue::UNDEFINED);
    put_defaults();
    assert_eq!(machine::sno_build(), 0);
    let handle = number(slot::OBJECT_HANDLE);
    put_one(handle, 0.0);
    assert_eq!(machine::sno_generate(), 1);
    assert_eq!(text(19), "entropy_unavailable");
    lend_table();
    put_one(handle, 0.0);
    assert_eq!(machine::sno_generate(), 0);
    put(slot::OBJECT_HANDLE, handle);
    assert_eq!(machine::sno_partition(), 0);
    assert_eq!(number(slot::SNO_PARTITION_PARTITION), 500.0);
}
