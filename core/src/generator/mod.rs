//! The engine that all ID formats share. It reserves slots in a state machine according to a clock, a window and a wait
//! policy.
//!
//! ```text
//! observe the machine --> read the clock --> step --> slots, with the identity that they belong to
//!                                              \--> wait for a tick, lose a race: once more
//! ```
//!
//! An [`Engine`] owns the state machine, the window, the clock and the wait policy. A [`Family`] adds its identity and its
//! ticks, and [`Pack`] assembles IDs from reserved sequence slots. [`Generator`], [`Handle`] and [`Leased`] are the public
//! types that wrap the engine. No lock is held at any time, not even in the clock's callbacks.

mod call;
#[cfg(feature = "std")]
mod default;
mod engine;
mod family;
mod fill;
mod first_reading;
mod generate;
mod generators;
mod handle;
mod latest;
mod leased;
mod options;
mod process;
mod random_word;
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
mod registry;
#[cfg(not(all(feature = "std", not(any(loom, shuttle)))))]
#[path = "no_registry.rs"]
mod registry;
#[cfg(all(feature = "std", feature = "internals"))]
mod shared;
mod wait;
mod window;
mod worker_ids;

pub use call::{Call, Progress, WrittenCount};
#[cfg(feature = "std")]
pub(crate) use default::DefaultGenerator;
pub(crate) use engine::{Engine, Reservation};
pub use family::CallTypes;
pub(crate) use family::{Family, Pack};
pub use fill::{Mode, SlotSource};
pub(crate) use first_reading::FirstReading;
pub use generate::{Generate, GenerateAsync, Generated};
pub(crate) use generate::{borrow_handle, impl_generate};
pub use generators::Generator;
pub use handle::Handle;
pub(crate) use latest::{LatestValue, SpareAllocation};
pub(crate) use leased::Leased;
pub(crate) use options::Options;
pub use options::{Builder, Windowed};
pub(crate) use process::{ProcessGuard, REPEATED_IDENTITY};
pub(crate) use random_word::{NOT_PICKED, RandomWord};
#[cfg(all(feature = "std", feature = "internals"))]
pub use shared::{SharedGenerators, SharingKey};
pub use wait::OnExhausted;
pub(crate) use wait::WaitPolicy;
pub(crate) use window::Window;
pub(crate) use worker_ids::WorkerIds;
