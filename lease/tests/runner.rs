//! Tests leases that are renewed by threads. The tests cover generators that cannot be created, limits on waiting, and
//! secrets in freed memory.
#![cfg(feature = "sqlite")]
#![allow(unsafe_code, reason = "an allocator is needed to look at memory that is given back")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    error::Error as _,
    fs,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use polyflake::{OnExhausted, layout::preset, sno::Sno};
use polyflake_lease::{
    Error, ErrorKind, Lease, Options, Result, Shape, Source, hotguid, layout,
    protocol::{Grant, Grantee, Reply, Request, Store, open},
    randflake, sno,
};

const LONG_TIMEOUT: Duration = Duration::from_secs(20);

/// A grantee that fails to create its first generators.
struct FailingGrantee {
    failures: AtomicUsize,
    begun: AtomicUsize,
}

impl Grantee for FailingGrantee {
    fn begin(&self, _: Grant) -> Result<()> {
        let left = |left: usize| left.checked_sub(1);
        if self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok() {
            let reason = "expected a generator, found none";
            return Err(Error::new(ErrorKind::LeaseUnavailable, reason));
        }
        self.begun.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn extend(&self, _: u64) {}

    fn seal(&self) -> Option<u64> {
        None
    }
}

#[test]
fn a_lease_continues_after_failed_generators() {
    let place = Arc::new(FailingGrantee { failures: 3.into(), begun: 0.into() });
    let options = Options::new("failing", Shape::sno(0..=0).unwrap()).unwrap();
    let lease = Lease::start(|| open("memory:failing"), options, place.clone()).unwrap();
    lease.ready(LONG_TIMEOUT).unwrap();
    assert_eq!((lease.worker_id(), place.begun.load(Ordering::Relaxed)), (Some(0), 1));
    let metrics = lease.metrics();
    assert_eq!((metrics.grants, metrics.renewals, metrics.failures), (1, 0, 3));
    assert_eq!(lease.rejected(), None);
}

/// A store that can become unavailable.
struct FailingStore(Arc<AtomicUsize>, Box<dyn Store>);

impl Store for FailingStore {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        if self.0.load(Ordering::Relaxed) > 0 {
            return Err(Error::new(ErrorKind::LeaseUnavailable, "away"));
        }
        self.1.answer(request)
    }
}

/// Covers custom stores, and the wait options of the core crate's builders.
#[test]
fn calls_wait_for_a_lease_up_to_max_wait() {
    let twitter = preset("twitter", []).unwrap();
    let (long, error, brief) = (None, OnExhausted::Error, Some(Duration::from_millis(20)));
    for (max_wait, on_exhausted) in [(long, error), (brief, OnExhausted::Wait)] {
        let away = Arc::new(AtomicUsize::new(0));
        let source = || {
            let away = away.clone();
            Source::store(move || Ok(FailingStore(away.clone(), open("memory:waits")?)))
        };
        let options = |family: &str, shape: Shape| {
            let name = format!("{family}-{}", max_wait.is_some());
            let options = Options::new(&name, shape).unwrap().on_exhausted(on_exhausted);
            max_wait.into_iter().fold(options, Options::max_wait).lease_ms(2000).unwrap()
        };
        let [a, b] = [Shape::sno(0..=9), Shape::randflake(0..=9, &SECRET)].map(Result::unwrap);
        let [c, d] =
            [Shape::hotguid(0..=9), layout::shape(&twitter, &["datacenter", "worker"], 0..=9)]
                .map(Result::unwrap);
        let a = sno::Generator::with(source(), options("sno", a), LONG_TIMEOUT).unwrap();
        let b = randflake::Generator::with(source(), options("randflake", b), SECRET, LONG_TIMEOUT)
            .unwrap();
        let c =
            hotguid::Generator::with(source(), options("hotguid", c), false, LONG_TIMEOUT).unwrap();
        let d = layout::Generator::with(
            source(),
            options("layout", d),
            &twitter,
            &["datacenter", "worker"],
            LONG_TIMEOUT,
        )
        .unwrap();
        assert!(!format!("{a:?} {b:?} {c:?} {d:?}").contains("secret"));
        away.store(1, Ordering::Relaxed);
        while a.try_generate(0).is_ok()
            || b.try_generate().is_ok()
            || c.try_generate(0).is_ok()
            || d.try_generate().is_ok()
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        let since = Instant::now();
        for rejected in
            [a.generate(0).err(), b.generate().err(), c.generate(0).err(), d.generate().err()]
        {
            assert_eq!(rejected.unwrap().code(), "lease_unavailable");
        }
        // By default each of these calls would wait for a second.
        assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
        // If the store remained unavailable, dropping each generator would block until the time limit.
        away.store(0, Ordering::Relaxed);
    }
}

