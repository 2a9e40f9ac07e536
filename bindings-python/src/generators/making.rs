//! Generates IDs: the code that the generators of all formats share, used by the methods of [`makes_ids`].

mod methods;

use std::{future::Future, ops::Range};

pub(crate) use methods::{generates, makes, makes_ids, makes_texts};
use polyflake::{Error, Result};
use polyflake_columns::{Packed, Plain, grow, truncated};
use pyo3::{PyClass, prelude::*, pyclass::boolean_struct::True};

use super::{
    awaited::{Threads, coroutine, give_way},
    clock::Signals,
};
use crate::{
    errors::{detached, raise},
    ids::{
        array::{self, Holds},
        convert::Count,
        memory::{check_bytes, room, zeroed},
        target::{Filling, Item, Target},
    },
};

/// Whether a call may wait.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    /// Waits as the generator's options specify.
    Wait,
    /// Never waits.
    Try,
}

/// A generator of the core, without or with a lease.
pub(crate) trait Generates: Send + Sync {
    /// The caller's argument for the IDs, in the form that the core accepts.
    type Key: Send + Sync + 'static;
    type Id: Send + 'static;

    fn one(&self, mode: Mode, key: &Self::Key) -> Result<Self::Id>;

    fn one_async(&self, key: &Self::Key) -> impl Future<Output = Result<Self::Id>> + Send;
}

/// A generator that writes IDs into slices of `T`.
pub(crate) trait Fills<T>: Generates {
    /// Returns the number of IDs written, or `None` if `items` was filled.
    fn write(&self, mode: Mode, key: &Self::Key, items: &mut [T]) -> Result<Option<usize>>;

    fn write_async(
        &self,
        key: &Self::Key,
        items: &mut [T],
    ) -> impl Future<Output = Result<()>> + Send;
}

/// A class of generators.
pub(crate) trait Makes: PyClass<Frozen = True> + Sync {
    /// The caller's argument for the IDs: a metabyte, a shard key or bindables.
    type Param;
    type Source: Generates;

    fn source(&self) -> &Self::Source;

    /// Converts the argument to the form that the core accepts.
    fn key(&self, param: Self::Param) -> Key<Self>;

    /// Returns the Python object for an ID.
    fn object(py: Python<'_>, id: Id<Self>) -> PyResult<Bound<'_, PyAny>>;

    /// Returns the exception for the error of a call with a key.
    fn refused(_: &Key<Self>, error: Error) -> PyErr {
        raise(error)
    }
}

pub(crate) type Key<M> = <<M as Makes>::Source as Generates>::Key;
pub(crate) type Id<M> = <<M as Makes>::Source as Generates>::Id;

/// A class whose IDs have a string form.
pub(crate) trait MakesTexts: Makes {
    fn text(py: Python<'_>, id: Id<Self>) -> PyResult<Bound<'_, PyAny>>;
}

/// The number of IDs generated before the event loop gets another turn. Generating them takes at most a millisecond.
const AT_ONCE: usize = 1 << 14;

/// The number of bytes of IDs generated between two checks for signals. Generating them takes at most about 10 ms.
const BLOCK: usize = 1 << 21;

/// Gives the event loop a turn, except before the first block of a batch.
async fn give_way_after(places: &Range<usize>) {
    if places.start > 0 {
        give_way().await;
    }
}

/// Memory for many IDs, the number of items in an ID, and a function that creates the array.
pub(crate) struct Rows<T> {
    pub(crate) item: Item,
    pub(crate) items: usize,
    pub(crate) array: fn(Python<'_>, Vec<T>, usize) -> PyResult<Bound<'_, PyAny>>,
}

impl<T: Plain> Rows<T> {
    /// Describes memory with one item for each ID, for arrays of class `A`.
    pub(crate) fn of<A: Holds<T>>(item: Item) -> Self
    where
        T: array::Item,
    {
        Self {
            item,
            items: 1,
            array: |py, ids, _| Ok(array::array::<A, T>(py, Packed::new(ids))?.into_any()),
        }
    }

    /// Returns memory for `n` IDs. For a single block, it contains items that are to be overwritten. For more, it is empty,
    /// with enough capacity.
    fn room(&self, n: Count) -> PyResult<Vec<T>> {
        let n = n.0 as usize;
        check_bytes(n, self.items * size_of::<T>())?;
        if n <= self.block() { zeroed(n * self.items) } else { room(n * self.items) }
    }

