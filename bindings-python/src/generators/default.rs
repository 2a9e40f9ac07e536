//! The generator behind a family's functions: its own, or the one that a program sets.

use std::{
    env,
    ffi::CString,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use pyo3::{
    Borrowed, PyClass, exceptions::PyRuntimeWarning, intern, prelude::*, sync::PyOnceLock,
    types::IntoPyDict,
};

use crate::ids::convert::{Of, Take, class_name, name, wrong_type};

/// A family's default generator.
///
/// The lock is held only while a pointer is read or written, during which no thread releases the interpreter: so no fork
/// finds it held.
pub(crate) struct Default<G> {
    /// Creates a format's default generator. It does not use the constructor that Python calls, because that one warns of a
    /// random worker ID beside leased ones. The default generator is created at the import, but generates no IDs if there is a
    /// lease.
    plain: fn() -> PyResult<G>,
    /// The family's own, without a lease.
    own: PyOnceLock<Py<G>>,
    /// The one that counts until a program sets another: the family's own, or one under a lease, as the environment of the
    /// first ID says.
    first: PyOnceLock<Py<G>>,
    /// `true` if a program has set another; read before the lock.
    is_given: AtomicBool,
    given: RwLock<Option<Py<G>>>,
}

impl<G: PyClass<BaseType = PyAny>> Default<G> {
    pub(crate) const fn new(plain: fn() -> PyResult<G>) -> Self {
        Self {
            plain,
            own: PyOnceLock::new(),
            first: PyOnceLock::new(),
            is_given: AtomicBool::new(false),
            given: RwLock::new(None),
        }
    }

    /// Makes the family's own generator, unless it is there.
    pub(crate) fn own<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, G>> {
        self.own.get_or_try_init(py, || self.plain(py)).map(|own| own.bind(py))
    }

    #[inline]
    fn first<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, G>> {
        let choose = || match leased(py)? {
            Some(leased) => Ok(leased),
            None => self.own(py).map(|own| own.clone().unbind()),
        };
        self.first.get_or_try_init(py, choose).map(|first| first.bind(py))
    }

    /// Does work with the generator.
    #[inline]
    pub(crate) fn with<'py, R>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&Bound<'py, G>) -> PyResult<R>,
    ) -> PyResult<R> {
        if !self.is_given.load(Ordering::Acquire) {
            return work(self.first(py)?);
        }
        let given = {
            let place = self.given.read().unwrap_or_else(PoisonError::into_inner);
            place.as_ref().map(|generator| generator.clone_ref(py))
        };
        work(given.expect("a generator was given").bind(py))
    }

    /// Sets the generator, or a new one.
    pub(crate) fn set(&self, py: Python<'_>, generator: Option<Py<G>>) -> PyResult<()> {
        let generator = match generator {
            Some(generator) => generator,
            None => leased(py)?.map_or_else(|| self.plain(py), Ok)?,
        };
        let before = {
            let mut place = self.given.write().unwrap_or_else(PoisonError::into_inner);
            place.replace(generator)
        };
        self.is_given.store(true, Ordering::Release);
        // Dropping it may run Python code, so it comes after the lock is released.
        drop(before);
        Ok(())
    }

    fn plain(&self, py: Python<'_>) -> PyResult<Py<G>> {
        Py::new(py, (self.plain)()?)
    }
}

/// Returns a generator under a lease, if the environment asks for one.
fn leased<G: PyClass>(py: Python<'_>) -> PyResult<Option<Py<G>>> {
    if variable().is_none() {
        return Ok(None);
    }
    let lease = py.import("polyflake._lease")?.call_method0(intern!(py, "lease"))?;
    let options = [("lease", lease)].into_py_dict(py)?;
    let generator = py.get_type::<G>().call((), Some(&options))?;
    Ok(Some(generator.cast_into::<G>()?.unbind()))
}

/// Returns the variable that asks for a lease, if one is set. An empty one counts, too: it is rejected later.
fn variable() -> Option<&'static str> {
    ["POLYFLAKE_LEASE", "POLYFLAKE_NODE"].into_iter().find(|name| env::var_os(name).is_some())
}

/// Warns of a generator that picks a random worker ID although the environment asks for leased ones: it may pick one that
/// another process has leased.
///
/// # Errors
/// The warning, if warnings are errors.
pub(crate) fn warn_beside_lease(py: Python<'_>) -> PyResult<()> {
    let Some(variable) = variable() else { return Ok(()) };
    let warning = format!(
        "{variable} is set, but this generator picks a random partition, which another process may have leased: \
         pass lease=polyflake.lease(), or use sno.generate()"
    );
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(warning)?, 1)
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
