//! Database columns and schemas for Hot Guids. The bytes have the same order as in the string form, so they sort by time.

use super::HotGuid;
use crate::{
    Result,
    integrations::{Column, Form, HasSchema, Schema, Value, impl_arbitrary_from_bits, impl_column},
};

impl Column for HotGuid {
    const FORMS: &'static [Form] = &[Form::Bytes, Form::Text, Form::Uuid];

    fn from_value(value: Value<'_>) -> Result<Self> {
        match value {
            Value::Text(text) => Self::parse(text),
            Value::Uuid(uuid) => Ok(Self::from_bytes(uuid)),
            Value::Bytes(bytes) => Self::from_slice(bytes),
            Value::Integer(_) => Err(value.rejected_value("a Hot Guid as text, bytes or UUID")),
        }
    }

    fn bytes(&self) -> Result<&[u8]> {
        Ok(self.as_bytes())
    }

    fn uuid(&self) -> Result<[u8; 16]> {
        Ok(self.to_bytes())
    }
}

impl HasSchema for HotGuid {
    const NAME: &'static str = "HotGuid";

    fn schema() -> Schema {
        let pattern = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$".into();
        let example = "6955b900-0000-0000-0000-000003000000".into();
        Schema { format: Some("uuid"), pattern, example }
    }
}

impl_column!([] HotGuid: Binary Text Uuid);
impl_arbitrary_from_bits!([] HotGuid, |bytes: [u8; Self::LEN]| Self::from_bytes(bytes));