const SECRET: [u8; 16] = *b"a secret to wipe";

/// An allocator that counts the freed allocations that still contain the secret.
struct AuditingAllocator;

static UNWIPED_ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to `System`, which upholds the contract of `GlobalAlloc`, so this allocator upholds it
// too.
unsafe impl GlobalAlloc for AuditingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `alloc`, and `alloc_zeroed` has the same contract, so the call is
        // sound. The memory is zeroed so that `dealloc` never reads uninitialized bytes.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller owns `layout.size()` bytes at `memory` until they are freed. `alloc` initialized them with
        // zeros, so they are valid for reads.
        let bytes = unsafe { std::slice::from_raw_parts(memory, layout.size()) };
        if bytes.windows(16).any(|window| window == SECRET) {
            UNWIPED_ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller upholds the contract of `dealloc`, and `System` allocated the memory, so `System` may free it.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: AuditingAllocator = AuditingAllocator;

#[test]
fn freed_memory_never_contains_the_secret() {
    drop(Box::new(SECRET));
    assert_eq!(UNWIPED_ALLOCATIONS.swap(0, Ordering::Relaxed), 1, "the watch sees a secret");
    let ids = randflake::Generator::new("memory:secret", "users", SECRET).unwrap();
    ids.generate().unwrap();
    drop(ids);
    assert_eq!(UNWIPED_ALLOCATIONS.load(Ordering::Relaxed), 0);
}

#[test]
fn lease_errors_report_the_retry_time_and_cause() {
    let all = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let [here, away] = ["here", "away"].map(|name| all.path().join(name));
    fs::create_dir(&here).unwrap();
    let url = format!("sqlite:{}?allow=overlayfs", here.join("leases.db").display());
    let options = Options::new("orders", Shape::sno(0..=9).unwrap()).unwrap();
    let ids = sno::Generator::with(&url, options.lease_ms(600).unwrap(), LONG_TIMEOUT).unwrap();
    let worker_id = ids.generate(0).unwrap().partition();
    fs::rename(&here, &away).unwrap();
    let rejected = std::iter::repeat_with(|| ids.generate(0)).find_map(Result::err).unwrap();
    assert_eq!(rejected.code(), "lease_unavailable");
    let said = rejected.source().unwrap().to_string();
    assert_eq!(ids.lease().worker_id(), None);
    let path = here.join("leases.db");
    let began =
        format!("the lease of worker ID {worker_id} from sqlite:{} ended at 20", path.display());
    assert!(said.starts_with(&began), "{said}");
    assert!(said.ends_with("Z without a renewal: the folder does not exist"), "{said}");
    assert_eq!(ids.try_generate(0).unwrap_err().code(), "lease_unavailable");
    let mut batch = [Sno::default(); 3];
    assert_eq!(ids.fill(0, &mut batch).unwrap_err().written(), Some(0));
    fs::rename(&away, &here).unwrap();
    let again = (0..20).find_map(|_| ids.generate(0).ok());
    assert!(again.is_some(), "{:?}", ids.lease().rejected());
}

/// Calls fail without waiting, because a closed generator never gets another lease.
#[test]
fn calls_on_a_closed_generator_fail_immediately() {
    let options = || Options::new("orders", Shape::sno(7..=7).unwrap()).unwrap();
    let ids = sno::Generator::with("memory:closed", options(), LONG_TIMEOUT).unwrap();
    ids.generate(0).unwrap();
    // Any thread may close a generator while others use it.
    std::thread::scope(|scope| scope.spawn(|| ids.close()).join().unwrap());
    let (mut batch, mut written) = ([Sno::default(); 3], 0);
    let sleep = async |_| panic!("expected no wait");
    let since = Instant::now();
    let rejected = [
        ids.generate(0).err(),
        ids.try_generate(0).err(),
        expect_ready(ids.generate_async(sleep, 0)).err(),
        ids.fill(0, &mut batch).err(),
        ids.try_fill(0, &mut batch).err(),
        expect_ready(ids.fill_async(sleep, 0, &mut batch, &mut written)).err(),
    ];
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    assert_eq!(rejected.map(|rejected| rejected.unwrap().code()), ["generator_closed"; 6]);
    sno::Generator::with("memory:closed", options(), LONG_TIMEOUT).unwrap();
    ids.close();
}

/// Returns the value of a future, which must be ready at its first poll.
fn expect_ready<V>(future: impl Future<Output = V>) -> V {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("expected a future that does not wait"),
    }
}

