//! The generator that a program sets for `generate`, instead of the family's own.

use std::sync::{
    PoisonError, RwLock,
    atomic::{AtomicBool, Ordering},
};

use pyo3::{Borrowed, PyClass, prelude::*};

use crate::ids::convert::{Of, Take, class_name, name, wrong_type};

/// A generator, if one was set.
///
/// The lock is held only while a pointer is read or written, during which no thread releases the interpreter: so no fork
/// finds it held.
pub(crate) struct Given<G> {
    /// `true` if a generator is set; read before the lock.
    is_there: AtomicBool,
    generator: RwLock<Option<Py<G>>>,
}

impl<G: PyClass> Given<G> {
    /// An empty place.
    pub(crate) const fn new() -> Self {
        Self { is_there: AtomicBool::new(false), generator: RwLock::new(None) }
    }

    /// The generator.
    #[inline]
    pub(crate) fn get(&self, py: Python<'_>) -> Option<Py<G>> {
        if !self.is_there.load(Ordering::Acquire) {
            return None;
        }
        let generator = self.generator.read().unwrap_or_else(PoisonError::into_inner);
        generator.as_ref().map(|generator| generator.clone_ref(py))
    }

    /// Sets the generator, or a new one that is made without arguments.
    pub(crate) fn set(&self, py: Python<'_>, generator: Option<Py<G>>) -> PyResult<()> {
        let made = || Ok::<_, PyErr>(py.get_type::<G>().call0()?.cast_into::<G>()?.unbind());
        let generator = generator.map_or_else(made, Ok)?;
        let before = {
            let mut place = self.generator.write().unwrap_or_else(PoisonError::into_inner);
            place.replace(generator)
        };
        self.is_there.store(true, Ordering::Release);
        // Dropping it may run Python code, so it comes after the lock is released.
        drop(before);
        Ok(())
    }
}

/// The argument of `set_default_generator`: a generator or None.
pub(crate) type Argument<G> = Of<Wanted<G>, name::generator>;

pub(crate) struct Wanted<G>(pub(crate) Option<Py<G>>);

impl<'a, 'py, G: PyClass> Take<'a, 'py> for Wanted<G> {
    fn take(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        match value.cast::<G>() {
            Ok(generator) => Ok(Self(Some(generator.to_owned().unbind()))),
            Err(_) if value.is_none() => Ok(Self(None)),
            Err(_) => {
                let expected = class_name(&value.py().get_type::<G>());
                Err(wrong_type(name, &format!("{expected} or None"), &value))
            }
        }
    }
}
