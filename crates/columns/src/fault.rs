//! The reasons why a column is rejected.

use polyflake::Error;

/// The error that is returned if there is not enough memory for the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// The reason why a column is rejected.
#[derive(Debug)]
pub enum Fault {
    /// The column has the wrong type or violates the rules of Arrow's interface. The type is included as an Arrow format
    /// string.
    Kind(String),
    /// The item at this index is null.
    Null(usize),
    /// An item or a length is invalid. The error contains the index of the item.
    Rejected(Error),
    /// The system does not have enough memory for the result.
    Memory,
}

impl From<OutOfMemory> for Fault {
    fn from(_: OutOfMemory) -> Self {
        Self::Memory
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Rejected(error)
    }
}
