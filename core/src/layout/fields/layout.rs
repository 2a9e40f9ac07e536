//! A layout, and methods that look up its fields.

use alloc::{string::String, vec::Vec};

use crate::{
    Error, ErrorKind, Result,
    layout::{Field, Id, ResolvedField, Role, Timeline, Values, fields::validation::resolve},
    narrow,
};

/// The type of an ID: a signed 64-bit integer, or a fixed number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layout) enum Representation {
    Integer,
    Bytes(usize),
}

impl Representation {
    /// Returns the width of an ID in bits. The caller has already checked the length of a byte ID.
    pub(in crate::layout) const fn bits(self) -> u32 {
        match self {
            Self::Integer => 64,
            Self::Bytes(length) => narrow::u32(length as u64 * 8),
        }
    }
}

/// The layout of an ID, which defines the meaning of each bit. A layout is checked once when it is built, so packing and
/// parsing need only shifts and masks.
///
/// ```
/// use polyflake::layout::{Field, Layout, Tick};
///
/// let layout = Layout::integer([
///     Field::unused(1),
///     Field::timestamp(41, Tick::MILLISECOND, 1_483_228_800_000),
///     Field::constant(5, "data-center-id", 1),
///     Field::bindable(5, "worker-id"),
///     Field::sequence(12),
/// ])?;
/// let id = layout.values().time(1_483_228_800_001_i64)?.bind("worker-id", 2)?.sequence(1)?.pack_integer()?;
/// assert_eq!(id, 4_333_569);
/// assert_eq!(layout.parse_integer(id)?.unix_ms(), Some(1_483_228_800_001));
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(in crate::layout) representation: Representation,
    pub(in crate::layout) fields: Vec<ResolvedField>,
    /// The index of the timestamp field.
    pub(in crate::layout) time: Option<usize>,
    /// The index of the sequence field.
    pub(in crate::layout) sequence: Option<usize>,
    /// An ID in which only the constants are set.
    pub(in crate::layout) blank: Id,
    /// `true` if this layout can only parse IDs, not generate them.
    pub(crate) only_read: bool,
}

/// A reference to a field in one layout. It avoids looking up the field's name for every ID. It is not valid in any other
/// layout.
///
/// ```
/// use polyflake::layout::preset;
///
/// let instagram = preset("instagram", [])?;
/// let shard = instagram.bindable("shard")?; // looked up once for many IDs
/// for id in [3_000_000_000_000_007_168, 3_000_000_000_000_008_192] {
///     println!("{}", instagram.parse_integer(id)?.integer(shard)?);
/// }
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldIndex(pub(in crate::layout) usize);

impl Layout {
    /// Creates a layout whose IDs are signed 64-bit integers. The fields are listed starting with the most significant one,
    /// and must fill all 64 bits.
    ///
    /// Returns `out_of_range` if a constant or the start of the sequence does not fit in its field, or `invalid_layout` for
    /// any other error in the fields.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, Tick};
    ///
    /// let time = Field::timestamp(41, Tick::MILLISECOND, 1_767_225_600_000);
    /// assert!(Layout::integer([Field::unused(1), time.clone(), Field::sequence(22)]).is_ok());
    /// let error = Layout::integer([time, Field::sequence(22)]).unwrap_err();
    /// assert_eq!(error.to_string(), "expected widths that sum to 64 bits, found 63");
    /// ```
    pub fn integer(fields: impl IntoIterator<Item = Field>) -> Result<Self> {
        resolve(Representation::Integer, fields)
    }

