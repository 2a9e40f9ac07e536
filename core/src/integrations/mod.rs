//! Support for other libraries: database columns, schemas and fuzzing. Each library has its own file and its own feature.
//!
//! An ID format defines once how columns store its IDs ([`Column`]) and how schemas describe their strings ([`Schema`]).
//! `impl_column!` then implements each library's traits. If a library's traits are unsuitable for the ID types of this
//! crate, `polyflake-sql` defines separate types that implement these traits.
//!
//! This module is not part of the public API. It exists for this crate and `polyflake-sql`.

mod arbitrary;
#[cfg(feature = "diesel")]
pub(crate) mod diesel;
#[cfg(feature = "postgres-types")]
pub(crate) mod postgres;
#[cfg(feature = "rusqlite")]
pub(crate) mod rusqlite;
mod schema;
#[cfg(feature = "schemars")]
pub(crate) mod schemars;
#[cfg(feature = "utoipa")]
pub(crate) mod utoipa;

use alloc::string::{String, ToString};
use core::fmt::Display;

use crate::{Error, Result};

pub use schema::{HasSchema, Schema};

/// The form in which a database column stores IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A signed 64-bit integer.
    Integer,
    /// A byte string of any length.
    Bytes,
    /// A string.
    Text,
    /// A UUID, which some databases store as 16 bytes.
    Uuid,
}

/// The value of a database column.
#[derive(Clone, Copy, Debug)]
pub enum Value<'v> {
    /// A signed integer.
    Integer(i64),
    /// A byte string.
    Bytes(&'v [u8]),
    /// A string.
    Text(&'v str),
    /// The bytes of a UUID, in the same order as in its string form.
    Uuid([u8; 16]),
}

/// An ID type that can be stored in database columns.
pub trait Column: Display + Sized {
    /// The forms in which columns can store IDs of this type.
    const FORMS: &'static [Form];

    /// Returns the form to use with databases that do not report a column's type.
    fn form(&self) -> Form {
        Form::Text
    }

    /// Converts a column's value, in any form, to an ID.
    ///
    /// # Errors
    /// Returns `invalid_type` for a form that is not in [`Column::FORMS`], or any error that the format's parser returns.
    fn from_value(value: Value<'_>) -> Result<Self>;

    /// Returns the ID as an integer, for an integer column.
    ///
    /// # Errors
    /// Returns `invalid_type` for an ID that is not an integer.
    fn integer(&self) -> Result<&i64> {
        Err(rejected_id(Form::Integer))
    }

    /// Returns the ID as bytes that sort in the same order as the IDs themselves.
    ///
    /// # Errors
    /// Returns `invalid_type` for an ID that is an integer.
    fn bytes(&self) -> Result<&[u8]> {
        Err(rejected_id(Form::Bytes))
    }

    /// Returns the ID as a string.
    ///
    /// # Errors
    /// Returns `invalid_type` for an ID that columns do not store as a string.
    fn text(&self) -> Result<String> {
        let is_text = Self::FORMS.contains(&Form::Text);
        if is_text { Ok(self.to_string()) } else { Err(rejected_id(Form::Text)) }
    }

    /// Returns the ID as a UUID. If the format has two UUID forms, returns the version 8 UUID.
    ///
    /// # Errors
    /// Returns `invalid_type` for an ID without a UUID form.
    fn uuid(&self) -> Result<[u8; 16]> {
        Err(rejected_id(Form::Uuid))
    }
}

/// Returns the error for an ID that a column of this type cannot store.
#[cold]
fn rejected_id(form: Form) -> Error {
    let expected = match form {
        Form::Integer => "an ID that is an integer",
        Form::Bytes => "an ID that is bytes",
        Form::Text => "an ID that columns hold as a text",
        Form::Uuid => "an ID that has a UUID",
    };
    Error::invalid_type(expected, "another ID")
}

impl Value<'_> {
    /// Returns the error for a value that does not contain an ID of the expected type.
    #[cold]
    pub(crate) fn rejected_value(self, expected: &'static str) -> Error {
        let found = match self {
            Self::Integer(_) => "an integer",
            Self::Bytes(_) => "bytes",
            Self::Text(_) => "text",
            Self::Uuid(_) => "a UUID",
        };
        Error::invalid_type(expected, found)
    }
}

/// Implements the column and schema traits of all supported libraries for an ID type. The input has the form `[generic
/// parameters] type: SQL types of its columns`.
macro_rules! impl_column {
    ([$($of:tt)*] $id:ty: $($column:ident)+) => {
        #[cfg(feature = "diesel")]
        crate::integrations::diesel::impl_column!([$($of)*] $id: $($column)+);
        #[cfg(feature = "postgres-types")]
        crate::integrations::postgres::impl_column!([$($of)*] $id);
        #[cfg(feature = "rusqlite")]
        crate::integrations::rusqlite::impl_column!([$($of)*] $id);
        #[cfg(feature = "schemars")]
        crate::integrations::schemars::impl_schema!([$($of)*] $id);
        #[cfg(feature = "utoipa")]
        crate::integrations::utoipa::impl_schema!([$($of)*] $id);
    };
}

pub(crate) use arbitrary::impl_arbitrary_from_bits;
pub(crate) use impl_column;
