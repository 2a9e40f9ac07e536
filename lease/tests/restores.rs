//! Leases of a process that was restored from an image of its memory. There is one test here, because a report of a restore
//! reaches all generators of the process.
#![cfg(all(feature = "std", feature = "hosted"))]

use std::{
    collections::HashSet,
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use polyflake_lease::{Lease, Options, Shape, hosted::Granted, hotguid, open, sno};

/// Waits until the generator has another number than `before`, and returns it.
#[track_caller]
fn other_number<I>(
    make: impl Fn() -> polyflake::Result<I>,
    number: impl Fn() -> Option<u64>,
    before: u64,
) -> u64 {
    let began = Instant::now();
    loop {
        match make() {
            Ok(_) => break,
            Err(error) => assert_eq!(error.code(), "lease_unavailable", "{error}"),
        }
        assert!(began.elapsed() < Duration::from_secs(60), "no other grant");
    }
    let number = number().unwrap();
    assert_ne!(number, before);
    number
}

#[test]
fn a_lease_is_abandoned_and_another_one_acquired() {
    let ids = sno::Generator::new("memory:restored", "things").unwrap();
    let guids = hotguid::Generator::new("memory:restored", "guids").unwrap();
    let mut numbers = (ids.lease().number().unwrap(), guids.lease().number().unwrap());
    let (mut made, mut all) = (HashSet::new(), HashSet::from([numbers]));
    for _ in 0..3 {
        made.extend((0..1000).map(|_| ids.generate(7).unwrap().to_bytes().to_vec()));
        let partition = ids.generate(7).unwrap().partition();
        assert_eq!(u64::from(partition), numbers.0);
        polyflake::after_restore().unwrap();
        // A copy that continues does so without this call. The abandoned numbers remain leased, as if it did.
        numbers.0 = other_number(|| ids.generate(7), || ids.lease().number(), numbers.0);
        numbers.1 = other_number(|| guids.generate(7), || guids.lease().number(), numbers.1);
        all.insert(numbers);
    }
    assert_eq!(made.len(), 3000);
    let [partitions, machines]: [HashSet<_>; 2] = [
        all.iter().map(|(number, _)| number).collect(),
        all.iter().map(|(_, number)| number).collect(),
    ];
    assert_eq!((partitions.len(), machines.len()), (4, 4), "each number is used once");
    assert_eq!(ids.lease().figures().grants, 4);
    a_lease_that_starts_after_a_restore_begins();
}

/// The restore is reported after the generator exists, and before its lease starts.
fn a_lease_that_starts_after_a_restore_begins() {
    let build = |number: u64, span: Range<i64>| {
        let builder = polyflake::sno::Generator::builder().partition(number.try_into().unwrap());
        builder.window(span.start, span.end).build()
    };
    let build: Box<dyn Fn(u64, Range<i64>) -> _ + Send + Sync> = Box::new(build);
    let granted = Arc::new(Granted::<polyflake::sno::Leased, _>::new(build));
    polyflake::after_restore().unwrap();
    let options = Options::new("late", Shape::sno(0..=7).unwrap()).unwrap();
    let lease = Lease::start(|| open("memory:late"), options, granted.clone()).unwrap();
    lease.ready(Duration::from_secs(10)).unwrap();
    assert!(granted.leased().unwrap().generate(7).is_ok());
}
