//! Whether the environment requests leased worker IDs. The variables are read once, when a process first prepares for
//! forks, for two reasons. A child that is forked without the C library's hooks may inherit the lock of the environment
//! while it is held. And every default generator of a program has to come to the same decision.

use std::env;

use crate::sync::{Ordering, Tally};

/// The variables that request a lease. An empty variable counts as set, and `polyflake-lease` rejects it.
const VARIABLES: [&str; 2] = ["POLYFLAKE_LEASE", "POLYFLAKE_WORKER_ID"];

/// The value of [`DECISION`] before the variables are read. Any other value is an index of [`VARIABLES`], or their number.
const UNREAD: u32 = u32::MAX;

static DECISION: Tally = Tally::new(UNREAD);

/// Reads the variables, unless this process or an ancestor has read them before.
pub(super) fn read() {
    if DECISION.load(Ordering::Acquire) == UNREAD {
        let set = VARIABLES.iter().position(|name| env::var_os(name).is_some());
        let decision = u32::try_from(set.unwrap_or(VARIABLES.len())).unwrap_or(UNREAD);
        // Another thread may have decided first. Both then use that thread's decision.
        let _ = DECISION.compare_exchange(UNREAD, decision, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// Returns the variable that requests a lease, or `None` if none of them was set when they were read.
pub(super) fn name() -> Option<&'static str> {
    read();
    let decision = usize::try_from(DECISION.load(Ordering::Acquire)).ok()?;
    VARIABLES.get(decision).copied()
}
