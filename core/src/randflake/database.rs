//! Support for database columns, which store IDs as signed integers, and for schemas, which describe IDs as strings.

use super::Randflake;
use crate::{
    Result,
    integrations::{Column, Form, HasSchema, Schema, Value, impl_arbitrary_from_bits, impl_column},
};

impl Column for Randflake {
    const FORMS: &'static [Form] = &[Form::Integer];

    fn form(&self) -> Form {
        Form::Integer
    }

    fn from_value(value: Value<'_>) -> Result<Self> {
        match value {
            Value::Integer(number) => Ok(Self::from_i64(number)),
            other => Err(other.rejected_value("a Randflake as an integer")),
        }
    }

    fn integer(&self) -> Result<&i64> {
        Ok(self.as_i64())
    }
}

impl HasSchema for Randflake {
    const NAME: &'static str = "Randflake";

    fn schema() -> Schema {
        let pattern = "^(0|[1-9a-v][0-9a-v]{0,11}|[1-9a-f][0-9a-v]{12})$".into();
        Schema { format: None, pattern, example: "3vgoe12ccb8gh".into() }
    }
}

impl_column!([] Randflake: BigInt);
impl_arbitrary_from_bits!([] Randflake, |number: i64| Self::from_i64(number));