    /// Creates a layout whose IDs are `length` bytes long. The length can be from 1 to 128. The fields are listed starting
    /// at the most significant bit of the first byte, and must fill all bytes. An integer field has at most 128 bits,
    /// whereas a field that contains bytes or a string may fill the entire ID.
    ///
    /// Returns `out_of_range` if a constant or the start of the sequence does not fit in its field, or `invalid_layout` for
    /// any other error in the fields.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, Tick};
    ///
    /// let time = Field::timestamp(48, Tick::MILLISECOND, 0);
    /// let layout = Layout::bytes(8, [time, Field::sequence(16)])?;
    /// let id = layout.values().time(1_767_225_600_000_i64)?.sequence(7)?.pack()?;
    /// assert_eq!(id.to_string(), "019b76daa8000007");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bytes(length: usize, fields: impl IntoIterator<Item = Field>) -> Result<Self> {
        resolve(Representation::Bytes(length), fields)
    }

    /// Returns the number of bits in an ID.
    ///
    /// ```
    /// assert_eq!(polyflake::layout::preset("twitter", [])?.bits(), 64);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn bits(&self) -> u32 {
        self.representation.bits()
    }

    /// Returns `true` if IDs are integers, or `false` if they are bytes.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, preset};
    ///
    /// assert!(preset("twitter", [])?.is_integer());
    /// assert!(!Layout::bytes(8, [Field::unused(64)])?.is_integer());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn is_integer(&self) -> bool {
        matches!(self.representation, Representation::Integer)
    }

    /// Returns the index of the timestamp, or `unknown_field` if the layout has no timestamp.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let parsed = twitter.parse_integer(1_541_815_603_606_036_480)?;
    /// assert_eq!(parsed.integer(twitter.timestamp()?)?, 1_656_432_460_105);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn timestamp(&self) -> Result<FieldIndex> {
        self.time.map(FieldIndex).ok_or_else(|| unknown_field("timestamp"))
    }

    /// Returns the index of the sequence, or `unknown_field` if the layout has no sequence.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let parsed = twitter.parse_integer(1_541_815_603_606_036_481)?;
    /// assert_eq!(parsed.integer(twitter.sequence()?)?, 1);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence(&self) -> Result<FieldIndex> {
        self.sequence.map(FieldIndex).ok_or_else(|| unknown_field("sequence"))
    }

    /// Returns the index of a constant field, or `unknown_field` if the layout does not have the field.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::constant(8, "region", 3)])?;
    /// assert_eq!(layout.parse_integer(3)?.get(layout.constant("region")?)?, 3.into());
    /// assert_eq!(layout.constant("zone").unwrap_err().to_string(), "unknown field `zone`, expected one of `region`");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn constant(&self, name: &str) -> Result<FieldIndex> {
        self.find_field(name, Role::is_constant)
    }

    /// Returns the index of a bindable field, or `unknown_field` if the layout does not have the field.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let parsed = twitter.parse_integer(1_541_815_603_606_036_480)?;
    /// assert_eq!(parsed.integer(twitter.bindable("worker")?)?, 26);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bindable(&self, name: &str) -> Result<FieldIndex> {
        self.find_field(name, Role::is_bindable)
    }

    /// Returns the names of the constant fields, starting with the most significant field.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::constant(8, "region", 3)])?;
    /// assert_eq!(layout.constant_names().collect::<Vec<_>>(), ["region"]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn constant_names(&self) -> impl Iterator<Item = &str> {
        self.fields_with_role(Role::is_constant).map(|(name, _)| name)
    }

    /// Returns the names of the bindable fields, starting with the most significant field.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// assert_eq!(twitter.bindable_names().collect::<Vec<_>>(), ["datacenter", "worker"]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bindable_names(&self) -> impl Iterator<Item = &str> {
        self.fields_with_role(Role::is_bindable).map(|(name, _)| name)
    }

    /// Returns a reusable buffer for the field values of one ID.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let mut values = twitter.values();
    /// values.time(1_656_432_460_105_i64)?.bind("datacenter", 11)?.bind("worker", 26)?;
    /// assert_eq!(values.sequence(0)?.pack_integer()?, 1_541_815_603_606_036_480);
    /// assert_eq!(values.sequence(1)?.pack_integer()?, 1_541_815_603_606_036_481);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn values(&self) -> Values<'_> {
        Values::new(self)
    }

    /// Returns the timeline of the timestamp.
    pub(crate) fn timeline(&self) -> Option<&Timeline> {
        self.time_field().map(|(timeline, _)| timeline)
    }

    /// Returns the timeline of the timestamp, and the timestamp's field.
    #[inline]
    pub(in crate::layout) fn time_field(&self) -> Option<(&Timeline, &ResolvedField)> {
        let field = &self.fields[self.time?];
        let Role::Timestamp(timeline) = &field.role else { return None };
        Some((timeline, field))
    }

    fn find_field(&self, name: &str, is: fn(&Role) -> bool) -> Result<FieldIndex> {
        let found = self.fields_with_role(is).find(|(known, _)| *known == name);
        let known = || self.fields_with_role(is).map(|(known, _)| known);
        found.map(|(_, slot)| slot).ok_or_else(|| Error::unknown_field(String::from(name), known()))
    }

    /// Returns the first and the last slot of a tick, which are the sequence's first and last values as raw bits.
    pub(crate) fn slot_range(&self) -> Option<(u64, u64)> {
        let field = &self.fields[self.sequence?];
        let Role::Sequence(start) = &field.role else { return None };
        Some((field.small_number(start)?, field.width.most))
    }

    /// Returns the fields whose role satisfies `is`, starting with the most significant field.
    pub(in crate::layout) fn fields_with_role(
        &self,
        is: fn(&Role) -> bool,
    ) -> impl Iterator<Item = (&str, FieldIndex)> {
        let fields = self.fields.iter().enumerate();
        fields
            .filter(move |(_, field)| is(&field.role))
            .map(|(index, field)| (&*field.name, FieldIndex(index)))
    }
}

#[cold]
pub(in crate::layout) fn unknown_field(name: impl Into<String>) -> Error {
    Error::field_error(ErrorKind::UnknownField, name.into())
}

#[cold]
pub(in crate::layout) fn foreign_field_index() -> Error {
    Error::with_reason(
        ErrorKind::UnknownField,
        "expected a slot of this layout, found one of another",
    )
}
