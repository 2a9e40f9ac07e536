//! Stores that this process has looked at: tables are made and conditions are probed once a process and store.

use std::{collections::BTreeMap, string::String, sync::Mutex};

use alloc::borrow::ToOwned;

/// What is known of stores, by their names.
pub(crate) struct Known<V>(Mutex<BTreeMap<String, V>>);

impl<V: Copy> Known<V> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Nothing is known while another thread looks: in the child of a fork that thread may be gone.
    pub(crate) fn get(&self, store: &str) -> Option<V> {
        self.0.try_lock().ok()?.get(store).copied()
    }

    pub(crate) fn put(&self, store: &str, value: V) {
        if let Ok(mut known) = self.0.try_lock() {
            known.insert(store.to_owned(), value);
        }
    }
}
