//! The thread's backend, and its scratch area in JavaScript's memory.
//!
//! JavaScript allocates the area, and the addon keeps a reference to it. If the addon allocated the area, it would have to
//! be an external array buffer, which Node-API does not support in every runtime.

use std::{cell::RefCell, rc::Rc};

use napi::{
    Env, JsValue, Status,
    bindgen_prelude::{FromNapiValue, Object, ObjectRef, Uint8ArraySlice},
    sys,
};
use polyflake_js::{Machine, Scratch};

use crate::{
    calls::{self, Functions},
    clock::JsClock,
    table,
};

thread_local! {
    static ATTACHED_MACHINE: RefCell<Option<Rc<AttachedMachine>>> = const { RefCell::new(None) };
}

struct AttachedMachine {
    machine: Machine<JsClock>,
    /// Keeps the memory of the scratch area alive for as long as the environment runs.
    area: ObjectRef<false>,
    env: sys::napi_env,
    /// The table that another copy of the package passed.
    lent: RefCell<Option<Rc<table::Functions>>>,
}

/// Returns the thread's backend. The first call creates the backend, with `area` as its scratch area.
pub(crate) fn attach<'env>(env: &'env Env, area: Object<'env>) -> napi::Result<Object<'env>> {
    let attached = attached_machine().map_or_else(|| attach_first(env, area), Ok)?;
    if attached.env != env.raw() {
        return Err(napi::Error::from_reason("another environment of this thread has the machine"));
    }
    let mut machine = Object::new(env)?;
    machine.set("area", attached.area.get_value(env)?)?;
    machine.set("calls", functions(env, &attached, calls::calls())?)?;
    machine.set("makers", functions(env, &attached, calls::makers())?)?;
    Ok(machine)
}

fn attach_first(env: &Env, area: Object<'_>) -> napi::Result<Rc<AttachedMachine>> {
    let machine = Machine::new(scratch_from_array(area)?);
    let (area, lent) = (area.create_ref()?, RefCell::default());
    let attached = Rc::new(AttachedMachine { machine, area, env: env.raw(), lent });
    // The next environment on this thread must not use this environment's memory.
    env.add_env_cleanup_hook((), |()| drop(ATTACHED_MACHINE.take()))?;
    ATTACHED_MACHINE.set(Some(attached.clone()));
    Ok(attached)
}

/// Creates an object with functions as its properties.
#[allow(unsafe_code, reason = "the functions hold the machine by its address")]
fn functions<'env>(
    env: &'env Env,
    attached: &AttachedMachine,
    functions: Functions,
) -> napi::Result<Object<'env>> {
    let object = Object::new(env)?;
    // SAFETY: the object was just created in this environment, which is running. `ATTACHED_MACHINE` holds the machine until
    // the same environment is cleaned up, as `attach` ensures. The cleanup runs after the last JavaScript code of the
    // environment.
    unsafe { calls::define(env.raw(), object.raw(), functions, &raw const attached.machine) }?;
    Ok(object)
}

/// Sets the clock for the next generator that is built.
pub(crate) fn set_clock(clock: JsClock) {
    if let Some(attached) = attached_machine() {
        attached.machine.set_clock(clock);
    }
}

/// Stores the functions of a table that belongs to another copy of the package.
pub(crate) fn lend(functions: table::Functions) {
    if let Some(attached) = attached_machine() {
        attached.lent.replace(Some(Rc::new(functions)));
    }
}

/// Returns the functions of the table that another copy of the package passed, or `None` once the environment is ending.
pub(crate) fn lent_functions() -> Option<Rc<table::Functions>> {
    attached_machine().and_then(|attached| attached.lent.borrow().clone())
}

/// Returns the environment of this thread, or `None` once it is ending.
pub(crate) fn env() -> Option<Env> {
    attached_machine().map(|attached| Env::from_raw(attached.env))
}

fn attached_machine() -> Option<Rc<AttachedMachine>> {
    ATTACHED_MACHINE.with_borrow(Clone::clone)
}

/// Returns the scratch area that occupies the memory of a `Uint8Array`.
#[allow(unsafe_code, reason = "JavaScript's memory has no safe door")]
fn scratch_from_array(area: Object<'_>) -> napi::Result<&'static Scratch> {
    let mut bytes = Uint8ArraySlice::from_unknown(area.to_unknown())?;
    // SAFETY: only the address and the length are used. No byte is read or written through this slice.
    let memory: *mut [u8] = unsafe { bytes.as_mut() };
    #[allow(clippy::cast_ptr_alignment, reason = "checked next")]
    let scratch = memory.cast::<Scratch>();
    if memory.len() < size_of::<Scratch>() || !scratch.is_aligned() {
        return Err(napi::Error::new(Status::InvalidArg, "expected a larger, aligned area"));
    }
    // SAFETY: the checks above show that the memory is large enough and aligned, and any bytes are a valid `Scratch`. An
    // array buffer does not move. This array buffer stays alive as long as the machine, because `AttachedMachine` holds
    // both until the environment ends. The package neither detaches nor resizes the buffer. `Scratch` consists of cells, so
    // JavaScript may write to it between calls.
    Ok(unsafe { &*scratch })
}
