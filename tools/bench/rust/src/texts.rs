//! Benchmarks for encoding and decoding slices of sno strings. Each instruction set that the processor supports is compared
//! with scalar code, and encoding 4 million IDs is compared with memcpy.

use std::hint::black_box;

use polyflake::{
    kernels::{self, InstructionSet, Level},
    sno::{self, Sno},
};

use crate::{
    contest::{Comparison, Entry, Goal},
    measure::{Work, repeat, repeat_with},
    samples::{self, LARGE_SAMPLE_SIZE},
};

const ID_COUNT: u32 = 1024;

pub(crate) fn encode() -> Comparison {
    let over_slices = |level: Level| -> Work {
        let (ids, mut texts) = (packed_samples(), vec![[0; Sno::TEXT_LEN]; ID_COUNT as usize]);
        repeat(move || kernels::encode_sno(level, &ids, black_box(&mut texts)))
    };
    text_comparison(
        "rust: 1024 texts encoded",
        over_slices,
        [("rust: sno encode 1024, AVX2", 5.5), ("rust: sno encode 1024, AVX-512", 12.0)],
    )
}

pub(crate) fn decode() -> Comparison {
    let over_slices = |level: Level| -> Work {
        let (mut ids, mut texts) = (packed_samples(), vec![[0; Sno::TEXT_LEN]; ID_COUNT as usize]);
        kernels::encode_sno(Level::SCALAR, &ids, &mut texts).expect("equal lengths");
        repeat(move || kernels::decode_sno(level, &texts, black_box(&mut ids)))
    };
    text_comparison(
        "rust: 1024 texts decoded, strictly",
        over_slices,
        [
            ("rust: sno strict decode 1024, AVX2", 7.0),
            ("rust: sno strict decode 1024, AVX-512", 12.0),
        ],
    )
}

/// Returns the comparison for more IDs than fit in the caches. The output buffers have already been written to, so their
/// memory is mapped.
pub(crate) fn large_sample() -> Comparison {
    const MEMCPY: &str = "memcpy moving as many bytes";
    let encode = repeat_with(
        || (samples::large_sample(), vec![[1; Sno::TEXT_LEN]; LARGE_SAMPLE_SIZE as usize]),
        |(ids, texts)| sno::encode_slice(ids, black_box(texts)),
    );
    let half = LARGE_SAMPLE_SIZE as usize * (Sno::LEN + Sno::TEXT_LEN) / 2;
    let memcpy = repeat_with(
        move || (vec![1_u8; half], vec![2_u8; half]),
        |(from, to)| black_box(to).copy_from_slice(from),
    );
    Comparison::new(
        "rust: 4 million texts encoded",
        vec![
            Entry::own_entry("sno", encode).with_items(LARGE_SAMPLE_SIZE),
            Entry::peer_entry(MEMCPY, memcpy).with_items(LARGE_SAMPLE_SIZE),
        ],
        vec![Goal::new("rust: sno encode 4 million", "sno", MEMCPY, 1.1)],
    )
}

fn text_comparison(
    name: &'static str,
    over_slices: impl Fn(Level) -> Work,
    [avx2, avx512]: [(&'static str, f64); 2],
) -> Comparison {
    let entry = |level: Level| {
        Entry::own_entry(level.instruction_set().name(), over_slices(level)).with_items(ID_COUNT)
    };
    let goal = |(name, times): (&'static str, f64), ours: &'static str| {
        Goal::new(name, ours, InstructionSet::Scalar.name(), 1.0 / times)
    };
    Comparison::new(
        name,
        kernels::levels().map(entry).collect(),
        vec![goal(avx2, "avx2"), goal(avx512, "avx512")],
    )
}

fn packed_samples() -> Vec<[u8; Sno::LEN]> {
    samples::snos().iter().cycle().take(ID_COUNT as usize).map(|id| id.to_bytes()).collect()
}
