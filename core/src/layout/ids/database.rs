//! Support for database columns and schemas. A column stores integer IDs as signed integers, and byte IDs as bytes.

use crate::{
    Result,
    integrations::{Column, Form, HasSchema, Schema, Value, impl_arbitrary_from_bits, impl_column},
    layout::Id,
};

impl Column for Id {
    const FORMS: &'static [Form] = &[Form::Integer, Form::Bytes];

    fn form(&self) -> Form {
        match self {
            Self::Integer(_) => Form::Integer,
            Self::Bytes(_) => Form::Bytes,
        }
    }

    fn from_value(value: Value<'_>) -> Result<Self> {
        match value {
            Value::Integer(number) => Ok(Self::Integer(number)),
            Value::Bytes(bytes) => Ok(Self::Bytes(bytes.into())),
            other => Err(other.rejected_value("an ID of a layout as an integer or bytes")),
        }
    }

    fn integer(&self) -> Result<&i64> {
        match self {
            Self::Integer(number) => Ok(number),
            Self::Bytes(bytes) => Err(Value::Bytes(bytes).rejected_value("an integer")),
        }
    }

    fn bytes(&self) -> Result<&[u8]> {
        match self {
            Self::Integer(number) => Err(Value::Integer(*number).rejected_value("bytes")),
            Self::Bytes(bytes) => Ok(bytes),
        }
    }
}

impl HasSchema for Id {
    const NAME: &'static str = "LayoutId";

    fn schema() -> Schema {
        let pattern = "^(0|-?[1-9][0-9]{0,18}|0x([0-9a-f]{2})*)$".into();
        Schema { format: None, pattern, example: "1541815603606036480".into() }
    }
}

impl_column!([] Id: BigInt Binary);
impl_arbitrary_from_bits!([] Id, |bits: core::result::Result<i64, alloc::vec::Vec<u8>>| match bits {
    Ok(number) => Self::Integer(number),
    Err(bytes) => Self::Bytes(bytes),
});
