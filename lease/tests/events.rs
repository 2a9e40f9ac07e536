//! Tests the events of a lease: their order and their `tracing` output. Events must not contain secrets.
#![cfg(all(feature = "sqlite", feature = "tracing"))]
#![allow(unreachable_pub, reason = "modules of one test")]

mod received_events;

use std::{
    fmt::{Debug, Write},
    fs,
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use polyflake_lease::{
    Error, ErrorKind, Event, Lease, Operator, Options, Result, Shape,
    protocol::{Grant, Grantee, open},
    sno::Generator,
};
use received_events::ReceivedEvents;
use tracing::{
    Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

const LONG_TIMEOUT: Duration = Duration::from_secs(20);

fn options() -> Options {
    Options::new("orders", Shape::sno(0..=9).unwrap()).unwrap()
}

#[test]
fn a_used_lease_emits_acquired_and_sealed() {
    let (options, heard) = ReceivedEvents::watch_events(options());
    let ids = Generator::with("memory:closed", options, LONG_TIMEOUT).unwrap();
    let Event::Acquired { worker_id: 0, start, end } = heard.next("acquired") else { panic!() };
    assert_eq!(ids.lease().end(), Some(end));
    let id = ids.generate(0).unwrap();
    let metrics = ids.lease().metrics();
    assert_eq!((metrics.grants, metrics.renewals, metrics.failures), (1, 0, 0));
    let left = metrics.remaining.as_secs();
    assert!((3500..=3600).contains(&left), "{left}");
    ids.close();
    drop(ids);
    let Event::Sealed { worker_id: 0, used_until: Some(used) } = heard.next("sealed") else {
        panic!()
    };
    assert!((start..=end).contains(&used));
    assert_eq!(used, u64::try_from(id.unix_ms()).unwrap() + 4);
    assert!(heard.names().is_empty());
}

#[test]
fn an_unused_lease_is_sealed_without_a_tick() {
    let (options, heard) = ReceivedEvents::watch_events(options());
    Generator::with("memory:unused", options, LONG_TIMEOUT).unwrap().close();
    assert_eq!(heard.next("sealed"), Event::Sealed { worker_id: 0, used_until: None });
}

#[test]
fn a_lease_emits_renewed_moved_and_expired_events() {
    let all = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let [here, away] = ["here", "away"].map(|name| all.path().join(name));
    fs::create_dir(&here).unwrap();
    let url = format!("sqlite:{}?allow=overlayfs", here.join("leases.db").display());
    let (options, heard) = ReceivedEvents::watch_events(options().lease_ms(1500).unwrap());
    let ids = Generator::with(&url, options, LONG_TIMEOUT).unwrap();
    let Event::Acquired { end: first, .. } = heard.next("acquired") else { panic!() };
    let Event::Renewed { worker_id, end } = heard.next("renewed") else { panic!() };
    assert!(end > first, "{end} {first}");
    Operator::open(&url, "orders/sno").unwrap().evict(worker_id).unwrap();
    let Event::Rejected(error) = heard.next("rejected") else { panic!() };
    assert_eq!(error.kind(), ErrorKind::LeaseLost);
    let Event::Switched { previous_worker_id: from, worker_id: to, .. } = heard.next("switched")
    else {
        panic!()
    };
    assert!(from == worker_id && to != worker_id, "{from} {to}");
    fs::rename(&here, &away).unwrap();
    assert_eq!(heard.next("rejected").to_string().split(':').next(), Some("rejected"));
    let Event::Expired { worker_id, .. } = heard.next("expired") else { panic!() };
    assert_eq!((worker_id, ids.lease().worker_id(), ids.lease().end()), (to, None, None));
    assert_eq!(ids.lease().metrics().remaining, Duration::ZERO);
    assert!(ids.try_generate(0).is_err());
    fs::rename(&away, &here).unwrap();
    heard.next("acquired renewed");
    let metrics = ids.lease().metrics();
    assert!(metrics.grants >= 2 && metrics.renewals >= 1 && metrics.failures >= 2, "{metrics:?}");
}

/// A grantee that never creates a generator.
struct NoGenerator;

impl Grantee for NoGenerator {
    fn begin(&self, _: Grant) -> Result<()> {
        Err(Error::new(ErrorKind::LeaseUnavailable, "expected a generator, found none"))
    }
    fn extend(&self, _: u64) {}
    fn seal(&self) -> Option<u64> {
        None
    }
}

#[test]
fn a_grant_without_a_generator_emits_only_refused() {
    let (options, heard) = ReceivedEvents::watch_events(options());
    let place = Arc::new(NoGenerator);
    let lease = Lease::start(|| open("memory:nowhere"), options, place).unwrap();
    heard.next("rejected");
    drop(lease);
    assert!(heard.names().iter().all(|name| *name == "rejected"));
}

#[test]
fn a_panicking_watcher_does_not_end_the_lease() {
    subscribe();
    let heard = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&heard);
    let options =
        Options::new(PANIC_NAMESPACE, Shape::sno(0..=9).unwrap()).unwrap().lease_ms(1500).unwrap();
    let options = options.watch(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        panic!("for the test");
    });
    let ids = Generator::with("memory:panics", options, LONG_TIMEOUT).unwrap();
    ids.generate(0).unwrap();
    let until = Instant::now() + LONG_TIMEOUT;
    let lease = ids.lease();
    while lease.worker_id().is_some() && lease.metrics().renewals == 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(lease.metrics().renewals > 0, "{:?}", lease.metrics());
    assert!(heard.load(Ordering::Relaxed) > 0, "expected that the function hears of events too");
}

