//! Derives choices from the bytes of an input. Past the end of the input, every byte is zero.

/// The number of IDs per input.
pub(crate) const IDS_PER_INPUT: usize = 32;

/// Returns an input's IDs. The first ID consists of the input's first bytes, padded with zeros. Each of the other IDs is a
/// copy of the first ID with one byte changed.
pub(crate) fn neighbours<const N: usize>(input: &[u8]) -> impl Iterator<Item = [u8; N]> {
    let own: [u8; N] = Bytes(input).array();
    let others = random_bytes(input).map(move |[at, byte, ..]| {
        let mut other = own;
        other[usize::from(at) % N] = byte;
        other
    });
    std::iter::once(own).chain(others).take(IDS_PER_INPUT)
}

/// Returns pseudo-random bytes, which are always the same for the same input.
pub(crate) fn random_bytes(input: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    let seed =
        input.iter().fold(1, |seed, byte| (seed ^ u64::from(*byte)).wrapping_mul(GOLDEN_RATIO));
    let next = |seed: &u64| Some((seed ^ seed >> 29).wrapping_mul(GOLDEN_RATIO));
    std::iter::successors(Some(seed), next).skip(1).map(|seed| {
        let [_, _, random_bytes @ .., _, _] = seed.to_le_bytes();
        random_bytes
    })
}

/// The remaining bytes of an input.
pub(crate) struct Bytes<'b>(pub(crate) &'b [u8]);

impl Bytes<'_> {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let taken = self.next_bytes(N);
        std::array::from_fn(|at| taken.get(at).copied().unwrap_or(0))
    }

    /// Returns the next `count` bytes, or fewer at the end of the input.
    pub(crate) fn next_bytes(&mut self, count: usize) -> &[u8] {
        let (taken, left) = self.0.split_at(count.min(self.0.len()));
        self.0 = left;
        taken
    }

    pub(crate) fn integer(&mut self) -> i64 {
        i64::from_le_bytes(self.array())
    }

    /// Returns a number below `count`.
    pub(crate) fn number_below(&mut self, count: usize) -> usize {
        usize::from(u16::from_le_bytes(self.array())) % count.max(1)
    }

    /// Returns one of the given items.
    pub(crate) fn choose<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.number_below(from.len())].clone()
    }

    /// Returns `true` for one in `times` calls on average, depending on the next byte.
    pub(crate) fn one_in(&mut self, times: u8) -> bool {
        self.byte() % times == times - 1
    }

    /// Returns an integer of any size, often near a limit.
    pub(crate) fn unusual_integer(&mut self) -> i64 {
        let near = i64::from(self.byte().cast_signed());
        match self.byte() % 6 {
            0 => near,
            1 => 1_i64.rotate_left(self.byte().into()).wrapping_add(near),
            2 => 1_700_000_000_000_i64.wrapping_add(self.integer() >> 24),
            3 => i64::MAX.wrapping_add(near),
            4 => self.integer() >> (self.byte() % 64),
            _ => self.integer(),
        }
    }
}
