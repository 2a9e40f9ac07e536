//! Serde support for integer fields that are serialized as public IDs.

use serde::{Deserializer, Serialize as _, Serializer, de::Error as _, ser::Error as _};

use super::IdType;
use crate::{Error, ErrorKind, format::serde::IdVisitor};

/// Specifies the type of a field's public IDs. Implement this trait for a type such as `OrderId`, and put
/// `#[serde(with = "OrderId")]` on an integer field of any size.
///
/// ```
/// use polyflake::public::{Field, Keyring, IdType};
/// use serde::{Deserialize, Serialize};
/// use std::sync::LazyLock;
///
/// // Load the secret from the environment or a file.
/// static IDS: LazyLock<Keyring> = LazyLock::new(|| Keyring::new(&[7; 32]).unwrap());
/// static ORDERS: LazyLock<IdType> = LazyLock::new(|| IDS.of("order").unwrap());
///
/// struct OrderId;
/// impl Field for OrderId {
///     fn ids() -> &'static IdType {
///         &ORDERS
///     }
/// }
///
/// #[derive(Deserialize, Serialize)]
/// struct Order {
///     #[serde(with = "OrderId")]
///     id: i64, // the key in the database
/// }
///
/// let json = serde_json::to_string(&Order { id: 42 })?;
/// assert_eq!(json, format!(r#"{{"id":"{}"}}"#, ORDERS.encode(42)?));
/// assert_eq!(serde_json::from_str::<Order>(&json)?.id, 42);
/// assert!(serde_json::from_str::<Order>(r#"{"id":42}"#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Field {
    /// Returns the public ID type of the field.
    fn ids() -> &'static IdType;

    /// Serializes an integer as a public ID.
    ///
    /// # Errors
    /// Fails if the integer is negative or too large for the public ID type.
    fn serialize<N: Copy + TryInto<u64>, S: Serializer>(
        number: &N,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let number =
            (*number).try_into().map_err(|_| number_too_large()).map_err(S::Error::custom)?;
        Self::ids().encode(number).map_err(S::Error::custom)?.serialize(serializer)
    }

    /// Deserializes a public ID into an integer.
    ///
    /// # Errors
    /// Fails if [`IdType::decode`] returns an error, or if the integer does not fit in the field's type.
    fn deserialize<'de, N: TryFrom<u64>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<N, D::Error> {
        let number = deserializer.deserialize_str(IdVisitor {
            text: "the text of a public ID",
            of_text: |text| Self::ids().decode(text),
            of_bytes: |_| Err(Error::new(ErrorKind::InvalidType)),
        })?;
        N::try_from(number).map_err(|_| number_too_large()).map_err(D::Error::custom)
    }
}

/// Returns the error for an integer that does not fit in an unsigned 64-bit integer or in the field's integer type.
fn number_too_large() -> Error {
    Error::field_error(ErrorKind::OutOfRange, "number")
}
