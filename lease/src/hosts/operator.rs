//! Administrative actions on a namespace that keepers may be using. The actions obey the same rules as keepers: no action
//! frees a worker ID before its holder's grant ends, unless an operator declares the holder dead.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::mem;

use crate::{
    Error, ErrorKind, Result, Shape,
    protocol::{Namespace, Operation, Random, Record, Reply, ReplyContent, Request, Store},
    rules::error::{damaged_record, out_of_range},
    rules::json::MAX_SAFE_INTEGER,
    rules::keeper::quiet_time,
    rules::record::{check_name, check_text},
    rules::shape::IDS_PER_RECORD,
    rules::volatile_store::is_volatile,
};

/// The maximum number of times that an action is attempted if keepers change the record concurrently.
const MAX_ATTEMPTS: u32 = 16;
/// The longest quiet time that an operator may request: ten years. A request for a longer quiet time is assumed to be a
/// mistake.
const MAX_QUIET_MS: u64 = 3653 * 24 * 3_600_000;

/// A namespace's status at one point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The namespace's record.
    pub namespace: Namespace,
    /// The namespace's shape, which specifies the ID format and the range of worker IDs.
    pub shape: Shape,
    /// The schema of the store's tables, if [`Operator::open`] opened a `PostgreSQL` store.
    pub schema: Option<String>,
    /// The store's time in Unix milliseconds.
    pub now: u64,
    /// The name of the store that replied.
    pub store: String,
    /// Whether the namespace's record names a different store. If it does, a backup was restored, and no keeper has
    /// detected the restore yet.
    pub is_restored: bool,
    /// The number of records whose grants have not ended.
    pub granted: u64,
    /// The number of reserved records.
    pub reserved: u64,
    /// The number of records that could be claimed now, including records that have not been created yet.
    pub free: u64,
    /// The earliest time at which a current grant ends, in Unix milliseconds, or `None` if there are no current grants.
    pub next_end: Option<u64>,
}

/// An interface for inspecting and changing a namespace on behalf of a human operator.
///
/// ```
/// use polyflake_lease::{Operator, sno};
///
/// let ids = sno::Generator::new("memory:operator", "orders")?;
/// let mut operator = Operator::open("memory:operator", "orders/sno")?;
/// let reserved = operator.reserve(7, "the old importer")?;
/// let status = operator.status()?;
/// assert_eq!((status.granted, status.reserved, status.free), (1, 1, 65_534));
/// # drop(ids);
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Debug)]
pub struct Operator<S, R> {
    store: S,
    schema: Option<String>,
    name: String,
    random: R,
    requests: u64,
}

#[cfg(feature = "std")]
impl Operator<std::boxed::Box<dyn Store>, fn() -> Result<Random>> {
    /// Creates an operator for a namespace in a store. `url` specifies the store, as in [`open`](crate::protocol::open). This call
    /// never creates a store. Otherwise, an error in the URL would create an empty store that could be mistaken for the
    /// intended store.
    ///
    /// # Errors
    /// Returns any error from the store, `lease_unavailable` if the store does not exist, or `out_of_range` for an invalid
    /// name.
    pub fn open(url: &str, namespace: &str) -> Result<Self> {
        let address = crate::stores::url::Address::from_url(url)?.for_operator()?;
        let store = address.open(core::time::Duration::MAX)?;
        let operator = Self::new(store, namespace, crate::stores::system::random as fn() -> _)?;
        Ok(Self { schema: address.schema(), ..operator })
    }

    /// Creates an operator for all namespaces in a store. `url` specifies the store, as in [`open`](crate::protocol::open). Use this
    /// operator with [`Operator::restored`] and [`Operator::promoted`].
    ///
    /// # Errors
    /// Returns any error from the store.
    pub fn of_store(url: &str) -> Result<Self> {
        // `Operator::restored` and `Operator::promoted` process all namespaces, so this name is never used.
        let operator = Self::open(url, "any")?;
        Ok(Self { name: String::new(), ..operator })
    }
}

