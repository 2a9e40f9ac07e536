//! Support for schemars, which describes IDs as strings with an inline schema.

use schemars::{Schema, json_schema};

use super::HasSchema;

pub(crate) fn schema_of<T: HasSchema>() -> Schema {
    let super::Schema { format, pattern, example } = T::schema();
    let mut schema = json_schema!({ "type": "string", "pattern": pattern, "examples": [example] });
    if let Some(format) = format {
        schema.insert("format".into(), format.into());
    }
    schema
}

macro_rules! impl_schema {
    ([$($of:tt)*] $id:ty) => {
        impl<$($of)*> schemars::JsonSchema for $id {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                <Self as crate::integrations::HasSchema>::name()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::integrations::schemars::schema_of::<Self>()
            }
        }
    };
}

pub(crate) use impl_schema;
