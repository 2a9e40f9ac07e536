//! SPARX-64 over slices: each instruction set of the machine against scalar code.

use std::hint::black_box;

use polyflake::{
    kernels::{self, Level, Set},
    sparx64::Sparx64,
};

use crate::{
    contest::{Against, Contest, Entry, Goal},
    measure::{Work, repeat},
    samples::SECRET,
};

const BLOCKS: u32 = 4096;

/// A kernel over slices.
type Kernel = fn(Level, &Sparx64, &mut [[u8; 8]]);

pub(crate) fn encrypt() -> Contest {
    contest(
        "rust: SPARX-64, 4096 blocks encrypted",
        kernels::encrypt_blocks,
        ["rust: SPARX encrypt 4096, AVX2", "rust: SPARX encrypt 4096, AVX-512"],
    )
}

pub(crate) fn decrypt() -> Contest {
    contest(
        "rust: SPARX-64, 4096 blocks decrypted",
        kernels::decrypt_blocks,
        ["rust: SPARX decrypt 4096, AVX2", "rust: SPARX decrypt 4096, AVX-512"],
    )
}

fn contest(name: &'static str, kernel: Kernel, [avx2, avx512]: [&'static str; 2]) -> Contest {
    let entry = |level: Level| Entry::ours(level.set().name(), over_slices(kernel, level));
    let goal = |name, ours: &'static str, times: f64| Goal {
        name,
        ours: ours.into(),
        against: Against::entry(Set::Scalar.name()),
        most: 1.0 / times,
    };
    Contest {
        name,
        axis: None,
        entries: kernels::levels().map(|level| entry(level).making(BLOCKS)).collect(),
        goals: vec![goal(avx2, "avx2", 8.0), goal(avx512, "avx512", 18.0)],
    }
}

fn over_slices(kernel: Kernel, level: Level) -> Work {
    let (cipher, mut blocks) = (Sparx64::new(SECRET), vec![[0; 8]; BLOCKS as usize]);
    repeat(move || kernel(level, &cipher, black_box(&mut blocks)))
}
