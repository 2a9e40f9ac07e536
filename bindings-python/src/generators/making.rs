//! The code that generates IDs for the generators of all formats. The methods that [`id_methods`] defines call this code.
//!
//! # Blocks
//!
//! A call that requests many IDs generates them in blocks, for four reasons.
//!
//! - **Memory.** While a clock is read or a call waits, other Python code may read and write a caller's buffer, so no Rust
//!   reference to the buffer may exist. IDs are generated in this module's own memory, and each block is then copied to the
//!   buffer, which takes 0.08 ns per ID. Such a block fits in the L1 cache. An array's memory belongs to the call, so its
//!   blocks are larger and need no copy.
//! - **Signals.** `KeyboardInterrupt` must be able to interrupt a call that takes several seconds. Signal handlers run
//!   between two blocks, at most once every 10 ms, because attaching to a busy interpreter takes up to the interpreter's
//!   switch interval. A call that needs only one block never checks for signals.
//! - **The event loop.** An asynchronous call gives other tasks a turn after each block.
//! - **Forks.** A child that is forked in the middle of a call has a copy of the blocks that its parent generated. The
//!   child starts over, because otherwise both processes would return these IDs.
//!
//! # Types
//!
//! A format's class implements [`IdMaker`], and all code below the methods is generic over it. The methods themselves are
//! macros, because the keyword of a call differs by format (`metabyte`, `shard_key`, `bindables`). A common base class
//! would have to accept any keyword, and PyO3 would parse the arguments through a tuple and a dictionary.

mod methods;

use std::{ops::Range, time::Duration};

pub(crate) use methods::{id_methods, impl_id_maker, module_functions, text_methods};
pub(crate) use polyflake::Mode;
use polyflake::{CallTypes, Progress, Result, SlotSource, WrittenCount};
use polyflake_columns::{Plain, grow, truncate_and_shrink};
use polyflake_lease::protocol::hosted::Family;
use pyo3::{PyClass, prelude::*, pyclass::boolean_struct::True};

use super::{
    async_calls::{OtherThreads, coroutine, sleep, yield_once},
    clock::SignalChecker,
    leased::{Source, WaitingCall},
};
use crate::{
    errors::{detach, raise},
    ids::{
        convert::Count,
        memory::{check_bytes, try_with_capacity},
        target::{FillProgress, Item, Target},
    },
};

/// A Python class of generators.
pub(crate) trait IdMaker: PyClass<Frozen = True> + Sync {
    /// The core's type for leased generators of this class. This type also determines the type of the generators without a
    /// lease.
    type LeasedGenerator: Family<Generator: Send + Sync> + Send + Sync;
    /// The argument that a caller passes for the IDs: a metabyte, a shard key, or bindables.
    type Argument;
    /// The converted argument, which a call keeps while it waits.
    type Key: Send + Sync + 'static;
    /// Memory for many IDs.
    type Memory: Send + 'static;

    fn source(&self) -> &Source<Self::LeasedGenerator>;

    fn key(&self, argument: Self::Argument) -> PyResult<Self::Key>;

    /// Returns the argument in the form that the core accepts.
    fn param(key: &Self::Key) -> Param<'_, Self::LeasedGenerator>;

