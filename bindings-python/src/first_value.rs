//! Values that are created when they are first needed, such as classes that are imported from Python.
//!
//! PyO3's `PyOnceLock`, and its macro `intern!`, hold a lock while they create a value. Creating a value usually runs Python
//! code, and even if it does not, these types detach from the interpreter first. Three things may then happen: another
//! thread forks, and the child waits forever for a thread that it does not have; a signal handler needs the same value, and
//! waits for the code that it has interrupted; or the code that creates the value needs it itself.
//!
//! A [`FirstValue`] is never locked while a value is created. If several callers create a value at the same time, all of
//! them use the one that is stored first, and the others are dropped. A thread stays attached to the interpreter while it
//! stores a value, so a fork never happens at that time.

use std::sync::OnceLock;

use pyo3::{
    PyTypeCheck, PyTypeInfo,
    prelude::*,
    types::{PyDateTime, PyDelta, PyMapping, PyString, PyTzInfo},
};

/// A value that is created at the first call, and then never changes.
pub(crate) struct FirstValue<T>(OnceLock<T>);

impl<T> FirstValue<T> {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the value, or `None` if it has not been created yet.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Returns the value, creating it on first use. `create` may run any code, including code that calls this function.
    #[inline]
    pub(crate) fn get_or_create(
        &self,
        _attached: Python<'_>,
        create: impl FnOnce() -> PyResult<T>,
    ) -> PyResult<&T> {
        self.get().map_or_else(|| self.create(create), Ok)
    }

    #[cold]
    fn create(&self, create: impl FnOnce() -> PyResult<T>) -> PyResult<&T> {
        create().map(|value| self.store(value))
    }

    /// Stores a value, unless another caller has stored one in the meantime. Returns the stored value.
    fn store(&self, value: T) -> &T {
        // A rejected value is dropped after the call that rejects it, because dropping it may run Python code.
        drop(self.0.set(value));
        self.get().expect("a value was just stored")
    }
}

impl<T: PyTypeCheck> FirstValue<Py<T>> {
    /// Returns an attribute of a module, importing the module on first use.
    #[inline]
    pub(crate) fn import<'py>(
        &self,
        py: Python<'py>,
        module: &str,
        name: &str,
    ) -> PyResult<&Bound<'py, T>> {
        let import = || Ok(py.import(module)?.getattr(name)?.cast_into()?.unbind());
        self.get_or_create(py, import).map(|value| value.bind(py))
    }
}

impl FirstValue<Py<PyString>> {
    /// Returns the interned string with the given characters.
    #[inline]
    pub(crate) fn interned<'py>(&self, py: Python<'py>, text: &str) -> &Bound<'py, PyString> {
        let string = self.get();
        string.unwrap_or_else(|| self.store(PyString::intern(py, text).unbind())).bind(py)
    }
}

/// Imports the modules that calls use, and the types that PyO3 otherwise imports while it holds a lock.
///
/// Python holds a lock while it imports a module. If a call imported a module, a child that is forked at that time would
/// wait for this lock forever, and a signal handler would find half of the module.
pub(crate) fn import_modules(py: Python<'_>) -> PyResult<()> {
    for module in
        ["operator", "uuid", "polyflake._forks", "polyflake._records", "polyflake._waiting"]
    {
        py.import(module)?;
    }
    PyDateTime::type_object(py);
    PyDelta::type_object(py);
    PyTzInfo::type_object(py);
    PyTzInfo::utc(py)?;
    PyMapping::type_object(py);
    Ok(())
}

/// Returns the interned string of a literal, which is created once. It replaces PyO3's macro of the same name.
macro_rules! intern {
    ($py:expr, $text:literal) => {{
        static STRING: $crate::first_value::FirstValue<pyo3::Py<pyo3::types::PyString>> =
            $crate::first_value::FirstValue::new();
        STRING.interned($py, $text)
    }};
}
pub(crate) use intern;
