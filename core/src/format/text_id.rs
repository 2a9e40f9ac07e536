//! Conversions between IDs and strings, including the serde implementations.

/// Implements `Display`, `FromStr` and the related conversions for an ID with a string form.
macro_rules! impl_text_id {
    ($id:ident) => {
        impl core::fmt::Display for $id {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.text(), f)
            }
        }

        impl core::str::FromStr for $id {
            type Err = crate::Error;
            fn from_str(text: &str) -> crate::Result<Self> {
                Self::parse(text)
            }
        }

        impl TryFrom<&str> for $id {
            type Error = crate::Error;
            fn try_from(text: &str) -> crate::Result<Self> {
                Self::parse(text)
            }
        }
    };
}

/// Implements the string conversions, the conversion from a byte slice, and `Debug` for an ID type that wraps a byte array.
/// `Debug` shows the ID as a string.
macro_rules! impl_byte_id {
    ($id:ident) => {
        crate::format::impl_text_id!($id);

        impl core::fmt::Debug for $id {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_tuple(stringify!($id)).field(&self.text()).finish()
            }
        }

        #[doc = concat!("As [`", stringify!($id), "::from_slice`].")]
        impl TryFrom<&[u8]> for $id {
            type Error = crate::Error;
            fn try_from(bytes: &[u8]) -> crate::Result<Self> {
                Self::from_slice(bytes)
            }
        }
    };
}

pub(crate) use {impl_byte_id, impl_text_id};
