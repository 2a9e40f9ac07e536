//! Warns of a generator that would repeat the IDs of another one of this process.

use std::{
    collections::HashMap,
    ffi::CString,
    ops::Range,
    sync::{Arc, Mutex, Weak},
};

use pyo3::{exceptions::PyRuntimeWarning, prelude::*};

/// A time span in which only one generator may use something; it lives until its generator is closed or dropped.
pub(crate) struct Claim(Mutex<Option<Range<i64>>>);

/// Claims, by the name of the thing claimed. No thread waits for the lock, so a forked child cannot hang on it: without
/// the lock there is no warning.
static CLAIMS: Mutex<Option<HashMap<String, Vec<Weak<Claim>>>>> = Mutex::new(None);

impl Claim {
    /// A claim on `what` for a time span, whose end is exclusive.
    ///
    /// # Errors
    /// The warning that another generator has a claim on it for a part of that time, if warnings are errors.
    pub(crate) fn on(
        py: Python<'_>,
        what: String,
        time: Range<i64>,
        warning: &str,
    ) -> PyResult<Arc<Self>> {
        let claim = Arc::new(Self(Mutex::new(Some(time))));
        if claim.enter(what) {
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(warning)?, 1)?;
        }
        Ok(claim)
    }

    /// Moves the end later.
    pub(crate) fn extend(&self, end: i64) {
        if let Ok(mut time) = self.0.try_lock()
            && let Some(time) = &mut *time
        {
            time.end = time.end.max(end);
        }
    }

    /// Ends the claim.
    pub(crate) fn end(&self) {
        if let Ok(mut time) = self.0.try_lock() {
            *time = None;
        }
    }

    /// Adds the claim to all others; returns whether one of them overlaps it.
    fn enter(self: &Arc<Self>, what: String) -> bool {
        let Ok(mut claims) = CLAIMS.try_lock() else { return false };
        let claims = claims.get_or_insert_default();
        if claims.len() == claims.capacity() {
            claims.retain(|_, others| others.iter().any(|other| other.strong_count() > 0));
        }
        let others = claims.entry(what).or_default();
        others.retain(|other| other.upgrade().is_some_and(|other| other.time().is_some()));
        let is_twin = others.iter().filter_map(Weak::upgrade).any(|other| self.overlaps(&other));
        others.push(Arc::downgrade(self));
        is_twin
    }

    fn overlaps(&self, other: &Self) -> bool {
        let (Some(one), Some(other)) = (self.time(), other.time()) else { return false };
        one.start < other.end && other.start < one.end
    }

    fn time(&self) -> Option<Range<i64>> {
        self.0.try_lock().ok()?.clone()
    }
}
