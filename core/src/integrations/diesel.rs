//! Support for Diesel: columns of type `Binary` and `BigInt` in every backend, `Text` and `Uuid` in PostgreSQL, and `Text`
//! in SQLite with the `diesel-sqlite` feature.

/// Implements Diesel's traits for columns of the given SQL types.
macro_rules! impl_column {
    // Diesel's derive macros implement the traits for query parameters and row values.
    (@expression [$($of:tt)*] $id:ty: $($column:ident)+) => {
        const _: () = {
            #[derive(diesel::expression::AsExpression, diesel::deserialize::FromSqlRow)]
            #[diesel(foreign_derive)]
            $(#[diesel(sql_type = diesel::sql_types::$column)])+
            #[allow(dead_code, reason = "names the type for the derives")]
            struct Foreign<$($of)*>($id);
        };
    };
    (@BigInt [$($of:tt)*] $id:ty) => {
        crate::integrations::diesel::impl_from_sql!([$($of)*] $id: BigInt, i64, |number| Integer(number));
        crate::integrations::diesel::impl_to_sql!([$($of)*] $id: BigInt, i64, integer);
    };
    (@Binary [$($of:tt)*] $id:ty) => {
        crate::integrations::diesel::impl_from_sql!([$($of)*] $id: Binary, alloc::vec::Vec<u8>, |bytes| Bytes(&bytes));
        crate::integrations::diesel::impl_to_sql!([$($of)*] $id: Binary, [u8], bytes);
    };
    (@Text [$($of:tt)*] $id:ty) => {
        crate::integrations::diesel::impl_from_sql!([$($of)*] $id: Text, alloc::string::String, |text| Text(&text));

        impl<$($of)*> diesel::serialize::ToSql<diesel::sql_types::Text, diesel::pg::Pg> for $id {
            fn to_sql<'b>(
                &'b self,
                out: &mut diesel::serialize::Output<'b, '_, diesel::pg::Pg>,
            ) -> diesel::serialize::Result {
                let text = crate::integrations::Column::text(self)?;
                crate::integrations::diesel::write_bytes(text.as_bytes(), out)
            }
        }

        #[cfg(feature = "diesel-sqlite")]
        impl<$($of)*> diesel::serialize::ToSql<diesel::sql_types::Text, diesel::sqlite::Sqlite> for $id {
            fn to_sql<'b>(
                &'b self,
                out: &mut diesel::serialize::Output<'b, '_, diesel::sqlite::Sqlite>,
            ) -> diesel::serialize::Result {
                out.set_value(crate::integrations::Column::text(self)?);
                Ok(diesel::serialize::IsNull::No)
            }
        }
    };
    (@Uuid [$($of:tt)*] $id:ty) => {
        impl<$($of)*> diesel::deserialize::FromSql<diesel::sql_types::Uuid, diesel::pg::Pg> for $id {
            fn from_sql(value: diesel::pg::PgValue<'_>) -> diesel::deserialize::Result<Self> {
                let value = crate::integrations::Value::Uuid(value.as_bytes().try_into()?);
                Ok(crate::integrations::Column::from_value(value)?)
            }
        }

        impl<$($of)*> diesel::serialize::ToSql<diesel::sql_types::Uuid, diesel::pg::Pg> for $id {
            fn to_sql<'b>(
                &'b self,
                out: &mut diesel::serialize::Output<'b, '_, diesel::pg::Pg>,
            ) -> diesel::serialize::Result {
                crate::integrations::diesel::write_bytes(&crate::integrations::Column::uuid(self)?, out)
            }
        }
    };
    ($of:tt $id:ty: $($column:ident)+) => {
        crate::integrations::diesel::impl_column!(@expression $of $id: $($column)+);
        $(crate::integrations::diesel::impl_column!(@$column $of $id);)+
    };
}

/// Implements `FromSql` for a column by reading a value of a type that Diesel supports and converting it to an ID.
macro_rules! impl_from_sql {
    ([$($of:tt)*] $id:ty: $column:ident, $by:ty, |$read:ident| $value:ident($given:expr)) => {
        const _: () = {
            use diesel::{backend::Backend, deserialize, sql_types::$column};

            impl<DB: Backend, $($of)*> deserialize::FromSql<$column, DB> for $id
            where
                $by: deserialize::FromSql<$column, DB>,
            {
                fn from_sql(raw: DB::RawValue<'_>) -> deserialize::Result<Self> {
                    let $read = <$by as deserialize::FromSql<$column, DB>>::from_sql(raw)?;
                    let value = crate::integrations::Value::$value($given);
                    Ok(crate::integrations::Column::from_value(value)?)
                }
            }
        };
    };
}

/// Implements `ToSql` for a column by converting the ID to a value of a type that Diesel supports and writing that value.
macro_rules! impl_to_sql {
    ([$($of:tt)*] $id:ty: $column:ident, $by:ty, $part:ident) => {
        const _: () = {
            use diesel::{backend::Backend, serialize, sql_types::$column};

            impl<DB: Backend, $($of)*> serialize::ToSql<$column, DB> for $id
            where
                $by: serialize::ToSql<$column, DB>,
            {
                fn to_sql<'b>(
                    &'b self,
                    out: &mut serialize::Output<'b, '_, DB>,
                ) -> serialize::Result {
                    let part = crate::integrations::Column::$part(self)?;
                    <$by as serialize::ToSql<$column, DB>>::to_sql(part, out)
                }
            }
        };
    };
}

use std::io::Write;

use diesel::{
    pg::Pg,
    serialize::{IsNull, Output, Result},
};

/// Writes bytes into PostgreSQL's buffer.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Output<'_, '_, Pg>) -> Result {
    out.write_all(bytes)?;
    Ok(IsNull::No)
}

pub(crate) use {impl_column, impl_from_sql, impl_to_sql};
