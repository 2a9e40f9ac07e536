//! What keepers ask of stores, as data: a driver may answer it over any client, blocking or not.

use alloc::{string::String, vec::Vec};

use crate::{Namespace, Record, Result};

/// A request of a keeper, with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers take it apart")]
pub struct Request {
    /// Tells answers apart: no two requests of a keeper have one number.
    pub number: u64,
    /// The namespace's name.
    pub namespace: String,
    /// What is asked.
    pub ask: Ask,
}

/// What a store is asked. A driver answers each in one step, which no other write comes between, and replies when what it wrote is
/// durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Make the namespace's record if there is none, with the driver's name of the store in it: [`Found::Nothing`].
    Open(Namespace),
    /// Look for records to claim: at most `limit` of those that end first, the lower number before the higher: [`Found::Records`].
    Find {
        /// How many records at most.
        limit: u32,
    },
    /// Read a record: [`Found::Records`] with it, or with none.
    Read {
        /// The record's first number.
        first: u64,
    },
    /// Put `new` where the record is [as it was read](Record::is_as_read), the namespace's incarnation is that of `new`, and the
    /// store is the one that the namespace's record names: [`Found::Done`], else [`Found::Differs`] with the record that is there.
    Put {
        /// The record as it was read.
        old: Record,
        /// What replaces it.
        new: Record,
    },
    /// Put the namespace's record where its version and incarnation are those that were read, and the store is the one that `new`
    /// names: a write that was sent to another incarnation of the store must not reach this one. Before, make the records from `first`
    /// on, each `count` numbers after the one before, that `new` counts and `old` does not, [never granted](Record::fresh):
    /// [`Found::Done`] or [`Found::Differs`].
    PutNamespace {
        /// The record as it was read.
        old: Namespace,
        /// What replaces it.
        new: Namespace,
        /// The number of the first new record.
        first: u64,
        /// How many numbers a record covers.
        count: u64,
    },
    /// Count the records and find the highest end that is not [`Record::RESERVED`]: [`Found::Survey`].
    Survey,
}

/// What a store answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct Reply {
    /// The store's time, in Unix milliseconds.
    pub now: u64,
    /// Which store it is: another value after a backup was restored or a replica promoted.
    pub store: String,
    /// The namespace's record after the request, if there is one.
    pub namespace: Option<Namespace>,
    /// What was found or done.
    pub found: Found,
}

/// The part of a reply that differs from request to request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing that the rest of the reply does not say.
    Nothing,
    /// Records.
    Records(Vec<Record>),
    /// The write is done, durably.
    Done,
    /// The write is refused; the record that is there.
    Differs(Option<Record>),
    /// What is in the namespace.
    Survey {
        /// How many records there are.
        records: u64,
        /// The highest end of all that are not [`Record::RESERVED`].
        latest_end: u64,
    },
}

/// A store that answers at once, for threads that may block. Drivers over clients that do not block answer the same requests in their own
/// way.
pub trait Store {
    /// Answers a request.
    ///
    /// # Errors
    /// Whatever keeps the store from answering. A write that failed so may have been done all the same.
    fn answer(&mut self, request: &Request) -> Result<Reply>;
}

impl<S: Store + ?Sized> Store for &mut S {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        (**self).answer(request)
    }
}
