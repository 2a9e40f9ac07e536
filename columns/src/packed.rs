//! Many IDs of one size, side by side.

use std::sync::Arc;

use crate::{OutOfMemory, Plain, arrow::Column, room};

/// IDs in one piece of memory: a table of bytes with a row for each ID, or a list of integers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Packed<T: Plain> {
    /// Shared, since exported Arrow arrays keep the memory alive without their maker.
    items: Arc<Vec<T>>,
    /// Rows, and cells of a row.
    shape: [isize; 2],
    /// Bytes from row to row, and from cell to cell.
    strides: [isize; 2],
    /// `true` for a table of cells, `false` for a list.
    is_table: bool,
}

impl<T: Plain> Packed<T> {
    /// An array with one item for each ID.
    pub fn new(items: Vec<T>) -> Self {
        Self { is_table: T::CELL < size_of::<T>(), ..Self::in_rows(items, 1) }
    }

    /// An array with `width` items for each ID, of a whole number of IDs.
    ///
    /// # Panics
    /// If `width` is 0.
    pub fn in_rows(items: Vec<T>, width: usize) -> Self {
        let (rows, columns) = (items.len() / width, width * size_of::<T>() / T::CELL);
        // A vector has at most isize::MAX bytes.
        let [rows, columns, cell] = [rows, columns, T::CELL].map(usize::cast_signed);
        Self {
            items: Arc::new(items),
            shape: [rows, columns],
            strides: [columns * cell, cell],
            is_table: true,
        }
    }

    /// All items.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// All items, as a shared owner of them.
    pub fn shared(&self) -> Arc<Vec<T>> {
        self.items.clone()
    }

    /// Number of IDs.
    pub fn len(&self) -> usize {
        self.shape[0].cast_unsigned()
    }

    /// Returns whether there is no ID.
    pub fn is_empty(&self) -> bool {
        self.shape[0] == 0
    }

    /// Number of items in an ID.
    pub fn width(&self) -> usize {
        self.strides[0].cast_unsigned() / size_of::<T>()
    }

    /// The items of one ID.
    ///
    /// # Panics
    /// If the index is past the last ID.
    pub fn row(&self, position: usize) -> &[T] {
        &self.items[position * self.width()..][..self.width()]
    }

    /// Some of the IDs.
    ///
    /// # Errors
    /// If memory is short.
    ///
    /// # Panics
    /// If there is no ID at one of the positions.
    pub fn rows(&self, positions: &[usize]) -> Result<Self, OutOfMemory> {
        let mut items = room(positions.len() * self.width())?;
        positions.iter().for_each(|position| items.extend_from_slice(self.row(*position)));
        Ok(Self { is_table: self.is_table, ..Self::in_rows(items, self.width()) })
    }

    /// Rows, and cells of a row: as long-lived as the IDs, for exported buffers.
    pub fn shape(&self) -> &[isize; 2] {
        &self.shape
    }

    /// Bytes from row to row, and from cell to cell: as long-lived as the IDs, for exported buffers.
    pub fn strides(&self) -> &[isize; 2] {
        &self.strides
    }

    /// Returns `true` if each ID takes a row of cells, `false` if it takes one cell.
    pub fn is_table(&self) -> bool {
        self.is_table
    }

    /// Arrow's format of the IDs: numbers, or bytes of one length.
    pub fn arrow_format(&self) -> String {
        if self.is_table { format!("w:{}", self.strides[0]) } else { T::ARROW.to_owned() }
    }

    /// The IDs, as an Arrow column, without a copy.
    pub fn to_arrow(&self) -> Column {
        Column::of_packed(self)
    }
}

#[cfg(test)]
mod tests {
    use polyflake::{randflake::Randflake, sno::Sno};

    use super::*;

    #[test]
    fn ids_of_bytes_are_a_table_and_integers_a_list() {
        let table = Packed::new(vec![Sno::default(); 3]);
        assert_eq!((table.shape(), table.strides(), table.is_table()), (&[3, 10], &[10, 1], true));
        assert_eq!((table.len(), table.width(), &*table.arrow_format()), (3, 1, "w:10"));
        let list = Packed::new(vec![Randflake::default(); 2]);
        assert_eq!((list.shape(), list.strides(), list.is_table()), (&[2, 1], &[8, 8], false));
        assert_eq!(&*list.arrow_format(), "l");
        assert!(Packed::new(Vec::<u16>::new()).is_empty());
    }

    #[test]
    fn items_are_chosen_by_position() {
        let packed = Packed::in_rows((0..12_u8).collect(), 4);
        assert_eq!((packed.len(), packed.width(), packed.row(1)), (3, 4, &[4, 5, 6, 7][..]));
        let chosen = packed.rows(&[2, 0, 2]).expect("memory");
        assert_eq!(chosen.items(), [8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]);
        assert_eq!(packed.rows(&[]).expect("memory").len(), 0);
        let numbers = Packed::new(vec![7_u16, 8, 9]).rows(&[2, 0]).expect("memory");
        assert_eq!(numbers, Packed::new(vec![9, 7]));
    }
}
