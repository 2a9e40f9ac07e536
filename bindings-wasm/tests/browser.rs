//! Tests the wasm module in a browser page, as built by wasm-bindgen alone: `wasm-pack test --headless --chrome
//! bindings-wasm`.
//!
//! The npm package's own tests (packages/js/test) cover each call. This test uses the module directly, without the package.
#![cfg(target_arch = "wasm32")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "all numbers here are small and whole"
)]

use js_sys::{Float64Array, Function, Object, Reflect, Uint8Array, WebAssembly};
use polyflake::sno::Sno;
use polyflake_js::{NUMBERS, register};
use polyflake_wasm as machine;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

/// The register that contains an error's second number, which is the time at which to retry.
const RETRY_AT: usize = register::ANSWER + 1;

fn memory() -> js_sys::ArrayBuffer {
    wasm_bindgen::memory().unchecked_into::<WebAssembly::Memory>().buffer().unchecked_into()
}

fn scratch_area() -> u32 {
    u32::try_from(machine::scratch() as usize).unwrap()
}

fn numbers() -> Float64Array {
    Float64Array::new_with_byte_offset_and_length(&memory(), scratch_area(), NUMBERS as u32)
}

fn write_register(register: usize, number: f64) {
    numbers().set_index(u32::try_from(register).unwrap(), number);
}

fn read_register(register: usize) -> f64 {
    numbers().get_index(u32::try_from(register).unwrap())
}

/// Creates a generator that uses the table that was passed to the module, and returns its handle. If no partition is given,
/// the generator picks one from the table.
fn build_generator(partition: Option<f64>) -> f64 {
    const NO_VALUE: f64 = f64::NAN;
    // In order: the start and the end of the window, whether to fail, the maximum wait, and whether to skip the first tick.
    // The first tick is not skipped, because the clocks in these tests do not advance.
    let shared = [NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE, 0.0];
    // In order: 0 for a new generator, its metabyte, its partition, its sequence bounds (two registers), and whether a
    // table was passed.
    let own = [0.0, NO_VALUE, partition.unwrap_or(NO_VALUE), NO_VALUE, NO_VALUE, 1.0];
    for (place, option) in shared.into_iter().enumerate() {
        write_register(register::VALUE + place, option);
    }
    for (place, option) in own.into_iter().enumerate() {
        write_register(register::OWN + place, option);
    }
    assert_eq!(machine::sno_build(), 0);
    read_register(register::HANDLE)
}

/// Writes the arguments for one ID.
fn write_id_arguments(handle: f64, metabyte: f64) {
    write_register(register::HANDLE, handle);
    write_register(register::PARAMETER, metabyte);
}

/// Generates IDs with metabyte 0, and returns the status.
fn fill(handle: f64, count: f64) -> u32 {
    write_id_arguments(handle, 0.0);
    write_register(register::COUNT, count);
    machine::generator_fill()
}

fn bytes(length: u32) -> Vec<u8> {
    let at = scratch_area() + 8 * NUMBERS as u32;
    Uint8Array::new_with_byte_offset_and_length(&memory(), at, length).to_vec()
}

fn text(length: u32) -> String {
    String::from_utf8(bytes(length)).unwrap()
}

/// Passes the module a table whose partitions are all free.
fn lend_table() {
    let table = Object::new();
    for (name, body) in [
        ("random", "return 6"),
        ("next", "return 500"),
        ("entry", "return 0"),
        ("swap", "return 1"),
    ] {
        Reflect::set(&table, &name.into(), &Function::new_no_args(body)).unwrap();
    }
    machine::lend(&table);
}

/// Passes the module a table, and creates a generator with partition 7, which marks that partition in the table. If `body`
/// is given, the generator's clock is a JavaScript function with that body.
fn build_with_clock(body: Option<&str>) -> f64 {
    lend_table();
    if let Some(body) = body {
        let clock = Object::new();
        Reflect::set(&clock, &"read".into(), &Function::new_no_args(body)).unwrap();
        machine::clock(machine::keep(&clock));
    }
    build_generator(Some(7.0))
}

#[wasm_bindgen_test]
fn an_id_made_with_the_pages_clock_is_parsed() {
    let handle = build_with_clock(None);
    write_id_arguments(handle, 9.0);
    assert_eq!(machine::sno_generate(), 0);
    // The previous call left the string where the next call reads its input.
    write_register(register::COUNT, 1.0);
    assert_eq!(machine::sno_from_texts(), 0);
    let id = Sno::from_slice(&bytes(10)).unwrap();
    assert!((js_sys::Date::now() - id.unix_ms() as f64).abs() < 60_000.0);
    assert_eq!((id.metabyte(), id.partition()), (9, 7));
}

#[wasm_bindgen_test]
fn a_clock_that_throws_or_returns_no_number_is_an_error() {
    for clock in ["throw new Error('no')", "return NaN", "return {}", ""] {
        let handle = build_with_clock(Some(clock));
        write_id_arguments(handle, 0.0);
        assert_eq!(machine::sno_generate(), 1);
        assert_eq!(text(12), "clock_failed");
    }
}

#[wasm_bindgen_test]
fn an_exhausted_tick_is_an_immediate_error_in_a_page() {
    let handle = build_with_clock(Some("return 1767225600000"));
    for _ in 0..64 {
        assert_eq!(fill(handle, 1024.0), 0);
    }
    assert_eq!(fill(handle, 1.0), 1);
    assert_eq!(text(18), "sequence_exhausted");
    assert_eq!(read_register(RETRY_AT), 1_767_225_600_004.0);
}

#[wasm_bindgen_test]
fn default_partitions_come_from_the_provided_table() {
    machine::lend(&JsValue::UNDEFINED);
    let handle = build_generator(None);
    write_id_arguments(handle, 0.0);
    assert_eq!(machine::sno_generate(), 1);
    assert_eq!(text(19), "entropy_unavailable");
    lend_table();
    write_id_arguments(handle, 0.0);
    assert_eq!(machine::sno_generate(), 0);
    write_register(register::HANDLE, handle);
    assert_eq!(machine::sno_partition(), 0);
    assert_eq!(read_register(register::ANSWER), 500.0);
}