impl<S: Store, R: FnMut() -> Result<Random>> Operator<S, R> {
    /// Creates an operator for a namespace in a store. `random` is a function that returns 128 random bits from the
    /// operating system.
    ///
    /// # Errors
    /// Returns `out_of_range` if the name is invalid.
    pub fn new(store: S, namespace: &str, random: R) -> Result<Self> {
        check_name(namespace)?;
        Ok(Self { store, schema: None, name: namespace.to_string(), random, requests: 0 })
    }

    /// Returns the namespace's status, with the number of worker IDs in each state.
    ///
    /// # Errors
    /// Returns `out_of_range` if the namespace does not exist, or any error from the store.
    pub fn status(&mut self) -> Result<Status> {
        let (namespace, shape, reply) = self.send(Operation::Find { limit: u32::MAX })?;
        let Reply { now, store, content: found, .. } = reply;
        let ends: Vec<_> = self
            .sorted_records(&namespace, &shape, found)?
            .iter()
            .map(|record| record.granted_until)
            .collect();
        let count = |is: &dyn Fn(u64) -> bool| ends.iter().filter(|end| is(**end)).count() as u64;
        let reserved = count(&|end| end == Record::RESERVED);
        let granted = count(&|end| end > now) - reserved;
        // Worker IDs without a record are also free, because records are created only as needed.
        let free = shape.capacity().saturating_sub(granted + reserved);
        let next_end = ends.iter().copied().filter(|end| *end > now && *end != Record::RESERVED);
        let (next_end, is_restored) = (next_end.min(), namespace.store != store);
        let schema = self.schema.clone();
        Ok(Status {
            namespace,
            shape,
            schema,
            now,
            store,
            is_restored,
            granted,
            reserved,
            free,
            next_end,
        })
    }

    /// Returns the records of the namespace, sorted by worker ID. Worker IDs that were never claimed have no record.
    ///
    /// # Errors
    /// Returns the same errors as [`Operator::status`].
    pub fn records(&mut self) -> Result<Vec<Record>> {
        let (namespace, shape, reply) = self.send(Operation::Find { limit: u32::MAX })?;
        self.sorted_records(&namespace, &shape, reply.content)
    }

    /// Returns the records in a reply, sorted by worker ID. Returns an error if a record is missing, because stores omit
    /// records that they cannot read.
    fn sorted_records(
        &mut self,
        namespace: &Namespace,
        shape: &Shape,
        found: ReplyContent,
    ) -> Result<Vec<Record>> {
        let mut records = extract_records(found)?;
        records.sort_by_key(|record| record.first);
        let mut firsts = (0..namespace.records).map(|index| shape.first_id_at(index));
        let missing = firsts
            .find(|first| records.binary_search_by_key(first, |record| record.first).is_err());
        match missing {
            Some(first) => {
                // A store omits records that it cannot read. If this record exists but is unreadable, the request fails
                // with the reason.
                self.send(Operation::Read { first })?;
                Err(damaged_record(format!("expected the record of worker ID {first}, found none")))
            }
            None => Ok(records),
        }
    }

    /// Prevents a worker ID's grant from being renewed. The holder can use the worker ID until the grant ends, which is at
    /// most one lease duration from now. After that, the worker ID is free, and the holder claims a different one. Returns
    /// the record; its `granted_until` is the time at which the grant ends.
    ///
    /// # Errors
    /// Returns `out_of_range` for a worker ID that is not in the namespace, was never granted or is reserved;
    /// `store_changed` if the store was restored and no keeper has detected the restore yet; or `lease_unavailable` if
    /// keepers repeatedly changed the record in the meantime.
    pub fn evict(&mut self, worker_id: u64) -> Result<Record> {
        self.change(worker_id, false, |old, _, _| match old.granted_until {
            Record::RESERVED => {
                Err(out_of_range("expected a leased worker ID, found a reserved one"))
            }
            _ if old.token == Random::default() => Err(never_granted_error()),
            // The new record describes an empty grant that starts where the previous one ends. Its token differs, so the
            // previous holder can no longer renew.
            end => Ok(Some(Record { start: end, holder: String::new(), ..old.clone() })),
        })
    }

