//! The module's only [`Machine`].

use core::cell::OnceCell;

use alloc::boxed::Box;
use polyflake_js::Machine;

use crate::clock::JsClock;

struct SingleThreadCell(OnceCell<Machine<JsClock>>);

#[cfg(target_feature = "atomics")]
compile_error!("the machine is for one thread: each worker has its own instance");

// SAFETY: only one thread can reach the static. A module without `target_feature = "atomics"` cannot share its memory, and
// the code above rejects modules with that feature. So no second thread can hold the reference.
#[allow(unsafe_code, reason = "a thread-local would need the standard library")]
unsafe impl Sync for SingleThreadCell {}

static MACHINE: SingleThreadCell = SingleThreadCell(OnceCell::new());

/// Returns the module's `Machine`, which is created on first use.
pub(crate) fn machine() -> &'static Machine<JsClock> {
    MACHINE.0.get_or_init(|| Machine::new(Box::leak(Box::default())))
}
