//! A bitmap with one bit per cell. Any thread can set a bit.

use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Bitmap {
    words: Vec<AtomicU64>,
    cells: u64,
}

impl Bitmap {
    pub(crate) fn new(cells: u64) -> Self {
        let words = usize::try_from(cells.div_ceil(64)).expect("a bitmap that fits the memory");
        Self { words: (0..words).map(|_| AtomicU64::new(0)).collect(), cells }
    }

    /// Sets a cell's bit. Returns whether the bit was already set. Panics if the cell is outside the bitmap, which
    /// indicates a bug in the harness.
    pub(crate) fn set(&self, cell: u64) -> bool {
        assert!(cell < self.cells, "cell {cell} of {}", self.cells);
        let bit = 1 << (cell % 64);
        let word = &self.words[usize::try_from(cell / 64).expect("a bitmap that fits the memory")];
        word.fetch_or(bit, Ordering::Relaxed) & bit != 0
    }
}
