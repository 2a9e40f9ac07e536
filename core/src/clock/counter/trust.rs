//! Whether to read the counter. `POLYFLAKE_CLOCK` in the environment chooses by hand: `exact` for the system call, `counter` for the
//! counter, also where the kernel does not vouch for it. Another word changes nothing.

use std::{env, fs};

use super::{Hardware, arch};

/// The kernel's own choice, which it changes when it finds that processors disagree or that the rate is off.
const KERNELS: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// How often each is read to compare costs.
const TIMES: u32 = 16;
const TRIALS: u32 = 4;

/// Returns whether to read the counter. Where in doubt, not: under checkers, which play the atomics, in particular.
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

/// Returns whether reading the counter takes at most three quarters of the system call's time, by the counter itself: not where a
/// debugger or a hypervisor traps it.
pub(super) fn is_cheaper(hardware: &impl Hardware) -> bool {
    let time = |read: &dyn Fn()| {
        let trial = || {
            let start = hardware.counter_in_order();
            (0..TIMES).for_each(|_| read());
            hardware.counter_in_order().wrapping_sub(start)
        };
        (0..TRIALS).map(|_| trial()).min().unwrap_or(u64::MAX)
    };
    let counter = time(&|| {
        core::hint::black_box(hardware.counter());
    });
    let system = time(&|| {
        let _ = core::hint::black_box(hardware.wall());
    });
    // A counter that stands still measures nothing.
    counter > 0 && counter <= system / 4 * 3
}
