//! Tests leases of a process that was restored from an image of its memory. A report of a restore affects all generators of
//! a process, so the tests must not run concurrently.
#![cfg(all(feature = "std", feature = "hosted"))]

use std::{
    collections::HashSet,
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, UNIX_EPOCH},
};

use polyflake_lease::{
    Event, Lease, Memory, Options, Shape, hotguid,
    protocol::{
        Moment, Random, Reply, Request, Store,
        hosted::{Granted, Hosted},
        open,
    },
    sno,
};

/// Waits until the generator has a worker ID other than `before`, and returns it.
#[track_caller]
fn wait_for_new_worker_id<I>(
    make: impl Fn() -> polyflake::Result<I>,
    worker_id: impl Fn() -> Option<u64>,
    before: u64,
) -> u64 {
    let began = Instant::now();
    loop {
        match make() {
            Ok(_) => break,
            Err(error) => assert_eq!(error.code(), "lease_unavailable", "{error}"),
        }
        // Without the report, the keeper would check the time only every ten seconds.
        assert!(began.elapsed() < Duration::from_secs(8), "no other grant");
    }
    let worker_id = worker_id().unwrap();
    assert_ne!(worker_id, before);
    worker_id
}

#[test]
fn a_restore_replaces_the_lease() {
    let ids = sno::Generator::new("memory:restored", "things").unwrap();
    let guids = hotguid::Generator::new("memory:restored", "guids").unwrap();
    let mut worker_ids = (ids.lease().worker_id().unwrap(), guids.lease().worker_id().unwrap());
    let (mut made, mut all) = (HashSet::new(), HashSet::from([worker_ids]));
    for _ in 0..3 {
        made.extend((0..1000).map(|_| ids.generate(7).unwrap().to_bytes().to_vec()));
        let partition = ids.generate(7).unwrap().partition();
        assert_eq!(u64::from(partition), worker_ids.0);
        polyflake::after_restore().unwrap();
        // A copy that did not report the restore would behave the same from here on. The abandoned worker IDs remain leased
        // in either case.
        worker_ids.0 =
            wait_for_new_worker_id(|| ids.generate(7), || ids.lease().worker_id(), worker_ids.0);
        worker_ids.1 = wait_for_new_worker_id(
            || guids.generate(7),
            || guids.lease().worker_id(),
            worker_ids.1,
        );
        all.insert(worker_ids);
    }
    assert_eq!(made.len(), 3000);
    let [partitions, machines]: [HashSet<_>; 2] = [
        all.iter().map(|(worker_id, _)| worker_id).collect(),
        all.iter().map(|(_, worker_id)| worker_id).collect(),
    ];
    assert_eq!((partitions.len(), machines.len()), (4, 4), "each worker ID is used once");
    assert_eq!(ids.lease().metrics().grants, 4);
    a_lease_that_starts_after_a_restore_begins();
    a_grant_prepared_before_a_restore_does_not_begin();
    a_release_is_not_sent_after_a_restore();
    a_restored_host_closes_its_connection_and_seals();
}

type BuildGeneratorFn =
    Box<dyn Fn(u64, Range<i64>) -> polyflake::Result<polyflake::sno::Generator> + Send + Sync>;

fn generator_builder() -> BuildGeneratorFn {
    Box::new(|worker_id: u64, span: Range<i64>| {
        let builder = polyflake::sno::Generator::builder().partition(worker_id.try_into().unwrap());
        builder.window(span.start, span.end).build()
    })
}

/// Another copy of the process has the same grant, so the lease's keeper must seal the generator before it starts a new
/// grant.
fn a_grant_prepared_before_a_restore_does_not_begin() {
    const GRANT_SPAN: Range<u64> = 1_763_650_000_000..2_000_000_000_000;
    let granted = Granted::<polyflake::sno::Leased, _>::new(generator_builder());
    granted.prepare();
    for first in [true, false] {
        polyflake::after_restore().unwrap();
        assert_eq!(granted.begin(7, GRANT_SPAN).unwrap_err().code(), "lease_mismatch");
        assert_eq!(granted.leased().is_none(), first);
        granted.seal();
        granted.begin(8, GRANT_SPAN).unwrap();
    }
}

