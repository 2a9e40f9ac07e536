//! Checks whether a lease could be acquired, without claiming a worker ID or writing to the store. Like a keeper, the check
//! only returns its requests, and the host sends them.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use crate::{
    Error, ErrorKind, Result, Shape,
    protocol::{Namespace, Operation, Record, Reply, ReplyContent, Request},
    rules::error::{damaged_record, format_unix_ms, reserved_id_error},
    rules::volatile_store::{is_proposed, is_volatile},
};

/// The number of records to request in each namespace. A claim requests the same number.
const MAX_CANDIDATES: u32 = 8;
/// The maximum difference between the clocks of the host and the store, in milliseconds, at which one-hour leases are
/// granted.
const SKEW_MS: u64 = 60_000;

/// A check of all existing namespaces with a given name. For `orders`, these are `orders/sno`, `orders/layout` and so on.
pub(crate) struct Check {
    name: String,
    requests: Vec<Request>,
    asked: u64,
}

impl Check {
    pub(crate) fn new(name: &str) -> Self {
        let list = Request { number: 1, namespace: name.to_string(), operation: Operation::List };
        Self { name: name.to_string(), requests: vec![list], asked: 1 }
    }

    /// Returns the next request, or `None` if all requests have been answered and a lease could be acquired.
    pub(crate) fn next(&mut self) -> Option<Request> {
        self.requests.pop()
    }

    /// Processes the reply to a request.
    ///
    /// # Errors
    /// Returns the reason why no lease could be acquired: `store_changed`, `worker_ids_exhausted`, `clock_skewed` or
    /// `store_damaged`.
    pub(crate) fn process_reply(&mut self, reply: Reply, wall_ms: u64) -> Result<()> {
        // A store that does not exist yet reports no time.
        let skew = if reply.now == 0 { 0 } else { reply.now.abs_diff(wall_ms) };
        if skew > SKEW_MS {
            let seconds = skew.div_ceil(1000);
            let reason = format!("this machine's clock differs from the store's by {seconds} s");
            return Err(Error::new(ErrorKind::ClockSkewed, reason));
        }
        match reply.content {
            ReplyContent::Names(names) => {
                let own = format!("{}/", self.name);
                let found: Vec<_> = names.into_iter().filter(|it| it.starts_with(&own)).collect();
                if found.is_empty() && is_volatile(&reply.store) {
                    return Err(waits_for_a_request(&self.name));
                }
                for namespace in found {
                    self.asked += 1;
                    let operation = Operation::Find { limit: MAX_CANDIDATES };
                    self.requests.push(Request { number: self.asked, namespace, operation });
                }
                Ok(())
            }
            ReplyContent::Records(records) => {
                let namespace = reply.namespace;
                let namespace =
                    namespace.ok_or_else(|| damaged_record("expected the namespace's record"))?;
                check_leasable(&namespace, &records, (reply.now, &reply.store))
            }
            _ => Err(damaged_record(
                "expected a reply that fits the request, found one of another kind",
            )),
        }
    }
}

/// Returns the error for a volatile store whose waiting time for a namespace begins with the first request.
fn waits_for_a_request(name: &str) -> Error {
    let reason = format!(
        "the store may have lost grants, and grants nothing in {name} until six minutes after a process first requests a \
         worker ID; start a process, or run `polyflake new` with this namespace"
    );
    Error::new(ErrorKind::StoreChanged, reason)
}

fn check_leasable(
    namespace: &Namespace,
    records: &[Record],
    (now, store): (u64, &str),
) -> Result<()> {
    namespace.check(&namespace.digest())?;
    records.iter().try_for_each(Record::check)?;
    let name = &namespace.name;
    let until = Some(namespace.quiet_until).filter(|until| now < *until);
    if is_volatile(store) && (namespace.store != store || is_proposed(namespace, store)) {
        return Err(waits_for_a_request(name));
    }
    if namespace.store != store || until.is_some() {
        // A restored store's quiet time begins when the first holder notices the restore. A check does not start the quiet
        // time.
        let end = until.map_or("some time after a holder notices it".to_string(), format_unix_ms);
        let cause =
            if is_volatile(store) { "may have lost grants" } else { "was restored or replaced" };
        let reason = format!("the store {cause}, and {name} grants nothing until {end}");
        let error = Error::new(ErrorKind::StoreChanged, reason);
        return Err(until.map_or(error.clone(), |until| error.with_until(until)));
    }
    let capacity = Shape::from_json(&namespace.shape)?.capacity();
    let is_free = |record: &Record| record.granted_until <= now;
    if namespace.records < capacity || records.iter().any(is_free) {
        return Ok(());
    }
    let until = records.first().map_or(0, |record| record.granted_until);
    if until == Record::RESERVED {
        return Err(reserved_id_error(&format!("all {capacity} worker IDs of {name} are")));
    }
    let reason = format!(
        "all {capacity} worker IDs of {name} are leased, the first until {}",
        format_unix_ms(until)
    );
    Err(Error::new(ErrorKind::WorkerIdsExhausted, reason).with_until(until))
}