    /// Reserves a worker ID, so that keepers no longer claim it. If the worker ID is currently granted, its holder can use
    /// it until the grant ends, as after [`Operator::evict`]. Returns the record. Once the record's `start` (in Unix
    /// milliseconds) has passed, you may assign the worker ID to one generator manually. To retire the worker ID, leave it
    /// unused. If the worker ID is already reserved, this call has no effect.
    ///
    /// # Errors
    /// Returns `out_of_range` if the worker ID is not in the namespace, or if the reason is longer than 200 bytes or
    /// contains control characters. Returns `store_not_durable` if the store is volatile, because such a store may lose the
    /// reservation. All other errors are the same as for [`Operator::evict`].
    pub fn reserve(&mut self, worker_id: u64, reason: &str) -> Result<Record> {
        check_text(reason, 200)?;
        self.change(worker_id, true, |old, namespace, (shape, now)| {
            if old.granted_until == Record::RESERVED {
                return Ok(None);
            }
            // `free` never sets `granted_until` to a time before this `start`, so it cannot make the ticks of the last
            // grant available again.
            let after = now.max(old.granted_until).max(namespace.quiet_until);
            let (start, holder) = (shape.grid().ceil(after), reason.to_string());
            Ok(Some(Record { start, granted_until: Record::RESERVED, holder, ..old.clone() }))
        })
    }

    /// Ends the reservation of a worker ID, so that keepers may claim it again. New grants start no earlier than
    /// `used_until` (in Unix milliseconds). The operator vouches that the worker ID was not used after that time.
    ///
    /// # Errors
    /// Returns `out_of_range` for a worker ID that is not reserved, or for a time that does not fit in a record. All other
    /// errors are the same as for [`Operator::evict`].
    pub fn free(&mut self, worker_id: u64, used_until: u64) -> Result<Record> {
        if used_until >= MAX_SAFE_INTEGER {
            return Err(out_of_range("expected a time below 2^53 - 1 ms"));
        }
        self.change(worker_id, false, |old, _, (shape, _)| {
            if old.granted_until != Record::RESERVED {
                return Err(out_of_range("expected a reserved worker ID, found a leased one"));
            }
            let granted_until = shape.grid().ceil(used_until).max(old.start);
            Ok(Some(Record { granted_until, ..old.clone() }))
        })
    }

    /// Frees a dead holder's worker ID before its grant ends. The grant then ends at the store's time plus the namespace's
    /// [clock error](Namespace::clock_error_ms). Pass the `token` of the holder's record, because another holder may have
    /// the worker ID by now.
    ///
    /// The operator vouches that neither the process nor a copy of it is still running, and that the holder's clock was
    /// ahead of the store's clock by at most the clock error. If either statement is wrong, duplicate IDs may be created.
    /// Returns the record; its `granted_until` is the time at which the grant now ends.
    ///
    /// # Errors
    /// Returns `lease_lost` if the record has a different token. All other errors are the same as for [`Operator::evict`].
    pub fn dead(&mut self, worker_id: u64, token: Random) -> Result<Record> {
        self.change(worker_id, false, |old, namespace, (shape, now)| {
            if old.granted_until == Record::RESERVED {
                let reason = "expected a leased worker ID, found a reserved one; 'polyflake lease free' ends the reservation";
                return Err(out_of_range(reason));
            }
            if old.token != token || token == Random::default() {
                let reason = "expected the token of the worker ID's record, found another one";
                return Err(Error::new(ErrorKind::LeaseLost, reason));
            }
            // The holder's clock may have been ahead by up to the clock error, so every millisecond that it may have shown
            // counts as used.
            let end = shape.grid().ceil(now + namespace.clock_error_ms() + 1);
            let granted_until = old.granted_until.min(end.max(old.start));
            Ok(Some(Record { granted_until, ..old.clone() }))
        })
    }

