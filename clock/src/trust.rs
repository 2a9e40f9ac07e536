//! Decides whether to use the counter. The `POLYFLAKE_CLOCK` environment variable overrides the decision: `exact` selects the
//! system call, and `counter` selects the counter even if the kernel does not trust it. Any other value has no effect.

use std::{env, fs};

use super::{Hardware, arch};

/// The file with the kernel's own choice of clock source, which the kernel changes if processors disagree or the rate is wrong.
const KERNELS: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The number of readings of each source in a cost comparison.
const TIMES: u32 = 16;
const TRIALS: u32 = 4;

/// Returns whether to use the counter. It is never used under Miri, loom and shuttle, which simulate the atomics.
pub(super) fn choose(hardware: &impl Hardware) -> bool {
    if cfg!(any(miri, loom, shuttle)) || !arch::is_readable() {
        return false;
    }
    match env::var("POLYFLAKE_CLOCK").as_deref() {
        Ok("exact") => false,
        Ok("counter") => true,
        _ => arch::is_steady() && is_the_kernels() && is_cheaper(hardware),
    }
}

fn is_the_kernels() -> bool {
    fs::read_to_string(KERNELS).is_ok_and(|source| source.trim() == arch::CLOCK_SOURCE)
}

/// Returns whether reading the counter takes at most three quarters of the system call's time, measured by the counter itself.
/// It takes longer if a debugger or a hypervisor traps the reading.
pub(super) fn is_cheaper(hardware: &impl Hardware) -> bool {
    let time = |read: &dyn Fn()| {
        let trial = || {
            let start = hardware.counter_in_order();
            (0..TIMES).for_each(|_| read());
            hardware.counter_in_order().wrapping_sub(start)
        };
        // The fastest trial counts, because interruptions can only add time.
        (0..TRIALS).map(|_| trial()).min().unwrap_or(u64::MAX)
    };
    let counter = time(&|| {
        core::hint::black_box(hardware.counter());
    });
    let system = time(&|| {
        let _ = core::hint::black_box(hardware.wall());
    });
    // A stopped counter measures nothing.
    counter > 0 && counter <= system / 4 * 3
}
