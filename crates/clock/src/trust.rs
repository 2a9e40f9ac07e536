//! Decides whether to use the counter. The `POLYFLAKE_CLOCK` environment variable overrides the decision: `exact` selects
//! the system call, and `counter` selects the counter even if the Linux kernel does not trust it. Any other value has no
//! effect.

use std::{env, fs};

use super::{Hardware, arch};

/// The file that names the clock source that the Linux kernel has chosen. The kernel switches to a different source if the
/// processors' counters disagree or the counter's rate is wrong.
const CLOCK_SOURCE_FILE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The number of times that a trial reads a clock source. Trials compare the costs of the clock sources.
const READINGS_PER_TRIAL: u32 = 16;
const TRIALS: u32 = 4;

/// Returns whether to use the counter. It is never used under Miri, loom or shuttle, because they simulate atomics.
pub(super) fn is_counter_trusted(hardware: &impl Hardware) -> bool {
    if cfg!(any(miri, loom, shuttle)) || !arch::is_readable() {
        return false;
    }
    match env::var("POLYFLAKE_CLOCK").as_deref() {
        Ok("exact") => false,
        Ok("counter") => true,
        _ => arch::is_steady() && is_kernel_clock_source() && is_counter_cheaper(hardware),
    }
}

fn is_kernel_clock_source() -> bool {
    fs::read_to_string(CLOCK_SOURCE_FILE).is_ok_and(|source| source.trim() == arch::CLOCK_SOURCE)
}

/// Returns whether reading the counter takes at most three quarters of the time that the system call takes. Both times are
/// measured with the counter itself. Reading the counter takes longer if a debugger or a hypervisor traps the instruction.
pub(super) fn is_counter_cheaper(hardware: &impl Hardware) -> bool {
    let time = |read: &dyn Fn()| {
        let trial = || {
            let start = hardware.ordered_counter();
            (0..READINGS_PER_TRIAL).for_each(|_| read());
            hardware.ordered_counter().wrapping_sub(start)
        };
        // Only the fastest trial counts, because interruptions can only add time.
        (0..TRIALS).map(|_| trial()).min().unwrap_or(u64::MAX)
    };
    let counter = time(&|| {
        core::hint::black_box(hardware.counter());
    });
    let system = time(&|| {
        let _ = core::hint::black_box(hardware.wall_nanos());
    });
    // A stopped counter cannot measure time.
    counter > 0 && counter <= system / 4 * 3
}
