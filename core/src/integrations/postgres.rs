//! Support for postgres-types, which `postgres` and `tokio-postgres` use. An ID is written as the type of its column:
//! `int8`, `bytea`, `uuid`, `text`, `varchar` or `char`.

use alloc::boxed::Box;

use bytes::BytesMut;
use postgres_types::{FromSql, IsNull, ToSql, Type};

use super::{Column, Form, Value};

type Result<T> = core::result::Result<T, Box<dyn core::error::Error + Sync + Send>>;

/// Returns the form in which columns of a type store IDs, or `None` if such columns do not contain IDs.
fn form_of(column: &Type) -> Option<Form> {
    Some(match *column {
        Type::INT8 => Form::Integer,
        Type::BYTEA => Form::Bytes,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR => Form::Text,
        Type::UUID => Form::Uuid,
        _ => return None,
    })
}

pub(crate) fn accepts<T: Column>(column: &Type) -> bool {
    form_of(column).is_some_and(|form| T::FORMS.contains(&form))
}

pub(crate) fn read_id<T: Column>(column: &Type, raw: &[u8]) -> Result<T> {
    let value = match form_of(column) {
        Some(Form::Integer) => Value::Integer(i64::from_sql(column, raw)?),
        Some(Form::Text) => Value::Text(<&str>::from_sql(column, raw)?),
        Some(Form::Uuid) => Value::Uuid(raw.try_into()?),
        Some(Form::Bytes) | None => Value::Bytes(raw),
    };
    Ok(T::from_value(value)?)
}

pub(crate) fn write_id<T: Column>(id: &T, column: &Type, to: &mut BytesMut) -> Result<IsNull> {
    match form_of(column) {
        Some(Form::Integer) => id.integer()?.to_sql(column, to),
        Some(Form::Text) => id.text()?.to_sql(column, to),
        Some(Form::Uuid) => id.uuid()?.as_slice().to_sql(column, to),
        // `accepts` has already rejected all other column types.
        Some(Form::Bytes) | None => id.bytes()?.to_sql(column, to),
    }
}

macro_rules! impl_column {
    ([$($of:tt)*] $id:ty) => {
        const _: () = {
            use alloc::boxed::Box;
            use core::{error::Error, fmt::Debug, result::Result};

            use bytes::BytesMut;
            use postgres_types::{FromSql, IsNull, ToSql, Type};

            use crate::integrations::postgres;

            impl<'row, $($of)*> FromSql<'row> for $id {
                fn from_sql(
                    column: &Type,
                    raw: &'row [u8],
                ) -> Result<Self, Box<dyn Error + Sync + Send>> {
                    postgres::read_id(column, raw)
                }

                fn accepts(column: &Type) -> bool {
                    postgres::accepts::<Self>(column)
                }
            }

            impl<$($of)*> ToSql for $id
            where
                Self: Debug,
            {
                fn to_sql(
                    &self,
                    column: &Type,
                    to: &mut BytesMut,
                ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
                    postgres::write_id(self, column, to)
                }

                fn accepts(column: &Type) -> bool {
                    postgres::accepts::<Self>(column)
                }

                postgres_types::to_sql_checked!();
            }
        };
    };
}

pub(crate) use impl_column;