    /// Returns the part of `ids` at `places`, growing the vector if needed.
    fn part<'i>(&self, ids: &'i mut Vec<T>, places: &Range<usize>) -> &'i mut [T] {
        grow(ids, places.end * self.items);
        &mut ids[places.start * self.items..places.end * self.items]
    }

    /// Returns the number of IDs in a block.
    fn block(&self) -> usize {
        (BLOCK / (self.items * size_of::<T>())).max(1)
    }
}

/// A class that can generate many IDs at once.
pub(crate) trait MakesMany: Makes {
    /// Runs a function with memory for its IDs.
    fn with_rows<W: WithRows<Self>>(&self, work: W) -> PyResult<W::Made>;
}

/// A function that uses memory for a class's IDs, whose items may have any type.
pub(crate) trait WithRows<M: Makes> {
    type Made;

    fn with<T: Plain + Send + Sync>(self, rows: Rows<T>) -> PyResult<Self::Made>
    where
        M::Source: Fills<T>;
}

/// The Python object that a call returns.
pub(crate) type Made<'py> = PyResult<Bound<'py, PyAny>>;

/// Generates one ID.
#[inline]
pub(crate) fn one<'py, M: Makes>(
    py: Python<'py>,
    maker: &M,
    mode: Mode,
    param: M::Param,
) -> Made<'py> {
    let key = maker.key(param);
    M::object(py, maker.source().one(mode, &key).map_err(|error| M::refused(&key, error))?)
}

/// Generates one ID, and returns its string.
#[inline]
pub(crate) fn text<'py, M: MakesTexts>(
    py: Python<'py>,
    maker: &M,
    mode: Mode,
    param: M::Param,
) -> Made<'py> {
    let key = maker.key(param);
    M::text(py, maker.source().one(mode, &key).map_err(|error| M::refused(&key, error))?)
}

/// Returns a coroutine that generates one ID, or its string.
pub(crate) fn later<'py, M: Makes>(
    maker: &Bound<'py, M>,
    param: M::Param,
    object: fn(Python<'_>, Id<M>) -> PyResult<Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (key, held) = (maker.get().key(param), maker.clone().unbind());
    let call = async move {
        let made = held.get().source().one_async(&key).await;
        (made, key)
    };
    coroutine(maker.py(), Threads::Wait, call, move |py, (made, key)| {
        Ok(object(py, made.map_err(|error| M::refused(&key, error))?)?.unbind())
    })
}

/// Generates an array of `n` IDs, or of at most `n` IDs in [`Mode::Try`].
pub(crate) fn many<'py, M: MakesMany>(
    py: Python<'py>,
    maker: &M,
    mode: Mode,
    n: Count,
    param: M::Param,
) -> Made<'py> {
    maker.with_rows(Many { py, maker, mode, n, param })
}

struct Many<'a, 'py, M: Makes> {
    py: Python<'py>,
    maker: &'a M,
    mode: Mode,
    n: Count,
    param: M::Param,
}

impl<'py, M: Makes> WithRows<M> for Many<'_, 'py, M> {
    type Made = Bound<'py, PyAny>;

    fn with<T: Plain + Send + Sync>(self, rows: Rows<T>) -> PyResult<Self::Made>
    where
        M::Source: Fills<T>,
    {
        let Self { py, maker, mode, n, param } = self;
        let (key, mut ids) = (maker.key(param), rows.room(n)?);
        let n = n.0 as usize;
        let written = detached(py, || {
            // A single block does not need its progress counted, which would take 80 ns.
            if ids.len() == n * rows.items {
                return Ok(maker.source().write(mode, &key, &mut ids)?.unwrap_or(n));
            }
            let (mut filling, mut signals) = (Filling::new(n), Signals::default());
            while let Some(places) = filling.next(rows.block()) {
                let part = rows.part(&mut ids, &places);
                let made = maker.source().write(mode, &key, part);
                filling.wrote(made.map(|made| made.unwrap_or(places.len())), places)?;
                filling.look(&mut signals)?;
            }
            Ok(filling.written())
        });
        let written = written.map_err(|error| M::refused(&key, error))?;
        (rows.array)(py, truncated(ids, written * rows.items), rows.items)
    }
}

