//! The source of an error, for example the cause of a clock failure.

use alloc::sync::Arc;
use core::{
    error,
    panic::{RefUnwindSafe, UnwindSafe},
};

/// An error of any type, shared by all clones.
#[derive(Clone, Debug)]
pub(super) struct Source(Arc<dyn error::Error + Send + Sync>);

// These calls only format and downcast errors and read their sources, so a panic cannot leave a source partially modified.
impl UnwindSafe for Source {}
impl RefUnwindSafe for Source {}

impl Source {
    pub(super) fn new(source: impl error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(source))
    }

    pub(super) fn get(&self) -> &(dyn error::Error + 'static) {
        &*self.0
    }
}