/// The namespace whose events make the subscriber panic.
const PANIC_NAMESPACE: &str = "panics";

/// Installs the tracing subscriber on the first call, and returns the lines that it has collected. All tests of the process
/// share the subscriber.
fn subscribe() -> Arc<Mutex<Vec<String>>> {
    static LINES: LazyLock<Arc<Mutex<Vec<String>>>> = LazyLock::new(|| {
        let lines = Arc::new(Mutex::default());
        tracing::subscriber::set_global_default(CollectingSubscriber(Arc::clone(&lines))).unwrap();
        lines
    });
    Arc::clone(&LINES)
}

/// A subscriber that collects all trace events of the process.
struct CollectingSubscriber(Arc<Mutex<Vec<String>>>);

struct FieldText(String);

impl Visit for FieldText {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for CollectingSubscriber {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let metadata = event.metadata();
        let mut texts = FieldText(format!("{} {}", metadata.level(), metadata.target()));
        event.record(&mut texts);
        let is_to_panic = texts.0.contains(&format!("namespace={PANIC_NAMESPACE:?}"));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(texts.0);
        assert!(!is_to_panic, "for the test");
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The trace also contains the events of concurrent tests, which use other namespaces.
#[test]
fn traced_events_never_contain_the_url() {
    let lines = subscribe();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = format!("sqlite:{}?allow=overlayfs", folder.path().join("leases.db").display());
    let urls = [
        "postgres://somebody:sesame@127.0.0.1:1/db?options=sesame",
        "postgres://somebody:sesame@[::1/db",
        "sesame@host",
        "pass=sesame port:1",
        &file,
    ];
    let (options, heard) =
        ReceivedEvents::watch_events(Options::new("traced", Shape::sno(0..=9).unwrap()).unwrap());
    for url in &urls[..4] {
        let brief = Duration::from_millis(300);
        let rejected = Generator::with(*url, options.clone(), brief).err().unwrap();
        assert!(!format!("{rejected} {rejected:?}").contains("sesame"), "{rejected:?}");
    }
    let ids = Generator::with(&file, options, LONG_TIMEOUT).unwrap();
    ids.generate(0).unwrap();
    ids.close();
    drop(ids);
    let lines = lines.lock().unwrap().clone();
    let ours: Vec<_> =
        lines.iter().filter(|line| line.contains(r#"namespace="traced/sno""#)).collect();
    let levels: Vec<_> = ours.iter().filter_map(|line| line.split(' ').next()).collect();
    assert!(levels.contains(&"WARN") && levels.contains(&"INFO"), "{ours:?}");
    assert!(ours.iter().all(|line| line.contains(" polyflake_lease ")), "{ours:?}");
    for expected in
        ["message=acquired worker_id=0", "message=rejected", "message=sealed worker_id=0"]
    {
        let is_there = ours.iter().any(|line| expected.split(' ').all(|part| line.contains(part)));
        assert!(is_there, "{expected}: {ours:?}");
    }
    let told = heard.0.into_iter().map(|event| format!("{event} {event:?}"));
    let told = told.collect::<Vec<_>>().concat();
    assert!(told.contains("acquired") && !told.contains("sesame"), "{told}");
    assert!(lines.iter().all(|line| !line.contains("sesame")), "{lines:?}");
}
