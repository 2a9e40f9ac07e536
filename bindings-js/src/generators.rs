//! Code that the generators of all formats share: options, the batch size, and statistics.

use core::time::Duration;

use polyflake::{Builder, Error, ErrorKind, OnExhausted, Result, Windowed, clock::Clock};

use crate::{
    At, Host, Machine, Scratch,
    handles::{Object, gone},
    protocol::slot,
};

/// The options that all formats share, if the caller passed them.
pub(crate) struct Shared {
    pub(crate) window: Option<(i64, i64)>,
    pub(crate) on_exhausted: Option<OnExhausted>,
    pub(crate) max_wait: Option<Duration>,
    /// `false` with a lease, with a caller's clock, and on platforms whose clock does not advance during a call.
    pub(crate) skips_first_tick: bool,
}

impl Scratch {
    pub(crate) fn shared(&self) -> Result<Shared> {
        let window = self
            .given(slot::OPTIONS_WINDOW_START)
            .then(|| (self.time(slot::OPTIONS_WINDOW_START), self.time(slot::OPTIONS_WINDOW_END)));
        let how =
            self.optional(slot::OPTIONS_ON_EXHAUSTED, |s, at| s.integer(at, "onExhausted", 1))?;
        let on_exhausted =
            how.map(|how| if how == 0 { OnExhausted::Wait } else { OnExhausted::Error });
        let max_wait =
            self.optional(slot::OPTIONS_MAX_WAIT, |s, at| s.safe_integer(at, "maxWait"))?;
        let skips_first_tick =
            self.integer(slot::OPTIONS_SKIPS_FIRST_TICK, "skipsFirstTick", 1)? == 1;
        let max_wait = max_wait.map(Duration::from_millis);
        Ok(Shared { window, on_exhausted, max_wait, skips_first_tick })
    }
}

impl Shared {
    /// Returns a builder with these options except the window.
    pub(crate) fn give<F, C: Clock>(&self, mut builder: Builder<F, C>) -> Builder<F, C> {
        if let Some(on_exhausted) = self.on_exhausted {
            builder = builder.on_exhausted(on_exhausted);
        }
        if let Some(max_wait) = self.max_wait {
            builder = builder.max_wait(max_wait);
        }
        // A granted generator starts in the tick of its first call, as the option requires.
        if self.skips_first_tick { builder } else { builder.granted() }
    }

    /// Returns a builder with all of these options.
    pub(crate) fn give_all<F: Windowed, C: Clock>(&self, builder: Builder<F, C>) -> Builder<F, C> {
        let builder = self.give(builder);
        match self.window {
            Some((start, end)) => builder.window(start, end),
            None => builder,
        }
    }

    /// Returns a builder's error with the name of the option that it concerns. A bindable may be named `start`, too, but the
    /// error for an invalid value of a bindable has no range.
    pub(crate) fn named(&self, error: Error) -> Error {
        let is_ranged = error.range().is_some();
        match (error.kind(), error.field()) {
            _ if self.window.is_none() => error,
            (_, Some("start" | "end")) if is_ranged => error.with_field("window"),
            (ErrorKind::UnknownField, Some("timestamp")) => error.with_field("window"),
            _ => error,
        }
    }
}

/// Converts a time in seconds to the number for a slot, with NaN for `None`.
#[allow(clippy::cast_precision_loss, reason = "a time in seconds has 32 bits")]
pub(crate) fn seconds(second: Option<i64>) -> f64 {
    second.map_or(f64::NAN, |second| second as f64)
}

/// Calls on generators of any format. They also take a handle.
#[cfg(any(feature = "sno", feature = "randflake", feature = "hotguid", feature = "layout"))]
impl<C: Host> Machine<C> {
    /// Takes the new end of the window.
    #[cfg(any(feature = "sno", feature = "hotguid", feature = "layout"))]
    pub fn extend(&self, at: At) -> Result<()> {
        let (object, end) = (self.object(at)?, at.time(slot::EXTENSION_END));
        match &*object {
            #[cfg(feature = "sno")]
            Object::Sno(generator) => generator.extend_window(end),
            #[cfg(feature = "hotguid")]
            Object::HotGuid(generator) => generator.extend_window(end),
            #[cfg(feature = "layout")]
            Object::LayoutGenerator(generator) => generator.extend_window(end),
            _ => Err(gone()),
        }
    }

    /// Takes the handle of another generator of the same format. Writes 1 if both can generate the same ID, otherwise 0.
    pub fn may_repeat(&self, at: At) -> Result<()> {
        // Nothing here calls back into JavaScript, so the list can stay borrowed.
        let handles = self.handles.borrow();
        let object = |slot| handles.get(at.place(slot)).and_then(Option::as_deref);
        let may_repeat = match (object(slot::OBJECT_HANDLE), object(slot::OTHER_HANDLE)) {
            #[cfg(feature = "sno")]
            (Some(Object::Sno(one)), Some(Object::Sno(other))) => one.may_repeat(other),
            #[cfg(feature = "randflake")]
            (Some(Object::Randflake(one)), Some(Object::Randflake(other))) => {
                one.generator.may_repeat(&other.generator)
            }
            #[cfg(feature = "layout")]
            (Some(Object::LayoutGenerator(one)), Some(Object::LayoutGenerator(other))) => {
                one.may_repeat(other)
            }
            _ => false,
        };
        at.put_number(slot::CONFLICT_EXISTS, may_repeat.into());
        Ok(())
    }

    /// Reports that the process was restored from an image of its memory.
    pub fn after_restore(&self, _at: At) -> Result<()> {
        C::after_restore()
    }

    /// Ends a generator with a lease. Writes the end of the latest tick that it may have used, in Unix milliseconds, or NaN if
    /// it used none. A sno generator keeps its partition only if it is closed, because its snapshot needs the partition.
    #[allow(clippy::cast_precision_loss, reason = "milliseconds of a tick")]
    pub fn seal(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        let used = match &*object {
            #[cfg(feature = "sno")]
            Object::Sno(generator) => generator.seal(),
            #[cfg(feature = "randflake")]
            Object::Randflake(flakes) => flakes.generator.seal(),
            #[cfg(feature = "hotguid")]
            Object::HotGuid(generator) => generator.seal(),
            #[cfg(feature = "layout")]
            Object::LayoutGenerator(generator) => generator.seal(),
            _ => Err(gone()),
        };
        at.put_number(slot::SEAL_END, used?.map_or(f64::NAN, |span| span.end as f64));
        Ok(())
    }
}
