//! Exports a backend's calls as JavaScript functions, without napi's macros.
//!
//! The macros could generate these functions, but each call would then take 40 ns more, which is longer than it takes to
//! generate an ID. Therefore these functions have no arguments, and each function finds its
//! [`Machine`](polyflake_js::Machine) through the data pointer that Node-API stores with the function.
//!
//! The functions in `makers` return an ID directly, as a string with one byte per character or as a bigint, because a
//! return value is faster than a read from the scratch area. A failed call returns undefined, and writes its error to the
//! scratch area. A panic becomes a JavaScript exception, because a panic that reached Node-API's frames would abort the
//! process.
//!
//! # Why the pointers are valid
//!
//! Node-API calls a function on the thread of the environment that created it, and only until that environment's clean-up.
//! The data pointer refers to the machine in `machine::ATTACHED_MACHINE`, which the same clean-up drops. Therefore the
//! machine outlives each call, and only one thread ever reaches it. Calls may nest, because a clock may generate an ID. For
//! this reason, a function gets only a shared reference, and calls change only the machine's cells.
#![allow(unsafe_code, reason = "Node-API itself, which is C")]

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

use napi::sys;
use polyflake::{Result, fork::partitions::shared_table};
use polyflake_js::{Machine, Scratch, ScratchRef};

use crate::clock::JsClock;

type NativeMachine = Machine<JsClock>;

type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

/// A function that creates a JavaScript value from a call's results in the scratch area.
type CreateAnswer = fn(sys::napi_env, &Scratch, &mut sys::napi_value) -> sys::napi_status;

/// Functions whose data pointer refers to a machine, with their null-terminated names.
pub(crate) type Functions = Vec<(&'static str, Callback)>;

/// Adds functions for calls whose answers have the same type.
macro_rules! add_functions {
    ($functions:ident, $answer:expr; $($call:expr => $name:literal,)*) => {$({
        unsafe extern "C" fn callback(
            env: sys::napi_env,
            info: sys::napi_callback_info,
        ) -> sys::napi_value {
            // SAFETY: Node-API passes `env` and `info` to a function that `define` created, as `run` requires.
            unsafe { run(env, info, $call, $answer) }
        }
        $functions.push((concat!($name, "\0"), callback));
    })*};
}

/// Returns all calls as functions that return 0, or undefined if the call fails.
pub(crate) fn calls() -> Functions {
    let mut functions = Functions::new();
    macro_rules! export {
        ($($call:ident => $name:literal $(at $now:ident)? $(-> $answer:expr)?,)*) => {
            add_functions! { functions, zero; $(Machine::$call => $name,)* }
        };
    }
    polyflake_js::calls!(export);
    add_functions! { functions, zero;
        |machine: &NativeMachine, at| machine.partitions_next(at, shared_table()?) => "partitionsNext",
        |machine: &NativeMachine, at| machine.partitions_entry(at, shared_table()?) => "partitionsEntry",
        |machine: &NativeMachine, at| machine.partitions_swap(at, shared_table()?) => "partitionsSwap",
    }
    functions
}

/// Returns the calls that generate one ID, as functions that return the ID, or undefined if the call fails.
pub(crate) fn makers() -> Functions {
    let mut functions = Functions::new();
    macro_rules! export {
        ($($call:ident => $name:literal $(at $now:ident)? $(-> $answer:expr)?,)*) => {
            $($(add_functions! { functions, $answer; Machine::$call => $name, })?)*
        };
    }
    polyflake_js::calls!(export);
    functions
}

/// Defines functions as properties of an object.
///
/// # Safety
/// `object` must be a value of `env`, and `env` must be running this code. `machine` must not move until all JavaScript
/// code of `env` has ended.
pub(crate) unsafe fn define(
    env: sys::napi_env,
    object: sys::napi_value,
    functions: Functions,
    machine: *const NativeMachine,
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
    // SAFETY: the caller guarantees that `object` belongs to `env`, which is running. `add_functions!` terminates each name
    // with a null byte. The data pointer refers to a `NativeMachine`, as `run` expects. Node-API copies the descriptors.
    napi::check_status!(unsafe {
        sys::napi_define_properties(env, object, properties.len(), properties.as_ptr())
    })
}

/// Runs a call on the machine that a function's data pointer refers to. Returns the call's answer, or undefined if the call
/// fails.
///
/// # Safety
/// `env` and `info` must come from Node-API, for a function that [`define`] created.
#[inline]
unsafe fn run(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    call: impl FnOnce(&NativeMachine, ScratchRef) -> Result<()>,
    answer: CreateAnswer,
) -> sys::napi_value {
    let (mut data, mut value, none) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the caller guarantees that `env` and `info` are valid. Only the data pointer is requested, so the other
    // pointers may be null.
    unsafe { sys::napi_get_cb_info(env, info, ptr::null_mut(), none, none, &raw mut data) };
    // SAFETY: `define` has stored a pointer to a machine, which its caller keeps in place until all JavaScript code of
    // `env` has ended. A shared reference is enough, because calls change only the machine's cells.
    let Some(machine) = (unsafe { data.cast::<NativeMachine>().as_ref() }) else { return value };
    match catch_unwind(AssertUnwindSafe(|| machine.run(call))) {
        Ok(0) => answer(env, machine.scratch(), &mut value),
        Ok(_) => sys::Status::napi_ok,
        // SAFETY: the caller guarantees that `env` is running this function. A C string literal is null-terminated.
        Err(_) => unsafe { sys::napi_throw_error(env, ptr::null(), c"a call panicked".as_ptr()) },
    };
    value
}

fn zero(env: sys::napi_env, _: &Scratch, value: &mut sys::napi_value) -> sys::napi_status {
    // SAFETY: `env` is running the function that returns this value, so `env` is valid. `value` is a reference, so it may
    // be written.
    unsafe { sys::napi_create_uint32(env, 0, value) }
}

/// Creates a JavaScript string from the first `LENGTH` bytes of the scratch area.
fn text<const LENGTH: usize>(
    env: sys::napi_env,
    scratch: &Scratch,
    value: &mut sys::napi_value,
) -> sys::napi_status {
    latin1(env, &scratch.bytes()[..LENGTH], value)
}

/// Creates a JavaScript string from the start of the scratch area's bytes. The string's length is in the answer.
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
    // SAFETY: `env` is running the function that returns this value, so `env` is valid. The cells are `length` bytes of the
    // scratch area, and no code writes to them while Node-API copies them.
    unsafe { sys::napi_create_string_latin1(env, text, length, value) }
}

/// Creates a bigint from the integer ID in the answer.
fn bigint(env: sys::napi_env, scratch: &Scratch, value: &mut sys::napi_value) -> sys::napi_status {
    // SAFETY: `env` is running the function that returns this value, so `env` is valid. `value` is a reference, so it may
    // be written.
    unsafe { sys::napi_create_bigint_int64(env, scratch.integer_id(), value) }
}
