//! Shares the generators with explicit worker IDs. A process has at most one live generator for a worker ID, so a generator
//! that is constructed again with equal options is another handle on the same one. A program that creates a generator for
//! each request, or runs a notebook cell twice, therefore neither waits nor repeats an ID.
//!
//! The core rejects all other generators with the worker ID (`worker_id_in_use`). Options are compared as a string, with
//! callables by identity. A shared generator holds its callables, so their addresses are not reused while it is alive.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, TryLockError, Weak},
    thread,
};

use polyflake::Result;

/// Generators by their options.
type ByOptions<G> = Option<HashMap<String, Weak<G>>>;

/// The live generators of an ID format that can be shared.
pub(crate) struct SharedGenerators<G> {
    by_options: Mutex<ByOptions<G>>,
    is_usable: fn(&G) -> bool,
}

impl<G> SharedGenerators<G> {
    /// Creates an empty registry. `is_usable` returns whether a generator is open and belongs to this process.
    pub(crate) const fn new(is_usable: fn(&G) -> bool) -> Self {
        Self { by_options: Mutex::new(None), is_usable }
    }

    /// Returns the live generator with these options, or builds it. Generators without such a string are never shared.
    ///
    /// `build` must not run Python code, because the lock is held. It must also not drop the last reference to a Python
    /// object, whose destructor may create a generator. The call's own arguments keep its callables alive.
    pub(crate) fn get_or_build(
        &self,
        options: Option<String>,
        build: impl FnOnce() -> Result<G>,
    ) -> Result<Arc<G>> {
        let (Some(options), Some(mut locked)) = (options, self.lock()) else {
            return build().map(Arc::new);
        };
        let generators = locked.get_or_insert_default();
        let found = generators.get(&options).and_then(Weak::upgrade);
        if let Some(found) = found.as_ref().filter(|found| (self.is_usable)(found)) {
            return Ok(found.clone());
        }
        let built = build().map(Arc::new);
        if let Ok(built) = &built {
            // Entries of freed generators are removed only when the map would grow, so that an insertion takes amortized
            // constant time.
            if generators.len() == generators.capacity() {
                generators.retain(|_, other| other.strong_count() > 0);
            }
            generators.insert(options, Arc::downgrade(built));
        }
        drop(locked);
        // An unusable generator may be freed here, after the lock.
        drop(found);
        built
    }

    /// Locks the map. Returns `None` if the lock stays held, which only a child sees that was forked during a call.
    fn lock(&self) -> Option<MutexGuard<'_, ByOptions<G>>> {
        const MAX_ATTEMPTS: u32 = 100_000;
        for _ in 0..MAX_ATTEMPTS {
            match self.by_options.try_lock() {
                Ok(locked) => return Some(locked),
                Err(TryLockError::Poisoned(locked)) => return Some(locked.into_inner()),
                Err(TryLockError::WouldBlock) => thread::yield_now(),
            }
        }
        None
    }
}
