//! Tests leased generators of each ID format. The tests check which parts of the IDs contain the worker ID, and which
//! worker-ID configurations (`Shape`) are rejected.
#![cfg(feature = "std")]

use std::{collections::HashSet, sync::Arc, time::Duration};

use polyflake::{
    Generate, GenerateAsync,
    clock::ManualClock,
    hotguid::HotGuid,
    layout::{Field, Layout, Tick, ValueType, preset},
    sno::{Builder, Id, Kind, Sno},
    uuid7::{self as core_uuid7, Uuid7},
};
use polyflake_lease::{ErrorKind, Options, Result, Shape, hotguid, layout, sno, uuid7};

const LONG_TIMEOUT: Duration = Duration::from_secs(20);

#[track_caller]
fn assert_error<V>(result: Result<V>, kind: ErrorKind, reason: &str) {
    let Err(error) = result else { panic!("expected {kind:?}, found none") };
    assert_eq!((error.kind(), &*error.to_string()), (kind, reason));
}

/// Creates a generator for the given worker ID, which the generator encodes in the otherwise random machine bytes.
fn hot_guid_generator_for(worker_id: u64, uuid8: bool) -> hotguid::Generator {
    let shape = Shape::hotguid(worker_id..=worker_id).unwrap();
    let options = Options::new(&format!("machine-{worker_id}-{uuid8}"), shape).unwrap();
    hotguid::Generator::with("memory:machines", options, uuid8, LONG_TIMEOUT).unwrap()
}

/// The version and variant of UUIDs occupy some bits of the machine field, but the worker ID is never stored in these bits.
#[test]
fn hot_guids_encode_distinct_worker_ids() {
    let worker_ids = [0, 1, 0x40, 0x80, 0xc0, 0x1000, 0x8080, 0x9080, 0xf0c0, 0x8_8080, 0xf_ffff];
    let mut machines = HashSet::new();
    for worker_id in worker_ids {
        let made = [false, true]
            .map(|uuid8| hot_guid_generator_for(worker_id, uuid8).generate(7).unwrap());
        let [plain, marked] = made.map(HotGuid::machine);
        let [.., a, b, c] = worker_id.to_be_bytes();
        assert_eq!(plain, [a, b, c, 0, 0]);
        assert!(made[0].uuid8_parts().is_err());
        // Checks the machine bytes again, in the byte order of version 8 UUIDs.
        let bits = made[1].uuid8_parts().unwrap().machine;
        assert_eq!([bits >> 18 & 0xff, bits >> 26, bits >> 6 & 0xff], [a, b, c].map(u64::from));
        assert!(machines.insert(plain) && machines.insert(marked), "{worker_id}");
    }
}

#[test]
fn uuids_contain_the_leased_worker_id() {
    for worker_id in [0, 1, 0xc0de, 0xffff] {
        let shape = Shape::uuid7(worker_id..=worker_id).unwrap();
        let options = Options::new(&format!("uuids-{worker_id}"), shape).unwrap();
        let ids = uuid7::Generator::with("memory:uuids", options, LONG_TIMEOUT).unwrap();
        let mut batch = [Uuid7::MIN; 100];
        ids.fill(&mut batch).unwrap();
        assert!(batch.is_sorted() && ids.generate().unwrap() > batch[99]);
        assert!(
            batch.iter().all(|id| u64::from(core_uuid7::worker_id(*id)) == worker_id),
            "{worker_id}"
        );
    }
    assert_eq!(Shape::uuid7(0..=1 << 16).unwrap_err().code(), "out_of_range");
    let other = Options::new("other", Shape::sno(0..=1).unwrap()).unwrap();
    let reason = "expected options of UUID v7";
    let assert_layout_error = uuid7::Generator::with("memory:uuids", other, LONG_TIMEOUT);
    assert_error(assert_layout_error, ErrorKind::OutOfRange, reason);
}

struct User;

impl Kind for User {
    const METABYTE: u8 = 1;
}

/// A service that uses a leased generator in production and a generator with a manual clock in tests. It implements `Clone`
/// because axum clones its state.
#[derive(Clone)]
struct Users<G>(G);

impl<G: Generate<Sno> + GenerateAsync<Sno>> Users<G> {
    async fn add(&self, sleep: impl AsyncFn(Duration)) -> polyflake::Result<[Id<User>; 3]> {
        let many = Id::generate_many_with(&self.0, 1)?;
        Ok([Id::generate_with(&self.0)?, many[0], Id::generate_with_async(&self.0, sleep).await?])
    }
}

#[tokio::test]
async fn leased_generators_make_typed_ids() {
    let ids = sno::Generator::new_async("memory:users", "users", tokio::time::sleep).await.unwrap();
    let users = Users(ids);
    let copy = users.clone();
    let made = copy.add(tokio::time::sleep).await.unwrap();
    drop(copy);
    let worker_id = users.0.lease().worker_id();
    assert!(
        made.iter().all(|id| worker_id == Some(id.partition().into())),
        "{made:?}, {worker_id:?}"
    );
    let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    let tested = Users(Arc::new(Builder::with_clock(clock).partition(42).build().unwrap()));
    let made = tested.clone().add(tokio::time::sleep).await.unwrap();
    assert!(made.iter().all(|id| id.partition() == 42));
}

