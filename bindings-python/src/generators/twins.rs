//! Warns of a generator that would repeat the IDs of another one of this process.

use std::{
    collections::HashMap,
    ffi::CString,
    ops::{Range, RangeInclusive},
    sync::{Arc, Mutex, Weak},
};

use pyo3::{exceptions::PyRuntimeWarning, prelude::*};

/// The IDs that only one generator may make: its time span, and its sequences or its range of numbers. It lives until its
/// generator is closed or dropped.
pub(crate) struct Claim {
    time: Mutex<Option<Range<i64>>>,
    numbers: RangeInclusive<u64>,
}

/// All numbers.
pub(crate) const ALL: RangeInclusive<u64> = 0..=u64::MAX;

/// The claims on one identity.
#[derive(Default)]
struct Identity {
    claims: Vec<Weak<Claim>>,
    /// `true` once a warning was given. It is given once for an identity.
    is_warned_of: bool,
}

/// Claims, by the name of the thing claimed. No thread waits for the lock, so a forked child cannot hang on it: without
/// the lock there is no warning.
static CLAIMS: Mutex<Option<HashMap<String, Identity>>> = Mutex::new(None);

impl Claim {
    /// A claim on the IDs of an identity.
    ///
    /// # Arguments
    /// - `key`: tells the identity from all others.
    /// - `time`: its end is exclusive.
    /// - `same`, `remedy`: the identity and what to do, for the warning.
    ///
    /// # Errors
    /// The warning that another generator has a claim on some of them, if warnings are errors.
    pub(crate) fn on(
        py: Python<'_>,
        key: String,
        (time, numbers): (Range<i64>, RangeInclusive<u64>),
        same: impl FnOnce() -> String,
        remedy: &str,
    ) -> PyResult<Arc<Self>> {
        let claim = Arc::new(Self { time: Mutex::new(Some(time)), numbers });
        if claim.enter(key.clone()) {
            let warning = format!(
                "another generator of this process has the same {}: they repeat each other's IDs; {remedy}",
                same()
            );
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(warning)?, 1)?;
            note(key);
        }
        Ok(claim)
    }

    /// Moves the end later.
    pub(crate) fn extend(&self, end: i64) {
        if let Ok(mut time) = self.time.try_lock()
            && let Some(time) = &mut *time
        {
            time.end = time.end.max(end);
        }
    }

    /// Ends the claim.
    pub(crate) fn end(&self) {
        if let Ok(mut time) = self.time.try_lock() {
            *time = None;
        }
    }

    /// Adds the claim to all others; returns whether one of them overlaps it, and no warning was given of the identity.
    fn enter(self: &Arc<Self>, key: String) -> bool {
        let Ok(mut identities) = CLAIMS.try_lock() else { return false };
        let identities = identities.get_or_insert_default();
        if identities.len() == identities.capacity() {
            identities.retain(|_, identity| {
                identity.is_warned_of
                    || identity.claims.iter().any(|other| other.strong_count() > 0)
            });
        }
        let Identity { claims, is_warned_of } = identities.entry(key).or_default();
        claims.retain(|other| other.upgrade().is_some_and(|other| other.time().is_some()));
        let is_twin = claims.iter().filter_map(Weak::upgrade).any(|other| self.overlaps(&other));
        claims.push(Arc::downgrade(self));
        is_twin && !*is_warned_of
    }

    fn overlaps(&self, other: &Self) -> bool {
        let (Some(time), Some(others)) = (self.time(), other.time()) else { return false };
        time.start < others.end
            && others.start < time.end
            && self.numbers.start() <= other.numbers.end()
            && other.numbers.start() <= self.numbers.end()
    }

    fn time(&self) -> Option<Range<i64>> {
        self.time.try_lock().ok()?.clone()
    }
}

/// Notes that a warning was given of an identity: not where warnings are errors, since its generator was not made.
fn note(key: String) {
    if let Ok(mut identities) = CLAIMS.try_lock() {
        identities.get_or_insert_default().entry(key).or_default().is_warned_of = true;
    }
}
