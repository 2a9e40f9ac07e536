//! Code that generators of all families share: their options, the size of a batch, their figures.

use core::time::Duration;

use polyflake::{Error, ErrorKind, Result, sno::OnExhausted};

use crate::{Scratch, protocol::slot};

/// The given options that all families share.
pub(crate) struct Shared {
    pub(crate) window: Option<(i64, i64)>,
    pub(crate) on_exhausted: Option<OnExhausted>,
    pub(crate) max_wait: Option<Duration>,
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
        Ok(Shared { window, on_exhausted, max_wait: max_wait.map(Duration::from_millis) })
    }
}

impl Shared {
    /// A builder's error, with the name of the option that it concerns. A bindable may also be called `start`, but the error for
    /// a value that does not fit it has no range.
    pub(crate) fn named(&self, error: Error) -> Error {
        let is_ranged = error.range().is_some();
        match (error.kind(), error.field()) {
            _ if self.window.is_none() => error,
            (_, Some("start" | "end")) if is_ranged => error.of("window"),
            (ErrorKind::UnknownField, Some("timestamp")) => error.of("window"),
            _ => error,
        }
    }
}

/// Passes the given options to a builder's methods of the same names.
macro_rules! give {
    ($builder:ident, $shared:ident, window) => {
        if let Some((start, end)) = $shared.window {
            $builder = $builder.window(start, end);
        }
        give!($builder, $shared);
    };
    ($builder:ident, $shared:ident) => {
        if let Some(on_exhausted) = $shared.on_exhausted {
            $builder = $builder.on_exhausted(on_exhausted);
        }
        if let Some(max_wait) = $shared.max_wait {
            $builder = $builder.max_wait(max_wait);
        }
    };
}

pub(crate) use give;

/// A second as a slot's number; NaN for none.
#[allow(clippy::cast_precision_loss, reason = "a time in seconds has 32 bits")]
pub(crate) fn seconds(second: Option<i64>) -> f64 {
    second.map_or(f64::NAN, |second| second as f64)
}
