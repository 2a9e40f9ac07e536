//! Converts Python objects to and from the JSON values in descriptions and snapshots.

use polyflake::{Error, ErrorKind, layout::Json};
use pyo3::{
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyList, PyString, PyTuple},
};

use crate::{
    errors::{raise, raise_from},
    ids::convert::{AnyInteger, has_index, owned_text, type_name, wrong_type_exception},
};

/// The maximum nesting depth. No valid description exceeds this depth, but an object that contains itself does.
const MAX_DEPTH: u32 = 8;

/// Converts a dict to a JSON object. Raises `invalid_layout` if that is not possible.
pub(crate) fn json_from_dict(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Json> {
    if !value.is_instance_of::<PyDict>() {
        return Err(wrong_type_exception(name, "dict", value));
    }
    convert_within_depth(value, MAX_DEPTH, name)
}

fn convert_within_depth(value: &Bound<'_, PyAny>, depth: u32, name: &str) -> PyResult<Json> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(raise(invalid_layout_error("expected an object, found one nested too deeply")));
    };
    if value.is_none() {
        Ok(Json::Null)
    } else if let Ok(flag) = value.cast::<PyBool>() {
        Ok(Json::Bool(flag.is_true()))
    } else if let Ok(text) = value.cast::<PyString>() {
        unicode_string(&text.to_owned()).map(Json::Text)
    } else if value.is_instance_of::<PyFloat>() {
        Ok(Json::Fraction)
    } else if has_index(value) {
        Ok(AnyInteger::from_value(value, name)?.try_to().map_or(Json::Fraction, Json::Integer))
    } else if let Ok(members) = value.cast::<PyDict>() {
        object(members, depth, name)
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| convert_within_depth(&item?, depth, name));
        items.collect::<PyResult<_>>().map(Json::List)
    } else {
        Err(raise(invalid_layout_error(format!(
            "expected a JSON value, found {}",
            type_name(value)
        ))))
    }
}

fn object(members: &Bound<'_, PyDict>, depth: u32, place: &str) -> PyResult<Json> {
    let member = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let Ok(name) = name.cast::<PyString>() else {
            let found = type_name(&name);
            return Err(raise(invalid_layout_error(format!(
                "expected texts as names, found {found}"
            ))));
        };
        Ok((unicode_string(name)?, convert_within_depth(&value, depth, place)?))
    };
    // Copy the members, because converting a value may run code that changes the dict.
    members.copy()?.iter().map(member).collect::<PyResult<_>>().map(Json::Object)
}

/// Returns a Python string as a Rust string. Raises an error if the string contains a lone surrogate.
pub(super) fn unicode_string(text: &Bound<'_, PyString>) -> PyResult<String> {
    owned_text(text).map_err(|raised| {
        let error =
            invalid_layout_error("expected a text of Unicode characters, found a lone surrogate");
        raise_from(text.py(), &error, None, raised)
    })
}

fn invalid_layout_error(reason: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::with_reason(ErrorKind::InvalidLayout, reason)
}

/// Returns the Python object for a JSON value.
pub(crate) fn to_object(py: Python<'_>, value: Json) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Json::Null | Json::Fraction => py.None().into_bound(py),
        Json::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Json::Integer(number) => number.into_pyobject(py)?.into_any(),
        Json::Text(text) => text.into_pyobject(py)?.into_any(),
        Json::List(list) => {
            let list = list.into_iter().map(|value| to_object(py, value));
            PyList::new(py, list.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Json::Object(members) => {
            let dict = PyDict::new(py);
            for (name, value) in members {
                dict.set_item(name, to_object(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