/// An in-memory store that reports a restore while a connection is being opened or a callback is running. It records the
/// requests that follow.
#[derive(Clone)]
struct RestoringStore {
    store: Arc<Mutex<Memory>>,
    asked: Arc<Mutex<Vec<Request>>>,
    reports: Arc<AtomicBool>,
}

impl RestoringStore {
    fn new() -> Self {
        let store = Arc::new(Mutex::new(Memory::new(unix_ms())));
        Self { store, asked: Arc::default(), reports: Arc::default() }
    }

    /// Reports a restore if a report is pending.
    fn report_restore(&self) {
        if self.reports.swap(false, Ordering::Relaxed) {
            self.asked.lock().unwrap().clear();
            polyflake::after_restore().unwrap();
        }
    }
}

impl Store for RestoringStore {
    fn answer(&mut self, request: &Request) -> polyflake_lease::Result<Reply> {
        self.asked.lock().unwrap().push(request.clone());
        let mut store = self.store.lock().unwrap();
        store.set_now(unix_ms());
        store.answer(request)
    }
}

fn unix_ms() -> u64 {
    UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap()
}

/// The restore is reported while the host opens a connection or waits for the reply to a request.
fn a_restored_host_closes_its_connection_and_seals() {
    let settings = r#"{"namespace":"orders","family":"sno","store":"postgresql"}"#;
    for opens in [true, false] {
        let mut lease = Hosted::new(settings).unwrap();
        let mut next = |answer| {
            let now = Moment { wall_ms: unix_ms(), elapsed_ms: 0 };
            let command = lease.next(now, [Random(1); 8], answer);
            command.split('"').nth(3).unwrap().to_owned()
        };
        assert_eq!(next("null"), "open");
        if !opens {
            assert_eq!(next(r#"{"opened":null}"#), "run");
        }
        polyflake::after_restore().unwrap();
        let answer = if opens { r#"{"opened":null}"# } else { r#"{"rows":[],"failure":null}"# };
        let commands = [answer, "null", r#"{"used_until":null}"#].map(next);
        assert_eq!(commands, ["close", "seal", "open"], "{opens}");
    }
}

/// The restore is reported after the keeper has decided to release the worker ID: in the event callback, or while the
/// connection is being opened. If the keeper sent the release, the worker ID would become free while the other copy still
/// uses it.
fn a_release_is_not_sent_after_a_restore() {
    for in_open in [true, false] {
        let noted = RestoringStore::new();
        let (opened, told) = (noted.clone(), noted.clone());
        let open = move || {
            if in_open {
                opened.report_restore();
            }
            Ok(opened.clone())
        };
        let options = Options::new("release", Shape::sno(0..=7).unwrap()).unwrap();
        let options = options.watch(move |event| {
            if !in_open && matches!(event, Event::Sealed { .. }) {
                told.report_restore();
            }
        });
        let granted = Arc::new(Granted::<polyflake::sno::Leased, _>::new(generator_builder()));
        let lease = Lease::start(open, options, granted).unwrap();
        lease.ready(Duration::from_secs(10)).unwrap();
        noted.reports.store(true, Ordering::Relaxed);
        lease.close();
        assert!(!noted.reports.load(Ordering::Relaxed), "expected a release");
        let asked = noted.asked.lock().unwrap();
        assert!(asked.is_empty(), "{asked:?}");
    }
}

/// The restore is reported after the generator is created but before its lease starts.
fn a_lease_that_starts_after_a_restore_begins() {
    let granted = Arc::new(Granted::<polyflake::sno::Leased, _>::new(generator_builder()));
    polyflake::after_restore().unwrap();
    let options = Options::new("late", Shape::sno(0..=7).unwrap()).unwrap();
    let lease = Lease::start(|| open("memory:late"), options, granted.clone()).unwrap();
    lease.ready(Duration::from_secs(10)).unwrap();
    assert!(granted.leased().unwrap().generate(7).is_ok());
}
