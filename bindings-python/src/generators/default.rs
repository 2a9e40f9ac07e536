//! The generator behind a format's module-level functions. It is the format's built-in generator, or a generator that the
//! program sets.
//!
//! Whether the generator has a lease is decided when the first ID is generated rather than at import, for two reasons.
//! First, a preloaded gunicorn master would otherwise lease a worker ID that it never uses. Second, a program may set the
//! environment variable after the import.

use std::{
    env,
    ffi::CString,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use pyo3::{Borrowed, PyClass, exceptions::PyRuntimeWarning, prelude::*, types::IntoPyDict};

use crate::first_value::{FirstValue, intern};
use crate::ids::convert::{self, FromArgument, class_name, name, wrong_type_exception};

/// A format's default generator.
///
/// A thread holds the lock only while it reads or writes a pointer, and stays attached to the interpreter during that time.
/// Therefore the lock is never held when a process forks. Most programs never set a generator. In that case, no call
/// acquires the lock.
///
/// No lock is held while a generator is created either, because a lease runs Python code, during which another thread may
/// fork and a signal handler may generate an ID. If several calls create the first generator, all of them use the one that
/// is stored first. The others never begin their leases.
pub(crate) struct DefaultGenerator<G> {
    /// Creates a format's default generator. This function does not use the constructor that Python calls, because that
    /// constructor warns if the generator uses a random worker ID although the environment requests leased worker IDs. The
    /// default generator is created at import, but generates no IDs if the environment requests a lease.
    plain: fn() -> PyResult<G>,
    /// The format's built-in generator, which has no lease.
    own: FirstValue<Py<G>>,
    /// The generator that is used until a program sets another one. It is the format's built-in generator or a generator
    /// with a lease, depending on the environment when the first ID is generated.
    first: FirstValue<Py<G>>,
    /// `true` if a program has set a generator. This is read before the lock is acquired.
    is_replaced: AtomicBool,
    replacement: RwLock<Option<Py<G>>>,
}

impl<G: PyClass<BaseType = PyAny>> DefaultGenerator<G> {
    pub(crate) const fn new(plain: fn() -> PyResult<G>) -> Self {
        Self {
            plain,
            own: FirstValue::new(),
            first: FirstValue::new(),
            is_replaced: AtomicBool::new(false),
            replacement: RwLock::new(None),
        }
    }

    /// Returns the format's built-in generator, creating it on first use.
    pub(crate) fn own_generator<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, G>> {
        self.own.get_or_create(py, || self.create_plain_generator(py)).map(|own| own.bind(py))
    }

    /// Returns the generator in use. Returns `None` if the program has set a generator, or if no ID has been generated yet.
    #[inline]
    pub(crate) fn generator_in_use<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, G>> {
        if self.is_replaced.load(Ordering::Acquire) {
            return None;
        }
        self.first.get().map(|first| first.bind(py))
    }

    #[inline]
    fn first_generator<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, G>> {
        let choose = || match create_leased_generator(py)? {
            Some(leased) => Ok(leased),
            None => self.own_generator(py).map(|own| own.clone().unbind()),
        };
        self.first.get_or_create(py, choose).map(|first| first.bind(py))
    }

    /// Calls a function with the current generator, and returns the function's result.
    #[inline]
    pub(crate) fn with_generator<'py, R>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&Bound<'py, G>) -> PyResult<R>,
    ) -> PyResult<R> {
        if !self.is_replaced.load(Ordering::Acquire) {
            return work(self.first_generator(py)?);
        }
        // The function may run Python code that sets a generator, so the lock is released before it runs.
        let replacement = {
            let place = self.replacement.read().unwrap_or_else(PoisonError::into_inner);
            place.as_ref().map(|generator| generator.clone_ref(py))
        };
        work(replacement.expect("`is_replaced` is set after the generator").bind(py))
    }

    /// Sets the generator, or creates a new one if `generator` is `None`.
    ///
    /// The format's built-in generator is not used again, because it would then be unclear which generator created an ID.
    pub(crate) fn set(&self, py: Python<'_>, generator: Option<Py<G>>) -> PyResult<()> {
        let generator = match generator {
            Some(generator) => generator,
            None => {
                create_leased_generator(py)?.map_or_else(|| self.create_plain_generator(py), Ok)?
            }
        };
        let before = {
            let mut place = self.replacement.write().unwrap_or_else(PoisonError::into_inner);
            place.replace(generator)
        };
        self.is_replaced.store(true, Ordering::Release);
        // Dropping the old generator may run Python code, so release the lock first.
        drop(before);
        Ok(())
    }

    fn create_plain_generator(&self, py: Python<'_>) -> PyResult<Py<G>> {
        Py::new(py, (self.plain)()?)
    }
}

/// Returns a generator with a lease, if the environment requests one.
fn create_leased_generator<G: PyClass>(py: Python<'_>) -> PyResult<Option<Py<G>>> {
    if lease_variable().is_none() {
        return Ok(None);
    }
    let lease = py.import("polyflake._forks")?.call_method0(intern!(py, "default_lease"))?;
    let options = [("lease", lease)].into_py_dict(py)?;
    let generator = py.get_type::<G>().call((), Some(&options))?;
    Ok(Some(generator.cast_into::<G>()?.unbind()))
}

/// Returns the environment variable that requests a lease, if one is set. An empty variable counts as set, and is rejected
/// later.
fn lease_variable() -> Option<&'static str> {
    ["POLYFLAKE_LEASE", "POLYFLAKE_WORKER_ID"].into_iter().find(|name| env::var_os(name).is_some())
}

/// Warns about a generator that picks a random worker ID although the environment requests leased worker IDs. Another
/// process may have leased the same worker ID.
///
/// # Errors
///
/// The warning, if warnings are errors.
pub(crate) fn warn_without_lease(py: Python<'_>) -> PyResult<()> {
    let Some(variable) = lease_variable() else { return Ok(()) };
    let warning = format!(
        "{variable} is set, but this generator picks a random partition, which another process may have leased: \
         pass lease=polyflake.lease(), or use sno.generate()"
    );
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(warning)?, 1)
}

/// The argument of `set_default_generator`: a generator or `None`.
pub(crate) type Argument<G> = convert::Argument<OptionalGenerator<G>, name::generator>;

pub(crate) struct OptionalGenerator<G>(pub(crate) Option<Py<G>>);

impl<'a, 'py, G: PyClass> FromArgument<'a, 'py> for OptionalGenerator<G> {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        match value.cast::<G>() {
            Ok(generator) => Ok(Self(Some(generator.to_owned().unbind()))),
            Err(_) if value.is_none() => Ok(Self(None)),
            Err(_) => {
                let expected = class_name(&value.py().get_type::<G>());
                Err(wrong_type_exception(name, &format!("{expected} or None"), &value))
            }
        }
    }
}
