//! Support for SeaORM: each column is represented by a type that SeaORM supports. SeaORM requires infallible conversions,
//! so a column type exists only for IDs that can always be represented in its form. The form of a layout's ID is known only
//! at run time, so use an `i64` or a `Vec<u8>` for such an ID.

use std::{any::type_name, sync::Arc};

use polyflake::{
    hotguid::HotGuid,
    integrations::{Column, Value},
    randflake::Randflake,
    sno::{Id, Kind, Sno},
    uuid7::Uuid7,
};
use sea_orm::{
    ActiveValue, ColIdx, DbErr, IntoActiveValue, QueryResult, TryFromU64, TryGetError, TryGetable,
    Value as Stored,
    prelude::Uuid as Standard,
    sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr},
};

use crate::{BigInt, Bytes, Text, Uuid};

/// Returns the error for a value that does not contain an ID of type `T`.
fn conversion_error<T>(from: &'static str, error: polyflake::Error) -> DbErr {
    DbErr::TryIntoErr { from, into: type_name::<T>(), source: Arc::new(error) }
}

/// Implements a column's traits for an ID type. IDs are converted to and from the Rust type that represents the column.
macro_rules! column {
    ([$($of:tt)*] $column:ident<$id:ty>, $by:ty, |$given:ident| $write:expr, |$found:ident| $value:expr) => {
        impl<$($of)*> From<$column<$id>> for Stored {
            fn from(column: $column<$id>) -> Self {
                let $given = &column.0;
                let written: Result<$by, polyflake::Error> = $write;
                written.expect("an ID that always has this form").into()
            }
        }

        impl<$($of)*> TryGetable for $column<$id> {
            fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
                let $found = <$by as TryGetable>::try_get_by(row, index)?;
                let read = <$id as Column>::from_value($value).map(Self);
                read.map_err(|error| conversion_error::<Self>(type_name::<$by>(), error).into())
            }
        }

        impl<$($of)*> ValueType for $column<$id> {
            fn try_from(value: Stored) -> Result<Self, ValueTypeErr> {
                let $found = <$by as ValueType>::try_from(value)?;
                <$id as Column>::from_value($value).map(Self).map_err(|_| ValueTypeErr)
            }

            fn type_name() -> String {
                stringify!($column).to_owned()
            }

            fn array_type() -> ArrayType {
                <$by as ValueType>::array_type()
            }

            fn column_type() -> ColumnType {
                <$by as ValueType>::column_type()
            }
        }

        impl<$($of)*> Nullable for $column<$id> {
            fn null() -> Stored {
                <$by as Nullable>::null()
            }
        }

        impl<$($of)*> IntoActiveValue<Self> for $column<$id> {
            fn into_active_value(self) -> ActiveValue<Self> {
                ActiveValue::Set(self)
            }
        }

        impl<$($of)*> TryFromU64 for $column<$id> {
            /// Returns an error, because a database's auto-increment values are not IDs.
            fn try_from_u64(_: u64) -> Result<Self, DbErr> {
                Err(DbErr::ConvertFromU64(stringify!($column)))
            }
        }
    };
}

/// Implements all columns for an ID type that has a byte form, a string form and a UUID form.
macro_rules! columns {
    ([$($of:tt)*] $id:ty) => {
        column!([$($of)*] Text<$id>, String, |id| Column::text(id), |text| Value::Text(&text));
        column!([$($of)*] Bytes<$id>, Vec<u8>, |id| Column::bytes(id).map(<[u8]>::to_vec), |bytes| Value::Bytes(&bytes));
        column!([$($of)*] Uuid<$id>, Standard, |id| Column::uuid(id).map(Standard::from_bytes), |uuid| Value::Uuid(uuid.into_bytes()));
    };
}

columns!([] Sno);
columns!([T: Kind] Id<T>);
columns!([] HotGuid);
columns!([] Uuid7);
column!([] BigInt<Randflake>, i64, |id| Column::integer(id).copied(), |number| Value::Integer(number));
