//! Shares generators between the threads of a process. Each thread has its own handles, which refer to one generator.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use polyflake::{Result, SharedGenerators, SharingKey};

/// The shared generators of all formats, by the type of the generator.
static ALL: Mutex<BTreeMap<TypeId, &'static (dyn Any + Send + Sync)>> = Mutex::new(BTreeMap::new());

/// Returns the live generator with these options, or builds it. See [`SharedGenerators::get_or_build`].
pub(crate) fn get_or_build<G: Send + Sync + 'static>(
    key: Option<SharingKey>,
    is_usable: fn(&G) -> bool,
    build: impl FnOnce() -> Result<G>,
) -> Result<Arc<G>> {
    match key.and_then(|key| Some((key, generators(is_usable)?))) {
        Some((key, generators)) => generators.get_or_build(Some(key), build),
        None => build().map(Arc::new),
    }
}

fn generators<G: Send + Sync + 'static>(
    is_usable: fn(&G) -> bool,
) -> Option<&'static SharedGenerators<G>> {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let new = || Box::leak(Box::new(SharedGenerators::new(is_usable))) as _;
    all.entry(TypeId::of::<G>()).or_insert_with(new).downcast_ref()
}
