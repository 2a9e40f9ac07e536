//! Tests that generating, encoding and decoding IDs does not allocate.
#![allow(unsafe_code, reason = "an allocator that counts is an unsafe trait")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use polyflake::{
    ErrorKind, OnExhausted, Result,
    clock::ManualClock,
    kernels::levels,
    sno::{self, Generator, Sno},
};

struct CountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded to the system allocator, which upholds the contract of `GlobalAlloc`. The counter is
// thread-local and does not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Returns the number of this thread's allocations. The function triggers the detection of the instruction-set level before
/// it reads the counter. The detection reads an environment variable once, and on Windows, reading the variable allocates
/// memory.
fn allocations() -> usize {
    assert!(levels().next().is_some());
    ALLOCATIONS.with(Cell::get)
}

#[track_caller]
fn assert_no_allocation<R>(work: impl FnOnce() -> R) {
    let before = allocations();
    std::hint::black_box(work());
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
}

#[test]
fn the_counter_counts_allocations() {
    let before = ALLOCATIONS.with(Cell::get);
    std::hint::black_box(Box::new(1));
    assert_eq!(ALLOCATIONS.with(Cell::get), before + 1);
}

#[test]
fn sno_allocates_nothing() {
    let ids = Generator::builder().partition(1).build().unwrap();
    let id = ids.generate(0).unwrap();
    sno::generate(0).expect("the first ID draws a partition, which takes a place in the heap");
    let text = id.text();
    let mut batch = [Sno::default(); 100];
    assert_no_allocation(|| ids.generate(1).unwrap());
    assert_no_allocation(|| ids.generate(1).unwrap().text());
    assert_no_allocation(|| id.text());
    assert_no_allocation(|| Sno::parse(&text).unwrap());
    assert_no_allocation(|| sno::metabyte(&text).unwrap());
    assert_no_allocation(|| Sno::parse("not an id at all").unwrap_err());
    assert_no_allocation(|| sno::generate(1).unwrap());
    assert_no_allocation(|| ids.fill(1, &mut batch).unwrap());
}

#[cfg(unix)]
#[path = "forks/mod.rs"]
mod forks;

/// A fork without the C library's hooks may happen while another thread holds the heap's lock. That thread does not exist
/// in the child, so the lock is never released there.
#[test]
#[cfg(unix)]
#[cfg_attr(miri, ignore = "forks")]
fn the_first_id_in_a_child_allocates_nothing() {
    let ids = Generator::new();
    ids.generate(0).unwrap();
    for fork in [Some(forks::fork_with_hooks as forks::Fork), forks::fork_without_hooks()]
        .into_iter()
        .flatten()
    {
        let counts = forks::run_in_child_with(fork, || {
            let before = ALLOCATIONS.with(Cell::get);
            ids.generate(0).unwrap();
            let count = ALLOCATIONS.with(Cell::get) - before;
            vec![1, u8::try_from(count).unwrap()]
        });
        assert_eq!(counts, [1, 0]);
    }
}

#[test]
fn randflake_allocates_nothing() {
    use polyflake::randflake::{Builder, Generator, Grant, Randflake};

    let lease = || Grant::with_nodes(0..=9, 1_730_000_000, 2_803_741_824).unwrap();
    let ids = Generator::builder(lease(), [7; 16]).build().unwrap();
    let id = ids.generate().unwrap();
    let text = id.text();
    assert_no_allocation(|| ids.generate().unwrap());
    assert_no_allocation(|| ids.generate().unwrap().text());
    assert_no_allocation(|| ids.inspect(id));
    assert_no_allocation(|| Randflake::parse(&text).unwrap());
    assert_no_allocation(|| ids.fill(&mut [Randflake::default(); 100]).unwrap());
    assert_no_allocation(|| {
        Builder::with_clock(lease(), [7; 16], ManualClock::new(0)).build().unwrap()
    });
    for bad in ["", "é", "01", "vvvvvvvvvvvvv"] {
        assert_no_allocation(|| Randflake::parse(bad).unwrap_err());
    }
}

