//! The ID families, and what their generators share: counting ticks, windows, and driving a state machine from a clock.

mod batch;
mod block;
#[cfg(feature = "alloc")]
pub(crate) mod custom;
#[cfg(feature = "alloc")]
mod describe;
mod drive;
pub mod hot_guid;
#[cfg(feature = "alloc")]
mod members;
mod owner;
pub mod randflake;
mod scale;
pub mod sno;
mod window;

pub(crate) use batch::{fill_runs, filled_now};
pub(crate) use block::{BLOCK, Block, Blocks};
#[cfg(feature = "alloc")]
use describe::Family;
pub use drive::OnExhausted;
pub(crate) use drive::{NO_WAIT, Outcome, Pace, drive};
#[cfg(feature = "alloc")]
pub(crate) use members::{Member, Members, address, refused};
pub(crate) use owner::Owner;
pub(crate) use scale::Scale;
pub(crate) use window::Window;
