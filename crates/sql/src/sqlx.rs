//! Support for sqlx: each column is represented by a type that the database driver supports.

use polyflake::integrations::{Column, Value};
use sqlx::{
    Database, Decode, Encode, Type,
    encode::IsNull,
    error::BoxDynError,
    types::{Uuid as Standard, uuid},
};

use crate::{BigInt, Bytes, Text, Uuid};

/// Implements a column's traits with one Rust type for writing and one for reading.
macro_rules! column {
    ($column:ident, $written:ty, $read:ty, |$id:ident| $write:expr, |$found:ident| $value:expr) => {
        impl<T, DB: Database> Type<DB> for $column<T>
        where
            $written: Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <$written as Type<DB>>::type_info()
            }

            fn compatible(column: &DB::TypeInfo) -> bool {
                <$written as Type<DB>>::compatible(column)
            }
        }

        impl<'q, T: Column, DB: Database> Encode<'q, DB> for $column<T>
        where
            $written: Encode<'q, DB>,
        {
            fn encode_by_ref(&self, to: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
                let $id = &self.0;
                let written: $written = $write;
                written.encode(to)
            }
        }

        impl<'r, T: Column, DB: Database> Decode<'r, DB> for $column<T>
        where
            $read: Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
                let $found = <$read as Decode<'r, DB>>::decode(value)?;
                Ok(Self(T::from_value($value)?))
            }
        }
    };
}

column!(Text, String, &'r str, |id| id.text()?, |text| Value::Text(text));
column!(Bytes, Vec<u8>, &'r [u8], |id| id.bytes()?.to_vec(), |bytes| Value::Bytes(bytes));
column!(Uuid, Standard, Standard, |id| uuid::Uuid::from_bytes(id.uuid()?), |uuid| {
    Value::Uuid(uuid.into_bytes())
});
column!(BigInt, i64, i64, |id| *id.integer()?, |number| Value::Integer(number));
