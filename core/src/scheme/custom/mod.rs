//! Generators over custom layouts.
//!
//! ```text
//! | timestamp: a tick | bindables: fixed, or given for each ID | sequence: a slot of the tick |      in the layout's order
//! ```
//!
//! The first ID and the first of each new tick have the sequence's start value, each further one of the tick the next. A
//! clock behind the last tick is an error at once: a layout has no bit to spare for it.

mod builder;
mod generator;
mod handle;
mod now;
mod pool;
mod snapshot;
mod ticks;

pub use builder::Builder;
pub use generator::{Batch, Generator};
pub use handle::Handle;
pub use pool::Pool;
pub use snapshot::{Snapshot, Stats};
