//! Support for database columns and schemas.

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
};

use super::{Id, Kind, Sno};
use crate::{
    Result,
    integrations::{Column, Form, HasSchema, Schema, Value, impl_arbitrary_from_bits, impl_column},
};

const EXPECTED_INPUT: &str = "a sno ID as text, bytes or UUID";
const EXAMPLE: Sno = Sno::parse_const("9afikjv326nct5if").unwrap();

impl Column for Sno {
    const FORMS: &'static [Form] = &[Form::Bytes, Form::Text, Form::Uuid];

    /// Reads an ID from a string, from bytes, or from either of its two UUID forms. The first UUID form consists of the
    /// ASCII characters of the ID's string, and the second form is a version 8 UUID. The two forms can be distinguished,
    /// because ASCII characters never contain the variant bits of a version 8 UUID.
    fn from_value(value: Value<'_>) -> Result<Self> {
        match value {
            Value::Text(text) => Self::parse(text),
            // The 16 bytes are either the ASCII characters of the ID's string or a version 8 UUID. The variant bits of a
            // UUID set the highest bit of this byte, so it is never ASCII.
            Value::Uuid(uuid) if uuid[8].is_ascii() => Self::from_uuid_bytes(uuid),
            Value::Uuid(uuid) => Self::from_uuid8_bytes(uuid),
            Value::Bytes(bytes) => match bytes.try_into() {
                Ok(uuid) => Self::from_value(Value::Uuid(uuid)),
                Err(_) => Self::from_slice(bytes),
            },
            Value::Integer(_) => Err(value.rejected_value(EXPECTED_INPUT)),
        }
    }

    fn bytes(&self) -> Result<&[u8]> {
        Ok(self.as_bytes())
    }

    fn uuid(&self) -> Result<[u8; 16]> {
        Ok(self.to_uuid8_bytes())
    }
}

impl<T: Kind> Column for Id<T> {
    const FORMS: &'static [Form] = Sno::FORMS;

    fn from_value(value: Value<'_>) -> Result<Self> {
        Self::new(Sno::from_value(value)?)
    }

    fn bytes(&self) -> Result<&[u8]> {
        Column::bytes(&**self)
    }

    fn uuid(&self) -> Result<[u8; 16]> {
        Column::uuid(&**self)
    }
}

impl HasSchema for Sno {
    const NAME: &'static str = "Sno";

    fn schema() -> Schema {
        let pattern = "^[2-9a-x]{16}$".into();
        Schema { format: None, pattern, example: EXAMPLE.to_string() }
    }
}

impl<T: Kind> HasSchema for Id<T> {
    const NAME: &'static str = "SnoOfTypeTag";

    fn name() -> Cow<'static, str> {
        format!("{}{}", Self::NAME, T::METABYTE).into()
    }

    /// Returns the schema. Its pattern matches only IDs with the type's metabyte. One character encodes the metabyte's
    /// upper five bits, and the upper bits of the next character are the metabyte's lower three bits.
    fn schema() -> Schema {
        let texts = [0, 1, 2, 3].map(|more| {
            let mut bytes = EXAMPLE.with_metabyte(T::METABYTE).to_bytes();
            // The tenth character encodes the last three bits of the metabyte and the first two bits of the next byte, so
            // four characters are possible.
            bytes[6] = more << 6;
            Sno::from_bytes(bytes).text()
        });
        let (high, low) = (&texts[0][8..9], texts.map(|text| text.as_bytes()[9]));
        let low = String::from_utf8_lossy(&low).into_owned();
        let pattern = format!("^[2-9a-x]{{8}}{high}[{low}][2-9a-x]{{6}}$");
        let example = EXAMPLE.with_metabyte(T::METABYTE).to_string();
        Schema { format: None, pattern, example }
    }
}

impl_column!([] Sno: Binary Text Uuid);
impl_column!([T: Kind] Id<T>: Binary Text Uuid);
impl_arbitrary_from_bits!([] Sno, |bytes: [u8; Self::LEN]| Self::from_bytes(bytes));
impl_arbitrary_from_bits!([T: Kind] Id<T>, |id: Sno| Self::with_kind(id));
