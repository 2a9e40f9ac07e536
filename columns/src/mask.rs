//! Masks: a bit for each ID of an array.

use std::sync::Arc;

use polyflake::{Error, ErrorKind};

use crate::{Fault, OutOfMemory, arrow::Column, room, room_for};

/// The IDs of an array that pass a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    length: usize,
    /// A bit for each ID, from the lowest of each byte on; bits past the end are 0.
    bits: Arc<Vec<u8>>,
}

impl Mask {
    /// The mask that a filter writes for `length` IDs, as those of the core do: bits past the end are 0.
    ///
    /// # Errors
    /// Those of the filter; if memory is short.
    pub fn of(
        length: usize,
        filter: impl FnOnce(&mut [u8]) -> polyflake::Result<usize>,
    ) -> Result<Self, Fault> {
        let mut bits = room_for(length.div_ceil(8))?;
        filter(&mut bits)?;
        Ok(Self::new(bits, length))
    }

    fn new(bits: Vec<u8>, length: usize) -> Self {
        Self { length, bits: bits.into() }
    }

    /// Number of IDs, whether they pass or not.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether it is a mask of no ID.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Number of IDs that pass.
    pub fn count(&self) -> usize {
        self.bits.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// Returns whether the ID at a position passes.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn has(&self, position: usize) -> bool {
        self.bits[position / 8] >> (position % 8) & 1 == 1
    }

    /// The items that pass.
    ///
    /// # Errors
    /// `invalid_length` unless there are as many items as IDs; if memory is short.
    pub fn choose<T: Copy>(&self, items: &[T]) -> Result<Vec<T>, Fault> {
        self.check_length(items.len())?;
        let mut chosen = room(self.count())?;
        for (items, bits) in items.chunks(8).zip(&*self.bits) {
            let mut left = *bits;
            while left != 0 {
                chosen.push(items[left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
        Ok(chosen)
    }

    /// Positions of the IDs that pass, among `length`.
    ///
    /// # Errors
    /// As [`Mask::choose`].
    pub fn positions(&self, length: usize) -> Result<Vec<usize>, Fault> {
        self.check_length(length)?;
        let mut positions = room(self.count())?;
        positions.extend((0..length).filter(|position| self.has(*position)));
        Ok(positions)
    }

    /// The mask of some of its positions.
    ///
    /// # Errors
    /// If memory is short.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn at(&self, positions: &[usize]) -> Result<Self, OutOfMemory> {
        let mut bits = room(positions.len().div_ceil(8))?;
        let bit = |(index, place): (usize, &usize)| u8::from(self.has(*place)) << index;
        bits.extend(positions.chunks(8).map(|eight| eight.iter().enumerate().map(bit).sum::<u8>()));
        Ok(Self::new(bits, positions.len()))
    }

    /// The IDs that pass both masks.
    ///
    /// # Errors
    /// `invalid_length` unless both are of as many IDs; if memory is short.
    pub fn and(&self, other: &Self) -> Result<Self, Fault> {
        self.joined(other, |a, b| a & b)
    }

    /// The IDs that pass at least one of the masks.
    ///
    /// # Errors
    /// As [`Mask::and`].
    pub fn or(&self, other: &Self) -> Result<Self, Fault> {
        self.joined(other, |a, b| a | b)
    }

    /// The IDs that do not pass.
    ///
    /// # Errors
    /// If memory is short.
    pub fn inverted(&self) -> Result<Self, OutOfMemory> {
        let mut bits = room(self.bits.len())?;
        bits.extend(self.bits.iter().map(|byte| !byte));
        if let (Some(last), rest @ 1..) = (bits.last_mut(), self.length % 8) {
            *last &= (1 << rest) - 1;
        }
        Ok(Self::new(bits, self.length))
    }

    /// The same mask as one `bool` for each ID.
    ///
    /// # Errors
    /// If memory is short.
    pub fn to_bools(&self) -> Result<Vec<bool>, OutOfMemory> {
        let mut bools = room(self.length)?;
        let bits = self.bits.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
        bools.extend(bits.take(self.length));
        Ok(bools)
    }

    /// The mask as an Arrow column of booleans, without a copy.
    pub fn to_arrow(&self) -> Column {
        Column::of_bits(&self.bits, self.length)
    }

    fn joined(&self, other: &Self, join: fn(u8, u8) -> u8) -> Result<Self, Fault> {
        self.check_length(other.length)?;
        let mut bits = room(self.bits.len())?;
        bits.extend(self.bits.iter().zip(&*other.bits).map(|(a, b)| join(*a, *b)));
        Ok(Self::new(bits, self.length))
    }

    fn check_length(&self, found: usize) -> Result<(), Error> {
        if found == self.length {
            return Ok(());
        }
        let reason = format!("expected a mask of {found} IDs, found one of {}", self.length);
        Err(Error::because(ErrorKind::InvalidLength, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mask of the given positions.
    fn mask(length: usize, passes: impl Fn(usize) -> bool) -> Mask {
        let write = |bits: &mut [u8]| {
            let set = (0..length).filter(|at| passes(*at));
            Ok(set.map(|at| bits[at / 8] |= 1 << (at % 8)).count())
        };
        Mask::of(length, write).expect("memory")
    }

    #[test]
    fn a_mask_is_its_positions() {
        for length in [0, 1, 7, 8, 9, 64, 1001] {
            let third = mask(length, |at| at % 3 == 1);
            let expected: Vec<usize> = (0..length).filter(|at| at % 3 == 1).collect();
            let all: Vec<usize> = (0..length).collect();
            assert_eq!((third.len(), third.count()), (length, expected.len()));
            assert_eq!(third.positions(length).expect("its length"), expected);
            assert_eq!(third.choose(&all).expect("its length"), expected);
            assert_eq!(third.at(&expected).expect("memory").count(), expected.len());
            let bools = third.to_bools().expect("memory");
            assert!(bools.iter().enumerate().all(|(at, passes)| *passes == third.has(at)));
        }
    }

    #[test]
    fn masks_are_joined_and_inverted() {
        for length in [1, 8, 13, 100] {
            let (two, three) = (mask(length, |at| at % 2 == 0), mask(length, |at| at % 3 == 0));
            assert_eq!(two.and(&three).expect("one length"), mask(length, |at| at % 6 == 0));
            assert_eq!(
                two.or(&three).expect("one length"),
                mask(length, |at| at % 2 == 0 || at % 3 == 0)
            );
            assert_eq!(two.inverted().expect("memory"), mask(length, |at| at % 2 == 1));
        }
    }

    #[test]
    fn a_mask_of_another_length_is_refused() {
        let (eight, nine) = (mask(8, |_| true), mask(9, |_| true));
        for refused in [eight.and(&nine).err(), eight.choose(&[0; 9]).err()] {
            let Some(Fault::Refused(error)) = refused else { panic!("expected an error") };
            assert_eq!(error.kind(), ErrorKind::InvalidLength);
        }
    }
}
