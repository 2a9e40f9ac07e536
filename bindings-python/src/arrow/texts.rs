//! The layouts of texts in Arrow's buffers. Each begins with a map of nulls.

use std::{borrow::Cow, ops::Range};

use super::{Array, buffers::Buffers};
use crate::ids::column::{BLOCK, Chars, Texts, Textual, decoded, gather, placed, text_in};

/// The layout of a column of texts.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    /// Side by side, of one width.
    Fixed(usize),
    /// Side by side, with the start of each in 32 bits.
    Offsets32,
    /// Side by side, with the start of each in 64 bits.
    Offsets64,
    /// Anywhere in many buffers, with a record of each text's place.
    Views,
}

impl Layout {
    pub(super) fn of(format: &str) -> Option<Self> {
        match format {
            "u" | "z" => Some(Self::Offsets32),
            "U" | "Z" => Some(Self::Offsets64),
            "vu" | "vz" => Some(Self::Views),
            _ => format.strip_prefix("w:")?.parse().ok().map(Self::Fixed),
        }
    }
}

/// A piece of a column, up to its first null.
pub(crate) struct Piece<'a, I> {
    pub(crate) texts: Box<dyn Texts<I> + Sync + 'a>,
    /// `true` if a null follows.
    pub(crate) ends_at_null: bool,
}

impl<'a, I: Textual> Piece<'a, I> {
    /// The texts of an array; `None` if it breaks the interface's rules.
    pub(super) fn of(array: &'a Array, layout: Layout) -> Option<Self> {
        let (buffers, length) = Buffers::before_null(array)?;
        let first = buffers.offset;
        let texts: Box<dyn Texts<I> + Sync + 'a> = match layout {
            Layout::Fixed(width) => {
                let bytes = buffers.slice::<u8>(
                    1,
                    first.checked_mul(width)?,
                    length.checked_mul(width)?,
                )?;
                Box::new(Fixed { bytes, width, length })
            }
            Layout::Offsets32 => Box::new(Joined::<i32>::of(&buffers, length)?),
            Layout::Offsets64 => Box::new(Joined::<i64>::of(&buffers, length)?),
            Layout::Views => Box::new(Views::of(&buffers, length)?),
        };
        Some(Self { texts, ends_at_null: buffers.end_at_null(length) })
    }
}

struct Fixed<'a> {
    bytes: &'a [u8],
    width: usize,
    length: usize,
}

impl<I: Textual> Texts<I> for Fixed<'_> {
    fn len(&self) -> usize {
        self.length
    }

    fn read(&self, range: Range<usize>, room: &mut [Chars], ids: &mut [I]) -> usize {
        if self.width == size_of::<Chars>() {
            return decoded(&self.bytes.as_chunks().0[range], ids);
        }
        gather(range, room, ids, |index| placed::<I>(text_in::<I>(self.row(index))))
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(text_in::<I>(self.row(index)))
    }
}

impl Fixed<'_> {
    fn row(&self, index: usize) -> &[u8] {
        &self.bytes[index * self.width..][..self.width]
    }
}

/// A place in a buffer.
trait Place: Copy {
    fn to_index(self) -> Option<usize>;

    /// Places as 32-bit offsets, and the base that they count from. A place out of their reach becomes an invalid offset.
    fn offsets<'a>(places: &'a [Self], room: &'a mut [i32]) -> (&'a [i32], usize);
}

impl Place for i32 {
    fn to_index(self) -> Option<usize> {
        self.try_into().ok()
    }

    fn offsets<'a>(places: &'a [Self], _: &'a mut [i32]) -> (&'a [i32], usize) {
        (places, 0)
    }
}

impl Place for i64 {
    fn to_index(self) -> Option<usize> {
        self.try_into().ok()
    }

    fn offsets<'a>(places: &'a [Self], room: &'a mut [i32]) -> (&'a [i32], usize) {
        let offsets = &mut room[..places.len()];
        for (offset, place) in offsets.iter_mut().zip(places) {
            let behind = place.wrapping_sub(places[0]).clamp(-1, i32::MAX.into());
            *offset = i32::try_from(behind).unwrap_or(-1);
        }
        (offsets, places[0].to_index().unwrap_or(usize::MAX))
    }
}

struct Joined<'a, P> {
    /// Offsets of the texts, and of the end of the last.
    places: &'a [P],
    bytes: &'a [u8],
}

impl<'a, P: Place> Joined<'a, P> {
    fn of(buffers: &Buffers<'a>, length: usize) -> Option<Self> {
        if length == 0 {
            return Some(Self { places: &[], bytes: &[] });
        }
        let places = buffers.slice::<P>(1, buffers.offset, length + 1)?;
        let end = places[length].to_index()?;
        Some(Self { places, bytes: buffers.slice(2, 0, end)? })
    }

    /// The byte range of a text; not a valid one if the array's offsets are not in order.
    fn span(&self, index: usize) -> Range<usize> {
        let [start, end] = [index, index + 1].map(|index| self.places[index].to_index());
        start.unwrap_or(0)..end.unwrap_or(0)
    }
}

impl<P: Place + Sync, I: Textual> Texts<I> for Joined<'_, P> {
    fn len(&self) -> usize {
        self.places.len().saturating_sub(1)
    }

    fn read(&self, range: Range<usize>, _: &mut [Chars], ids: &mut [I]) -> usize {
        let places = &self.places[range.start..=range.end];
        let mut room = [0; BLOCK + 1];
        let (offsets, start) = P::offsets(places, &mut room);
        I::decode_joined(offsets, self.bytes.get(start..).unwrap_or_default(), ids)
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.bytes.get(self.span(index)).unwrap_or_default())
    }
}

/// A record of a text's place: `4 length | 4 its beginning | 4 number of the buffer | 4 place in it`, in the machine's byte
/// order; texts of up to 12 bytes lie in it, after the length.
type View = [u8; 16];

struct Views<'a> {
    views: &'a [View],
    buffers: Vec<&'a [u8]>,
}

impl<'a> Views<'a> {
    fn of(buffers: &Buffers<'a>, length: usize) -> Option<Self> {
        let views = buffers.slice(1, buffers.offset, length)?;
        // The last buffer has the lengths of the buffers before it.
        let last = buffers.pointers.len().checked_sub(1)?;
        let lengths = buffers.slice::<i64>(last, 0, last.checked_sub(2)?)?;
        let buffer = |(index, length): (usize, &i64)| buffers.slice(index, 0, length.to_index()?);
        let buffers = (2..).zip(lengths).map(buffer).collect::<Option<_>>()?;
        Some(Self { views, buffers })
    }

    /// The text of a record; `None` if the record is invalid.
    fn bytes(&self, view: &'a View) -> Option<&[u8]> {
        let ([length, _, buffer, place], _) = view.as_chunks() else { return None };
        let number = |bytes: &[u8; 4]| i32::from_ne_bytes(*bytes).to_index();
        let length = number(length)?;
        if length <= 12 {
            return Some(&view[4..][..length]);
        }
        self.buffers.get(number(buffer)?)?.get(number(place)?..)?.get(..length)
    }
}

impl<I: Textual> Texts<I> for Views<'_> {
    fn len(&self) -> usize {
        self.views.len()
    }

    fn read(&self, range: Range<usize>, room: &mut [Chars], ids: &mut [I]) -> usize {
        gather(range, room, ids, |index| placed::<I>(self.bytes(&self.views[index])?))
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.bytes(&self.views[index]).unwrap_or_default())
    }
}