    /// Returns the names of the store's namespaces.
    ///
    /// # Errors
    /// Returns any error from the store.
    pub fn namespaces(&mut self) -> Result<Vec<String>> {
        self.requests += 1;
        let request = Request {
            number: self.requests,
            namespace: self.name.clone(),
            operation: Operation::List,
        };
        match self.store.answer(&request)?.content {
            ReplyContent::Names(names) => {
                names.iter().try_for_each(|name| check_name(name))?;
                Ok(names)
            }
            _ => Err(damaged_record("expected the names of namespaces")),
        }
    }

    /// Updates all namespaces to reflect that the store was restored from a backup. This call is necessary if the store
    /// cannot detect the restore, for example if rows from a dump were loaded into existing tables, or a file was
    /// overwritten. Existing grants can be renewed if the store still has their records. New grants start no earlier than a
    /// time that is derived from the store's records or, if it is later, `not_before` (in Unix milliseconds). Returns the
    /// namespaces' records, whose `quiet_until` is this earliest start time.
    ///
    /// # Errors
    /// Processes all namespaces, and then returns the first error. Returns `out_of_range` if `not_before` is more than ten
    /// years from now, because such a value could not be undone, or if the store has no namespaces. Returns `store_damaged`
    /// if records are missing. All other errors are the same as for [`Operator::evict`].
    pub fn restored(&mut self, not_before: Option<u64>) -> Result<Vec<Namespace>> {
        self.update_all_namespaces(|random, old, (now, store), found| {
            let ReplyContent::Survey { records, latest_end } = found else {
                return Err(damaged_record("expected a survey"));
            };
            if records < old.records {
                let reason = format!("expected {} records, found {records}", old.records);
                return Err(damaged_record(reason));
            }
            if not_before.is_some_and(|time| time > now.saturating_add(MAX_QUIET_MS)) {
                return Err(out_of_range("expected a time within ten years"));
            }
            let quiet_until = quiet_time(old, store, (now, latest_end), 0)?;
            let quiet_until = quiet_until.max(not_before.unwrap_or(0));
            // The previous name is cleared, so that a promotion reported later cannot end this quiet time: any such
            // promotion happened before this restore.
            let previous_store = String::new();
            Ok(Namespace { previous_store, ..old.with_incarnation("", random()?, quiet_until) })
        })
    }

    /// Updates all namespaces to reflect that the store named `from` became this store, named `to`, without losing data,
    /// for example in a planned failover or a failover to a synchronous replica. This call ends the quiet time that began
    /// with this store change, but not an earlier quiet time. Active holders are not affected. Returns the namespaces'
    /// records.
    ///
    /// The operator vouches that `from` is shut down and that `to` contains everything that `from` acknowledged. If either
    /// statement is wrong, duplicate IDs may be created. The records can contradict the operator's statement but never
    /// prove it, because a point-in-time recovery would leave the same records.
    ///
    /// # Errors
    /// Processes all namespaces, and then returns the first error. Returns `store_changed` if a record contradicts the
    /// operator's statement, for example because a backup has been restored since then. Returns `out_of_range` if the two
    /// names show that no promotion is possible between the stores. All other errors are the same as for
    /// [`Operator::evict`].
    pub fn promoted(&mut self, from: &str, to: &str) -> Result<Vec<Namespace>> {
        check_promotion(from, to)?;
        self.update_all_namespaces(|random, old, (now, store), _| {
            if store != to {
                let reason = format!("expected the store {to}, found {store}");
                return Err(Error::new(ErrorKind::StoreChanged, reason));
            }
            if old.store == from {
                // No keeper has noticed the promotion yet.
                return Ok(old.with_incarnation(to, random()?, old.quiet_until));
            }
            if (&*old.previous_store, &*old.store) == (from, to) {
                // A keeper has noticed that the store is different. The keeper waits as it does after a restore, because it
                // cannot distinguish the two cases. A promoted replica has lost no grants, so the previous quiet time is
                // sufficient.
                return Ok(Namespace { quiet_until: old.previous_quiet_until, ..old.clone() });
            }
            if old.store == to && old.quiet_until <= now {
                return Ok(old.clone());
            }
            let found = match &*old.previous_store {
                "" => "a restored backup",
                before => before,
            };
            let reason =
                format!("expected that {from} became {to}, found {} after {found}", old.store);
            Err(Error::new(ErrorKind::StoreChanged, reason).with_until(old.quiet_until))
        })
    }

