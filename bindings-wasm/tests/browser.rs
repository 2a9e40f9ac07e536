//! The module in a page, as wasm-bindgen alone makes it: `wasm-pack test --headless --chrome bindings-wasm`.
//!
//! The package's own tests (packages/js/test) cover each call; this one covers the path without the package.
#![cfg(target_arch = "wasm32")]
#![allow(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "all numbers here are small and whole"
)]

use js_sys::{Float64Array, Function, Object, Reflect, Uint8Array, WebAssembly};
use polyflake::sno::Sno;
use polyflake_wasm as machine;
use wasm_bindgen::JsCast as _;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

const NUMBERS: u32 = 32;
/// Options of a generator: window, `onExhausted`, `maxWait`; kind of start, metabyte, partition, bounds, 1 for a lent table.
const DEFAULTS: [f64; 10] =
    [f64::NAN, f64::NAN, f64::NAN, f64::NAN, 0.0, f64::NAN, f64::NAN, f64::NAN, f64::NAN, 1.0];

fn memory() -> js_sys::ArrayBuffer {
    wasm_bindgen::memory().unchecked_into::<WebAssembly::Memory>().buffer().unchecked_into()
}

fn area() -> u32 {
    u32::try_from(machine::scratch() as usize).unwrap()
}

fn put(numbers: &[f64]) {
    Float64Array::new_with_byte_offset_and_length(&memory(), area(), NUMBERS)
        .subarray(0, u32::try_from(numbers.len()).unwrap())
        .copy_from(numbers);
}

fn number(slot: u32) -> f64 {
    Float64Array::new_with_byte_offset(&memory(), area()).get_index(slot)
}

fn bytes(length: u32) -> Vec<u8> {
    let at = area() + 8 * NUMBERS;
    Uint8Array::new_with_byte_offset_and_length(&memory(), at, length).to_vec()
}

fn text(length: u32) -> String {
    String::from_utf8(bytes(length)).unwrap()
}

/// A generator of partition 7 over a clock.
fn build(clock: Option<&str>) -> f64 {
    if let Some(body) = clock {
        let clock = Object::new();
        Reflect::set(&clock, &"read".into(), &Function::new_no_args(body)).unwrap();
        machine::clock(machine::keep(&clock));
    }
    let mut options = DEFAULTS;
    options[6] = 7.0;
    put(&options);
    assert_eq!(machine::sno_build(), 0);
    number(0)
}

#[wasm_bindgen_test]
fn makes_an_id_by_the_pages_clock_and_reads_it() {
    let handle = build(None);
    put(&[handle, 9.0]);
    assert_eq!(machine::sno_generate(), 0);
    // The next call reads the text from where this one left it.
    put(&[1.0]);
    assert_eq!(machine::sno_from_texts(), 0);
    let id = Sno::from_slice(&bytes(10)).unwrap();
    assert!((js_sys::Date::now() - id.unix_ms() as f64).abs() < 60_000.0);
    assert_eq!((id.metabyte(), id.partition()), (9, 7));
}

#[wasm_bindgen_test]
fn a_clock_that_throws_or_gives_no_number_is_an_error() {
    for clock in ["throw new Error('no')", "return NaN", "return {}", ""] {
        let handle = build(Some(clock));
        put(&[handle, 0.0]);
        assert_eq!(machine::sno_generate(), 1);
        assert_eq!(text(12), "clock_failed");
    }
}

#[wasm_bindgen_test]
fn a_page_cannot_sleep_so_an_exhausted_tick_is_an_error_at_once() {
    let handle = build(Some("return 1767225600000"));
    for _ in 0..64 {
        put(&[handle, 0.0, 1024.0]);
        assert_eq!(machine::sno_fill(), 0);
    }
    put(&[handle, 0.0, 1.0]);
    assert_eq!(machine::sno_fill(), 1);
    assert_eq!(text(18), "sequence_exhausted");
    assert_eq!(number(1), 1_767_225_600_004.0);
}

#[wasm_bindgen_test]
fn default_partitions_come_from_the_table_that_was_lent() {
    put(&DEFAULTS);
    assert_eq!(machine::sno_build(), 0);
    let handle = number(0);
    put(&[handle, 0.0]);
    assert_eq!(machine::sno_generate(), 1);
    assert_eq!(text(19), "entropy_unavailable");
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
    put(&[handle, 0.0]);
    assert_eq!(machine::sno_generate(), 0);
    put(&[handle]);
    assert_eq!(machine::sno_partition(), 0);
    assert_eq!(number(0), 500.0);
}
