#![cfg_attr(docsrs, feature(doc_cfg))]
// The README is also the front page of the documentation. Its examples run in `cargo test --doc`.
#![doc = include_str!("../README.md")]

#[cfg(feature = "sea-orm")]
mod sea_orm;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "sqlx")]
mod sqlx;

use std::{
    fmt,
    ops::{Deref, DerefMut},
    str::FromStr,
};

use polyflake::{
    hotguid::HotGuid,
    layout,
    randflake::Randflake,
    sno::{Id, Sno},
    uuid7::Uuid7,
};

/// Declares a column type for each form.
macro_rules! columns {
    ($($(#[$doc:meta])* $column:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $column<T>(
            /// The ID.
            pub T,
        );

        impl<T> Deref for $column<T> {
            type Target = T;
            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<T> DerefMut for $column<T> {
            fn deref_mut(&mut self) -> &mut T {
                &mut self.0
            }
        }

        impl<T> From<T> for $column<T> {
            fn from(id: T) -> Self {
                Self(id)
            }
        }

        impl<T: fmt::Display> fmt::Display for $column<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<T: FromStr> FromStr for $column<T> {
            type Err = T::Err;
            fn from_str(text: &str) -> Result<Self, T::Err> {
                text.parse().map(Self)
            }
        }

        impl<T> From<$column<Id<T>>> for Id<T> {
            fn from(column: $column<Self>) -> Self {
                column.0
            }
        }

        into_id!($column: Sno, HotGuid, Randflake, Uuid7, layout::Id);
    )+};
}

/// Implements the conversion from a column back to its ID. The orphan rules allow such a conversion only for concrete
/// types.
macro_rules! into_id {
    ($column:ident: $($id:ty),+) => {$(
        impl From<$column<$id>> for $id {
            fn from(column: $column<$id>) -> Self {
                column.0
            }
        }
    )+};
}

columns! {
    /// An ID in a string column: `TEXT`, `VARCHAR(16)`, `CHAR(16)`. Supports sno and Hot Guid.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    /// use polyflake_sql::Text;
    ///
    /// let column: Text<Sno> = "9d5ve8222622g222".parse()?;
    /// assert_eq!((column.metabyte(), Sno::from(column)), (1, *column));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    Text
    /// An ID in a binary column: `BYTEA`, `BLOB`, `BINARY(10)`. Supports sno, Hot Guid (in the byte order of its string
    /// form) and layouts with byte IDs.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    /// use polyflake_sql::Bytes;
    ///
    /// let id = Sno::parse("9d5ve8222622g222")?;
    /// assert_eq!(Bytes(id).to_bytes(), id.to_bytes());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    Bytes
    /// An ID in a UUID column. A sno is written as a version 8 UUID and can be read from either of its UUID forms. A Hot
    /// Guid is itself a UUID.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    /// use polyflake_sql::Uuid;
    ///
    /// let column = Uuid::from(HotGuid::parse("6955b900-0000-0000-0000-000003000000")?);
    /// assert_eq!(column.shard_key(), 3);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    Uuid
    /// An ID in a column of signed 64-bit integers. Supports Randflake and layouts with integer IDs.
    ///
    /// ```
    /// use polyflake::randflake::Randflake;
    /// use polyflake_sql::BigInt;
    ///
    /// assert_eq!(BigInt(Randflake::from_i64(7)).to_i64(), 7);
    /// ```
    BigInt
}
