//! Objects of several types, which are distinguished by the metabytes of their IDs.
//!
//! The result of [`by_metabyte`] is an `object_hook` for `json.loads`, which calls it for each object in the JSON text,
//! starting with the innermost ones. Therefore an object must stay a dict if it has no ID, or if the mapping does not
//! contain its metabyte. Such a dict may be part of an outer object that is converted.

use std::collections::HashMap;

use polyflake::sno;
use pyo3::{
    prelude::*,
    types::{PyCFunction, PyDict, PyMapping, PyString, PyTuple},
};

use super::convert::{Argument, Metabyte, Text, name, wrong_type_exception};

#[doc = doc!("sno.by_metabyte")]
#[pyfunction]
#[pyo3(signature = (kinds, /, *, name = None), text_signature = "(kinds, /, *, name='id')")]
pub(crate) fn by_metabyte<'py>(
    kinds: &Bound<'py, PyAny>,
    name: Option<Argument<Text<'_>, name::name>>,
) -> PyResult<Bound<'py, PyCFunction>> {
    let (py, kinds) = (kinds.py(), read_kinds(kinds)?);
    let name = name.map_or_else(|| "id".to_owned(), |name| name.0.to_owned());
    let hook = move |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        create(&kinds, &name, &args.get_item(0)?)
    };
    PyCFunction::new_closure(py, None, None, hook)
}

/// Reads a mapping from metabytes to callables that create objects.
fn read_kinds(kinds: &Bound<'_, PyAny>) -> PyResult<HashMap<u8, Py<PyAny>>> {
    let Ok(mapping) = kinds.cast::<PyMapping>() else {
        return Err(wrong_type_exception("kinds", "a mapping", kinds));
    };
    let mut read = HashMap::new();
    for item in mapping.items()? {
        let (metabyte, kind) = item.extract::<(Metabyte, Bound<'_, PyAny>)>()?;
        if !kind.is_callable() {
            return Err(wrong_type_exception("kinds", "a callable", &kind));
        }
        read.insert(metabyte.0, kind.unbind());
    }
    Ok(read)
}

/// Passes the members of a JSON object to the callable for the metabyte of the object's ID, and returns the result. If no
/// callable matches, returns the members unchanged.
fn create(
    kinds: &HashMap<u8, Py<PyAny>>,
    name: &str,
    members: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    let py = members.py();
    let Ok(dict) = members.cast::<PyDict>() else {
        return Err(wrong_type_exception("members", "a dict", members));
    };
    let id = dict.get_item(name)?;
    let text = id.as_ref().and_then(|id| id.cast::<PyString>().ok());
    let id = text.and_then(|text| sno::Sno::parse(text.to_str().ok()?).ok());
    match id.and_then(|id| kinds.get(&id.metabyte())) {
        Some(kind) => kind.call(py, (), Some(dict)),
        None => Ok(members.clone().unbind()),
    }
}
