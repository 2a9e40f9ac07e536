//! The strings of IDs as schemas describe them.

use alloc::string::String;

/// The description of encoded IDs for JSON Schema and OpenAPI.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The `format` in JSON Schema, such as `uuid`.
    pub format: Option<&'static str>,
    /// A regular expression that matches every encoded ID and is as narrow as possible.
    pub pattern: String,
    /// An example of an encoded ID.
    pub example: String,
}

/// IDs whose strings a schema describes.
pub trait Described {
    /// The name of the type in a schema.
    const NAME: &'static str;

    /// Returns the description of the strings.
    fn schema() -> Schema;
}
