//! Generators and IDs for comparisons.

use polyflake::{
    base32::Text,
    clock::Clock,
    hotguid, layout,
    randflake::{self, EPOCH, Grant, LAST_SECOND},
    sno::{Generator, Sno},
    uuid7,
};

pub(crate) const SECRET: [u8; 16] = *b"sixteen byte key";

pub(crate) fn sno<C: Clock>(clock: C) -> Generator<C> {
    Generator::builder().clock(clock).partition(1).build().expect("valid options")
}

pub(crate) fn randflake<C: Clock>(clock: C) -> randflake::Generator<C> {
    let lease = Grant::new(7, EPOCH, LAST_SECOND + 1).expect("a lease");
    randflake::Builder::with_clock(lease, SECRET, clock).build().expect("valid options")
}

pub(crate) fn hot_guid<C: Clock>(clock: C) -> hotguid::Generator<C> {
    hotguid::Generator::builder().clock(clock).build().expect("valid options")
}

pub(crate) fn uuid7<C: Clock>(clock: C) -> uuid7::Generator<C> {
    uuid7::Generator::builder().clock(clock).build().expect("valid options")
}

/// Returns a layout with fields like those of Instagram's IDs, but with enough sequence numbers per millisecond for the
/// system clock.
pub(crate) fn instagram_like_layout() -> layout::Layout {
    use polyflake::layout::{Field, Layout, Tick};
    let fields = [
        Field::timestamp(41, Tick::from_millis(1).expect("a tick"), 1_314_220_021_721),
        Field::bindable(1, "shard"),
        Field::sequence(22),
    ];
    Layout::integer(fields).expect("64 bits")
}

pub(crate) fn layout<C: Clock>(clock: C) -> layout::Generator<C> {
    let layout = instagram_like_layout();
    let builder = layout::Generator::builder(layout).clock(clock).bind("shard", 1);
    builder.build().expect("valid options")
}

/// Returns sample IDs. They are few enough to stay in the L1 cache.
pub(crate) fn snos() -> Vec<Sno> {
    let mut samples = vec![Sno::default(); 256];
    Generator::new().fill(7, &mut samples).expect("a working clock");
    samples
}

/// The number of IDs in a sample that is larger than every CPU cache.
pub(crate) const LARGE_SAMPLE_SIZE: u32 = 4_000_000;

/// Returns [`LARGE_SAMPLE_SIZE`] pseudorandom IDs.
pub(crate) fn large_sample() -> Vec<Sno> {
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = vec![0; LARGE_SAMPLE_SIZE as usize * Sno::LEN];
    for word in bytes.as_chunks_mut::<8>().0 {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        *word = noise.to_le_bytes();
    }
    Sno::slice_from_bytes(&bytes).expect("whole IDs").to_vec()
}

/// Returns the sample IDs as strings.
pub(crate) fn sno_texts() -> RoundRobin<Text<{ Sno::TEXT_LEN }>> {
    RoundRobin::new(snos().iter().map(Sno::text).collect())
}

/// A set of samples that are returned one after another, in an endless cycle.
pub(crate) struct RoundRobin<T> {
    samples: Vec<T>,
    next: u8,
}

impl<T> RoundRobin<T> {
    /// Creates a cycle of the given 256 samples.
    pub(crate) fn new(samples: Vec<T>) -> Self {
        assert_eq!(samples.len(), 256, "expected 256 samples, found {}", samples.len());
        Self { samples, next: 0 }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> &T {
        self.next = self.next.wrapping_add(1);
        &self.samples[usize::from(self.next)]
    }
}
