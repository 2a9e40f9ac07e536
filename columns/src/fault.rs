//! Reasons for which a column is refused.

use polyflake::Error;

/// The system has no memory for the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// The reason for which a column is refused.
#[derive(Debug)]
pub enum Fault {
    /// It has another type, named by Arrow's format string, or breaks the rules of Arrow's interface.
    Kind(String),
    /// The item at this index is null.
    Null(usize),
    /// An item, named by the error, or a length is refused.
    Refused(Error),
    /// The system has no memory for the result.
    Memory,
}

impl From<OutOfMemory> for Fault {
    fn from(_: OutOfMemory) -> Self {
        Self::Memory
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}