/// Returns a coroutine that generates an array of `n` IDs.
pub(crate) fn many_later<'py, M: MakesMany>(
    maker: &Bound<'py, M>,
    n: Count,
    param: M::Param,
) -> Made<'py> {
    maker.get().with_rows(ManyLater { maker, n, param })
}

struct ManyLater<'a, 'py, M: Makes> {
    maker: &'a Bound<'py, M>,
    n: Count,
    param: M::Param,
}

impl<'py, M: Makes> WithRows<M> for ManyLater<'_, 'py, M> {
    type Made = Bound<'py, PyAny>;

    fn with<T: Plain + Send + Sync>(self, rows: Rows<T>) -> PyResult<Self::Made>
    where
        M::Source: Fills<T>,
    {
        let (maker, held) = (self.maker.get(), self.maker.clone().unbind());
        let (key, mut ids) = (maker.key(self.param), rows.room(self.n)?);
        let (array, items) = (rows.array, rows.items);
        let call = async move {
            let mut filling = Filling::new(self.n.0 as usize);
            while let Some(places) = filling.next(AT_ONCE) {
                give_way_after(&places).await;
                let part = rows.part(&mut ids, &places);
                let made = held.get().source().write_async(&key, part).await;
                if let Err(error) = filling.wrote(made.map(|()| places.len()), places) {
                    return (Err(error), key);
                }
            }
            (Ok(ids), key)
        };
        coroutine(self.maker.py(), Threads::Run, call, move |py, (made, key)| {
            let ids = made.map_err(|error| M::refused(&key, error))?;
            Ok(array(py, ids, items)?.unbind())
        })
    }
}

/// Fills a buffer with IDs and returns the number written. In [`Mode::Try`], it may fill only the start of the buffer.
pub(crate) fn fill<M: MakesMany>(
    maker: &M,
    mode: Mode,
    buffer: &Bound<'_, PyAny>,
    param: M::Param,
) -> PyResult<usize> {
    maker.with_rows(Fill { maker, mode, buffer, param })
}

struct Fill<'a, 'py, M: Makes> {
    maker: &'a M,
    mode: Mode,
    buffer: &'a Bound<'py, PyAny>,
    param: M::Param,
}

impl<M: Makes> WithRows<M> for Fill<'_, '_, M> {
    type Made = usize;

    fn with<T: Plain + Send + Sync>(self, rows: Rows<T>) -> PyResult<usize>
    where
        M::Source: Fills<T>,
    {
        let Self { maker, mode, buffer, param } = self;
        let key = maker.key(param);
        let target = Target::of(buffer, rows.item)?;
        let make = |ids: &mut [T]| maker.source().write(mode, &key, ids);
        target.fill(buffer.py(), |error| M::refused(&key, error), make)
    }
}

/// Returns a coroutine that fills a buffer with IDs.
pub(crate) fn fill_later<'py, M: MakesMany>(
    maker: &Bound<'py, M>,
    buffer: &Bound<'py, PyAny>,
    param: M::Param,
) -> Made<'py> {
    maker.get().with_rows(FillLater { maker, buffer, param })
}

struct FillLater<'a, 'py, M: Makes> {
    maker: &'a Bound<'py, M>,
    buffer: &'a Bound<'py, PyAny>,
    param: M::Param,
}

impl<'py, M: Makes> WithRows<M> for FillLater<'_, 'py, M> {
    type Made = Bound<'py, PyAny>;

    fn with<T: Plain + Send + Sync>(self, rows: Rows<T>) -> PyResult<Self::Made>
    where
        M::Source: Fills<T>,
    {
        let (maker, held) = (self.maker.get(), self.maker.clone().unbind());
        let (key, target) = (maker.key(self.param), Target::of(self.buffer, rows.item)?);
        let mut block = target.block::<T>(AT_ONCE)?;
        let call = async move {
            let mut filling = Filling::new(target.count());
            while let Some(places) = filling.next(AT_ONCE) {
                give_way_after(&places).await;
                let part = &mut block[..places.len() * rows.items];
                let made = held.get().source().write_async(&key, part).await;
                let made = made.map(|()| places.len());
                if let Err(error) = target.take(&mut filling, places, part, made) {
                    return (Err(error), key);
                }
            }
            (Ok(()), key)
        };
        coroutine(self.maker.py(), Threads::Run, call, move |py, (made, key)| {
            made.map_err(|error| M::refused(&key, error)).map(|()| py.None())
        })
    }
}
