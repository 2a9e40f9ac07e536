//! Tests typed IDs, whose type is determined by their metabyte.

use std::collections::HashSet;

use polyflake::{
    ErrorKind,
    clock::ManualClock,
    sno::{Builder, Id, Kind, Sno},
};

struct User;
struct Order;

impl Kind for User {
    const METABYTE: u8 = 1;
}

impl Kind for Order {
    const METABYTE: u8 = 2;
}

const TEXT: &str = "9d5ve8222622g222";

#[test]
fn every_conversion_checks_the_metabyte() {
    let user = Sno::parse(TEXT).unwrap();
    assert_eq!(Id::<User>::new(user).map(Sno::from), Ok(user));
    let error = Id::<Order>::new(user).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfRange);
    assert_eq!((error.field(), error.range()), (Some("metabyte"), Some((1, 2, 2))));
    assert_eq!(error.to_string(), "expected metabyte 2, found 1");
    for other in [
        Id::<Order>::parse(TEXT),
        TEXT.parse(),
        TEXT.try_into(),
        user.try_into(),
        user.as_bytes()[..].try_into(),
    ] {
        assert_eq!(other, Err(error.clone()));
    }
    assert_eq!(Id::<Order>::parse_const(TEXT), None);
    assert_eq!(Id::<User>::parse_const(TEXT).as_deref(), Some(&user));
    assert_eq!(Id::<User>::parse("").unwrap_err().kind(), ErrorKind::InvalidLength);
}

fn assert_shareable<T: Copy + Send + Sync>() {}

#[test]
fn a_typed_id_behaves_like_a_sno() {
    let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    let ids = Builder::with_clock(&clock).partition(7).build().unwrap();
    let first = Id::<User>::generate_with(&ids).unwrap();
    let second = Id::<User>::generate_with(&ids).unwrap();
    assert!(first < second && first != second);
    assert_eq!(HashSet::from([first, second, first]).len(), 2);
    assert_eq!(
        (first.to_string().as_str(), format!("{first:?}").as_str()),
        (TEXT, r#"Id("9d5ve8222622g222")"#)
    );
    assert_eq!((first.as_ref(), first.unix_ms()), (&first.to_bytes()[..], 1_767_225_600_000));
    assert_eq!(size_of::<Id<User>>(), size_of::<Sno>());
    assert_shareable::<Id<*const User>>();
}

#[test]
fn a_time_range_contains_exactly_the_ids_of_the_type() {
    let tick = 1_767_225_600_000;
    let (lowest, highest) = Id::<User>::time_range(tick, tick + 4).unwrap();
    assert_eq!((lowest.metabyte(), highest.metabyte()), (1, 1));
    let (first, last) = Sno::time_range(tick, tick + 4).unwrap();
    assert_eq!((*lowest, *highest), (first.with_metabyte(1), last.with_metabyte(1)));
    for id in [first, last, Sno::parse(TEXT).unwrap()] {
        assert!((lowest..=highest).contains(&Id::new(id.with_metabyte(1)).unwrap()), "{id}");
    }
    let (_, before) = Id::<User>::time_range(tick - 4, tick).unwrap();
    assert!(before < lowest);
}
