//! Support for utoipa, which describes IDs as strings in OpenAPI.

use utoipa::openapi::{
    RefOr,
    schema::{ObjectBuilder, Schema, SchemaFormat, Type},
};

use super::HasSchema;

pub(crate) fn schema_of<T: HasSchema>() -> RefOr<Schema> {
    let super::Schema { format, pattern, example } = T::schema();
    let object = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern));
    let format = format.map(|format| SchemaFormat::Custom(format.into()));
    object.format(format).examples([example]).into()
}

macro_rules! impl_schema {
    ([$($of:tt)*] $id:ty) => {
        impl<$($of)*> utoipa::PartialSchema for $id {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                crate::integrations::utoipa::schema_of::<Self>()
            }
        }

        impl<$($of)*> utoipa::ToSchema for $id {
            fn name() -> alloc::borrow::Cow<'static, str> {
                <Self as crate::integrations::HasSchema>::name()
            }
        }
    };
}

pub(crate) use impl_schema;
