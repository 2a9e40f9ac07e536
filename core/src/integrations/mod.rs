//! IDs in other people's libraries: columns of databases, schemas, fuzzing. One file for each library, of which each is a feature.
//!
//! A family says once how columns hold its IDs ([`Column`]) and how schemas describe their texts ([`Schema`]); `column!` then
//! implements each library's traits. Traits that do not fit this crate's types are implemented by `polyflake-sql` for types of
//! its own.
//!
//! Not part of the public API: for this crate and `polyflake-sql`.

mod arbitrary;
mod described;
#[cfg(feature = "diesel")]
pub(crate) mod diesel;
#[cfg(feature = "postgres-types")]
pub(crate) mod postgres;
#[cfg(feature = "rusqlite")]
pub(crate) mod rusqlite;
#[cfg(feature = "schemars")]
pub(crate) mod schemars;
#[cfg(feature = "utoipa")]
pub(crate) mod utoipa;

use alloc::string::{String, ToString};
use core::fmt::Display;

use crate::{Error, Result};

pub use described::{Described, Schema};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A signed integer of 64 bits.
    Integer,
    /// Bytes of any number.
    Bytes,
    /// A text.
    Text,
    /// A UUID, which some databases hold as 16 bytes.
    Uuid,
}

/// The value of a column.
#[derive(Clone, Copy, Debug)]
pub enum Value<'v> {
    /// A signed integer.
    Integer(i64),
    /// Bytes.
    Bytes(&'v [u8]),
    /// A text.
    Text(&'v str),
    /// The bytes of a UUID, in the order of its text.
    Uuid([u8; 16]),
}

/// IDs that columns hold.
pub trait Column: Display + Sized {
    /// The types of columns that hold them.
    const FORMS: &'static [Form];

    /// The form for databases that do not tell the type of a column.
    fn form(&self) -> Form {
        Form::Text
    }

    /// The ID in a column's value, in any form.
    ///
    /// # Errors
    /// `invalid_type` for a form outside [`Column::FORMS`]; the errors of the family's parsers.
    fn read(value: Value<'_>) -> Result<Self>;

    /// Its integer, for columns of integers.
    ///
    /// # Errors
    /// `invalid_type` for an ID that is not an integer.
    fn integer(&self) -> Result<&i64> {
        Err(refused(Form::Integer))
    }

    /// Its bytes, in the order in which they are sorted.
    ///
    /// # Errors
    /// `invalid_type` for an ID that is an integer.
    fn bytes(&self) -> Result<&[u8]> {
        Err(refused(Form::Bytes))
    }

    /// Its text.
    ///
    /// # Errors
    /// `invalid_type` for an ID that columns do not hold as a text.
    fn text(&self) -> Result<String> {
        let is_text = Self::FORMS.contains(&Form::Text);
        if is_text { Ok(self.to_string()) } else { Err(refused(Form::Text)) }
    }

    /// Its UUID, of version 8 if the family has two forms.
    ///
    /// # Errors
    /// `invalid_type` for an ID that has none.
    fn uuid(&self) -> Result<[u8; 16]> {
        Err(refused(Form::Uuid))
    }
}

/// The error for an ID that a column of this type cannot hold.
#[cold]
fn refused(form: Form) -> Error {
    let expected = match form {
        Form::Integer => "an ID that is an integer",
        Form::Bytes => "an ID that is bytes",
        Form::Text => "an ID that columns hold as a text",
        Form::Uuid => "an ID that has a UUID",
    };
    Error::invalid_type(expected, "another ID")
}

impl Value<'_> {
    /// The error for a value that holds no ID of the type.
    #[cold]
    pub(crate) fn refuse(self, expected: &'static str) -> Error {
        let found = match self {
            Self::Integer(_) => "an integer",
            Self::Bytes(_) => "bytes",
            Self::Text(_) => "text",
            Self::Uuid(_) => "a UUID",
        };
        Error::invalid_type(expected, found)
    }
}

/// Implements the traits of all libraries for a type: `[generic parameters] type: SQL types of its columns`.
macro_rules! column {
    ([$($of:tt)*] $id:ty: $($column:ident)+) => {
        #[cfg(feature = "diesel")]
        crate::integrations::diesel::column!([$($of)*] $id: $($column)+);
        #[cfg(feature = "postgres-types")]
        crate::integrations::postgres::column!([$($of)*] $id);
        #[cfg(feature = "rusqlite")]
        crate::integrations::rusqlite::column!([$($of)*] $id);
        #[cfg(feature = "schemars")]
        crate::integrations::schemars::schema!([$($of)*] $id);
        #[cfg(feature = "utoipa")]
        crate::integrations::utoipa::schema!([$($of)*] $id);
    };
}

pub(crate) use arbitrary::bits;
pub(crate) use column;