    /// Changes the records of all namespaces. Continues after an error, and then returns the first one.
    fn update_all_namespaces(
        &mut self,
        new: impl Fn(&mut R, &Namespace, (u64, &str), ReplyContent) -> Result<Namespace>,
    ) -> Result<Vec<Namespace>> {
        let names = self.namespaces()?;
        if names.is_empty() {
            return Err(out_of_range("expected a store with at least one namespace, found none"));
        }
        let own = mem::take(&mut self.name);
        let mut done = Vec::new();
        for name in names {
            self.name = name;
            // An error does not end the loop, so that one damaged namespace does not prevent the others from granting
            // leases.
            done.push(self.change_namespace(&new));
        }
        self.name = own;
        done.into_iter().collect()
    }

    /// Replaces the namespace's record with the result of `new`. The function `new` receives a source of random numbers,
    /// the current record, the store's time and name, and the result of [`Operation::Survey`]. The new record contains this
    /// store's name.
    fn change_namespace(
        &mut self,
        new: impl Fn(&mut R, &Namespace, (u64, &str), ReplyContent) -> Result<Namespace>,
    ) -> Result<Namespace> {
        for _ in 0..MAX_ATTEMPTS {
            let (old, shape, Reply { now, store, content: found, .. }) =
                self.send(Operation::Survey)?;
            let new = new(&mut self.random, &old, (now, &store), found)?;
            let new = Namespace { store, version: old.version + 1, ..new };
            let (first, count) = (shape.first_id_at(old.records), IDS_PER_RECORD);
            let put = Operation::PutNamespace { old, new: new.clone(), first, count };
            if self.send(put)?.2.content == ReplyContent::Done {
                return Ok(new);
            }
        }
        Err(contention_error())
    }

    /// Changes the record of `worker_id` and gives it a new token, unless the change has no effect. If `may_grow` is true,
    /// first creates any missing records up to and including that record.
    fn change(
        &mut self,
        worker_id: u64,
        may_grow: bool,
        new: impl Fn(&Record, &Namespace, (&Shape, u64)) -> Result<Option<Record>>,
    ) -> Result<Record> {
        for _ in 0..MAX_ATTEMPTS {
            let (namespace, shape, reply) = self.send(Operation::Read { first: worker_id })?;
            let index = shape.record_index(worker_id)?;
            if namespace.store != reply.store {
                let reason = "expected the store that granted before, found a restored one";
                return Err(Error::new(ErrorKind::StoreChanged, reason));
            }
            if may_grow && is_volatile(&reply.store) {
                let reason = "expected a store that keeps reservations, found a volatile one";
                return Err(Error::new(ErrorKind::StoreNotDurable, reason));
            }
            if index >= namespace.records {
                if !may_grow {
                    return Err(never_granted_error());
                }
                let new = Namespace {
                    records: index + 1,
                    version: namespace.version + 1,
                    ..namespace.clone()
                };
                let (first, count) = (shape.first_id_at(namespace.records), IDS_PER_RECORD);
                self.send(Operation::PutNamespace { old: namespace, new, first, count })?;
                continue;
            }
            let first = shape.first_id_at(index);
            let found = self.send(Operation::Read { first })?.2.content;
            let old = extract_records(found)?.into_iter().next();
            let old =
                old.filter(|old| old.count == IDS_PER_RECORD && old.version < MAX_SAFE_INTEGER);
            let old = old.ok_or_else(|| damaged_record("expected the record of one worker ID"))?;
            let Some(new) = new(&old, &namespace, (&shape, reply.now))? else { return Ok(old) };
            // If the previous holder tries to renew its lease, the new token shows that it no longer owns the record.
            let (token, incarnation) = ((self.random)()?, namespace.incarnation);
            let new = Record { token, incarnation, version: old.version + 1, ..new };
            if self.send(Operation::Put { old, new: new.clone() })?.2.content == ReplyContent::Done
            {
                return Ok(new);
            }
        }
        Err(contention_error())
    }

