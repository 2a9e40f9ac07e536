//! The cells that have been used so far, stored as ranges. A generator fills each tick from the beginning, so each process
//! adds only a few ranges.

use std::collections::BTreeMap;

/// A map from the first cell of each range to the cell that follows the range.
#[derive(Default)]
pub(crate) struct Cells(BTreeMap<u128, u128>);

impl Cells {
    /// Records a cell. Returns whether it was already recorded.
    pub(crate) fn insert(&mut self, cell: u128) -> bool {
        match self.0.range_mut(..=cell).next_back() {
            Some((_, end)) if cell < *end => return true,
            Some((_, end)) if cell == *end => *end += 1,
            _ => drop(self.0.insert(cell, cell + 1)),
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_recorded_once() {
        let mut cells = Cells::default();
        for cell in [5, 6, 9, 8, 7, 4, 10] {
            assert!(!cells.insert(cell), "{cell}");
        }
        assert!((4..=10).all(|cell| cells.insert(cell)));
        assert!(!cells.insert(3) && !cells.insert(11));
    }
}