#[test]
fn hot_guid_counters_start_at_random() {
    let counters: HashSet<_> = (0..4)
        .map(|worker_id| hot_guid_generator_for(worker_id, false).generate(0).unwrap().counter())
        .collect();
    assert!(counters.len() > 1, "{counters:?}");
}

fn fields() -> Layout {
    Layout::integer([
        Field::unused(1),
        Field::timestamp(41, Tick::MILLISECOND, 1_483_228_800_000),
        Field::constant(5, "region \"a\"", 9),
        Field::bindable(5, "worker").inverted(),
        Field::sequence(12),
    ])
    .unwrap()
}

#[test]
fn layout_constants_and_bindables_contain_the_worker_id() {
    let layout = fields();
    let names = ["worker", "region \"a\""];
    let shape = layout::shape(&layout, &names, 0..=1023).unwrap();
    // docs/leases.md must show the same string.
    let page = include_str!("../../docs/leases.md");
    assert!(page.contains(&shape.to_json()), "{}", shape.to_json());
    let options = Options::new("posts", shape).unwrap().preferred_worker_id(0b00110_00101).unwrap();
    let ids =
        layout::Generator::with("memory:posts", options, &layout, &names, LONG_TIMEOUT).unwrap();
    let mut batch = [0_i64; 3];
    ids.fill(&mut batch[..]).unwrap();
    assert_eq!(ids.try_fill(&mut batch[1..]), Ok(2));
    let first = ids.generate().unwrap();
    assert!(first < ids.try_generate().unwrap());
    for id in batch.map(|id| layout.parse_integer(id).unwrap()) {
        assert_eq!(id.bindable("worker").unwrap(), 0b00110.into());
        assert_eq!(id.constant("region \"a\"").unwrap(), 0b00101.into());
    }
    // The worker IDs for a single field are leased from a separate namespace.
    let own = layout::Generator::new("memory:posts", "workers", &layout, &["worker"]).unwrap();
    assert_eq!(own.lease().worker_id(), Some(0));
    let made = own.generate().unwrap();
    let id = layout.parse(&made).unwrap();
    assert_eq!(id.constant("region \"a\"").unwrap(), 9.into());
    let error = layout::Generator::new("memory:posts", "posts", &layout, &["worker"]).err();
    assert_eq!(error.unwrap().kind(), ErrorKind::NamespaceMismatch);
}

#[test]
fn layouts_without_leasable_fields_are_rejected() {
    let assert_layout_error = |layout: &Layout, names: &[&str], reason: &str| {
        let generator = layout::Generator::new("memory:rejected", "rejected", layout, names);
        assert_error(generator.map(drop), ErrorKind::OutOfRange, reason);
    };
    let layout = fields();
    let none = "expected an integer constant or bindable `sequence`, once";
    assert_layout_error(&layout, &["sequence"], none);
    assert_layout_error(
        &layout,
        &["worker", "worker"],
        "expected an integer constant or bindable `worker`, once",
    );
    assert_layout_error(&layout, &[], "expected the lease to set `worker`, found no value");
    assert_layout_error(
        &layout,
        &["region \"a\""],
        "expected the lease to set `worker`, found no value",
    );
    let over = layout::shape(&layout, &["worker"], 0..=32);
    assert_error(over, ErrorKind::OutOfRange, "expected worker IDs up to 31, found 32");
    let twitter = preset("twitter", []).unwrap();
    assert_layout_error(
        &twitter,
        &["worker"],
        "expected the lease to set `datacenter`, found no value",
    );
    let alone = Layout::integer([Field::bindable(56, "n"), Field::sequence(8)]).unwrap();
    assert_layout_error(&alone, &["n"], "expected a layout with a timestamp");
    let time = |epoch| Field::timestamp(40, Tick::SECOND, epoch);
    let wide = Layout::bytes(
        16,
        [time(0), Field::bindable(60, "n"), Field::sequence(20), Field::unused(8)],
    );
    assert_layout_error(
        &wide.unwrap(),
        &["n"],
        "expected an integer constant or bindable `n`, once",
    );
    let early = Layout::integer([time(-1), Field::bindable(8, "n"), Field::sequence(16)]).unwrap();
    assert_layout_error(&early, &["n"], "expected an epoch from 1970 on");
    let bytes = Field::bindable_of(ValueType::Bytes, 8, "n");
    let bytes = Layout::bytes(8, [time(0), bytes, Field::sequence(16)]).unwrap();
    assert_layout_error(&bytes, &["n"], "expected an integer constant or bindable `n`, once");
    let strange = Layout::integer([time(0), Field::bindable(8, "a\nb"), Field::sequence(16)]);
    assert_layout_error(&strange.unwrap(), &["a\nb"], "expected names without control characters");
    let of_another = Options::new("posts", Shape::sno(0..=31).unwrap()).unwrap();
    let of_another = layout::Generator::with(
        "memory:assert_layout_error",
        of_another,
        &layout,
        &["worker"],
        LONG_TIMEOUT,
    );
    let reason = "expected options of the layout and its fields";
    assert_error(of_another.map(drop), ErrorKind::OutOfRange, reason);
}