    /// Sends a request to the store. Returns an error if the namespace does not exist.
    fn send(&mut self, operation: Operation) -> Result<(Namespace, Shape, Reply)> {
        self.requests += 1;
        let (number, name) = (self.requests, self.name.clone());
        let mut reply = self.store.answer(&Request { number, namespace: name, operation })?;
        let namespace = reply.namespace.take().ok_or_else(|| {
            out_of_range(format!(
                "expected a namespace in the store, found none with the name {}",
                self.name
            ))
        })?;
        namespace.check(&namespace.digest())?;
        if namespace.version == MAX_SAFE_INTEGER || reply.now >= MAX_SAFE_INTEGER {
            return Err(damaged_record("expected a version and a time that can be increased"));
        }
        let shape = Shape::from_json(&namespace.shape)?;
        Ok((namespace, shape, reply))
    }
}

/// Returns the records in a reply, after checking that each of them is a valid record of format 1.
fn extract_records(found: ReplyContent) -> Result<Vec<Record>> {
    let ReplyContent::Records(records) = found else {
        return Err(damaged_record(
            "expected a reply that fits the request, found one of another kind",
        ));
    };
    records.iter().try_for_each(Record::check)?;
    Ok(records)
}

fn never_granted_error() -> Error {
    out_of_range("expected a worker ID that was granted before")
}

fn contention_error() -> Error {
    let reason = "expected a record that no other process changes, found a change on each attempt";
    Error::new(ErrorKind::LeaseUnavailable, reason)
}

/// Returns an error if the second store cannot be a promoted replica of the first. In `PostgreSQL`, a promoted replica has
/// the same system identifier, database and tables, on a later timeline. In `MySQL` and `MariaDB`, a promoted replica is a
/// different server. If the server is the same but the table is different, a dump was restored or the table was rebuilt.
fn check_promotion(from: &str, to: &str) -> Result<()> {
    let [before, after] = [from, to].map(|name| name.split(':').collect::<Vec<_>>());
    let timeline = |digits| u32::from_str_radix(digits, 16).ok();
    let is_possible = match (&*before, &*after) {
        (
            ["postgresql", system, first, database, table],
            ["postgresql", same, second, same_database, same_table],
        ) => {
            let is_later = timeline(first).zip(timeline(second)).is_some_and(|(a, b)| a < b);
            let tables = [database, table] == [same_database, same_table];
            system == same && tables && is_later
        }
        (["mysql", server, _], ["mysql", other, _])
        | (["mariadb", server, _, _], ["mariadb", other, _, _]) => server != other,
        // A promotion never shortens the quiet time of a volatile store, because the end of this quiet time does not depend
        // on the data that the store has lost.
        (["postgresql" | "mysql" | "mariadb" | "volatile", ..], _)
        | (_, ["postgresql" | "mysql" | "mariadb" | "volatile", ..]) => false,
        _ => from != to,
    };
    if is_possible {
        return Ok(());
    }
    let expected = "a later timeline of the same PostgreSQL server and tables, or another server of MySQL or MariaDB,";
    Err(out_of_range(format!("expected {expected} after {from}, found {to}")))
}
