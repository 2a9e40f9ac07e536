//! Warns about a generator that can generate the same ID as another generator of this process. The core compares the
//! generators.
//!
//! This is a warning and not an error, because tests create such generators on purpose, and a program may create a
//! generator before it drops the previous one. The warning appears once per identity. Otherwise, a program that creates a
//! generator for each request would fill its log. It is a `RuntimeWarning`, because Python hides `ResourceWarning` by
//! default.

use std::{
    collections::{HashMap, HashSet},
    ffi::CString,
    sync::{Arc, Mutex, Weak},
};

use pyo3::{exceptions::PyRuntimeWarning, prelude::*};

/// Identifies generators that may generate the same IDs.
pub(crate) struct Identity {
    /// Only generators in the same group are compared, so that creating a generator stays fast when many exist.
    pub(crate) group: String,
    /// A warning is emitted only once for each key.
    pub(crate) key: String,
}

impl From<String> for Identity {
    fn from(key: String) -> Self {
        Self { group: key.clone(), key }
    }
}

/// All generators of an ID format in this process. No thread blocks on the lock, so a forked child cannot deadlock on it.
/// If the lock is not available when a generator is created, no warning is emitted.
pub(crate) struct GeneratorRegistry<G> {
    groups: Mutex<Option<HashMap<String, GeneratorGroup<G>>>>,
    may_repeat: fn(&G, &G) -> bool,
}

/// A group of generators that are compared with each other.
struct GeneratorGroup<G> {
    members: Vec<Weak<G>>,
    /// The keys for which a warning has been emitted.
    warned_of: HashSet<String>,
}

impl<G> GeneratorRegistry<G> {
    /// Creates an empty registry. `may_repeat` is the core's function that compares two generators.
    pub(crate) const fn new(may_repeat: fn(&G, &G) -> bool) -> Self {
        Self { groups: Mutex::new(None), may_repeat }
    }

    /// Adds a new generator.
    ///
    /// # Arguments
    /// - `same`, `remedy`: the parts of the warning that state what the generators have in common and how to resolve the
    ///   conflict.
    ///
    /// # Errors
    /// Returns the warning as an exception if warnings are errors.
    pub(crate) fn add(
        &self,
        py: Python<'_>,
        generator: &Arc<G>,
        identity: impl Into<Identity>,
        same: impl FnOnce() -> String,
        remedy: &str,
    ) -> PyResult<()> {
        let identity = identity.into();
        if self.add_to_group(generator, &identity) {
            let warning = format!(
                "another generator of this process has the same {}: they repeat each other's IDs; {remedy}",
                same()
            );
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(warning)?, 1)?;
            self.record_warning(identity);
        }
        Ok(())
    }

    /// Adds a generator to its group. Returns whether a warning is due. A warning is due if another generator in the group
    /// can generate the same ID, and no warning has been emitted for this identity yet.
    fn add_to_group(&self, generator: &Arc<G>, Identity { group, key }: &Identity) -> bool {
        let Ok(mut groups) = self.groups.try_lock() else { return false };
        let groups = groups.get_or_insert_default();
        // Remove groups without live generators only when the map would grow, so that an insertion takes amortized constant
        // time. Keep a group for which a warning was emitted, because the warning must not be repeated.
        if groups.len() == groups.capacity() {
            groups.retain(|_, group| {
                !group.warned_of.is_empty()
                    || group.members.iter().any(|other| other.strong_count() > 0)
            });
        }
        let GeneratorGroup { members, warned_of } = groups.entry(group.clone()).or_default();
        members.retain(|other| other.strong_count() > 0);
        let may_repeat = |other: Arc<G>| (self.may_repeat)(generator, &other);
        let has_conflict = members.iter().filter_map(Weak::upgrade).any(may_repeat);
        members.push(Arc::downgrade(generator));
        has_conflict && !warned_of.contains(key)
    }

    /// Records that a warning was emitted for an identity. If warnings are errors, this function is not called, because the
    /// generator is not created.
    fn record_warning(&self, Identity { group, key }: Identity) {
        if let Ok(mut groups) = self.groups.try_lock() {
            groups.get_or_insert_default().entry(group).or_default().warned_of.insert(key);
        }
    }
}

impl<G> Default for GeneratorGroup<G> {
    fn default() -> Self {
        Self { members: Vec::new(), warned_of: HashSet::new() }
    }
}
