//! IDs in serde: as text in human-readable formats, as bytes in binary ones. Records of public fields by their names.

use core::fmt;

use serde_core::{
    Deserializer, Serializer,
    de::{Error, Visitor},
};

/// Writes an ID as its text or as its bytes, as the format wants it.
pub(crate) fn write<S: Serializer>(to: S, text: &str, bytes: &[u8]) -> Result<S::Ok, S::Error> {
    if to.is_human_readable() { to.serialize_str(text) } else { to.serialize_bytes(bytes) }
}

/// Reads IDs.
pub(crate) struct IdVisitor<T> {
    /// The text expected, in words.
    pub(crate) text: &'static str,
    pub(crate) of_text: fn(&str) -> crate::Result<T>,
    pub(crate) of_bytes: fn(&[u8]) -> crate::Result<T>,
}

impl<T> IdVisitor<T> {
    /// Reads an ID that was written by [`write`].
    pub(crate) fn read<'de, D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        if from.is_human_readable() {
            from.deserialize_str(self)
        } else {
            from.deserialize_bytes(self)
        }
    }
}

impl<T> Visitor<'_> for IdVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.of_text)(text).map_err(E::custom)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
        (self.of_bytes)(bytes).map_err(E::custom)
    }
}

/// Implements serde's traits for a struct with these fields: by name, or in order where a format has no names. Every field must be
/// there once, and no others.
macro_rules! record {
    ($record:ident { $($field:ident),+ }) => {
        const _: () = {
            use alloc::string::String;
            use core::fmt;
            use serde_core::{
                de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor},
                ser::{Serialize, SerializeStruct, Serializer},
            };

            const FIELDS: &[&str] = &[$(stringify!($field)),+];

            impl Serialize for $record {
                fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    let mut fields = to.serialize_struct(stringify!($record), FIELDS.len())?;
                    $(fields.serialize_field(stringify!($field), &self.$field)?;)+
                    fields.end()
                }
            }

            impl<'de> Deserialize<'de> for $record {
                fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                    from.deserialize_struct(stringify!($record), FIELDS, Fields)
                }
            }

            struct Fields;

            impl<'de> Visitor<'de> for Fields {
                type Value = $record;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(concat!("the fields ", $(stringify!($field), " "),+))
                }

                fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<$record, A::Error> {
                    let mut places = 0..;
                    Ok($record {
                        $($field: {
                            let place = places.next().unwrap_or_default();
                            let found = from.next_element()?;
                            found.ok_or_else(|| A::Error::invalid_length(place, &self))?
                        }),+
                    })
                }

                fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<$record, A::Error> {
                    $(let mut $field = None;)+
                    while let Some(name) = from.next_key::<String>()? {
                        let is_twice = match &*name {
                            $(stringify!($field) => $field.replace(from.next_value()?).is_some(),)+
                            _ => return Err(A::Error::unknown_field(&name, FIELDS)),
                        };
                        if is_twice {
                            return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
                        }
                    }
                    Ok($record {
                        $($field: $field.ok_or_else(|| A::Error::missing_field(stringify!($field)))?),+
                    })
                }
            }
        };
    };
}

pub(crate) use record;
