//! Descriptions of encoded IDs for use in schemas.

use alloc::{borrow::Cow, string::String};

/// A description of encoded IDs for JSON Schema and OpenAPI.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The value of `format` in JSON Schema, such as `uuid`.
    pub format: Option<&'static str>,
    /// A regular expression that matches every encoded ID and is as specific as possible.
    pub pattern: String,
    /// An example of an encoded ID.
    pub example: String,
}

/// An ID type whose string form can be described by a schema.
pub trait HasSchema {
    /// The name of the type in a schema.
    const NAME: &'static str;

    /// Returns the name of the schema, which differs between types whose patterns differ.
    fn name() -> Cow<'static, str> {
        Self::NAME.into()
    }

    /// Returns the description of the string form.
    fn schema() -> Schema;
}
