//! A breadth-first search that visits each state of a model once.

use std::{
    collections::HashSet,
    fmt::Debug,
    hash::{BuildHasher, BuildHasherDefault, Hash, Hasher},
};

/// A state machine to search. It provides the steps from each state, and reports whether a step violates the guarantee.
pub trait Model {
    type State: Copy + Eq + Hash + Debug;

    fn start(&self) -> Self::State;

    /// Calls `next` with each state that is reachable in one step. Calls it with `Err` for a step that violates the
    /// guarantee.
    fn steps(
        &self,
        state: &Self::State,
        next: &mut dyn FnMut(Result<Self::State, DuplicateCreated>),
    );
}

/// The error for a step that created a duplicate.
#[derive(Clone, Copy, Debug)]
pub struct DuplicateCreated;

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchResult {
    /// All reachable states were visited, and no step violates the guarantee.
    Nothing { states: usize },
    /// A step violates the guarantee. `steps` is the length of the shortest path to it.
    Broken { steps: usize },
    /// The search reached its state limit after visiting all states within `steps` steps.
    Deep { states: usize, steps: usize },
}

/// Visits states in order of their distance from the start. Stops when the guarantee is violated, no states are left, or
/// `limit` states have been visited.
pub fn search<M: Model>(model: &M, limit: usize) -> SearchResult {
    // Fingerprints have 64 bits. The probability that any two of 10^8 states have the same fingerprint is 1 in 3,000, and a
    // collision would hide only one state.
    let fingerprint = |state: &M::State| BuildHasherDefault::<Fingerprint>::new().hash_one(state);
    let start = model.start();
    let mut seen = HashSet::<u64, BuildHasherDefault<IdentityHasher>>::default();
    seen.insert(fingerprint(&start));
    let (mut level, mut steps) = (vec![start], 0);
    while !level.is_empty() {
        let (mut next, mut broken) = (Vec::new(), false);
        for state in &level {
            model.steps(state, &mut |to| match to {
                Ok(to) if seen.insert(fingerprint(&to)) => next.push(to),
                Ok(_) => {}
                Err(DuplicateCreated) => broken = true,
            });
        }
        steps += 1;
        if broken {
            return SearchResult::Broken { steps };
        }
        if seen.len() > limit {
            return SearchResult::Deep { states: seen.len(), steps };
        }
        level = next;
    }
    SearchResult::Nothing { states: seen.len() }
}

/// A hasher whose input is already a fingerprint, which it returns unchanged as the hash.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("fingerprints are integers");
    }
    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint;
    }
}

/// A hasher for fingerprints of states. For each word, it computes a 128-bit product and combines the product's two halves.
/// With the standard library's hasher, hashing would take most of the search time.
#[derive(Default)]
struct Fingerprint(u64);

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        let mut end = Self(self.0);
        end.write_u64(0x9e37_79b9_7f4a_7c15);
        end.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(byte.into());
    }

    #[expect(clippy::cast_possible_truncation, reason = "the halves of a product")]
    fn write_u64(&mut self, word: u64) {
        let mixed = self.0.rotate_left(23) ^ word ^ 0x2d35_8dcc_aa6c_78a5;
        let product = u128::from(mixed) * 0x8bb8_4b93_962e_acc9;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}
