//! Serde support for enums whose variant is selected by the metabyte of an ID.

mod buffer;
mod members;

use core::fmt;

use members::MembersVisitor;
use serde::{Deserialize, Deserializer};

use crate::Error;

/// An enum that is declared with [`by_metabyte!`](crate::sno::by_metabyte).
///
/// ```
/// use polyflake::sno::{ByMetabyte, Sno, by_metabyte};
///
/// #[derive(serde::Deserialize)]
/// struct User {
///     id: Sno,
/// }
///
/// by_metabyte! {
///     enum Record by "_id" {
///         24 | 25 => User(User),
///     }
/// }
///
/// assert_eq!((Record::MEMBER, Record::METABYTES), ("_id", &["24 | 25"][..]));
/// ```
pub trait ByMetabyte<'de>: Deserialize<'de> {
    /// The name of the member that contains the ID.
    const MEMBER: &'static str;
    /// The metabytes of the variants, in the order of their declaration.
    const METABYTES: &'static [&'static str];

    /// Deserializes the content of the variant that has the given metabyte. Returns `None` if no variant has this metabyte.
    ///
    /// ```
    /// use polyflake::sno::{ByMetabyte, Sno, by_metabyte};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct User {
    ///     id: Sno,
    /// }
    ///
    /// by_metabyte! {
    ///     enum Record {
    ///         24 => User(User),
    ///     }
    /// }
    ///
    /// let content = serde_json::json!({"id": "9aaaaaaa55aaaaaa"});
    /// assert!(matches!(Record::of_metabyte(24, content.clone())?, Some(Record::User(_))));
    /// assert!(Record::of_metabyte(25, content)?.is_none());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error that occurs when the content is deserialized.
    fn of_metabyte<D: Deserializer<'de>>(
        metabyte: u8,
        content: D,
    ) -> Result<Option<Self>, D::Error>;

    /// Deserializes an object as `Deserialize` does, but distinguishes errors in the ID from errors in the format or the
    /// content.
    ///
    /// ```
    /// use polyflake::sno::{ByMetabyte, ReadError, Sno, by_metabyte};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct User {
    ///     id: Sno,
    /// }
    ///
    /// by_metabyte! {
    ///     enum Record {
    ///         24 => User(User),
    ///     }
    /// }
    ///
    /// let mut json = serde_json::Deserializer::from_str(r#"{"id": "9afikjv326nct5if"}"#);
    /// let Err(ReadError::Id(error)) = Record::read(&mut json) else { panic!("read") };
    /// assert_eq!(error.code(), "out_of_range");
    /// assert_eq!(error.to_string(), "expected an ID of metabyte 24, found 1");
    /// ```
    ///
    /// # Errors
    /// Returns [`ReadError::Id`] with `missing_field`, `invalid_type`, `invalid_length`, `invalid_character`, or with
    /// `out_of_range` if no variant has the ID's metabyte. All other errors are [`ReadError::Other`].
    fn read<D: Deserializer<'de>>(from: D) -> Result<Self, ReadError<D::Error>> {
        let mut id_error = None;
        let read = read(from, &mut id_error);
        read.map_err(|error| id_error.map_or(ReadError::Other(error), ReadError::Id))
    }
}

/// The reason why an object could not be deserialized.
///
/// ```
/// use polyflake::sno::{ByMetabyte, ReadError, Sno, by_metabyte};
///
/// #[derive(serde::Deserialize)]
/// struct User {
///     id: Sno,
/// }
///
/// by_metabyte! {
///     enum Record {
///         24 => User(User),
///     }
/// }
///
/// let read = |text| Record::read(&mut serde_json::Deserializer::from_str(text)).err();
/// assert!(matches!(read(r#"{"id": "9d5ve8222622g22!"}"#), Some(ReadError::Id(_)))); // e.g. respond with 400 Bad Request
/// assert!(matches!(read("{"), Some(ReadError::Other(_)))); // not JSON
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError<E> {
    /// The ID is missing or malformed, or no variant has its metabyte.
    Id(Error),
    /// The format or the content's type rejected the object.
    Other(E),
}

impl<E: fmt::Display> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(error) => error.fmt(f),
            Self::Other(error) => error.fmt(f),
        }
    }
}

/// The message is the same as the inner error's message, so `source` skips the inner error and returns its source.
impl<E: core::error::Error> core::error::Error for ReadError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Id(error) => error.source(),
            Self::Other(error) => error.source(),
        }
    }
}

/// Deserializes an object as the variant that its ID selects. Used by the macro; not part of the public API.
///
/// # Errors
/// Returns any error that the deserializer returns. If the ID is rejected, the error contains this crate's message.
#[doc(hidden)]
pub fn deserialize<'de, K: ByMetabyte<'de>, D: Deserializer<'de>>(from: D) -> Result<K, D::Error> {
    read(from, &mut None)
}

