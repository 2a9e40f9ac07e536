//! Support for version 7 UUIDs in database columns and schemas. Bytes are stored in the order of the string form, so they
//! sort by time.

use super::Uuid7;
use crate::{
    Result,
    integrations::{Column, Form, HasSchema, Schema, Value, impl_arbitrary_from_bits, impl_column},
};

impl Column for Uuid7 {
    const FORMS: &'static [Form] = &[Form::Bytes, Form::Text, Form::Uuid];

    fn from_value(value: Value<'_>) -> Result<Self> {
        match value {
            Value::Text(text) => Self::parse(text),
            Value::Uuid(uuid) => Self::from_bytes(uuid),
            Value::Bytes(bytes) => Self::from_slice(bytes),
            Value::Integer(_) => {
                Err(value.rejected_value("a version 7 UUID as text, bytes or UUID"))
            }
        }
    }

    fn bytes(&self) -> Result<&[u8]> {
        Ok(self.as_bytes())
    }

    fn uuid(&self) -> Result<[u8; 16]> {
        Ok(self.to_bytes())
    }
}

impl HasSchema for Uuid7 {
    const NAME: &'static str = "Uuid7";

    fn schema() -> Schema {
        let digits = "[0-9a-fA-F]";
        let pattern = alloc::format!(
            "^{digits}{{8}}-{digits}{{4}}-7{digits}{{3}}-[89abAB]{digits}{{3}}-{digits}{{12}}$"
        );
        let example = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".into();
        Schema { format: Some("uuid"), pattern, example }
    }
}

impl_column!([] Uuid7: Binary Text Uuid);
impl_arbitrary_from_bits!([] Uuid7, |bytes: [u8; Self::LEN]| Self::from_random_bytes(bytes));
