//! Methods of IDs that other libraries look up by name. This module never imports those libraries. Instead, the methods
//! call functions in one of this package's Python modules, which is imported on first use.

use polyflake::sno;
use pyo3::{exceptions::PyAttributeError, prelude::*, types::PyType};

use super::ids::Sno;
use crate::first_value::intern;
use crate::ids::text::Ascii;

#[pymethods]
impl Sno {
    /// Returns the core schema that Pydantic uses for a field of this type.
    #[classmethod]
    fn __get_pydantic_core_schema__<'py>(
        class: &Bound<'py, PyType>,
        _source: &Bound<'py, PyAny>,
        _handler: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        py.import("polyflake.pydantic")?.call_method0(intern!(py, "_sno_schema"))
    }

    /// Returns the JSON schema that Pydantic uses for a field of this type.
    #[classmethod]
    fn __get_pydantic_json_schema__<'py>(
        class: &Bound<'py, PyType>,
        schema: &Bound<'py, PyAny>,
        _handler: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        py.import("polyflake.pydantic")?.call_method1(intern!(py, "_sno_json_schema"), (schema,))
    }

    /// Returns the serializer that Pydantic uses if a field's type is `Any`. If Pydantic is not installed, the attribute
    /// does not exist.
    #[getter]
    fn __pydantic_serializer__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let module = py.import("polyflake.pydantic");
        let module = module.map_err(|error| PyAttributeError::new_err(error.to_string()))?;
        module.getattr(intern!(py, "_sno_serializer"))
    }

    /// Returns the ID's string form for the protocol that `sqlite3` uses to convert query parameters. Returns `None` for
    /// any other protocol.
    fn __conform__(
        &self,
        protocol: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Ascii<{ sno::Sno::TEXT_LEN }>>> {
        let py = protocol.py();
        let of_sqlite = match protocol.getattr_opt(intern!(py, "__module__"))? {
            Some(module) => module.eq(intern!(py, "sqlite3"))?,
            None => false,
        };
        Ok(of_sqlite.then(|| Ascii(self.0.text())))
    }
}