/// Deserializes an object from a self-describing format. Other formats do not store member names and reject
/// `deserialize_any`.
fn read<'de, K: ByMetabyte<'de>, D: Deserializer<'de>>(
    from: D,
    id_error: &mut Option<Error>,
) -> Result<K, D::Error> {
    let human_readable = from.is_human_readable();
    from.deserialize_any(MembersVisitor::new(human_readable, id_error))
}

/// Declares an enum whose variant serde selects based on the metabyte of an object's sno ID.
///
/// Each variant contains one type, which is deserialized from the whole object including its ID. The pattern before each
/// arrow lists the variant's metabytes: `1`, `1 | 2`, `1..=4`, or a constant. `_` matches all metabytes that no other
/// variant lists. Without `_`, unlisted metabytes are rejected.
///
/// ```
/// use polyflake::sno::{Sno, by_metabyte};
///
/// #[derive(Debug, serde::Deserialize, serde::Serialize)]
/// struct User {
///     id: Sno,
///     foo: String,
///     baz: String,
/// }
///
/// #[derive(Debug, serde::Deserialize, serde::Serialize)]
/// struct Order {
///     id: Sno,
///     total: u64,
/// }
///
/// by_metabyte! {
///     /// A message in the queue.
///     #[derive(Debug, serde::Serialize)]
///     #[serde(untagged)]
///     pub enum Record {
///         24 => User(User),
///         1 | 2 => Order(Order),
///     }
/// }
///
/// let text = r#"{"id":"9aaaaaaa55aaaaaa","foo":"bar","baz":"bar"}"#; // its metabyte is 24
/// let Record::User(user) = serde_json::from_str(text)? else { panic!("another record") };
/// assert_eq!(user.foo, "bar");
/// assert_eq!(serde_json::to_string(&Record::User(user))?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Attributes are passed through to the enum and its variants. The macro implements only `Deserialize`; with
/// `#[serde(untagged)]`, serialization writes the objects as they were read. To borrow from the input, declare the enum
/// with a lifetime, as in `enum Record<'a> { ... }`. To read the ID from a different member, write `enum Record by "_id" {
/// ... }`.
///
/// Write the ID as the first member, because members that precede it are kept in memory until the ID is read, while members
/// that follow it are deserialized directly into the variant's type. In a member before the ID, `RawValue` is rejected, and
/// so are numbers if the `arbitrary_precision` feature of `serde_json` is enabled. In such a member, `serde_json` also
/// reports an integer of more than 64 bits as a float, which a field of an integer type rejects.
///
/// Every self-describing format works, for example JSON, CBOR, and `MessagePack` with member names. Other formats, such as
/// postcard and bincode, return an error.
///
/// If the ID is missing or malformed, or no variant has its metabyte, the error contains this crate's message.
/// [`ByMetabyte::read`] returns the error with its code. An object with two IDs is rejected.
#[doc(hidden)]
#[macro_export]
macro_rules! __by_metabyte {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident $(<$($lifetime:lifetime),+ $(,)?>)? $(by $member:literal)? {
            $(
                $(#[$variant_attribute:meta])*
                $metabyte:pat => $variant:ident($content:ty)
            ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $name $(<$($lifetime),+>)? {
            $($(#[$variant_attribute])* $variant($content)),+
        }

        impl<'de $(: $($lifetime +)+)? $(, $($lifetime),+)?> $crate::sno::ByMetabyte<'de> for $name $(<$($lifetime),+>)? {
            const MEMBER: &'static str = $crate::__member!($($member)?);
            const METABYTES: &'static [&'static str] = &[$(::core::stringify!($metabyte)),+];

            fn of_metabyte<__Deserializer: $crate::__serde::Deserializer<'de>>(
                metabyte: u8,
                content: __Deserializer,
            ) -> ::core::result::Result<::core::option::Option<Self>, __Deserializer::Error> {
                match metabyte {
                    $($metabyte => {
                        <$content as $crate::__serde::Deserialize<'de>>::deserialize(content)
                            .map(|content| ::core::option::Option::Some(Self::$variant(content)))
                    })+
                    #[allow(unreachable_patterns)]
                    _ => ::core::result::Result::Ok(::core::option::Option::None),
                }
            }
        }

        impl<'de $(: $($lifetime +)+)? $(, $($lifetime),+)?> $crate::__serde::Deserialize<'de> for $name $(<$($lifetime),+>)? {
            fn deserialize<__Deserializer: $crate::__serde::Deserializer<'de>>(
                from: __Deserializer,
            ) -> ::core::result::Result<Self, __Deserializer::Error> {
                $crate::sno::deserialize_by_metabyte(from)
            }
        }
    };
}

/// The name of the member that contains the ID.
#[doc(hidden)]
#[macro_export]
macro_rules! __member {
    () => {
        "id"
    };
    ($member:literal) => {
        $member
    };
}
