//! The description of one field of a layout.

use alloc::string::String;

use crate::layout::{Role, Tick, Timeline, Value, ValueType, Width};

/// A field of a [`Layout`](crate::layout::Layout): its content and its width in bits.
///
/// A field with a width of 0 bits is allowed and always contains 0. Fields are checked when the layout is built.
///
/// ```
/// use polyflake::layout::{Field, Layout, Tick};
///
/// let layout = Layout::integer([
///     Field::unused(1), // the sign: IDs are never negative
///     Field::timestamp(41, Tick::MILLISECOND, 1_767_225_600_000).inverted(), // sorts the newest IDs first
///     Field::bindable(10, "node"),
///     Field::sequence(12),
/// ])?;
/// assert_eq!(layout.bindable_names().collect::<Vec<_>>(), ["node"]);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name of a constant or bindable field, or `None` if the field is unnamed.
    pub(in crate::layout) name: Option<String>,
    pub(in crate::layout) role: Role,
    pub(in crate::layout) bits: u32,
    pub(in crate::layout) invert: bool,
}

impl Field {
    const fn new(bits: u32, role: Role) -> Self {
        Self { name: None, role, bits, invert: false }
    }

    fn with_name<'n>(self, name: impl Into<Option<&'n str>>) -> Self {
        Self { name: name.into().map(String::from), ..self }
    }

    /// Creates the timestamp field. The timestamp counts ticks since the tick that contains `epoch_ms` (Unix milliseconds).
    /// A layout has at most one timestamp, which has at most 64 bits.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, Tick};
    ///
    /// let time = Field::timestamp(32, Tick::SECOND, 1_767_225_600_000); // from 2026 on
    /// let layout = Layout::integer([Field::unused(1), time, Field::sequence(31)])?;
    /// assert_eq!(layout.describe().first_ms, Some(1_767_225_600_000));
    /// assert_eq!(layout.describe().last_ms, Some(1_767_225_600_000 + 4_294_967_295_000));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn timestamp(bits: u32, tick: Tick, epoch_ms: i64) -> Self {
        Self::new(bits, Role::Timestamp(Timeline::new(tick, epoch_ms, Width::new(bits))))
    }

    /// Creates the sequence field. The sequence starts at 0 in each tick. A layout has at most one sequence, which has at
    /// most 64 bits.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, Tick};
    ///
    /// let time = Field::timestamp(41, Tick::MILLISECOND, 1_767_225_600_000);
    /// let layout = Layout::integer([Field::unused(1), time, Field::sequence(22)])?;
    /// assert_eq!(layout.describe().per_second, Some(4_194_304_000)); // 2^22 per millisecond
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn sequence(bits: u32) -> Self {
        Self::new(bits, Role::Sequence(Value::Integer(0)))
    }

    /// Creates the sequence field. The sequence starts at `start` in each tick.
    ///
    /// ```
    /// use polyflake::layout::{Field, Generator, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(54), Field::sequence_from(10, 1000)])?;
    /// let ids = Generator::builder(layout).sequence_only(true).build()?;
    /// assert_eq!(ids.generate()?.as_integer(), Some(1000));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence_from(bits: u32, start: impl Into<Value<'static>>) -> Self {
        Self::new(bits, Role::Sequence(start.into().canonicalize()))
    }

    /// Creates a field that has the same value in every ID, unless the value is overridden for a particular ID. Without a
    /// name, the field is called `const-<offset>-<bits>`. Only byte layouts accept bytes and strings.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let fields = [Field::constant(16, "region", "eu"), Field::constant(8, None, 7)];
    /// let layout = Layout::bytes(3, fields)?;
    /// assert_eq!(layout.values().pack()?.to_string(), "657507"); // e, u, 7
    /// assert_eq!(layout.constant_names().collect::<Vec<_>>(), ["region", "const-16-8"]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn constant<'n>(
        bits: u32,
        name: impl Into<Option<&'n str>>,
        value: impl Into<Value<'static>>,
    ) -> Self {
        Self::new(bits, Role::Constant(value.into().canonicalize())).with_name(name)
    }

    /// Creates a bindable integer field, whose value is set for each generator or for each ID. Without a name, the field is
    /// called `bindable-<offset>-<bits>`.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::bindable(8, "shard")])?;
    /// assert_eq!(layout.values().bind("shard", 7)?.pack_integer()?, 7);
    /// let error = layout.values().bind("shard", 256)?.pack_integer().unwrap_err();
    /// assert_eq!(error.to_string(), "expected shard of at most 8 bits, found 256");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bindable<'n>(bits: u32, name: impl Into<Option<&'n str>>) -> Self {
        Self::bindable_of(ValueType::Integer, bits, name)
    }

    /// Creates a bindable field of the given type, whose value is set for each generator or for each ID. Only byte layouts
    /// accept bytes and strings.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, ValueType};
    ///
    /// let layout = Layout::bytes(3, [Field::bindable_of(ValueType::Text, 24, "airport")])?;
    /// assert_eq!(layout.values().bind("airport", "ZRH")?.pack()?.as_bytes(), Some(&b"ZRH"[..]));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bindable_of<'n>(kind: ValueType, bits: u32, name: impl Into<Option<&'n str>>) -> Self {
        Self::new(bits, Role::Bindable(kind)).with_name(name)
    }

    /// Creates a field of unused bits, which are zero in every new ID and ignored when an ID is parsed.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::bindable(8, "shard")])?;
    /// let parsed = layout.parse_integer(-1)?; // all bits are 1
    /// assert_eq!(parsed.bindable("shard")?, 255.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn unused(bits: u32) -> Self {
        Self::new(bits, Role::Unused)
    }

    /// Returns the same field with all its bits inverted, for example to sort the newest IDs first. Unused bits stay zero.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, Tick};
    ///
    /// let time = Field::timestamp(63, Tick::MILLISECOND, 0).inverted();
    /// let layout = Layout::integer([Field::unused(1), time])?;
    /// let id = |time: i64| layout.values().time(time)?.pack_integer();
    /// assert!(id(1_767_225_600_001)? < id(1_767_225_600_000)?); // ORDER BY id lists the newest first
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[must_use]
    pub const fn inverted(mut self) -> Self {
        self.invert = true;
        self
    }
}
