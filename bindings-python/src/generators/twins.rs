//! Warns of a generator that can generate the same ID as another one of this process. The core compares them.

use std::{
    collections::{HashMap, HashSet},
    ffi::CString,
    sync::{Arc, Mutex, Weak},
};

use pyo3::{exceptions::PyRuntimeWarning, prelude::*};

/// The name of the group of generators that may generate the same IDs.
pub(crate) struct Identity {
    /// Only generators of one group are compared, so that many generators are created as fast as few.
    pub(crate) group: String,
    /// The key for which a warning is emitted only once.
    pub(crate) key: String,
}

impl From<String> for Identity {
    fn from(key: String) -> Self {
        Self { group: key.clone(), key }
    }
}

/// The generators of an ID format in this process. No thread waits for the lock, so a forked child cannot hang on it: without
/// the lock there is no warning.
pub(crate) struct Generators<G> {
    groups: Mutex<Option<HashMap<String, Group<G>>>>,
    may_repeat: fn(&G, &G) -> bool,
}

/// The generators that are compared.
struct Group<G> {
    members: Vec<Weak<G>>,
    /// The keys for which a warning was emitted.
    warned_of: HashSet<String>,
}

impl<G> Generators<G> {
    /// No generators yet. `may_repeat` is the core's comparison.
    pub(crate) const fn new(may_repeat: fn(&G, &G) -> bool) -> Self {
        Self { groups: Mutex::new(None), may_repeat }
    }

    /// Adds a new generator.
    ///
    /// # Arguments
    /// - `same`, `remedy`: the identity and what to do, for the warning.
    ///
    /// # Errors
    /// The warning that another generator can generate the same ID, if warnings are errors.
    pub(crate) fn add(
        &self,
        py: Python<'_>,
        generator: &Arc<G>,
        identity: impl Into<Identity>,
        same: impl FnOnce() -> String,
        remedy: &str,
    ) -> PyResult<()> {
        let identity = identity.into();
        if self.enter(generator, &identity) {
            let warning = format!(
                "another generator of this process has the same {}: they repeat each other's IDs; {remedy}",
                same()
            );
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(warning)?, 1)?;
            self.note(identity);
        }
        Ok(())
    }

    /// Adds a generator to its group. Returns whether one of the others can generate the same ID and no warning was emitted for
    /// the identity yet.
    fn enter(&self, generator: &Arc<G>, Identity { group, key }: &Identity) -> bool {
        let Ok(mut groups) = self.groups.try_lock() else { return false };
        let groups = groups.get_or_insert_default();
        if groups.len() == groups.capacity() {
            groups.retain(|_, group| {
                !group.warned_of.is_empty()
                    || group.members.iter().any(|other| other.strong_count() > 0)
            });
        }
        let Group { members, warned_of } = groups.entry(group.clone()).or_default();
        members.retain(|other| other.strong_count() > 0);
        let may_repeat = |other: Arc<G>| (self.may_repeat)(generator, &other);
        let is_twin = members.iter().filter_map(Weak::upgrade).any(may_repeat);
        members.push(Arc::downgrade(generator));
        is_twin && !warned_of.contains(key)
    }

    /// Records that a warning was emitted for an identity. This is not called if warnings are errors, because the generator was
    /// then not created.
    fn note(&self, Identity { group, key }: Identity) {
        if let Ok(mut groups) = self.groups.try_lock() {
            groups.get_or_insert_default().entry(group).or_default().warned_of.insert(key);
        }
    }
}

impl<G> Default for Group<G> {
    fn default() -> Self {
        Self { members: Vec::new(), warned_of: HashSet::new() }
    }
}