#[test]
fn hot_guid_allocates_nothing() {
    use polyflake::hotguid::{self, Generator, HotGuid};

    let ids = Generator::new();
    let id = ids.generate(7).unwrap();
    let text = id.text();
    assert_no_allocation(|| ids.generate(7).unwrap());
    assert_no_allocation(|| ids.generate(7).unwrap().text());
    assert_no_allocation(|| HotGuid::parse(&text).unwrap());
    assert_no_allocation(|| HotGuid::parse("not an id at all").unwrap_err());
    assert_no_allocation(|| id.sql_text());
    assert_no_allocation(|| ids.fill(7, &mut [HotGuid::default(); 100]).unwrap());
    assert_no_allocation(|| hotguid::generate(7).unwrap());
}

#[test]
fn uuid7_allocates_nothing() {
    use polyflake::uuid7::{self, Generator, Uuid7};

    static CLOCK: ManualClock = ManualClock::at_unix_ms(1_763_650_000_000);
    let ids = Generator::builder().clock(&CLOCK).build().unwrap();
    let mut handle = ids.handle();
    let id = handle.generate().unwrap();
    let text = id.text();
    uuid7::generate().expect("the first reading of a process chooses its clock");
    let mut now = 1_763_650_000_000;
    for _ in 0..3 {
        assert_no_allocation(|| ids.generate().unwrap().text());
        assert_no_allocation(|| handle.generate().unwrap());
        assert_no_allocation(|| ids.fill(&mut [Uuid7::MIN; 100]).unwrap());
        // In a new millisecond, the random bits are generated with a new key.
        now += 1;
        CLOCK.set_unix_ms(now);
    }
    assert_no_allocation(|| Uuid7::parse(&text).unwrap());
    assert_no_allocation(|| Uuid7::parse("not an id at all").unwrap_err());
    assert_no_allocation(|| uuid7::generate().unwrap());
}

#[test]
fn field_index_access_to_layouts_allocates_nothing() {
    use polyflake::layout::{Field, Layout, Tick, Value, ValueType};

    let time = Field::timestamp(41, Tick::MILLISECOND, 0);
    let fields =
        [Field::unused(1), time.clone(), Field::constant(5, "a", 1), Field::bindable(5, "b")];
    let layout = Layout::integer([&fields[..], &[Field::sequence(12)]].concat()).unwrap();
    let (at, b, sequence) =
        (layout.timestamp().unwrap(), layout.bindable("b").unwrap(), layout.sequence().unwrap());
    let mut values = layout.values();
    assert_no_allocation(|| {
        let id = values.set(at, 5).unwrap().set(b, 6).unwrap().set(sequence, 7).unwrap();
        let parsed = layout.parse_integer(id.pack_integer().unwrap()).unwrap();
        assert_eq!((parsed.get(b), parsed.get(sequence)), (Ok(6.into()), Ok(7.into())));
    });

    let text = Field::bindable_of(ValueType::Text, 32, "text");
    let wide = Field::bindable(100, "wide").inverted();
    let bytes = Layout::bytes(24, [text, Field::unused(3), wide, Field::unused(16), time]).unwrap();
    let slots = ["text", "wide"].map(|name| bytes.bindable(name).unwrap());
    let (at, mut values, mut id) = (bytes.timestamp().unwrap(), bytes.values(), [0; 24]);
    assert_no_allocation(|| {
        values.set(at, 5).unwrap().set(slots[0], "text").unwrap().set(slots[1], u64::MAX).unwrap();
        values.pack_columns(&[], &mut id[..]).unwrap();
        assert_eq!(bytes.parse_bytes(&id).unwrap().get(slots[0]), Ok(Value::from("text")));
    });
}

#[test]
fn generators_over_layouts_allocate_nothing() {
    use polyflake::layout::{Field, Generator, Layout, Tick, preset};

    let ids = Generator::builder(preset("discord", []).unwrap()).build().unwrap();
    let mut values = ids.values();
    values.bind("worker", 1).unwrap().bind("process", 2).unwrap();
    ids.generate_with(&values).expect("the first reading of a process chooses its clock");
    assert_no_allocation(|| ids.generate_with(&values).unwrap());
    assert_no_allocation(|| ids.fill_with(&values, &mut [0_i64; 100][..]).unwrap());

    // In a byte layout, generating a single ID needs one allocation. Filling a whole batch also needs only one allocation,
    // for the partial ID from which the batch's IDs are assembled.
    let fields = [Field::timestamp(48, Tick::MILLISECOND, 0), Field::sequence(16)];
    let ids = Generator::builder(Layout::bytes(8, fields).unwrap()).build().unwrap();
    let before = ALLOCATIONS.with(Cell::get);
    ids.fill(&mut [0_u8; 800][..]).unwrap();
    std::hint::black_box(ids.generate().unwrap());
    assert_eq!(ALLOCATIONS.with(Cell::get), before + 2);
}