    /// Returns the Python object for an ID.
    fn object(py: Python<'_>, id: Id<Self::LeasedGenerator>) -> CallResult<'_>;

    /// Returns memory that contains no IDs yet.
    fn memory(&self) -> Self::Memory;

    fn rows(memory: &mut Self::Memory) -> &mut dyn Rows;

    /// Returns the part of `memory` at the positions `places`, as a batch that the core fills.
    fn batch(memory: &mut Self::Memory, places: Range<usize>) -> Batch<'_, Self::LeasedGenerator>;

    /// Returns the array of all IDs in `memory`.
    fn array(py: Python<'_>, memory: Self::Memory) -> CallResult<'_>;
}

/// The type of a core generator's IDs. [`Param`] is the type of the argument for an ID, and [`Batch`] is the type of a
/// buffer for many IDs.
pub(crate) type Id<G> = <<G as SlotSource>::Family as CallTypes>::Id;
pub(crate) type Param<'g, G> = <<G as SlotSource>::Family as CallTypes>::Param<'g>;
pub(crate) type Batch<'b, G> = <<G as SlotSource>::Family as CallTypes>::Batch<'b>;

/// Memory for many IDs, accessed without knowledge of the IDs' type.
pub(crate) trait Rows: Send {
    fn item(&self) -> Item;

    /// Allocates memory for `count` IDs.
    fn reserve(&mut self, count: usize) -> PyResult<()>;

    /// Keeps only the first `count` IDs.
    fn truncate(&mut self, count: usize);

    /// Copies the first `count` IDs to a buffer, starting at the position `others`. The earlier positions already contain
    /// IDs.
    fn copy(&self, count: usize, target: &Target, others: usize);
}

/// Memory in which each ID consists of one or more items of type `T`.
pub(crate) struct Items<T> {
    pub(crate) ids: Vec<T>,
    /// The number of items in an ID.
    pub(crate) width: usize,
    item: Item,
}

impl<T: Plain> Items<T> {
    pub(crate) const fn new(item: Item) -> Self {
        Self { ids: Vec::new(), width: item.byte_size() / size_of::<T>(), item }
    }

    /// Returns the items of the IDs at the positions `places`. The memory grows if needed.
    pub(crate) fn items_at(&mut self, places: Range<usize>) -> &mut [T] {
        grow(&mut self.ids, places.end * self.width);
        &mut self.ids[places.start * self.width..places.end * self.width]
    }
}

impl<T: Plain> Rows for Items<T> {
    fn item(&self) -> Item {
        self.item
    }

    fn reserve(&mut self, count: usize) -> PyResult<()> {
        self.ids = try_with_capacity(count * self.width)?;
        Ok(())
    }

    fn truncate(&mut self, count: usize) {
        self.ids = truncate_and_shrink(std::mem::take(&mut self.ids), count * self.width);
    }

    fn copy(&self, count: usize, target: &Target, others: usize) {
        target.write_ids(others, &self.ids[..count * self.width]);
    }
}

/// The number of IDs to generate before yielding to the event loop. Generating them takes at most a millisecond.
const IDS_PER_YIELD: usize = 1 << 14;

/// The number of bytes of IDs to generate between two checks for signals. Generating them takes at most about 10 ms.
const SIGNAL_BLOCK_BYTES: usize = 1 << 21;

/// The number of bytes of IDs to generate before they are copied to a caller's buffer. They fit in the L1 cache.
const CACHED_BLOCK_BYTES: usize = 1 << 15;

/// The Python object that a call returns.
pub(crate) type CallResult<'py> = PyResult<Bound<'py, PyAny>>;

/// Generates one ID. `object` returns the Python object for the ID or for its string.
#[inline]
pub(crate) fn generate_one<'py, M: IdMaker>(
    py: Python<'py>,
    maker: &M,
    mode: Mode,
    argument: M::Argument,
    object: impl FnOnce(Python<'py>, Id<M::LeasedGenerator>) -> CallResult<'py>,
) -> CallResult<'py> {
    let key = maker.key(argument)?;
    object(py, maker.source().generate_one(mode, M::param(&key)).map_err(raise)?)
}

/// Returns a coroutine that generates one ID. `object` returns the Python object for the ID or for its string.
pub(crate) fn generate_async<'py, M: IdMaker>(
    maker: &Bound<'py, M>,
    argument: M::Argument,
    object: fn(Python<'_>, Id<M::LeasedGenerator>) -> CallResult<'_>,
) -> CallResult<'py> {
    let (key, held) = (maker.get().key(argument)?, maker.clone().unbind());
    let call = async move {
        let (source, mut waiting) = (held.get().source(), WaitingCall::default());
        repeat_step(|| source.generate_step(&mut waiting, M::param(&key))).await
    };
    coroutine(maker.py(), OtherThreads::Wait, call, object)
}

/// Repeats a step until the call is done, and sleeps between steps.
async fn repeat_step<V>(mut step: impl FnMut() -> Result<Progress<V>>) -> Result<V> {
    loop {
        match step()? {
            Progress::Done(value) => return Ok(value),
            Progress::Sleep(nanos) => sleep(Duration::from_nanos(nanos)).await,
        }
    }
}

/// Returns memory for `n` IDs.
fn allocate_memory<M: IdMaker>(maker: &M, n: Count) -> PyResult<M::Memory> {
    let (n, mut memory) = (n.0 as usize, maker.memory());
    let rows = M::rows(&mut memory);
    check_bytes(n, rows.item().byte_size())?;
    rows.reserve(n)?;
    Ok(memory)
}

/// Writes IDs to the given positions in `memory`, and returns the number of IDs written.
fn write_ids<M: IdMaker>(
    maker: &M,
    mode: Mode,
    key: &M::Key,
    memory: &mut M::Memory,
    places: Range<usize>,
) -> Result<usize> {
    let most = places.len();
    let written = maker.source().fill(mode, M::param(key), M::batch(memory, places))?;
    Ok(written.unwrap_or(most))
}

