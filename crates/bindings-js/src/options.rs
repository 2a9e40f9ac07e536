//! The options shared by the builders of all formats, and functions that read options.

use core::time::Duration;

use polyflake::{Builder, Error, ErrorKind, OnExhausted, Result, Windowed, clock::Clock};

use crate::{
    Scratch,
    protocol::register,
    scratch::{MAX_SAFE_INTEGER, integer, low_16_bits, time},
};

/// Returns an option that is an integer in `0..=max`, or `None` if it is missing. `max` fits in 53 bits.
pub(crate) fn optional_integer(number: f64, field: &'static str, max: u64) -> Result<Option<u64>> {
    if number.is_nan() { Ok(None) } else { integer(number, field, max).map(Some) }
}

/// Works like [`optional_integer`], for 16-bit integers.
#[inline(never)]
pub(crate) fn optional_word(number: f64, field: &'static str) -> Result<Option<u16>> {
    Ok(optional_integer(number, field, u16::MAX.into())?.map(low_16_bits))
}

/// The options shared by all formats. Each is `None` if the caller omitted it, except for the flags.
pub(crate) struct SharedOptions {
    pub(crate) window: Option<(i64, i64)>,
    pub(crate) on_exhausted: Option<OnExhausted>,
    pub(crate) max_wait: Option<Duration>,
    /// Whether a generator skips its first tick. This is `false` with a lease, with a clock for tests, and on platforms
    /// whose clock does not advance during a call.
    pub(crate) skips_first_tick: bool,
    /// Whether other generators may have the same worker ID. This is `true` with a lease and with a clock for tests.
    pub(crate) is_unregistered: bool,
}

impl Scratch {
    /// Reads the options: the start and the end of the window, whether to fail instead of waiting, the longest wait in
    /// milliseconds, and how the generator begins: 0 if other generators may have its worker ID, 1 to skip the first tick,
    /// and 2 to use it.
    pub(crate) fn shared_options(&self) -> Result<SharedOptions> {
        let [start, end, fails, max_wait, beginning] = self.values(register::VALUE);
        let beginning = integer(beginning, "beginning", 2)?;
        let max_wait = optional_integer(max_wait, "maxWait", MAX_SAFE_INTEGER)?;
        Ok(SharedOptions {
            window: (!start.is_nan()).then(|| (time(start), time(end))),
            on_exhausted: optional_integer(fails, "onExhausted", 1)?
                .map(|fails| if fails == 0 { OnExhausted::Wait } else { OnExhausted::Error }),
            max_wait: max_wait.map(Duration::from_millis),
            skips_first_tick: beginning == 1,
            is_unregistered: beginning == 0,
        })
    }
}

impl SharedOptions {
    /// Returns a builder with these options, except for the window.
    pub(crate) fn apply_to_builder<F, C: Clock>(&self, builder: Builder<F, C>) -> Builder<F, C> {
        let mut builder = if self.is_unregistered { builder.unregistered() } else { builder };
        if let Some(on_exhausted) = self.on_exhausted {
            builder = builder.on_exhausted(on_exhausted);
        }
        if let Some(max_wait) = self.max_wait {
            builder = builder.max_wait(max_wait);
        }
        // If `skips_first_tick` is `false`, the generator must start in the tick of its first call. `granted` has this
        // effect.
        if self.skips_first_tick { builder } else { builder.granted() }
    }

    /// Returns a builder with all of these options.
    pub(crate) fn apply_all<F: Windowed, C: Clock>(&self, builder: Builder<F, C>) -> Builder<F, C> {
        let builder = self.apply_to_builder(builder);
        match self.window {
            Some((start, end)) => builder.window(start, end),
            None => builder,
        }
    }

    /// Returns a builder's error with the name of the option that caused it. An error about `start` or `end` concerns the
    /// window only if the error contains a range of valid values. A bindable field may also be named `start` or `end`, but
    /// the error for an invalid bindable value contains no range.
    pub(crate) fn with_option_name(&self, error: Error) -> Error {
        let is_ranged = error.range().is_some();
        match (error.kind(), error.field()) {
            _ if self.window.is_none() => error,
            (_, Some("start" | "end")) if is_ranged => error.with_field("window"),
            (ErrorKind::UnknownField, Some("timestamp")) => error.with_field("window"),
            _ => error,
        }
    }
}
