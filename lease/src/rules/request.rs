//! The requests of keepers to stores, as data: a driver may answer them over any client, blocking or not.

use alloc::{string::String, vec::Vec};

use crate::{Namespace, Record, Result};

/// A request of a keeper, with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers take it apart")]
pub struct Request {
    /// A number that tells answers apart: no two requests of a keeper share one.
    pub number: u64,
    /// The namespace's name.
    pub namespace: String,
    /// The content of the request.
    pub ask: Ask,
}

/// The content of a request. A driver answers each in one atomic step, and replies once its writes are durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Make the namespace's record if there is none, with the driver's name of the store in it: [`Found::Nothing`].
    Open(Namespace),
    /// Look for records to claim: at most `limit` records, the earliest ends first, and for one end the lower number first:
    /// [`Found::Records`].
    Find {
        /// The largest number of records.
        limit: u32,
    },
    /// Read a record: [`Found::Records`] with the record, or with none.
    Read {
        /// The record's first number.
        first: u64,
    },
    /// Put `new` if the record is [as it was read](Record::is_as_read), the namespace's incarnation is that of `new`, and the
    /// store is the one that the namespace's record names: [`Found::Done`], else [`Found::Differs`] with the stored record.
    Put {
        /// The record as it was read.
        old: Record,
        /// The record that replaces it.
        new: Record,
    },
    /// Put the namespace's record if its version and incarnation are those that were read, and the store is the one that `new`
    /// names: a write that was sent to another incarnation of the store must not reach this one. Before that, make the records
    /// that `new` counts and `old` does not, from `first` on, each `count` numbers after the previous one,
    /// [never granted](Record::fresh): [`Found::Done`] or [`Found::Differs`].
    PutNamespace {
        /// The record as it was read.
        old: Namespace,
        /// The record that replaces it.
        new: Namespace,
        /// The number of the first new record.
        first: u64,
        /// Number of numbers that a record covers.
        count: u64,
    },
    /// Count the records and find the highest end that is not [`Record::RESERVED`]: [`Found::Survey`].
    Survey,
    /// List the names of the store's namespaces, for an operator: [`Found::Names`]. The request's own namespace need not exist.
    List,
}

/// The answer of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct Reply {
    /// The store's time, in Unix milliseconds.
    pub now: u64,
    /// The store's name: another value after a backup was restored or a replica promoted.
    pub store: String,
    /// The namespace's record after the request, if there is one.
    pub namespace: Option<Namespace>,
    /// The result of the request.
    pub found: Found,
}

/// The part of a reply that differs from request to request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing beside the rest of the reply.
    Nothing,
    /// Records.
    Records(Vec<Record>),
    /// The write is done, durably.
    Done,
    /// The write is refused; the stored record.
    Differs(Option<Record>),
    /// A survey of the namespace.
    Survey {
        /// Number of records.
        records: u64,
        /// The highest end that is not [`Record::RESERVED`].
        latest_end: u64,
    },
    /// The names of all namespaces, sorted.
    Names(Vec<String>),
}

/// A store with blocking calls, for threads that may block: one thread at a time, and not always the same. Drivers over clients that do
/// not block answer the same requests in their own way.
pub trait Store: Send {
    /// Answers a request.
    ///
    /// # Errors
    /// The reason why the store cannot answer. A write that failed in this way may have been done all the same.
    fn answer(&mut self, request: &Request) -> Result<Reply>;
}

impl<S: Store + ?Sized> Store for &mut S {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        (**self).answer(request)
    }
}

/// A store whose calls wait without holding the thread: for clients of an executor, in place of [`Store`].
#[cfg(feature = "std")]
pub trait AsyncStore {
    /// Answers a request.
    ///
    /// The future may be dropped before its end. The write that it was to do may then have been done or not, as after an error.
    ///
    /// # Errors
    /// As [`Store::answer`].
    fn answer(&mut self, request: &Request) -> impl Future<Output = Result<Reply>> + Send;
}