#[test]
fn errors_in_loops_allocate_nothing() {
    use polyflake::{
        hotguid::HotGuid,
        randflake::{self, Grant, Randflake},
    };

    const NOW_MS: i64 = 1_763_650_000_000;

    // Decoders reject every kind of invalid string, alone and within a batch.
    for bad in ["", "9q6kc9o37a32432!", "9q6kc9o37a3243é", "9q6kc9o37a3243", "9q6kc9o37a3243244"] {
        assert_no_allocation(|| Sno::parse(bad).unwrap_err());
        assert_no_allocation(|| HotGuid::parse(bad).unwrap_err());
        assert_no_allocation(|| Randflake::parse(bad).unwrap_err());
    }
    for bad in ["", "9q6kc9o3!a324324", "9q6kc9o3éa324324"] {
        assert_no_allocation(|| sno::metabyte(bad).unwrap_err());
    }
    let texts = [*b"9q6kc9o37a324324", *b"9q6kc9o37a32432!"];
    assert_no_allocation(|| {
        let error = sno::decode_slice(&texts, &mut [Sno::default(); 2]).unwrap_err();
        assert_eq!((error.item(), error.position()), (Some(1), Some(15)));
    });
    for bad in ["", "0v", "v!", "vvvvvvvvvvvvv"] {
        let offsets = [0, 1, 1 + i32::try_from(bad.len()).unwrap()];
        let texts = format!("1{bad}");
        assert_no_allocation(|| {
            let mut ids = [Randflake::default(); 2];
            let decoded = randflake::decode_column(&offsets, texts.as_bytes(), &mut ids);
            assert_eq!(decoded.unwrap_err().item(), Some(1));
        });
    }

    // Generators that must not wait return errors that contain the retry time and the number of IDs written.
    let at = |unix_ms: i64| ManualClock::new(unix_ms * 1_000_000);
    let clock = at(NOW_MS);
    let builder = sno::Builder::with_clock(&clock).partition(1).sequence_min(0).sequence_max(3);
    let ids = builder.on_exhausted(OnExhausted::Error).build().unwrap();
    assert_no_allocation(|| {
        let error = ids.fill(0, &mut [Sno::default(); 5]).unwrap_err();
        assert_eq!(error.retry_at(), Some(NOW_MS + 4));
        assert!([Some(0), Some(4)].contains(&error.written()));
    });
    let waits = |result: Result<_>| assert_eq!(result.unwrap_err().retry_at(), Some(NOW_MS + 4));
    assert_no_allocation(|| waits(ids.try_generate(0)));
    // The first rollback does not require a wait, but the second rollback does.
    clock.set_unix_ms(NOW_MS - 60_000);
    ids.try_generate(0).unwrap();
    clock.set_unix_ms(NOW_MS - 120_000);
    assert_no_allocation(|| assert_rejected(ids.try_generate(0), ErrorKind::ClockBehind));
    ids.close().unwrap();
    assert_no_allocation(|| assert_rejected(ids.try_generate(0), ErrorKind::GeneratorClosed));
    let lease = || Grant::with_nodes(1..=1, NOW_MS / 1000, NOW_MS / 1000 + 10).unwrap();
    let build = |clock| randflake::Builder::with_clock(lease(), [7; 16], clock).build().unwrap();
    let (early, late) = (build(at(NOW_MS - 60_000)), build(at(NOW_MS + 60_000)));
    assert_no_allocation(|| assert_rejected(early.try_generate(), ErrorKind::LeaseNotStarted));
    assert_no_allocation(|| assert_rejected(late.try_generate(), ErrorKind::LeaseExpired));
}

#[track_caller]
fn assert_rejected<T: std::fmt::Debug>(result: Result<T>, kind: ErrorKind) {
    assert_eq!(result.unwrap_err().kind(), kind);
}

#[test]
fn descriptions_of_fixed_formats_are_constants() {
    use polyflake::{Description, hotguid, randflake};

    const DESCRIPTIONS: [Description; 3] =
        [sno::describe(), randflake::describe(), hotguid::describe()];
    assert_eq!(DESCRIPTIONS.map(|figures| figures.fields().len()), [5, 3, 4]);
    assert_no_allocation(|| sno::describe().fields().iter().map(|field| field.bits).sum::<u32>());
}
