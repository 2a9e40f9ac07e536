//! The test suite that every store passes. It checks the guarantees that the lease rules require of a driver. The store
//! must be empty at the start.
//!
//! A driver's test calls [`check`] with a fresh store, and [`check_together`] with a function that opens the store. If a
//! check fails, these functions panic with a message that contains the expected and actual results.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use crate::{
    Shape,
    protocol::{Namespace, Operation, Random, Record, Reply, ReplyContent, Request, Store},
    rules::volatile_store::{is_volatile, waiting_time_end},
};

/// The name of the namespace that the suite creates.
pub const NAMESPACE: &str = "conformance";

/// Runs the suite on a store.
///
/// # Panics
/// Panics at the first violation.
pub fn check(store: &mut dyn Store) {
    let mut suite = Suite { store, number: 0 };
    suite.check_missing_namespace();
    let first = suite.check_open();
    suite.check_records(&first);
    suite.check_swaps();
    suite.check_namespaces();
    suite.check_find();
    suite.check_survey();
    suite.check_strings();
}

/// Checks that conditional writes over two connections are atomic. Two threads change the same records at the same time,
/// and for each record, one of the two writes must be rejected. A driver that first reads and then writes would accept both
/// writes.
///
/// # Panics
/// Panics at the first violation.
#[cfg(feature = "std")]
pub fn check_together<S: Store>(open: impl Fn() -> S) {
    const ROUNDS: u64 = 40;
    let mut store = open();
    let mut suite = Suite { store: &mut store, number: 0 };
    let old = suite.namespace();
    let first = 10 + 2 * old.records;
    let quiet_until = suite.acceptable_quiet_until(old.quiet_until);
    let (records, version) = (old.records + ROUNDS, old.version + 1);
    let new = Namespace { records, quiet_until, version, ..old.clone() };
    let grow = Operation::PutNamespace { old, new: new.clone(), first, count: 2 };
    assert_eq!(suite.send(grow).content, ReplyContent::Done);
    let (barrier, mut second) = (std::sync::Barrier::new(2), open());
    let put_all = |store: &mut S, token: u128| -> Vec<crate::Result<bool>> {
        let mut put = |index| {
            let old = Record::fresh(first + 2 * index, 2, new.incarnation);
            let new = granted_record(&old, token, (1_763_650_000_000, 1_763_653_600_000));
            let request = request(index, Operation::Put { old, new });
            barrier.wait();
            // The result is checked later, because a panic here would leave the other thread waiting at the barrier.
            store.answer(&request).map(|reply| reply.content == ReplyContent::Done)
        };
        (0..ROUNDS).map(&mut put).collect()
    };
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| put_all(&mut second, 6));
        (put_all(&mut store, 5), other.join().unwrap_or_default())
    });
    let mut suite = Suite { store: &mut store, number: 0 };
    for (index, done) in (0..).zip(one.into_iter().zip(other)) {
        let (one, other) = match done {
            (Ok(one), Ok(other)) => (one, other),
            (Err(error), _) | (_, Err(error)) => {
                panic!("expected an answer to a swap, found {error}")
            }
        };
        assert!(one != other, "expected that one of two swaps is done, found {one} and {other}");
        let token = suite.read_record(first + 2 * index).map(|found| found.token);
        let expected = Some(Random(if one { 5 } else { 6 }));
        assert_eq!(token, expected, "expected the record of the swap that is done");
    }
}

struct Suite<'s> {
    store: &'s mut dyn Store,
    number: u64,
}

