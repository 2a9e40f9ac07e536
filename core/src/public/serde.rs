//! Integers in serde as public IDs.

use serde::{Deserializer, Serialize as _, Serializer, de::Error as _, ser::Error as _};

use super::Type;
use crate::{Error, ErrorKind, format::serde::IdVisitor};

/// Tells serde the type of a field's public IDs: `#[serde(with = "OrderId")]` on an integer of any size.
///
/// ```
/// use polyflake::public::{Field, Ids, Type};
/// use serde::{Deserialize, Serialize};
/// use std::sync::LazyLock;
///
/// static IDS: LazyLock<Ids> = LazyLock::new(|| Ids::new(&[7; 32]).unwrap()); // from the environment or a file
/// static ORDERS: LazyLock<Type> = LazyLock::new(|| IDS.of("order").unwrap());
///
/// struct OrderId;
/// impl Field for OrderId {
///     fn ids() -> &'static Type {
///         &ORDERS
///     }
/// }
///
/// #[derive(Deserialize, Serialize)]
/// struct Order {
///     #[serde(with = "OrderId")]
///     id: i64, // as the database has it
/// }
///
/// let json = serde_json::to_string(&Order { id: 42 })?;
/// assert_eq!(json, format!(r#"{{"id":"{}"}}"#, ORDERS.encode(42)?));
/// assert_eq!(serde_json::from_str::<Order>(&json)?.id, 42);
/// assert!(serde_json::from_str::<Order>(r#"{"id":42}"#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Field {
    /// The type of the field's IDs.
    fn ids() -> &'static Type;

    /// Writes a number's text.
    ///
    /// # Errors
    /// For a negative number, and one of more bits than the type's.
    fn serialize<N: Copy + TryInto<u64>, S: Serializer>(
        number: &N,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let number = (*number).try_into().map_err(|_| beyond()).map_err(S::Error::custom)?;
        Self::ids().encode(number).map_err(S::Error::custom)?.serialize(serializer)
    }

    /// Reads the number of a text.
    ///
    /// # Errors
    /// For what [`Type::decode`] refuses, and a number that the field cannot hold.
    fn deserialize<'de, N: TryFrom<u64>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<N, D::Error> {
        let number = deserializer.deserialize_str(IdVisitor {
            text: "the text of a public ID",
            of_text: |text| Self::ids().decode(text),
            of_bytes: |_| Err(Error::new(ErrorKind::InvalidType)),
        })?;
        N::try_from(number).map_err(|_| beyond()).map_err(D::Error::custom)
    }
}

/// The error for a number that unsigned 64 bits, or the field's integer type, cannot hold.
fn beyond() -> Error {
    Error::field_error(ErrorKind::OutOfRange, "number")
}
