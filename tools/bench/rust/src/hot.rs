//! The hot functions. Each function is called with a synthetic clock, so that every run executes the same instructions.

use std::hint::black_box;

use polyflake::{
    clock::ManualClock,
    hotguid::{self, HotGuid},
    layout::Batch,
    randflake::{self, Codec, Randflake, SLOT},
    sno::{self, Generator, Sno},
    sparx64::Sparx64,
    uuid7::{self, Uuid7},
};

use crate::{
    clocks::SyntheticClock,
    layout as eight_fields,
    measure::{Work, repeat},
    samples::{self, SECRET},
};

/// Number of items in a batch.
const BATCH_SIZE: u32 = 1024;

/// A hot function: its name, the work of one call, and the number of items per call.
pub(crate) struct HotFunction {
    pub(crate) name: &'static str,
    pub(crate) items: u32,
    pub(crate) work: fn() -> Work,
}

const fn single_call(name: &'static str, work: fn() -> Work) -> HotFunction {
    HotFunction { name, items: 1, work }
}

const fn batch(name: &'static str, work: fn() -> Work) -> HotFunction {
    HotFunction { name, items: BATCH_SIZE, work }
}

pub(crate) const HOT_FUNCTIONS: &[HotFunction] = &[
    single_call("sno generate", || {
        let ids = samples::sno(SyntheticClock::for_batches(1));
        repeat(move || ids.generate(1))
    }),
    single_call("sno generate, leased", || {
        let ids =
            sno::Leased::new(samples::sno(SyntheticClock::for_batches(1))).expect("a timestamp");
        repeat(move || ids.generate(1))
    }),
    single_call("sno generate_text", || {
        let ids = samples::sno(SyntheticClock::for_batches(1));
        repeat(move || ids.generate(1).map(|id| id.text()))
    }),
    single_call("sno handle generate", || {
        let ids: &'static Generator<SyntheticClock> =
            Box::leak(Box::new(samples::sno(SyntheticClock::for_batches(1))));
        let mut handle = ids.handle();
        repeat(move || handle.generate(1))
    }),
    batch("sno fill 1024, an ID", || {
        let ids = samples::sno(SyntheticClock::for_batches(BATCH_SIZE));
        let mut batch = vec![Sno::default(); BATCH_SIZE as usize];
        repeat(move || ids.fill(1, &mut batch))
    }),
    single_call("sno encode", || {
        let mut ids = samples::RoundRobin::new(samples::snos());
        repeat(move || ids.next().text())
    }),
    single_call("sno parse", || {
        let mut texts = samples::sno_texts();
        repeat(move || Sno::parse(texts.next()))
    }),
    single_call("sno metabyte", || {
        let mut texts = samples::sno_texts();
        repeat(move || sno::metabyte(texts.next()))
    }),
    single_call("randflake generate", || {
        let ids = samples::randflake(SyntheticClock::with_second_ticks(1));
        repeat(move || ids.generate())
    }),
    single_call("randflake generate, leased", || {
        let ids = randflake::Leased::new(samples::randflake(SyntheticClock::with_second_ticks(1)))
            .expect("a timestamp");
        repeat(move || ids.generate(()))
    }),
    single_call("randflake generate_text", || {
        let ids = samples::randflake(SyntheticClock::with_second_ticks(1));
        repeat(move || ids.generate().map(Randflake::text))
    }),
    batch("randflake fill 1024, an ID", || {
        let ids = samples::randflake(SyntheticClock::with_second_ticks(BATCH_SIZE));
        let mut batch = vec![Randflake::default(); BATCH_SIZE as usize];
        repeat(move || ids.fill(&mut batch))
    }),
    batch("randflake encode_slice 1024, an ID", || {
        let (ids, mut slots) = (randflakes(), [[0; SLOT]; BATCH_SIZE as usize]);
        repeat(move || randflake::encode_slice(&ids, &mut slots))
    }),
    batch("randflake decode_slice 1024, an ID", || {
        let (mut ids, mut slots) = (randflakes(), [[0; SLOT]; BATCH_SIZE as usize]);
        randflake::encode_slice(&ids, &mut slots).expect("slices of one length");
        repeat(move || randflake::decode_slice(&slots, &mut ids))
    }),
    batch("randflake decode_column 1024, an ID", || {
        let mut ids = randflakes();
        let (mut offsets, mut text) = ([0; BATCH_SIZE as usize + 1], [0; 13 * BATCH_SIZE as usize]);
        randflake::encode_column(&ids, &mut offsets, &mut text).expect("room for all");
        repeat(move || randflake::decode_column(&offsets, &text, &mut ids))
    }),
    single_call("randflake inspect", || {
        let codec = Codec::new(SECRET);
        let id = samples::randflake(ManualClock::at_unix_ms(1_763_650_000_000)).generate();
        let id = id.expect("a clock");
        // Unlike the inputs of the other functions, this input never changes. Without `black_box`, the compiler would
        // decrypt it only once for all calls.
        repeat(move || codec.inspect(black_box(id)))
    }),
    single_call("sparx64 encrypt_block", || {
        let (cipher, mut block) = (Sparx64::new(SECRET), [0; 8]);
        repeat(move || {
            block = cipher.encrypt_block(block);
            block
        })
    }),
    batch("sparx64 encrypt_blocks 1024, a block", || {
        let (cipher, mut blocks) = (Sparx64::new(SECRET), vec![[0; 8]; BATCH_SIZE as usize]);
        repeat(move || cipher.encrypt_blocks(&mut blocks))
    }),
    single_call("hotguid generate", || {
        let ids = samples::hot_guid(SyntheticClock::with_second_ticks(1));
        repeat(move || ids.generate(1))
    }),
    single_call("hotguid generate, leased", || {
        let ids = hotguid::Leased::new(samples::hot_guid(SyntheticClock::with_second_ticks(1)))
            .expect("a timestamp");
        repeat(move || ids.generate(1))
    }),
    single_call("hotguid generate_text", || {
        let ids = samples::hot_guid(SyntheticClock::with_second_ticks(1));
        repeat(move || ids.generate(1).map(HotGuid::text))
    }),
    batch("hotguid fill 1024, an ID", || {
        let ids = samples::hot_guid(SyntheticClock::with_second_ticks(BATCH_SIZE));
        let mut batch = vec![HotGuid::default(); BATCH_SIZE as usize];
        repeat(move || ids.fill(1, &mut batch))
    }),
    single_call("uuid7 generate", || {
        let ids = samples::uuid7(SyntheticClock::with_millisecond_ticks(1));
        repeat(move || ids.generate())
    }),
    single_call("uuid7 generate, leased", || {
        let ids = uuid7::Leased::new(samples::uuid7(SyntheticClock::with_millisecond_ticks(1)))
            .expect("a timestamp");
        repeat(move || ids.generate(()))
    }),
    single_call("uuid7 generate_text", || {
        let ids = samples::uuid7(SyntheticClock::with_millisecond_ticks(1));
        repeat(move || ids.generate().map(Uuid7::text))
    }),
    single_call("uuid7 handle generate", || {
        let ids: &'static uuid7::Generator<SyntheticClock> =
            Box::leak(Box::new(samples::uuid7(SyntheticClock::with_millisecond_ticks(1))));
        let mut handle = ids.handle();
        repeat(move || handle.generate())
    }),
    batch("uuid7 fill 1024, an ID", || {
        let ids = samples::uuid7(SyntheticClock::with_millisecond_ticks(BATCH_SIZE));
        let mut batch = vec![Uuid7::default(); BATCH_SIZE as usize];
        repeat(move || ids.fill(&mut batch))
    }),
    single_call("layout generate", || {
        let ids = samples::layout(SyntheticClock::for_batches(1));
        repeat(move || ids.generate())
    }),
    single_call("layout generate, leased", || {
        let ids = polyflake::layout::Leased::new(samples::layout(SyntheticClock::for_batches(1)))
            .expect("a timestamp");
        repeat(move || ids.generate(None))
    }),
    batch("layout fill 1024, an ID", || {
        let ids = samples::layout(SyntheticClock::for_batches(BATCH_SIZE));
        let mut batch = vec![0_i64; BATCH_SIZE as usize];
        repeat(move || ids.fill(Batch::Integers(&mut batch)))
    }),
    single_call("layout pack, 8 fields", eight_fields::pack),
    single_call("layout parse, 8 fields", eight_fields::parse),
];

fn randflakes() -> [Randflake; BATCH_SIZE as usize] {
    let mut ids = [Randflake::default(); BATCH_SIZE as usize];
    samples::randflake(SyntheticClock::with_second_ticks(BATCH_SIZE))
        .fill(&mut ids)
        .expect("a clock");
    ids
}
