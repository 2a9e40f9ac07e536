//! The layouts of byte strings in Arrow's buffers. In each layout, the first buffer is a validity bitmap.

use std::{borrow::Cow, ops::Range};

use super::buffers::Buffers;
use crate::texts::{BLOCK, Items, Texts, Textual, decode_prefix, gather, row_text, to_buffer};

/// The layout of a column of bytes or strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Consecutive items of the same width.
    Fixed(usize),
    /// Consecutive items, with 32-bit offsets.
    Offsets32,
    /// Consecutive items, with 64-bit offsets.
    Offsets64,
    /// Items that are stored anywhere in several buffers. Each item has a view that describes it.
    StringViews,
}

impl Layout {
    /// Returns the layout for a string format or a byte format. Items in either kind of format can be read as strings.
    pub(super) fn from_text_format(format: &str) -> Option<Self> {
        match format {
            "u" => Some(Self::Offsets32),
            "U" => Some(Self::Offsets64),
            "vu" => Some(Self::StringViews),
            _ => Self::from_bytes_format(format),
        }
    }

    /// Returns the layout for a byte format.
    pub(super) fn from_bytes_format(format: &str) -> Option<Self> {
        match format {
            "z" => Some(Self::Offsets32),
            "Z" => Some(Self::Offsets64),
            "vz" => Some(Self::StringViews),
            _ => format.strip_prefix("w:")?.parse().ok().map(Self::Fixed),
        }
    }
}

/// Byte items that can also be read as encoded IDs.
pub(super) trait Readable<I: Textual>: Texts<I> + Send + Sync {}
impl<I: Textual, T: Texts<I> + Send + Sync> Readable<I> for T {}

/// Returns the first `length` items of an array with the given layout, or `None` if the array violates the rules of Arrow's
/// C data interface.
pub(super) fn items<'a, I: Textual>(
    buffers: &Buffers<'a>,
    layout: Layout,
    length: usize,
) -> Option<Box<dyn Readable<I> + 'a>> {
    Some(match layout {
        Layout::Fixed(width) => Box::new(FixedWidthItems::new(buffers, width, length)?),
        Layout::Offsets32 => Box::new(JoinedStrings::<i32>::new(buffers, length)?),
        Layout::Offsets64 => Box::new(JoinedStrings::<i64>::new(buffers, length)?),
        Layout::StringViews => Box::new(StringViews::new(buffers, length)?),
    })
}

pub(super) struct FixedWidthItems<'a> {
    pub(super) bytes: &'a [u8],
    width: usize,
    length: usize,
}

impl<'a> FixedWidthItems<'a> {
    pub(super) fn new(buffers: &Buffers<'a>, width: usize, length: usize) -> Option<Self> {
        let (first, count) = (buffers.offset.checked_mul(width)?, length.checked_mul(width)?);
        Some(Self { bytes: buffers.slice(1, first, count)?, width, length })
    }

    fn row(&self, index: usize) -> &'a [u8] {
        &self.bytes[index * self.width..][..self.width]
    }
}

impl Items for FixedWidthItems<'_> {
    fn len(&self) -> usize {
        self.length
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.row(index))
    }
}

impl<I: Textual> Texts<I> for FixedWidthItems<'_> {
    fn read(&self, range: Range<usize>, buffers: &mut [I::TextBuffer], ids: &mut [I]) -> usize {
        if self.width == size_of::<I::TextBuffer>() {
            return decode_prefix(&I::as_text_buffers(self.bytes)[range], ids);
        }
        gather(range, buffers, ids, |index| to_buffer::<I>(row_text::<I>(self.row(index))))
    }

    fn text(&self, index: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(row_text::<I>(self.row(index)))
    }
}

/// An integer type for positions in a buffer.
trait Offset: Copy + Send + Sync {
    fn to_index(self) -> Option<usize>;

    /// Converts offsets to 32-bit offsets, and returns them with the base that they are relative to. An offset that does
    /// not fit is replaced with an invalid one.
    fn offsets<'a>(places: &'a [Self], buffers: &'a mut [i32]) -> (&'a [i32], usize);
}

