//! Packed arrays of equally sized IDs.

use std::sync::Arc;

use crate::{OutOfMemory, Plain, arrow::Column, try_with_capacity};

/// Packed IDs in a single allocation: either a two-dimensional byte array with one row per ID, or a list of integers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Packed<T: Plain> {
    /// The items, which are shared because exported Arrow arrays keep the memory alive after this value is dropped.
    items: Arc<Vec<T>>,
    /// The number of rows, and the number of cells in each row.
    shape: [isize; 2],
    /// The number of bytes from one row to the next, and from one cell to the next.
    strides: [isize; 2],
    /// Whether the array is a table with a row of cells for each ID, as opposed to a list with one item for each ID.
    is_table: bool,
}

impl<T: Plain> Packed<T> {
    /// Creates an array in which each item is one ID.
    pub fn new(items: Vec<T>) -> Self {
        Self { is_table: T::CELL_BYTES < size_of::<T>(), ..Self::with_row_width(items, 1) }
    }

    /// Creates an array in which each ID consists of `width` items. `items` must contain a whole number of IDs.
    ///
    /// # Panics
    /// Panics if `width` is 0.
    pub fn with_row_width(items: Vec<T>, width: usize) -> Self {
        let (rows, columns) = (items.len() / width, width * size_of::<T>() / T::CELL_BYTES);
        // A vector has at most `isize::MAX` bytes, so these casts cannot overflow.
        let [rows, columns, cell] = [rows, columns, T::CELL_BYTES].map(usize::cast_signed);
        Self {
            items: Arc::new(items),
            shape: [rows, columns],
            strides: [columns * cell, cell],
            is_table: true,
        }
    }

    /// Returns all items.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns all items with shared ownership.
    pub fn shared(&self) -> Arc<Vec<T>> {
        self.items.clone()
    }

    /// Returns the number of IDs.
    pub fn len(&self) -> usize {
        self.shape[0].cast_unsigned()
    }

    /// Returns whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.shape[0] == 0
    }

    /// Returns the number of items per ID.
    pub fn width(&self) -> usize {
        self.strides[0].cast_unsigned() / size_of::<T>()
    }

    /// Returns the items of one ID.
    ///
    /// # Panics
    /// Panics if the index is past the last ID.
    pub fn row(&self, position: usize) -> &[T] {
        &self.items[position * self.width()..][..self.width()]
    }

    /// Returns a new array with the IDs at the given positions.
    ///
    /// # Errors
    /// Returns [`OutOfMemory`] if the allocation fails.
    ///
    /// # Panics
    /// Panics if a position is past the last ID.
    pub fn rows(&self, positions: &[usize]) -> Result<Self, OutOfMemory> {
        let mut items = try_with_capacity(positions.len() * self.width())?;
        positions.iter().for_each(|position| items.extend_from_slice(self.row(*position)));
        Ok(Self { is_table: self.is_table, ..Self::with_row_width(items, self.width()) })
    }

    /// Returns the number of rows and the number of cells per row. The reference is valid for as long as the array exists,
    /// as exported buffers require.
    pub fn shape(&self) -> &[isize; 2] {
        &self.shape
    }

    /// Returns the number of bytes from one row to the next and from one cell to the next. The reference is valid for as
    /// long as the array exists, as exported buffers require.
    pub fn strides(&self) -> &[isize; 2] {
        &self.strides
    }

    /// Returns `true` if each ID is a row of cells, or `false` if each ID is a single cell.
    pub fn is_table(&self) -> bool {
        self.is_table
    }

    /// Returns the Arrow format of the IDs, which is an integer type or fixed-length bytes.
    pub fn arrow_format(&self) -> String {
        if self.is_table { format!("w:{}", self.strides[0]) } else { T::ARROW_FORMAT.to_owned() }
    }

    /// Returns the IDs as an Arrow column, without copying.
    pub fn to_arrow(&self) -> Column {
        Column::from_packed(self)
    }
}

#[cfg(test)]
mod tests {
    use polyflake::{randflake::Randflake, sno::Sno};

    use super::*;

    #[test]
    fn byte_ids_are_two_dimensional_and_integers_one_dimensional() {
        let table = Packed::new(vec![Sno::default(); 3]);
        assert_eq!((table.shape(), table.strides(), table.is_table()), (&[3, 10], &[10, 1], true));
        assert_eq!((table.len(), table.width(), &*table.arrow_format()), (3, 1, "w:10"));
        let list = Packed::new(vec![Randflake::default(); 2]);
        assert_eq!((list.shape(), list.strides(), list.is_table()), (&[2, 1], &[8, 8], false));
        assert_eq!(&*list.arrow_format(), "l");
        assert!(Packed::new(Vec::<u16>::new()).is_empty());
    }

    #[test]
    fn rows_are_selected_by_position() {
        let packed = Packed::with_row_width((0..12_u8).collect(), 4);
        assert_eq!((packed.len(), packed.width(), packed.row(1)), (3, 4, &[4, 5, 6, 7][..]));
        let chosen = packed.rows(&[2, 0, 2]).expect("memory");
        assert_eq!(chosen.items(), [8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]);
        assert_eq!(packed.rows(&[]).expect("memory").len(), 0);
        let numbers = Packed::new(vec![7_u16, 8, 9]).rows(&[2, 0]).expect("memory");
        assert_eq!(numbers, Packed::new(vec![9, 7]));
    }
}