/// A closed generator generates no IDs, even before its worker ID has been released.
#[test]
fn close_returns_immediately_if_the_store_does_not_respond() {
    let is_slow = Arc::new(AtomicUsize::new(0));
    let slow = is_slow.clone();
    let source = Source::store(move || {
        if slow.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(Duration::from_millis(1500));
        }
        open("memory:slow")
    });
    let options = Options::new("slow", Shape::sno(7..=7).unwrap()).unwrap();
    let ids = sno::Generator::with(source, options.lease_ms(2000).unwrap(), LONG_TIMEOUT).unwrap();
    ids.generate(0).unwrap();
    is_slow.store(1, Ordering::Relaxed);
    // The next renewal is in progress, and the thread that sent it is waiting for the store.
    std::thread::sleep(Duration::from_millis(800));
    std::thread::scope(|scope| {
        let closing = scope.spawn(|| ids.close());
        std::thread::sleep(Duration::from_millis(200));
        assert!(!closing.is_finished());
        assert_eq!(ids.try_generate(0).unwrap_err().code(), "generator_closed");
    });
}

#[test]
fn a_generator_without_a_worker_id_reports_worker_ids_exhausted() {
    let options = || Options::new("orders", Shape::sno(7..=7).unwrap()).unwrap();
    let _first = sno::Generator::with("memory:one", options(), LONG_TIMEOUT).unwrap();
    let second = sno::Generator::with("memory:one", options(), Duration::from_millis(200));
    let error = second.expect_err("expected a refusal");
    assert_eq!(error.kind(), ErrorKind::WorkerIdsExhausted, "{error}");
}

/// The error is permanent, because waiting does not resolve a shape mismatch.
#[test]
fn a_namespace_with_another_shape_is_rejected_immediately() {
    let options = |last| Options::new("orders", Shape::sno(0..=last).unwrap()).unwrap();
    let _first = sno::Generator::with("memory:shape", options(9), LONG_TIMEOUT).unwrap();
    let since = Instant::now();
    let blocking = sno::Generator::with("memory:shape", options(8), LONG_TIMEOUT);
    let sleep = async |pause| std::thread::sleep(pause);
    let mut waiting =
        pin!(sno::Generator::with_async("memory:shape", options(8), LONG_TIMEOUT, sleep));
    let Poll::Ready(waiting) = waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    else {
        panic!("expected a future that sleeps at once");
    };
    for rejected in [blocking, waiting] {
        let error = rejected.expect_err("expected a refusal");
        assert_eq!(error.kind(), ErrorKind::NamespaceMismatch, "{error}");
    }
    assert!(since.elapsed() < LONG_TIMEOUT / 2, "{:?}", since.elapsed());
}
