//! The members of pools: the ones that are refused beside others, and the number of looks that it takes.

mod support;

use std::{cell::Cell, iter, ops::Deref, ops::RangeInclusive, sync::Arc};

use polyflake::{
    ErrorKind, hotguid, layout,
    randflake::{self, Grant},
    sno,
};
use proptest::prelude::*;
use support::{ScriptedClock, rounds};

/// A generator, and the number of looks at it.
#[derive(Clone)]
struct Counted<'c, G>(&'c G, &'c Cell<usize>);

impl<G> Deref for Counted<'_, G> {
    type Target = G;

    fn deref(&self) -> &G {
        self.1.set(self.1.get() + 1);
        self.0
    }
}

fn node(nodes: RangeInclusive<u32>, secret: &[u8; 16]) -> randflake::Generator<ScriptedClock> {
    let lease = Grant::with_nodes(nodes, 1_730_000_000, 2_803_741_824).unwrap();
    let clock = ScriptedClock::default();
    randflake::Builder::with_clock(lease, *secret, clock).build().unwrap()
}

fn partition(partition: u16) -> sno::Generator<ScriptedClock> {
    sno::Builder::with_clock(ScriptedClock::default()).partition(partition).build().unwrap()
}

fn default_partition() -> sno::Generator<ScriptedClock> {
    sno::Builder::with_clock(ScriptedClock::default()).build().unwrap()
}

fn machine(machine: i64) -> layout::Generator<ScriptedClock> {
    let layout = layout::preset("sonyflake", []).unwrap();
    let builder = layout::Builder::with_clock(layout, ScriptedClock::default());
    builder.bind("machine", machine).build().unwrap()
}

fn hot_guid() -> hotguid::Generator<ScriptedClock> {
    hotguid::Generator::builder().clock(ScriptedClock::default()).build().unwrap()
}

/// Number of times that a new pool looks at each of its members.
macro_rules! looks {
    ($pool:ty, $members:expr) => {{
        let (members, looks): (Vec<_>, _) = ($members.collect(), Cell::new(0));
        let counted = members.iter().map(|member| Counted(member, &looks));
        let outcome = <$pool>::new(counted).map(drop);
        (outcome, looks.get() / members.len())
    }};
}

/// More looks than sorting needs, and fewer than comparing every two of `MANY` members.
const FEW: usize = 100;
const MANY: u16 = 2000;

#[test]
fn members_are_not_compared_one_by_one() {
    let numbers = || 0..if cfg!(miri) { 300 } else { MANY };
    let key = b"sixteen byte key";
    let all = [
        looks!(sno::Pool<_>, numbers().rev().map(partition)),
        looks!(sno::Pool<_>, numbers().map(|_| default_partition())),
        looks!(randflake::Pool<_>, numbers().map(|n| node(u32::from(n)..=u32::from(n), key))),
        looks!(layout::Pool<_>, numbers().map(i64::from).map(machine)),
        looks!(hotguid::Pool<_>, numbers().map(|_| hot_guid())),
    ];
    for (outcome, looks) in all {
        outcome.unwrap();
        assert!(looks <= FEW, "each was looked at {looks} times");
    }
}

#[test]
fn a_bad_member_among_many_is_found_as_soon() {
    let last = if cfg!(miri) { 300 } else { MANY };
    let (outcome, looks) = looks!(sno::Pool<_>, (0..last).chain([7]).map(partition));
    let error = outcome.unwrap_err();
    assert_eq!((error.kind(), error.item()), (ErrorKind::OutOfRange, Some(last.into())));
    assert!(looks <= FEW, "each was looked at {looks} times");
}

#[test]
fn members_without_end_are_refused() {
    let (one, asked) = (hot_guid(), Cell::new(0));
    let without_end = iter::repeat_with(|| {
        asked.set(asked.get() + 1);
        &one
    });
    let error = hotguid::Pool::new(without_end).map(drop).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::OutOfRange, Some("members")));
    assert_eq!(error.to_string(), "expected members from 1 to 65536, found more");
    assert_eq!(asked.get(), 65_537);
}

/// A member, in the terms of the rules.
#[derive(Clone, Debug)]
enum Drawn {
    New { nodes: (u32, u32), other_secret: bool },
    Again(usize),
}

fn members() -> impl Strategy<Value = Vec<Drawn>> {
    let new = (0..400_u32, 0..6_u32, prop::bool::weighted(0.03));
    let member = prop_oneof![
        30 => new.prop_map(|(first, more, other_secret)| Drawn::New { nodes: (first, first + more), other_secret }),
        1 => (0..20_usize).prop_map(Drawn::Again),
    ];
    prop::collection::vec(member, 1..24)
}

type Flakes = Arc<randflake::Generator<ScriptedClock>>;

/// The refused item, found by comparing each item with all before it, and its error code.
fn first_refused(members: &[(Flakes, bool)]) -> Option<(usize, &'static str)> {
    members.iter().enumerate().find_map(|(item, (member, secret))| {
        let reason = members[..item].iter().find_map(|(other, of_other)| {
            let (ours, theirs) = (member.grant().nodes(), other.grant().nodes());
            if Arc::ptr_eq(member, other) {
                Some("found one twice")
            } else if secret != of_other {
                Some("expected the same secret")
            } else if ours.start() <= theirs.end() && theirs.start() <= ours.end() {
                Some("expected members of different nodes")
            } else {
                None
            }
        });
        reason.map(|reason| (item, reason))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: u32::try_from(rounds(1000)).unwrap(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_first_bad_member_is_named_for_its_first_reason(drawn in members()) {
        let mut all: Vec<(Flakes, bool)> = Vec::new();
        for member in drawn {
            all.push(match member {
                Drawn::Again(place) if place < all.len() => all[place].clone(),
                Drawn::Again(_) => (Arc::new(node(0..=0, b"sixteen byte key")), false),
                Drawn::New { nodes: (first, last), other_secret } => {
                    let secret = if other_secret { b"another such key" } else { b"sixteen byte key" };
                    (Arc::new(node(first..=last, secret)), other_secret)
                }
            });
        }
        let refused = randflake::Pool::new(all.iter().map(|(member, _)| Arc::clone(member))).err();
        let found = refused.as_ref().map(|error| (error.item().unwrap(), error.to_string()));
        match (found, first_refused(&all)) {
            (Some((item, message)), Some((expected, reason))) => {
                prop_assert_eq!(item, expected);
                prop_assert!(message.contains(reason), "{}", message);
            }
            (found, expected) => prop_assert_eq!(found.is_some(), expected.is_some()),
        }
    }
}
