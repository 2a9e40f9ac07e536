//! Helpers for claiming worker IDs in a store.

use std::{path::Path, thread, time::UNIX_EPOCH};

use polyflake_lease::{
    Error, ErrorKind, Options, Result, Shape,
    protocol::{Action, Grant, Keeper, Moment, Random, Store},
};

/// Returns the URL of a test's database file. The URL allows overlayfs, because containers often have no other writable
/// file system.
pub fn file_url(path: impl AsRef<Path>) -> String {
    format!("sqlite:{}?allow=overlayfs", path.as_ref().display())
}

/// Claims a worker ID in a store.
pub fn claim(store: &mut dyn Store) -> Result<Grant> {
    claim_with(store, Options::new("orders", Shape::sno(0..=99)?)?)
}

pub fn claim_with(store: &mut dyn Store, options: Options) -> Result<Grant> {
    let mut keeper = Keeper::new(options, || Ok(Random(u128::from(fastrand::u64(1..)))));
    let wall_ms = UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap();
    for elapsed_ms in 0..100_000 {
        let now = Moment { elapsed_ms, wall_ms };
        match keeper.poll(now) {
            Action::Send(request) => keeper.answered(request.number, store.answer(&request), now),
            Action::Begin(grant) => return Ok(grant),
            Action::Rejected(error) => return Err(error),
            Action::Wait(_) => {}
            other => panic!("{other:?}"),
        }
    }
    panic!("expected an end of the keeper's steps");
}

#[track_caller]
pub fn assert_error<V>(result: Result<V>, kind: ErrorKind) -> Error {
    let Err(error) = result else { panic!("expected {kind:?}, found none") };
    assert_eq!(error.kind(), kind, "{error}");
    error
}

/// Claims worker IDs on several threads at once and asserts that they are distinct.
pub fn claim_concurrently<S: Store>(open: impl Fn() -> S + Sync) {
    let claim_some = || {
        let mut store = open();
        (0..5).map(|_| *claim(&mut store).unwrap().worker_ids().start()).collect::<Vec<_>>()
    };
    let mut worker_ids: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim_some)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    worker_ids.sort_unstable();
    worker_ids.dedup();
    assert_eq!(worker_ids.len(), 20);
}
