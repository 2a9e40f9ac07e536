//! An in-memory store for tests.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use crate::{
    Result,
    protocol::{Namespace, Operation, Record, Reply, ReplyContent, Request, Store},
    rules::volatile_store,
};

/// An in-memory store, which exists only within one process. The caller sets the store's time.
///
/// ```
/// use polyflake_lease::{Memory, protocol::conformance};
///
/// conformance::check(&mut Memory::new(1_763_650_000_000));
/// ```
#[derive(Clone, Debug)]
pub struct Memory {
    now: u64,
    incarnation: u64,
    is_volatile: bool,
    namespaces: BTreeMap<String, Content>,
}

#[derive(Clone, Debug)]
struct Content {
    namespace: Namespace,
    records: BTreeMap<u64, Record>,
}

impl Memory {
    /// Creates an empty store whose time is `now`, in Unix milliseconds.
    pub fn new(now: u64) -> Self {
        Self { now, incarnation: 1, is_volatile: false, namespaces: BTreeMap::new() }
    }

    /// Creates an empty volatile store that behaves like Redis. It may lose any of its data at any time. Therefore, it
    /// grants only short leases, and makes no new grants for several minutes after it is emptied or restored.
    pub fn volatile(now: u64) -> Self {
        Self { is_volatile: true, ..Self::new(now) }
    }

    /// Sets the store's time, in Unix milliseconds.
    pub fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// Replaces the contents with an earlier copy, as if a backup had been restored. The time does not change, and the
    /// store receives a new incarnation.
    pub fn restore(&mut self, backup: Self) {
        let incarnation = self.incarnation + 1;
        *self = Self { incarnation, namespaces: backup.namespaces, ..*self };
    }

    /// Deletes all records. The store keeps its name, as Redis does after `FLUSHALL`.
    pub fn clear(&mut self) {
        self.namespaces.clear();
    }

    /// Removes a record, as a careless operator might do. This method is meant for tests.
    pub fn lose(&mut self, namespace: &str, first: u64) -> Option<Record> {
        self.namespaces.get_mut(namespace)?.records.remove(&first)
    }

    /// Returns a namespace's records, sorted by worker ID.
    pub fn records(&self, namespace: &str) -> Vec<Record> {
        let content = self.namespaces.get(namespace);
        content.map_or_else(Vec::new, |content| content.records.values().cloned().collect())
    }

    fn name(&self) -> String {
        let kind = if self.is_volatile { "volatile:memory" } else { "memory" };
        format!("{kind}:{}", self.incarnation)
    }
}

impl Store for Memory {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let (now, store) = (self.now, self.name());
        if let Operation::Open(namespace) = &request.operation {
            let new = Namespace { store: store.clone(), ..namespace.clone() };
            let content = Content { namespace: new, records: BTreeMap::new() };
            self.namespaces.entry(request.namespace.clone()).or_insert(content);
        }
        if request.operation == Operation::List {
            let namespace = self.namespaces.get(&request.namespace);
            let namespace = namespace.map(|content| content.namespace.clone());
            let found = ReplyContent::Names(self.namespaces.keys().cloned().collect());
            return Ok(Reply { now, store, namespace, content: found });
        }
        let Some(content) = self.namespaces.get_mut(&request.namespace) else {
            let found = match request.operation {
                Operation::Open(_) => ReplyContent::Nothing,
                Operation::Find { .. } | Operation::Read { .. } => {
                    ReplyContent::Records(Vec::new())
                }
                Operation::Put { .. } | Operation::PutNamespace { .. } => {
                    ReplyContent::Differs(None)
                }
                Operation::Survey => ReplyContent::Survey { records: 0, latest_end: 0 },
                Operation::List => ReplyContent::Names(Vec::new()),
            };
            return Ok(Reply { now, store, namespace: None, content: found });
        };
        let found = content.answer((&store, now), &request.operation);
        Ok(Reply { now, store, namespace: Some(content.namespace.clone()), content: found })
    }
}

impl Content {
    fn answer(&mut self, (store, now): (&str, u64), operation: &Operation) -> ReplyContent {
        match operation {
            Operation::Open(_) | Operation::List => ReplyContent::Nothing,
            Operation::Find { limit } => {
                let mut records: Vec<_> = self.records.values().cloned().collect();
                records.sort_by_key(|record| (record.granted_until, record.first));
                records.truncate(usize::try_from(*limit).unwrap_or(usize::MAX));
                ReplyContent::Records(records)
            }
            Operation::Read { first } => {
                ReplyContent::Records(self.records.get(first).cloned().into_iter().collect())
            }
            Operation::Put { old, new } => self.replace(store, old, new),
            Operation::PutNamespace { old, new, first, count } => {
                let read = |namespace: &Namespace| (namespace.version, namespace.incarnation);
                let is_late =
                    volatile_store::is_volatile(store) && !volatile_store::accepts(old, new, now);
                if read(&self.namespace) != read(old) || new.store != store || is_late {
                    return ReplyContent::Differs(None);
                }
                for index in 0..new.records.saturating_sub(old.records) {
                    let first = first + index * count;
                    let fresh = Record::fresh(first, *count, new.incarnation);
                    // A record that already exists may contain a grant, so it is kept.
                    self.records.entry(first).or_insert(fresh);
                }
                self.namespace = new.clone();
                ReplyContent::Done
            }
            Operation::Survey => ReplyContent::Survey {
                records: self.records.len() as u64,
                latest_end: self.grant_ends().max().unwrap_or(0),
            },
        }
    }

    fn grant_ends(&self) -> impl Iterator<Item = u64> {
        let ends = self.records.values().map(|record| record.granted_until);
        ends.filter(|end| *end != Record::RESERVED)
    }

    fn replace(&mut self, store: &str, old: &Record, new: &Record) -> ReplyContent {
        let is_current =
            self.namespace.store == store && self.namespace.incarnation == new.incarnation;
        match self.records.get_mut(&new.first) {
            Some(record) if is_current && record.is_as_read(old) => {
                *record = new.clone();
                ReplyContent::Done
            }
            found => ReplyContent::Differs(found.cloned()),
        }
    }
}