/// Works like [`write_ids`], but yields to the event loop when it has to wait.
async fn write_ids_async<M: IdMaker>(
    maker: &M,
    key: &M::Key,
    memory: &mut M::Memory,
    places: Range<usize>,
) -> Result<usize> {
    let (source, mut waiting, mut filled) =
        (maker.source(), WaitingCall::default(), WrittenCount::new());
    let step = || {
        let batch = M::batch(memory, places.clone());
        source.fill_step(&mut waiting, M::param(key), batch, &mut filled)
    };
    repeat_step(step).await.map(|()| places.len())
}

/// Generates an array of `n` IDs, or of at most `n` IDs in [`Mode::Try`].
pub(crate) fn generate_array<'py, M: IdMaker>(
    py: Python<'py>,
    maker: &M,
    mode: Mode,
    n: Count,
    argument: M::Argument,
) -> CallResult<'py> {
    let (key, mut memory) = (maker.key(argument)?, allocate_memory(maker, n)?);
    let (n, most) = (n.0 as usize, M::rows(&mut memory).item().ids_per_block(SIGNAL_BLOCK_BYTES));
    let written = detach(py, || {
        // If all IDs fit in a single block, do not track progress, which would take 80 ns.
        if n <= most {
            return write_ids(maker, mode, &key, &mut memory, 0..n);
        }
        let (mut filling, mut signals) = (FillProgress::new(n), SignalChecker::default());
        while let Some(places) = filling.next(most) {
            let made = write_ids(maker, mode, &key, &mut memory, places.clone());
            filling.count_written(made, places)?;
            filling.check_signals(&mut signals)?;
        }
        Ok(filling.written())
    });
    M::rows(&mut memory).truncate(written.map_err(raise)?);
    M::array(py, memory)
}

/// Returns a coroutine that generates an array of `n` IDs.
pub(crate) fn generate_many_async<'py, M: IdMaker>(
    maker: &Bound<'py, M>,
    n: Count,
    argument: M::Argument,
) -> CallResult<'py> {
    let (key, held) = (maker.get().key(argument)?, maker.clone().unbind());
    let mut memory = allocate_memory(maker.get(), n)?;
    let call = async move {
        let mut filling = FillProgress::new(n.0 as usize);
        while let Some(places) = filling.next(IDS_PER_YIELD) {
            yield_between_blocks(&places).await;
            let made = write_ids_async(held.get(), &key, &mut memory, places.clone()).await;
            filling.count_written(made, places)?;
        }
        Ok(memory)
    };
    coroutine(maker.py(), OtherThreads::Run, call, M::array)
}

/// Yields to the event loop, except before the first block of a batch.
async fn yield_between_blocks(places: &Range<usize>) {
    if places.start > 0 {
        yield_once().await;
    }
}

/// Fills a buffer with IDs, and returns the number of IDs written. In [`Mode::Try`], the IDs may fill only the start of the
/// buffer.
pub(crate) fn fill<M: IdMaker>(
    maker: &M,
    mode: Mode,
    buffer: &Bound<'_, PyAny>,
    argument: M::Argument,
) -> PyResult<usize> {
    let (key, mut memory) = (maker.key(argument)?, maker.memory());
    let rows = M::rows(&mut memory);
    let (target, most) =
        (Target::from_value(buffer, rows.item())?, rows.item().ids_per_block(CACHED_BLOCK_BYTES));
    rows.reserve(target.count().min(most))?;
    let written = detach(buffer.py(), || {
        let (mut filling, mut signals) =
            (FillProgress::new(target.count()), SignalChecker::default());
        while let Some(places) = filling.next(most) {
            let made = write_ids(maker, mode, &key, &mut memory, 0..places.len());
            filling.copy_and_count(made, places, M::rows(&mut memory), &target)?;
            filling.check_signals(&mut signals)?;
        }
        Ok(filling.written())
    });
    written.map_err(raise)
}

/// Returns a coroutine that fills a buffer with IDs.
pub(crate) fn fill_async<'py, M: IdMaker>(
    maker: &Bound<'py, M>,
    buffer: &Bound<'py, PyAny>,
    argument: M::Argument,
) -> CallResult<'py> {
    let (key, held) = (maker.get().key(argument)?, maker.clone().unbind());
    let mut memory = maker.get().memory();
    let rows = M::rows(&mut memory);
    let target = Target::from_value(buffer, rows.item())?;
    rows.reserve(target.count().min(IDS_PER_YIELD))?;
    let call = async move {
        let mut filling = FillProgress::new(target.count());
        while let Some(places) = filling.next(IDS_PER_YIELD) {
            yield_between_blocks(&places).await;
            let made = write_ids_async(held.get(), &key, &mut memory, 0..places.len()).await;
            filling.copy_and_count(made, places, M::rows(&mut memory), &target)?;
        }
        Ok(())
    };
    coroutine(maker.py(), OtherThreads::Run, call, |py, ()| Ok(py.None().into_bound(py)))
}
