//! Support for rusqlite. SQLite's columns are untyped, so integer IDs are written as integers, and all other IDs as
//! strings. IDs can be read from strings, blobs and integers.

use alloc::boxed::Box;

use rusqlite::{
    Error, Result,
    types::{FromSqlError, FromSqlResult, ToSqlOutput, Value as Owned, ValueRef},
};

use super::{Column, Form, Value};

pub(crate) fn write_id<T: Column>(id: &T) -> Result<ToSqlOutput<'_>> {
    let written = || {
        Ok(match id.form() {
            Form::Integer => ToSqlOutput::from(*id.integer()?),
            Form::Bytes | Form::Uuid => ToSqlOutput::Borrowed(ValueRef::Blob(id.bytes()?)),
            Form::Text => ToSqlOutput::Owned(Owned::Text(id.text()?)),
        })
    };
    written().map_err(|error: crate::Error| Error::ToSqlConversionFailure(Box::new(error)))
}

pub(crate) fn read_id<T: Column>(value: ValueRef<'_>) -> FromSqlResult<T> {
    let value = match value {
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Blob(bytes) => Value::Bytes(bytes),
        ValueRef::Text(_) => Value::Text(value.as_str()?),
        ValueRef::Null | ValueRef::Real(_) => return Err(FromSqlError::InvalidType),
    };
    T::from_value(value).map_err(|error| FromSqlError::Other(Box::new(error)))
}

macro_rules! impl_column {
    ([$($of:tt)*] $id:ty) => {
        impl<$($of)*> rusqlite::types::ToSql for $id {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                crate::integrations::rusqlite::write_id(self)
            }
        }

        impl<$($of)*> rusqlite::types::FromSql for $id {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                crate::integrations::rusqlite::read_id(value)
            }
        }
    };
}

pub(crate) use impl_column;
