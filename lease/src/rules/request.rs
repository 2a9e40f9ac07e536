//! The requests that keepers send to stores, represented as data. A driver may process them with any client, whether
//! blocking or asynchronous.

use alloc::{string::String, vec::Vec};

use crate::{
    Result,
    protocol::{Namespace, Record},
};

/// A numbered request from a keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers take it apart")]
pub struct Request {
    /// The request's number, which identifies the request that a reply belongs to. It is unique within one keeper.
    pub number: u64,
    /// The namespace's name.
    pub namespace: String,
    /// The request's content.
    pub operation: Operation,
}

/// A request's content. A driver processes each request in one atomic step, and replies once the request's writes are
/// durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Create the namespace's record, with the driver's name for the store, if it does not exist. The result is
    /// [`ReplyContent::Nothing`].
    Open(Namespace),
    /// Find records to claim: at most `limit` records, sorted by end and then by worker ID. The result is
    /// [`ReplyContent::Records`].
    Find {
        /// The maximum number of records.
        limit: u32,
    },
    /// Read a record. The result is [`ReplyContent::Records`], with an empty list if the record does not exist.
    Read {
        /// The first worker ID of the record.
        first: u64,
    },
    /// Replace a record with `new` if three conditions are met: the record is [unchanged](Record::is_as_read), the
    /// namespace has the same incarnation as `new`, and the namespace's record names this store. The result is
    /// [`ReplyContent::Done`] if the record was replaced. Otherwise, it is [`ReplyContent::Differs`] with the stored
    /// record.
    Put {
        /// The record as the keeper read it.
        old: Record,
        /// The new record.
        new: Record,
    },
    /// Replace the namespace's record if its version and incarnation are unchanged and `new` names this store. Without
    /// these conditions, a write that was sent to a different incarnation of the store could take effect in this one.
    /// Before replacing the record, create the additional records that `new` counts, as [records that were never
    /// granted](Record::fresh). The first new record starts at `first`, and each subsequent record starts `count` worker
    /// IDs after the previous one. The result is [`ReplyContent::Done`] or [`ReplyContent::Differs`].
    PutNamespace {
        /// The record as the keeper read it.
        old: Namespace,
        /// The new record.
        new: Namespace,
        /// The first worker ID of the first new record.
        first: u64,
        /// The number of worker IDs that a record covers.
        count: u64,
    },
    /// Count the records and find the latest end that is not [`Record::RESERVED`]. The result is [`ReplyContent::Survey`].
    Survey,
    /// List the names of the store's namespaces, for an operator. The namespace named in the request need not exist. The
    /// result is [`ReplyContent::Names`].
    List,
}

/// A store's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct Reply {
    /// The store's time in Unix milliseconds.
    pub now: u64,
    /// The store's name, which changes when a backup is restored or a replica is promoted.
    pub store: String,
    /// The namespace's record after the request, if it exists.
    pub namespace: Option<Namespace>,
    /// The request's result.
    pub content: ReplyContent,
}

/// The part of a reply that depends on the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyContent {
    /// No content besides the fields that every reply contains.
    Nothing,
    /// The result of [`Operation::Find`] or [`Operation::Read`].
    Records(Vec<Record>),
    /// The write is durable.
    Done,
    /// The write was rejected because the stored record differs. Contains the stored record, if there is one.
    Differs(Option<Record>),
    /// The result of a survey of the namespace.
    Survey {
        /// The number of records.
        records: u64,
        /// The latest end that is not [`Record::RESERVED`].
        latest_end: u64,
    },
    /// The names of all namespaces, sorted.
    Names(Vec<String>),
}

/// A store whose calls block the current thread. Only one thread uses the store at a time, but different threads may use it
/// one after another. Drivers for asynchronous clients implement `AsyncStore` instead, and process the same requests.
pub trait Store: Send {
    /// Processes a request and returns the store's reply.
    ///
    /// # Errors
    /// Returns the reason why the store cannot process the request. The store may have executed a write despite the error.
    fn answer(&mut self, request: &Request) -> Result<Reply>;
}

impl<S: Store + ?Sized> Store for &mut S {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        (**self).answer(request)
    }
}

/// An asynchronous store, for clients that run on an async executor. It is the asynchronous counterpart of [`Store`].
#[cfg(feature = "std")]
pub trait AsyncStore {
    /// Processes a request and returns the store's reply.
    ///
    /// The future may be dropped before it completes. In that case, the store may or may not have executed the request's
    /// write, as after an error.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::answer`].
    fn answer(&mut self, request: &Request) -> impl Future<Output = Result<Reply>> + Send;
}