impl Suite<'_> {
    #[track_caller]
    fn send(&mut self, operation: Operation) -> Reply {
        self.number += 1;
        let request = request(self.number, operation);
        let reply = self.store.answer(&request);
        reply.unwrap_or_else(|error| panic!("expected an answer to {request:?}, found {error}"))
    }

    #[track_caller]
    fn namespace(&mut self) -> Namespace {
        let reply = self.send(Operation::Open(proposed_namespace(2)));
        reply.namespace.expect("expected the namespace's record in a reply")
    }

    #[track_caller]
    fn read_record(&mut self, first: u64) -> Option<Record> {
        match self.send(Operation::Read { first }).content {
            ReplyContent::Records(records) if records.len() < 2 => records.into_iter().next(),
            found => panic!("expected a record or none, found {found:?}"),
        }
    }

    #[track_caller]
    fn assert_put(&mut self, old: &Record, new: &Record) {
        let found = self.send(Operation::Put { old: old.clone(), new: new.clone() }).content;
        assert_eq!(
            found,
            ReplyContent::Done,
            "expected that a swap of the record as it was read is done"
        );
        assert_eq!(
            self.read_record(new.first).as_ref(),
            Some(new),
            "expected the record that was put"
        );
    }

    /// Asserts that the store rejects a write, returns the stored record, and changes nothing.
    #[track_caller]
    fn assert_rejected(&mut self, old: &Record, new: &Record, why: &str) {
        let there = self.read_record(new.first);
        let found = self.send(Operation::Put { old: old.clone(), new: new.clone() }).content;
        assert_eq!(found, ReplyContent::Differs(there.clone()), "expected a rejection: {why}");
        assert_eq!(
            self.read_record(new.first),
            there,
            "expected that a rejection changes nothing: {why}"
        );
    }

    /// Checks that a namespace can be created only with `Open`.
    fn check_missing_namespace(&mut self) {
        let fresh = Record::fresh(10, 2, Random(1));
        let (old, new) = (proposed_namespace(1), Namespace { version: 2, ..proposed_namespace(1) });
        let asks = [
            (Operation::Find { limit: 8 }, ReplyContent::Records(Vec::new())),
            (Operation::Read { first: 10 }, ReplyContent::Records(Vec::new())),
            (Operation::Survey, ReplyContent::Survey { records: 0, latest_end: 0 }),
            (Operation::List, ReplyContent::Names(Vec::new())),
            (Operation::Put { old: fresh.clone(), new: fresh }, ReplyContent::Differs(None)),
            (
                Operation::PutNamespace { old, new, first: 10, count: 2 },
                ReplyContent::Differs(None),
            ),
        ];
        for (operation, expected) in asks {
            let reply = self.send(operation.clone());
            assert_eq!(
                (reply.namespace, reply.content),
                (None, expected),
                "expected nothing: {operation:?}"
            );
        }
    }

    /// Checks that the first `Open` creates the namespace's record, and that a later `Open` does not replace it.
    fn check_open(&mut self) -> Namespace {
        let reply = self.send(Operation::Open(proposed_namespace(1)));
        assert!(reply.now > 1_600_000_000_000, "expected Unix milliseconds, found {}", reply.now);
        assert!(!reply.store.is_empty(), "expected a name of the store");
        assert_eq!(reply.content, ReplyContent::Nothing);
        let namespace = reply.namespace.expect("expected the namespace's record in a reply");
        let expected = Namespace { store: reply.store, ..proposed_namespace(1) };
        assert_eq!(namespace, expected, "expected the record as proposed, with the store's name");
        assert_eq!(self.namespace(), namespace, "expected that a second record is not made");
        let names = ReplyContent::Names([NAMESPACE.to_owned()].into());
        assert_eq!(self.send(Operation::List).content, names, "expected the name of the namespace");
        namespace
    }

    /// Returns the end of a quiet time that the store accepts. In a volatile store, this is the end of a waiting time that
    /// begins now. In any other store, it is the given time.
    fn acceptable_quiet_until(&mut self, quiet_until: u64) -> u64 {
        let Reply { now, store, .. } = self.send(Operation::List);
        if is_volatile(&store) { waiting_time_end(now) } else { quiet_until }
    }

    /// Checks that a volatile store rejects a late write that begins an incarnation. A write is late if the incarnation's
    /// waiting time has already begun. Such a write may be a duplicate of a write that was sent before the store was
    /// emptied.
    fn check_late_begin(&mut self, old: &Namespace, new: &Namespace) {
        if !is_volatile(&old.store) {
            return;
        }
        let quiet_until = self.send(Operation::List).now + 60_000;
        let new = Namespace { quiet_until, ..new.clone() };
        let late = Operation::PutNamespace { old: old.clone(), new, first: 10, count: 2 };
        let reply = self.send(late);
        let expected = (ReplyContent::Differs(None), Some(old.clone()));
        let found = (reply.content, reply.namespace);
        assert_eq!(found, expected, "expected a rejection of a waiting time that began earlier");
    }

    fn check_records(&mut self, first: &Namespace) {
        assert_eq!(self.read_record(10), None);
        let quiet_until = self.acceptable_quiet_until(first.quiet_until);
        let new = Namespace { records: 3, version: 2, quiet_until, ..first.clone() };
        self.check_late_begin(first, &new);
        let grow =
            Operation::PutNamespace { old: first.clone(), new: new.clone(), first: 10, count: 2 };
        assert_eq!(self.send(grow.clone()).content, ReplyContent::Done);
        assert_eq!(self.namespace(), new);
        for first in [10, 12, 14] {
            let fresh = Record::fresh(first, 2, new.incarnation);
            assert_eq!(self.read_record(first), Some(fresh), "expected new records, never granted");
        }
        assert_eq!(self.read_record(16), None, "expected as many records as the namespace counts");
        let reply = self.send(grow);
        assert_eq!(
            reply.content,
            ReplyContent::Differs(None),
            "expected a rejection of a stale namespace"
        );
        assert_eq!(reply.namespace, Some(new));
    }

    /// Checks that a conditional write compares the version, token and incarnation, and that it takes effect only once.
    fn check_swaps(&mut self) {
        let fresh = self.read_record(10).expect("expected a record");
        let claimed = granted_record(&fresh, 5, (1_763_650_000_000, 1_763_653_600_000));
        self.assert_put(&fresh, &claimed);
        self.assert_rejected(&fresh, &claimed, "the same write again");
        let renewed =
            Record { version: 3, granted_until: claimed.granted_until + 4000, ..claimed.clone() };
        let stale = Record { version: 1, ..claimed.clone() };
        self.assert_rejected(&stale, &renewed, "another version");
        let other = Record { token: Random(6), ..claimed.clone() };
        self.assert_rejected(&other, &renewed, "another token");
        let older = Record { incarnation: Random(6), ..claimed.clone() };
        self.assert_rejected(&older, &renewed, "another incarnation of the record");
        let foreign = Record { incarnation: Random(6), ..renewed.clone() };
        self.assert_rejected(&claimed, &foreign, "another incarnation of the namespace");
        self.assert_put(&claimed, &renewed);
        let lowered = Record { version: 4, granted_until: renewed.start + 4000, ..renewed.clone() };
        self.assert_put(&renewed, &lowered);
        let none = Record::fresh(16, 2, lowered.incarnation);
        let found = self.send(Operation::Put { old: none.clone(), new: none }).content;
        assert_eq!(found, ReplyContent::Differs(None), "expected that a swap makes no record");
    }

    /// Checks that a namespace with a new incarnation rejects grants from the previous one.
    fn check_namespaces(&mut self) {
        let old = self.namespace();
        let new = Namespace {
            incarnation: Random(u128::MAX),
            longest_ms: 7_200_000,
            quiet_until: self.acceptable_quiet_until(1_763_650_000_000),
            previous_store: String::from("the store before"),
            previous_quiet_until: 1_763_640_000_000,
            version: old.version + 1,
            ..old.clone()
        };
        let operation = |old: &Namespace, new: &Namespace| Operation::PutNamespace {
            old: old.clone(),
            new: new.clone(),
            first: 16,
            count: 2,
        };
        self.check_late_begin(&old, &new);
        let elsewhere = Namespace { store: String::from("another store"), ..new.clone() };
        let found = self.send(operation(&old, &elsewhere)).content;
        assert_eq!(
            found,
            ReplyContent::Differs(None),
            "expected a rejection of a write to another store"
        );
        assert_eq!(self.send(operation(&old, &new)).content, ReplyContent::Done);
        assert_eq!(
            self.send(operation(&old, &new)).content,
            ReplyContent::Differs(None),
            "expected one swap"
        );
        assert_eq!(self.namespace(), new);
        let held = self.read_record(10).expect("expected a record");
        let renewed = Record { version: held.version + 1, ..held.clone() };
        self.assert_rejected(&held, &renewed, "a renewal of an older incarnation");
        let claimed = Record { incarnation: new.incarnation, ..renewed };
        self.assert_put(&held, &claimed);
    }

    /// Checks that records are sorted by their end.
    fn check_find(&mut self) {
        let ends = |reply: Reply| match reply.content {
            ReplyContent::Records(records) => records
                .iter()
                .map(|record| (record.granted_until, record.first))
                .collect::<Vec<_>>(),
            found => panic!("expected records, found {found:?}"),
        };
        let held = self.read_record(10).expect("expected a record");
        let found = ends(self.send(Operation::Find { limit: 8 }));
        assert_eq!(found, [(0, 12), (0, 14), (held.granted_until, 10)]);
        let found = ends(self.send(Operation::Find { limit: 2 }));
        assert_eq!(found, [(0, 12), (0, 14)], "expected at most as many as asked for");
    }

    /// Checks that a survey excludes reserved worker IDs when it determines the highest end.
    fn check_survey(&mut self) {
        let held = self.read_record(10).expect("expected a record");
        let survey = ReplyContent::Survey { records: 3, latest_end: held.granted_until };
        assert_eq!(self.send(Operation::Survey).content, survey);
        let free = self.read_record(14).expect("expected a record");
        let incarnation = held.incarnation;
        let reserved = Record {
            incarnation,
            ..granted_record(&free, 9, (1_763_650_000_000, Record::RESERVED))
        };
        self.assert_put(&free, &reserved);
        assert_eq!(
            self.send(Operation::Survey).content,
            survey,
            "expected a survey that leaves out reserved numbers"
        );
    }

    /// Checks that strings and the largest integers are returned unchanged.
    fn check_strings(&mut self) {
        let free = self.read_record(12).expect("expected a record");
        let incarnation = self.namespace().incarnation;
        let holder = String::from("it's \"one\" \\ %s ? $1 :name ; -- \u{e9}\u{1f40d}");
        let mut new = granted_record(&free, u128::MAX, (Record::RESERVED - 1, Record::RESERVED));
        (new.holder, new.version, new.incarnation) = (holder, Record::RESERVED, incarnation);
        self.assert_put(&free, &new);
    }
}

fn request(number: u64, operation: Operation) -> Request {
    Request { number, namespace: NAMESPACE.to_owned(), operation }
}

/// Returns a proposed namespace with the given incarnation. Each user proposes a different incarnation.
fn proposed_namespace(incarnation: u128) -> Namespace {
    let shape = Shape::sno(10..=25);
    let shape = shape.unwrap_or_else(|error| panic!("{error}"));
    Namespace {
        name: NAMESPACE.to_owned(),
        shape: shape.to_json(),
        incarnation: Random(incarnation),
        store: String::new(),
        records: 0,
        longest_ms: 3_600_000,
        quiet_until: 0,
        previous_store: String::new(),
        previous_quiet_until: 0,
        version: 1,
    }
}

fn granted_record(old: &Record, token: u128, (start, granted_until): (u64, u64)) -> Record {
    let (version, holder) = (old.version + 1, String::from("a holder"));
    Record { start, granted_until, token: Random(token), version, holder, ..old.clone() }
}
