//! The options shared by the generators of all formats, as keyword arguments. Their names are defined only here.

use std::{borrow::Cow, fmt::Debug};

use polyflake::{Builder, Error, ErrorKind, SharingKey, Windowed};
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyDict};

use super::{clock::PythonClock, leased::mismatch};
use crate::{
    errors::with_python,
    ids::convert::{
        Argument, Callable, ClockArgument, MaxWait, OnExhaustedArgument, Span, StallArgument,
        TestClockArgument, raise_named,
    },
};

/// Options for the clock, the window and waiting.
pub(crate) struct Options {
    pub(crate) window: Option<Span>,
    clock: ClockArgument,
    test_clock: TestClockArgument,
    on_exhausted: OnExhaustedArgument,
    max_wait: Option<MaxWait>,
    on_stall: StallArgument,
    is_leased: bool,
}

/// A call's keyword arguments, except those that match the function's own parameters.
pub(crate) type Keywords<'a, 'py> = &'a Bound<'py, PyDict>;

/// The name of a function, and the keywords that the function handles itself.
pub(crate) type FunctionKeywords = (&'static str, &'static [&'static str]);

/// The keywords shared by all formats.
const SHARED_KEYWORDS: [&str; 6] =
    ["window", "clock", "test_clock", "on_exhausted", "max_wait", "on_stall"];

impl Options {
    /// Reads the options from a function's keywords.
    pub(crate) fn from_keywords(
        function: FunctionKeywords,
        keywords: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        Self::check_keyword(function, &SHARED_KEYWORDS, keywords)
    }

    fn check_keyword(
        function: FunctionKeywords,
        shared: &[&str],
        keywords: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        let mut options = Self {
            window: None,
            clock: None,
            test_clock: None,
            on_exhausted: OnExhaustedArgument::WAIT,
            max_wait: None,
            on_stall: None,
            is_leased: false,
        };
        for (name, value) in keywords.into_iter().flat_map(PyDictMethods::iter) {
            match &*name.to_string() {
                other if !shared.contains(&other) => {
                    return Err(unexpected_keyword(function, shared, other));
                }
                "window" => options.window = value.extract()?,
                "clock" => options.clock = value.extract()?,
                "test_clock" => options.test_clock = value.extract()?,
                "on_exhausted" => options.on_exhausted = value.extract()?,
                "max_wait" => options.max_wait = value.extract()?,
                _ => options.on_stall = value.extract()?,
            }
        }
        if options.clock.is_some() && options.test_clock.is_some() {
            let reason = "expected either `clock` or `test_clock`, found both";
            let error = Error::with_reason(ErrorKind::OutOfRange, reason);
            return Err(raise_named(error, "test_clock"));
        }
        Ok(options)
    }

    /// Reads the options of a format that does not accept a window.
    pub(crate) fn from_keywords_without_window(
        function: FunctionKeywords,
        keywords: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        Self::check_keyword(function, &SHARED_KEYWORDS[1..], keywords)
    }

    /// Returns the options by which generators are shared: the worker ID, and all others by name. Returns `None` for a
    /// generator with a clock for tests, which is not shared. Callables are compared by identity, which a shared generator
    /// keeps alive.
    pub(crate) fn sharing_key(
        &self,
        worker: &impl Debug,
        own: &[(&'static str, &dyn Debug)],
    ) -> Option<SharingKey> {
        if self.test_clock.is_some() {
            return None;
        }
        let window = self.window.map(|Span { start, end }| (start.0, end.0));
        let clock = self.clock.as_ref().map(|clock| clock.0.0.as_ptr());
        let on_stall = self.on_stall.as_ref().map(|callback| callback.0.0.as_ptr());
        let shared: [(_, &dyn Debug); 5] = [
            ("window", &window),
            ("clock", &clock),
            ("on_exhausted", &self.on_exhausted.0),
            ("max_wait", &self.max_wait.map(|wait| wait.0)),
            ("on_stall", &on_stall),
        ];
        let all = own.iter().chain(&shared);
        let options = all.map(|(name, value)| (Cow::Borrowed(*name), format!("{value:?}")));
        Some(SharingKey { worker: format!("{worker:?}"), options: options.collect() })
    }

    /// Returns a builder with these options. `with_clock` creates the builder with the options' clock.
    pub(crate) fn builder<F: Windowed>(
        self,
        with_clock: impl FnOnce(PythonClock) -> Builder<F, PythonClock>,
    ) -> Builder<F, PythonClock> {
        let window = self.window;
        let builder = self.builder_without_window(with_clock);
        match window {
            Some(Span { start, end }) => builder.window(start, end),
            None => builder,
        }
    }

    /// Returns a function that creates the options for each grant's generator. The lease determines the window, and the
    /// generator reads the system clock.
    ///
    /// # Errors
    ///
    /// `lease_mismatch` if the caller passed a window or a clock.
    pub(crate) fn for_grants(self) -> PyResult<impl Fn() -> Self + Send + Sync + 'static> {
        if self.window.is_some() || self.clock.is_some() || self.test_clock.is_some() {
            return Err(mismatch("expected no window and no clock beside a lease, found one"));
        }
        let copy = |told: &Argument<Callable, _>| {
            with_python(|py| Argument::new(Callable(told.0.0.clone_ref(py))))
        };
        Ok(move || Self {
            on_stall: self.on_stall.as_ref().map(copy),
            clock: None,
            test_clock: None,
            is_leased: true,
            ..self
        })
    }

    pub(crate) fn builder_without_window<F>(
        self,
        with_clock: impl FnOnce(PythonClock) -> Builder<F, PythonClock>,
    ) -> Builder<F, PythonClock> {
        let builder = with_clock(PythonClock::new(self.clock, self.test_clock, self.on_stall));
        let builder = if self.is_leased { builder.unregistered() } else { builder };
        let builder = builder.on_exhausted(self.on_exhausted.0);
        match self.max_wait {
            Some(time) => builder.max_wait(time.into()),
            None => builder,
        }
    }
}

#[cold]
fn unexpected_keyword((function, own): FunctionKeywords, shared: &[&str], name: &str) -> PyErr {
    let known = [own, shared].concat().join(", ");
    PyTypeError::new_err(format!(
        "{function}() got an unexpected keyword argument '{name}', expected one of {known}"
    ))
}
