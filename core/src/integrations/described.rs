//! Texts of IDs as schemas describe them.

use alloc::string::String;

/// The text of an ID as JSON Schema and OpenAPI describe it.
#[derive(Clone, Debug)]
pub struct Schema {
    /// A name of JSON Schema for it, such as `uuid`.
    pub format: Option<&'static str>,
    /// A regular expression that every text matches, and as little else as possible.
    pub pattern: String,
    /// A text.
    pub example: String,
}

/// IDs whose texts a schema describes.
pub trait Described {
    /// Its name in a schema.
    const NAME: &'static str;

    /// Its description.
    fn schema() -> Schema;
}
