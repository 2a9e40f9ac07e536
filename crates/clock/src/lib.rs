#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod counter;
#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "no_counter.rs"]
mod counter;
mod ticks;

pub use counter::{invalidate_after_sleep, is_counter_used, now, slack_nanos};
pub use ticks::SharedTime;
