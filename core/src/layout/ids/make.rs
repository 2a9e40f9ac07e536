//! Packing IDs from slots.

use alloc::vec::Vec;

use crate::{
    Error, Result,
    generator::Pack,
    layout::{Batch, Draft, Id, ids::family::Template, shape::placed::Placed},
    sequence::per_tick::Run,
};

impl Pack for Template {
    type Id = Id;
    /// The constants and bindables of an ID, if it does not take those of the template.
    type Given<'g> = Option<&'g Draft>;
    type Batch<'b> = Batch<'b>;

    #[inline]
    fn id(&self, ((), run): ((), Run), k: u32, base: Option<&Draft>) -> Id {
        let mut draft = base.unwrap_or(&self.base).clone();
        self.put_tick(&mut draft, run.tick);
        self.put_slot(&mut draft, run.first + u64::from(k));
        draft.into_id()
    }

    fn room(&self, ids: &Batch<'_>, _: Option<&Draft>) -> Result<usize> {
        ids.count(&self.base)
    }

    fn write(&self, ((), run): ((), Run), base: Option<&Draft>, ids: &mut Batch<'_>, from: usize) {
        let mut draft = base.unwrap_or(&self.base).clone();
        self.put_tick(&mut draft, run.tick);
        let count = run.len as usize;
        match (ids, draft) {
            (Batch::Integers(ids), Draft::Word(word)) => {
                self.write_integers(word, run.first, &mut ids[from..][..count]);
            }
            (Batch::Bytes(bytes), Draft::Bytes(one)) => {
                let length = one.len();
                let bytes = &mut bytes[from * length..][..count * length];
                self.write_bytes(one, run.first, bytes);
            }
            _ => unreachable!("counted as IDs of this kind"),
        }
    }
}

impl Template {
    #[inline]
    fn put_tick(&self, draft: &mut Draft, tick: u64) {
        if let Some(index) = self.layout.time {
            let field = &self.layout.fields[index];
            draft.put(field, tick ^ field.flip);
        }
    }

    /// Puts the sequence of a slot into its place, and its number.
    #[inline]
    fn put_slot(&self, draft: &mut Draft, slot: u64) {
        self.places(slot).for_each(|(field, bits)| draft.put(field, bits));
    }

    /// The fields that differ among the IDs of a tick, with their bits for a slot.
    #[inline]
    fn places(&self, slot: u64) -> impl Iterator<Item = (&Placed, u64)> {
        let fields = &self.layout.fields;
        let number =
            self.numbers.as_ref().map(|numbers| (&fields[numbers.index], numbers.at(slot)));
        let sequence = self.layout.sequence.map(|index| &fields[index]);
        let sequence = sequence.map(|field| (field, slot & field.width.most ^ field.flip));
        number.into_iter().chain(sequence)
    }

    /// Writes IDs of consecutive slots.
    fn write_integers(&self, word: u64, first: u64, ids: &mut [i64]) {
        for (k, place) in ids.iter_mut().enumerate() {
            let put = |word, (field, bits): (&Placed, u64)| field.put_in_word(word, bits);
            *place = self.places(first + k as u64).fold(word, put).cast_signed();
        }
    }

    /// Writes IDs of consecutive slots.
    fn write_bytes(&self, id: Vec<u8>, first: u64, bytes: &mut [u8]) {
        let length = id.len();
        let mut draft = Draft::Bytes(id);
        for (k, place) in bytes.chunks_exact_mut(length).enumerate() {
            self.put_slot(&mut draft, first + k as u64);
            if let Draft::Bytes(id) = &draft {
                place.copy_from_slice(id);
            }
        }
    }
}

impl Batch<'_> {
    /// Number of IDs of the size of `kind` that fit.
    fn count(&self, kind: &Draft) -> Result<usize> {
        match (kind, self) {
            (Draft::Word(_), Self::Integers(ids)) => Ok(ids.len()),
            (Draft::Bytes(one), Self::Bytes(bytes)) if bytes.len().is_multiple_of(one.len()) => {
                Ok(bytes.len() / one.len())
            }
            (Draft::Bytes(one), Self::Bytes(bytes)) => Err(not_whole(bytes.len(), one.len())),
            (Draft::Word(_), _) => Err(Error::invalid_type("a slice of integers", "bytes")),
            (Draft::Bytes(_), _) => Err(Error::invalid_type("bytes", "a slice of integers")),
        }
    }
}

/// The error for bytes that are no whole number of IDs of `length` bytes, of which an ID has at most 65,536.
#[cold]
pub(in crate::layout) fn not_whole(found: usize, length: usize) -> Error {
    Error::not_a_multiple(found, u32::try_from(length).unwrap_or(u32::MAX))
}
