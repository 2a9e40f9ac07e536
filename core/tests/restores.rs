//! A process that was restored from an image of its memory: after the report, no generator continues with what another copy has.
//! Each test is alone in its process, because a report reaches all generators.
#![cfg(not(miri))]

#[path = "support/alone.rs"]
mod alone;

use std::{collections::HashSet, sync::Arc, thread};

use alone::alone;

use polyflake::{
    after_restore,
    clock::{ManualClock, SystemClock},
    hotguid,
    layout::{Builder, preset},
    randflake,
    sno::{self, Assignment},
};

const NOON: i64 = 1_763_650_000_000;

#[test]
fn what_is_assigned_at_random_is_assigned_anew() {
    alone(&[], || {
        let (ids, guids) = (sno::Generator::new(), hotguid::Generator::new());
        let mut handle = guids.handle();
        let partitions = || ids.generate(7).unwrap().partition();
        let (partition, machine) = (partitions(), handle.generate(7).unwrap().machine());
        assert_eq!(partitions(), partition);
        after_restore().unwrap();
        let next = partitions();
        let other = handle.generate(7).unwrap().machine();
        assert_ne!(next, partition);
        assert_ne!(other, machine);
        assert_eq!((partitions(), guids.generate(7).unwrap().machine()), (next, other));
    });
}

#[test]
fn explicit_worker_ids_are_rejected_until_they_are_configured_again() {
    alone(&[], || {
        let partition = || sno::Generator::builder().partition(7).build().unwrap();
        let node = || {
            let grant = randflake::Grant::new(7, 1_730_000_000, 2_803_741_824).unwrap();
            randflake::Generator::builder(grant, [7; 16]).build().unwrap()
        };
        let machine = || {
            let layout = Builder::with_clock(preset("sonyflake", []).unwrap(), SystemClock);
            layout.bind("machine", 7).build().unwrap()
        };
        let window = || hotguid::Generator::builder().window(0, 4_294_967_296_000).build().unwrap();
        let codes = |generators: &(_, _, _, _)| {
            let (partition, node, machine, window): &(
                sno::Generator,
                randflake::Generator,
                polyflake::layout::Generator,
                hotguid::Generator,
            ) = generators;
            let mut handle = partition.handle();
            [
                partition.generate(7).map(drop),
                handle.generate(7).map(drop),
                node.generate().map(drop),
                machine.generate().map(drop),
                window.generate(7).map(drop),
            ]
            .map(|made| made.map_err(|error| error.code()))
        };
        let generators = (partition(), node(), machine(), window());
        assert_eq!(codes(&generators), [Ok(()); 5]);
        after_restore().unwrap();
        assert_eq!(codes(&generators), [Err("forked"); 5]);
        assert_eq!(codes(&(partition(), node(), machine(), window())), [Ok(()); 5]);
    });
}

#[test]
fn a_handle_drops_the_slots_that_it_had_reserved() {
    alone(&[], || {
        static CLOCK: ManualClock = ManualClock::at_unix_ms(NOON);
        let ids = Arc::new(sno::Generator::builder().clock(&CLOCK).build().unwrap());
        let mut handle = sno::Handle::new(ids.clone());
        let before = [(); 3].map(|()| handle.generate(7).unwrap());
        after_restore().unwrap();
        // A partition that replaces another one begins in a tick of its own.
        assert_eq!(handle.try_generate(7).unwrap_err().code(), "sequence_exhausted");
        CLOCK.set_unix_ms(NOON + 4);
        let after = handle.generate(7).unwrap();
        assert!(before.iter().all(|id| id.partition() != after.partition() && *id < after));
    });
}

#[test]
fn a_source_of_identities_is_called_again() {
    alone(&[], || {
        static CLOCK: ManualClock = ManualClock::at_unix_ms(NOON);
        use std::sync::atomic::{AtomicU16, Ordering};
        static NEXT: AtomicU16 = AtomicU16::new(7);
        let assign =
            || Ok(Assignment { partition: NEXT.fetch_add(1, Ordering::Relaxed), sequence_min: 0 });
        let ids = sno::Generator::builder().clock(&CLOCK).identity_from(assign).build().unwrap();
        assert_eq!(ids.generate(7).unwrap().partition(), 7);
        after_restore().unwrap();
        CLOCK.set_unix_ms(NOON + 4);
        assert_eq!(ids.generate(7).unwrap().partition(), 8);
    });
}

#[test]
fn nothing_is_repeated_while_other_threads_report_restores() {
    alone(&[], || {
        let (ids, guids) = (sno::Generator::new(), hotguid::Generator::new());
        let made: Vec<_> = thread::scope(|scope| {
            let maker = || {
                let mut handle = ids.handle();
                let mut made = Vec::new();
                for _ in 0..2000 {
                    made.push(ids.generate(7).unwrap().to_bytes().to_vec());
                    made.push(handle.generate(7).unwrap().to_bytes().to_vec());
                    made.push(guids.generate(7).unwrap().to_bytes().to_vec());
                }
                made
            };
            let makers = [(); 3].map(|()| scope.spawn(maker));
            for _ in 0..20 {
                after_restore().unwrap();
                thread::sleep(std::time::Duration::from_millis(1));
            }
            makers.into_iter().flat_map(|maker| maker.join().unwrap()).collect()
        });
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), made.len());
    });
}
