//! Shares the generators with explicit worker IDs in the bindings. A process has at most one live generator for a worker ID,
//! so a generator that is constructed again with equal options is another handle on the same one. A program that creates a
//! generator for each request, or runs a notebook cell twice, therefore neither waits nor repeats an ID.
//!
//! The registry rejects all other generators with the worker ID (`worker_id_in_use`). Options are compared as strings, and
//! callables by identity. A shared generator holds its callables, so their addresses are not reused while it is alive.

use alloc::{borrow::Cow, format, string::String, sync::Arc, vec::Vec};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, TryLockError, Weak},
    thread,
};

use crate::{Error, ErrorKind, Result};

/// The options of a generator, by which the bindings share it.
#[derive(Debug)]
pub struct SharingKey {
    /// The format and the worker ID.
    pub worker: String,
    /// The names and the values of all other options, in an order that depends on the format alone.
    pub options: Vec<(Cow<'static, str>, String)>,
}

impl SharingKey {
    /// Returns the name of the first option that differs.
    fn difference(&self, other: &Self) -> Option<Cow<'static, str>> {
        let differs = self.options.iter().zip(&other.options).find(|(one, other)| one != other);
        differs.map(|((name, _), _)| name.clone())
    }
}

/// Generators by their worker IDs.
type ByWorker<G> = Option<HashMap<String, Vec<(SharingKey, Weak<G>)>>>;

/// The live generators of an ID format that can be shared.
#[derive(Debug)]
pub struct SharedGenerators<G> {
    by_worker: Mutex<ByWorker<G>>,
    is_usable: fn(&G) -> bool,
}

impl<G> SharedGenerators<G> {
    /// Creates an empty registry. `is_usable` returns whether a generator is open and belongs to this process.
    pub const fn new(is_usable: fn(&G) -> bool) -> Self {
        Self { by_worker: Mutex::new(None), is_usable }
    }

    /// Returns the live generator with these options, or builds it. Generators without a key are never shared.
    ///
    /// `build` must not run a caller's code, because the lock is held. It must also not drop the last reference to a
    /// caller's object, whose destructor may create a generator. The call's own arguments keep its callables alive.
    ///
    /// # Errors
    /// Returns the errors of `build`. For `worker_id_in_use`, the field is the option that differs from those of the live
    /// generator, if that generator is shared.
    pub fn get_or_build(
        &self,
        key: Option<SharingKey>,
        build: impl FnOnce() -> Result<G>,
    ) -> Result<Arc<G>> {
        let (Some(key), Some(mut locked)) = (key, self.lock()) else {
            return build().map(Arc::new);
        };
        let generators = locked.get_or_insert_default();
        // An unusable generator may be freed when this list is dropped, after the lock.
        let live: Vec<_> = generators
            .get(&key.worker)
            .into_iter()
            .flatten()
            .filter_map(|(other, generator)| Some((other, generator.upgrade()?)))
            .map(|(other, generator)| (key.difference(other), generator))
            .collect();
        let mut usable = live.iter().filter(|(_, generator)| (self.is_usable)(generator));
        if let Some((_, found)) = usable.clone().find(|(difference, _)| difference.is_none()) {
            let found = found.clone();
            drop(locked);
            return Ok(found);
        }
        let result = match build().map(Arc::new) {
            Ok(built) => {
                // Entries of freed generators are removed only when the map would grow, so that an insertion takes
                // amortized constant time.
                if generators.len() == generators.capacity() {
                    generators
                        .retain(|_, others| others.iter().any(|(_, it)| it.strong_count() > 0));
                }
                let others = generators.entry(key.worker.clone()).or_default();
                others.retain(|(_, other)| other.strong_count() > 0);
                others.push((key, Arc::downgrade(&built)));
                Ok(built)
            }
            Err(error) if error.kind() == ErrorKind::WorkerIdInUse => {
                Err(match usable.find_map(|(difference, _)| difference.as_deref()) {
                    Some(name) => differing_option_error(name),
                    None => error,
                })
            }
            Err(error) => Err(error),
        };
        drop(locked);
        drop(live);
        result
    }

    /// Locks the map. Returns `None` if the lock stays held, which only a child sees that was forked during a call.
    fn lock(&self) -> Option<MutexGuard<'_, ByWorker<G>>> {
        const MAX_ATTEMPTS: u32 = 100_000;
        for _ in 0..MAX_ATTEMPTS {
            match self.by_worker.try_lock() {
                Ok(locked) => return Some(locked),
                Err(TryLockError::Poisoned(locked)) => return Some(locked.into_inner()),
                Err(TryLockError::WouldBlock) => thread::yield_now(),
            }
        }
        None
    }
}

#[cold]
fn differing_option_error(name: &str) -> Error {
    let reason = format!(
        "expected the options of the live generator with this worker ID, found another `{name}`: use equal options, \
         extend or close that generator first, or configure another worker ID"
    );
    Error::with_reason(ErrorKind::WorkerIdInUse, reason).with_field(String::from(name))
}
