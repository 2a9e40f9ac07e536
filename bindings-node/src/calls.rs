//! The calls of a machine as functions of JavaScript, written by hand.
//!
//! A function finds its machine by a data pointer and takes no arguments; functions that make an ID return it, as a string with
//! one byte for each character or as a bigint. napi's own functions take 40 ns more.
#![allow(unsafe_code, reason = "Node-API itself, which is C")]

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

use napi::sys;
use polyflake::{Result, fork::partitions::shared, hotguid::HotGuid, sno::Sno};
use polyflake_js::{At, Machine, Scratch};

use crate::clock::JsClock;

type Native = Machine<JsClock>;

type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

/// Makes a JavaScript value of a call's results in the scratch area.
type Answer = fn(sys::napi_env, &Scratch, &mut sys::napi_value) -> sys::napi_status;

/// Functions whose data is a machine, with their names, which end with a zero.
pub(crate) type Functions = Vec<(&'static str, Callback)>;

/// Adds functions for calls with the same kind of answer.
macro_rules! add {
    ($functions:ident, $answer:expr; $($call:expr => $name:literal,)*) => {$({
        unsafe extern "C" fn callback(
            env: sys::napi_env,
            info: sys::napi_callback_info,
        ) -> sys::napi_value {
            // SAFETY: Node-API gives both, for a function that `define` made.
            unsafe { run(env, info, $call, $answer) }
        }
        $functions.push((concat!($name, "\0"), callback));
    })*};
}

/// All calls as functions that return 0, or undefined for a refusal.
pub(crate) fn calls() -> Functions {
    let mut functions = Functions::new();
    macro_rules! export {
        ($($call:ident => $name:literal,)*) => {
            add! { functions, zero; $(Machine::$call => $name,)* }
        };
    }
    polyflake_js::shared_calls!(export);
    polyflake_js::generator_calls!(export);
    polyflake_js::window_calls!(export);
    polyflake_js::sno_calls!(export);
    polyflake_js::randflake_calls!(export);
    polyflake_js::hotguid_calls!(export);
    polyflake_js::layout_calls!(export);
    polyflake_js::public_calls!(export);
    add! { functions, zero;
        |machine: &Native, at| machine.partitions_next(at, shared()?) => "partitionsNext",
        |machine: &Native, at| machine.partitions_entry(at, shared()?) => "partitionsEntry",
        |machine: &Native, at| machine.partitions_swap(at, shared()?) => "partitionsSwap",
    }
    functions
}

/// Returns the calls that generate one ID, as functions that return it, or undefined if the call fails.
pub(crate) fn makers() -> Functions {
    let mut functions = Functions::new();
    add! { functions, text::<{ Sno::TEXT_LEN }>; Machine::sno_generate => "snoGenerate", }
    add! { functions, text::<{ HotGuid::TEXT_LEN }>; Machine::hotguid_generate => "hotguidGenerate", }
    add! { functions, bigint; Machine::randflake_generate => "randflakeGenerate", }
    add! { functions, short_text; Machine::randflake_generate_text => "randflakeGenerateText", }
    add! { functions, short_text; Machine::public_encode => "publicEncode", }
    functions
}

/// Defines functions as properties of an object.
///
/// # Safety
/// `object` is a value of `env`, which is running this; `machine` does not move until JavaScript of `env` has ended.
pub(crate) unsafe fn define(
    env: sys::napi_env,
    object: sys::napi_value,
    functions: Functions,
    machine: *const Native,
) -> napi::Result<()> {
    let property = |(name, callback): (&'static str, Callback)| sys::napi_property_descriptor {
        utf8name: name.as_ptr().cast(),
        name: ptr::null_mut(),
        method: Some(callback),
        getter: None,
        setter: None,
        value: ptr::null_mut(),
        attributes: sys::PropertyAttributes::default,
        data: machine.cast_mut().cast(),
    };
    let properties: Vec<_> = functions.into_iter().map(property).collect();
    // SAFETY: our caller's promise; the names end with zeros, and the data is what the functions take.
    napi::check_status!(unsafe {
        sys::napi_define_properties(env, object, properties.len(), properties.as_ptr())
    })
}

/// Runs a call of the machine in a function's data, and returns its answer; undefined for a refusal.
///
/// # Safety
/// `env` and `info` come from Node-API, for a function that [`define`] made.
#[inline]
unsafe fn run(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    call: impl FnOnce(&Native, At) -> Result<()>,
    answer: Answer,
) -> sys::napi_value {
    let (mut data, mut value, none) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: our caller's promise; only the data is requested.
    unsafe { sys::napi_get_cb_info(env, info, ptr::null_mut(), none, none, &raw mut data) };
    // SAFETY: `define`'s promise. The reference is shared: calls change only cells of the machine.
    let Some(machine) = (unsafe { data.cast::<Native>().as_ref() }) else { return value };
    match catch_unwind(AssertUnwindSafe(|| machine.run(call))) {
        Ok(0) => answer(env, machine.scratch(), &mut value),
        Ok(_) => sys::Status::napi_ok,
        // SAFETY: our caller's promise; the message ends with a zero.
        Err(_) => unsafe { sys::napi_throw_error(env, ptr::null(), c"a call panicked".as_ptr()) },
    };
    value
}

fn zero(env: sys::napi_env, _: &Scratch, value: &mut sys::napi_value) -> sys::napi_status {
    // SAFETY: `env` is running the function that answers.
    unsafe { sys::napi_create_uint32(env, 0, value) }
}

/// Returns the text of `LENGTH` bytes at the start of the bytes.
fn text<const LENGTH: usize>(
    env: sys::napi_env,
    scratch: &Scratch,
    value: &mut sys::napi_value,
) -> sys::napi_status {
    latin1(env, &scratch.bytes()[..LENGTH], value)
}

/// Returns the text at the start of the bytes, of the answer's length.
fn short_text(
    env: sys::napi_env,
    scratch: &Scratch,
    value: &mut sys::napi_value,
) -> sys::napi_status {
    let bytes = scratch.bytes();
    latin1(env, &bytes[..scratch.length().min(bytes.len())], value)
}

fn latin1(env: sys::napi_env, text: &[Cell<u8>], value: &mut sys::napi_value) -> sys::napi_status {
    let (text, length) = (text.as_ptr().cast(), text.len().cast_signed());
    // SAFETY: as above; there are `length` bytes, and nothing writes them meanwhile.
    unsafe { sys::napi_create_string_latin1(env, text, length, value) }
}

/// The ID that the answer has as an integer.
fn bigint(env: sys::napi_env, scratch: &Scratch, value: &mut sys::napi_value) -> sys::napi_status {
    // SAFETY: as above.
    unsafe { sys::napi_create_bigint_int64(env, scratch.made(), value) }
}
