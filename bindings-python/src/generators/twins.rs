//! Warns of a generator that would repeat the IDs of another one of this process.

use std::{
    collections::{HashMap, HashSet},
    ffi::CString,
    ops::{Range, RangeInclusive},
    sync::{Arc, Mutex, Weak},
};

use pyo3::{exceptions::PyRuntimeWarning, prelude::*};

/// The IDs that only one generator may make: its time span, and its sequences or the numbers of each bindable. It lives until its
/// generator is closed or dropped.
pub(crate) struct Claim {
    time: Mutex<Option<Range<i64>>>,
    spans: Vec<RangeInclusive<i128>>,
}

/// The name of a thing claimed.
pub(crate) struct Identity {
    /// Only claims of one group are compared.
    pub(crate) group: String,
    /// A warning is given once for a key.
    pub(crate) key: String,
}

impl From<String> for Identity {
    fn from(key: String) -> Self {
        Self { group: key.clone(), key }
    }
}

/// The claims that are compared.
#[derive(Default)]
struct Group {
    claims: Vec<Weak<Claim>>,
    /// The keys of which a warning was given.
    warned_of: HashSet<String>,
}

/// Claims, by their group. No thread waits for the lock, so a forked child cannot hang on it: without
/// the lock there is no warning.
static CLAIMS: Mutex<Option<HashMap<String, Group>>> = Mutex::new(None);

impl Claim {
    /// A claim on the IDs of an identity.
    ///
    /// # Arguments
    /// - `time`: its end is exclusive.
    /// - `spans`: as many as the others of the group have.
    /// - `same`, `remedy`: the identity and what to do, for the warning.
    ///
    /// # Errors
    /// The warning that another generator has a claim on some of them, if warnings are errors.
    pub(crate) fn on(
        py: Python<'_>,
        identity: impl Into<Identity>,
        (time, spans): (Range<i64>, Vec<RangeInclusive<i128>>),
        same: impl FnOnce() -> String,
        remedy: &str,
    ) -> PyResult<Arc<Self>> {
        let claim = Arc::new(Self { time: Mutex::new(Some(time)), spans });
        let identity = identity.into();
        if claim.enter(&identity) {
            let warning = format!(
                "another generator of this process has the same {}: they repeat each other's IDs; {remedy}",
                same()
            );
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(warning)?, 1)?;
            note(identity);
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
    fn enter(self: &Arc<Self>, Identity { group, key }: &Identity) -> bool {
        let Ok(mut groups) = CLAIMS.try_lock() else { return false };
        let groups = groups.get_or_insert_default();
        if groups.len() == groups.capacity() {
            groups.retain(|_, group| {
                !group.warned_of.is_empty()
                    || group.claims.iter().any(|other| other.strong_count() > 0)
            });
        }
        let Group { claims, warned_of } = groups.entry(group.clone()).or_default();
        claims.retain(|other| other.upgrade().is_some_and(|other| other.time().is_some()));
        let is_twin = claims.iter().filter_map(Weak::upgrade).any(|other| self.overlaps(&other));
        claims.push(Arc::downgrade(self));
        is_twin && !warned_of.contains(key)
    }

    fn overlaps(&self, other: &Self) -> bool {
        let (Some(time), Some(others)) = (self.time(), other.time()) else { return false };
        let mut spans = self.spans.iter().zip(&other.spans);
        time.start < others.end
            && others.start < time.end
            && spans.all(|(one, other)| one.start() <= other.end() && other.start() <= one.end())
    }

    fn time(&self) -> Option<Range<i64>> {
        self.time.try_lock().ok()?.clone()
    }
}

/// Notes that a warning was given of an identity: not where warnings are errors, since its generator was not made.
fn note(Identity { group, key }: Identity) {
    if let Ok(mut groups) = CLAIMS.try_lock() {
        groups.get_or_insert_default().entry(group).or_default().warned_of.insert(key);
    }
}
