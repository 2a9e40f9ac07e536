//! Tests clones of a virtual machine: two holders with the same state, neither of which is aware of the other. Until the
//! end of the grant that they held when the machine was cloned, they can generate the same IDs. After that time, they
//! generate no duplicates, because only one of the holders can renew the lease.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant, UNIX_EPOCH},
};

use polyflake::sno::{Generator, Leased, Sno};
use polyflake_lease::{
    ErrorKind, Options, Result, Shape,
    protocol::{Action, Keeper, Moment, Random, Store, open},
};

use crate::life::LEASE;

type RandomSource = Box<dyn FnMut() -> Result<Random> + Send>;

/// A keeper, its generator, and all IDs generated so far.
struct ClonedHolder {
    keeper: Keeper<RandomSource>,
    ids: Option<Leased>,
    made: Vec<Sno>,
    rejected: Vec<ErrorKind>,
}

fn moment(began: Instant) -> Moment {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap();
    Moment { wall_ms: ms(UNIX_EPOCH.elapsed().unwrap()), elapsed_ms: ms(began.elapsed()) }
}

impl ClonedHolder {
    /// Creates one of two clones, which use the same random numbers until `has_parted` is set.
    fn new(namespace: &str, has_parted: Arc<AtomicBool>) -> Self {
        let options = Options::new(namespace, Shape::sno(0..=3).unwrap());
        let options = options.and_then(|options| options.lease_ms(1000)).unwrap();
        let mut drawn = 0;
        let draw: RandomSource = Box::new(move || {
            drawn += 1;
            Ok(Random(if has_parted.load(Ordering::Relaxed) { fastrand::u128(1..) } else { drawn }))
        });
        Self {
            keeper: Keeper::new(options, draw),
            ids: None,
            made: Vec::new(),
            rejected: Vec::new(),
        }
    }

    /// Performs an action that needs no store. Returns `false` if the keeper has ended.
    fn perform_action(&mut self, action: Action, now: Moment) -> bool {
        match action {
            Action::Begin(grant) => {
                let worker_id = u16::try_from(*grant.worker_ids().start()).unwrap();
                let (start, end) = (grant.start().cast_signed(), grant.end().cast_signed());
                let generator =
                    Generator::builder().partition(worker_id).window(start, end).build();
                self.ids = Some(Leased::new(generator.unwrap()).unwrap());
            }
            // Each grant gets a new `Leased`, whose only grant has the number 0.
            Action::Extend(end) => {
                self.ids.as_ref().unwrap().extend(0, end.cast_signed()).unwrap();
            }
            Action::Seal => {
                let last = self.ids.take().and_then(|ids| ids.seal(0).unwrap());
                self.keeper.sealed(last.map(|last| last.end.cast_unsigned()), now);
            }
            Action::Rejected(error) => self.rejected.push(error.kind()),
            Action::Wait(_) => {
                self.made.extend(self.ids.as_ref().and_then(|ids| ids.try_generate(0).ok()));
                thread::sleep(Duration::from_millis(1));
            }
            Action::End => return false,
            Action::Send(request) => panic!("expected that both send a request, found {request:?}"),
        }
        true
    }

    /// Runs the clone for a while, independently of the other clone, and returns the clone after it has released its worker
    /// ID.
    fn run_clone(mut self, url: &str, began: Instant) -> Self {
        let (mut store, parted) = (open(url).unwrap(), Instant::now());
        loop {
            if parted.elapsed() > 4 * LEASE {
                self.keeper.close();
            }
            let now = moment(began);
            match self.keeper.poll(now) {
                Action::Send(request) => {
                    let reply = store.answer(&request);
                    self.keeper.answered(request.number, reply, moment(began));
                }
                action => {
                    if !self.perform_action(action, now) {
                        return self;
                    }
                }
            }
        }
    }
}

/// Clones a holder in the middle of its lease. Returns three results: the number of ticks that both clones used before the
/// end of their shared grant, the number of ticks that both clones used afterwards, and whether one of the clones detected
/// that it had lost the lease.
pub fn clone_holder(url: &str, namespace: &str) -> (usize, usize, bool) {
    let (began, has_parted) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let mut store = open(url).unwrap();
    let [mut one, mut other] = [(); 2].map(|()| ClonedHolder::new(namespace, has_parted.clone()));
    let mut renewals = 0;
    while renewals < 2 {
        let now = moment(began);
        match (one.keeper.poll(now), other.keeper.poll(now)) {
            (Action::Send(request), Action::Send(same)) => {
                assert_eq!(request, same);
                let reply = store.answer(&request);
                one.keeper.answered(request.number, reply.clone(), now);
                other.keeper.answered(request.number, reply, now);
            }
            (Action::Wait(_), Action::Wait(_)) => thread::sleep(Duration::from_millis(1)),
            (action, same) => {
                renewals += usize::from(matches!(action, Action::Extend(_)));
                assert!(one.perform_action(action, now) && other.perform_action(same, now));
            }
        }
    }
    has_parted.store(true, Ordering::Relaxed);
    let both_until = one.keeper.end().unwrap();
    // Simulates the time that it takes to start a clone.
    let delay = Duration::from_millis(fastrand::u64(2..100));
    let [one, other] = thread::scope(|scope| {
        let late = scope.spawn(|| {
            thread::sleep(delay);
            other.run_clone(url, began)
        });
        [one.run_clone(url, began), late.join().unwrap()]
    });
    let ticks = |twin: &ClonedHolder| -> HashSet<_> {
        twin.made.iter().map(|id| (id.partition(), id.unix_ms())).collect()
    };
    let (ours, theirs) = (ticks(&one), ticks(&other));
    let twice = ours.intersection(&theirs).map(|(_, ms)| ms.cast_unsigned() >= both_until);
    let (after, before): (Vec<_>, Vec<_>) = twice.partition(|is_after| *is_after);
    let goes_on =
        |twin: &ClonedHolder| twin.made.iter().any(|id| id.unix_ms().cast_unsigned() >= both_until);
    assert!(
        goes_on(&one) && goes_on(&other),
        "expected that both go on, one under another worker ID"
    );
    let noticed = [&one, &other].iter().any(|twin| twin.rejected.contains(&ErrorKind::LeaseLost));
    (before.len(), after.len(), noticed)
}