impl Offset for i32 {
    fn to_index(self) -> Option<usize> {
        self.try_into().ok()
    }

    fn offsets<'a>(places: &'a [Self], _: &'a mut [i32]) -> (&'a [i32], usize) {
        (places, 0)
    }
}

impl Offset for i64 {
    fn to_index(self) -> Option<usize> {
        self.try_into().ok()
    }

    fn offsets<'a>(places: &'a [Self], buffers: &'a mut [i32]) -> (&'a [i32], usize) {
        let offsets = &mut buffers[..places.len()];
        for (offset, place) in offsets.iter_mut().zip(places) {
            // Offsets are relative to the first one, so that 32 bits are enough for a block. An offset that does not fit is
            // replaced with one that the decoder rejects.
            let behind = place.wrapping_sub(places[0]).clamp(-1, i32::MAX.into());
            *offset = i32::try_from(behind).unwrap_or(-1);
        }
        (offsets, places[0].to_index().unwrap_or(usize::MAX))
    }
}

struct JoinedStrings<'a, P> {
    /// The start of each item, followed by the end of the last item.
    places: &'a [P],
    bytes: &'a [u8],
}

impl<'a, P: Offset> JoinedStrings<'a, P> {
    fn new(buffers: &Buffers<'a>, length: usize) -> Option<Self> {
        if length == 0 {
            return Some(Self { places: &[], bytes: &[] });
        }
        let places = buffers.slice::<P>(1, buffers.offset, length + 1)?;
        let end = places[length].to_index()?;
        Some(Self { places, bytes: buffers.slice(2, 0, end)? })
    }

    /// Returns the byte range of an item. The range is invalid if the array's offsets are not in order.
    fn span(&self, index: usize) -> Range<usize> {
        let [start, end] = [index, index + 1].map(|index| self.places[index].to_index());
        start.unwrap_or(usize::MAX)..end.unwrap_or(0)
    }
}

impl<P: Offset> Items for JoinedStrings<'_, P> {
    fn len(&self) -> usize {
        self.places.len().saturating_sub(1)
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.bytes.get(self.span(index)).unwrap_or_default())
    }
}

impl<P: Offset, I: Textual> Texts<I> for JoinedStrings<'_, P> {
    fn read(&self, range: Range<usize>, _: &mut [I::TextBuffer], ids: &mut [I]) -> usize {
        let places = &self.places[range.start..=range.end];
        let mut buffers = [0; BLOCK + 1];
        let (offsets, start) = P::offsets(places, &mut buffers);
        I::decode_joined(offsets, self.bytes.get(start..).unwrap_or_default(), ids)
    }
}

/// The view of an item: `4 length | 4 first bytes | 4 buffer number | 4 offset in the buffer`, in native byte order. Items
/// of up to 12 bytes are stored inline after the length.
type View = [u8; 16];

struct StringViews<'a> {
    views: &'a [View],
    buffers: Vec<&'a [u8]>,
}

impl<'a> StringViews<'a> {
    fn new(buffers: &Buffers<'a>, length: usize) -> Option<Self> {
        let views = buffers.slice(1, buffers.offset, length)?;
        // The last buffer contains the lengths of the preceding buffers.
        let last = buffers.pointers.len().checked_sub(1)?;
        let lengths = buffers.slice::<i64>(last, 0, last.checked_sub(2)?)?;
        let buffer = |(index, length): (usize, &i64)| buffers.slice(index, 0, length.to_index()?);
        let buffers = (2..).zip(lengths).map(buffer).collect::<Option<_>>()?;
        Some(Self { views, buffers })
    }

    /// Returns the item that a view describes, or `None` if the view is invalid.
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

impl Items for StringViews<'_> {
    fn len(&self) -> usize {
        self.views.len()
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.bytes(&self.views[index]).unwrap_or_default())
    }
}

impl<I: Textual> Texts<I> for StringViews<'_> {
    fn read(&self, range: Range<usize>, buffers: &mut [I::TextBuffer], ids: &mut [I]) -> usize {
        gather(range, buffers, ids, |index| to_buffer::<I>(self.bytes(&self.views[index])?))
    }
}
