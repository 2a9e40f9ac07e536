//! From values to an ID.

use alloc::vec::Vec;

use crate::{
    Error, Result,
    layout::{
        Id, Layout, Slot, Value,
        shape::{
            layout::foreign_slot,
            placed::{Placed, Role},
        },
    },
};

/// The values of one ID of a layout, by field: made once, set for every ID.
///
/// A [`Slot`] is a name looked up once. Setting a name or slot that the layout doesn't have is `unknown_field` at once.
/// All other faults are refused when the ID is packed, field by field from the top: a missing value (`missing_field`), a
/// wrong type (`invalid_type`), and a value that does not fit (`out_of_range`, `time_out_of_range`).
///
/// ```
/// use polyflake::layout::{Field, Layout};
///
/// let layout = Layout::integer([Field::unused(32), Field::bindable(24, "shard"), Field::sequence(8)])?;
/// let (shard, sequence) = (layout.bindable("shard")?, layout.sequence()?);
/// let mut values = layout.values();
/// values.set(shard, 7)?;
/// for n in 0..3 {
///     assert_eq!(values.set(sequence, n)?.pack_integer()?, 7 * 256 + n);
/// }
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Values<'v> {
    layout: &'v Layout,
    /// The ID so far: a value that fits is put in place when it is set.
    draft: Id,
    states: Vec<State<'v>>,
    /// Number of fields that are missing or refused.
    open: usize,
}

/// The state of one field's value.
#[derive(Clone, Debug)]
enum State<'v> {
    Missing,
    /// The value is in its place.
    Put,
    /// The value does not fit. The error comes when the ID is packed, since errors of the fields above it come first.
    Refused(Value<'v>),
}

impl State<'_> {
    fn first(role: &Role) -> Self {
        match role {
            Role::Constant(_) | Role::Unused => Self::Put,
            Role::Timestamp(_) | Role::Sequence { .. } | Role::Bindable(_) => Self::Missing,
        }
    }
}

impl<'v> Values<'v> {
    pub(in crate::layout) fn new(layout: &'v Layout) -> Self {
        let states: Vec<_> = layout.fields.iter().map(|field| State::first(&field.role)).collect();
        let open = states.iter().filter(|state| matches!(state, State::Missing)).count();
        Self { layout, draft: layout.blank.clone(), states, open }
    }

    /// The values of a draft that lacks the time, the sequence and the fields of `missing`.
    pub(crate) fn resume(layout: &'v Layout, draft: &Id, missing: &[Slot]) -> Self {
        let mut values = Self { draft: draft.clone(), ..Self::new(layout) };
        for (_, slot) in layout.named(|role| matches!(role, Role::Bindable(_))) {
            if !missing.contains(&slot) {
                values.mark(slot, State::Put);
            }
        }
        values
    }

    /// Sets the value of a field.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let (time, worker) = (twitter.timestamp()?, twitter.bindable("worker")?); // looked up once
    /// let mut values = twitter.values();
    /// values.bind("datacenter", 11)?.sequence(0)?;
    /// let id = values.set(time, 1_656_432_460_105_i64)?.set(worker, 26)?.pack_integer()?;
    /// assert_eq!(id, 1_541_815_603_606_036_480);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "what kind of value it is is known where it is called")]
    pub fn set(&mut self, slot: Slot, value: impl Into<Value<'v>>) -> Result<&mut Self> {
        let Some(field) = self.layout.fields.get(slot.0) else {
            return Err(foreign_slot());
        };
        let value = value.into();
        match field.quick(&value) {
            Some(bits) => self.draft.put(field, bits),
            None => return self.set_slowly(slot, field, value),
        }
        if !matches!(self.states[slot.0], State::Put) {
            self.mark(slot, State::Put);
        }
        Ok(self)
    }

    /// As `set`, compiled once for all types and names.
    fn put(&mut self, slot: Slot, value: Value<'v>) -> Result<&mut Self> {
        self.set(slot, value)
    }

    /// Sets any value but a small integer, or remembers that it is refused.
    #[cold]
    fn set_slowly(&mut self, slot: Slot, field: &Placed, value: Value<'v>) -> Result<&mut Self> {
        if let Role::Unused = field.role {
            return Err(foreign_slot());
        }
        let state =
            field.put(&value, &mut self.draft).map_or(State::Refused(value), |()| State::Put);
        self.mark(slot, state);
        Ok(self)
    }

    fn mark(&mut self, slot: Slot, state: State<'v>) {
        let is_open = |state: &State<'_>| usize::from(!matches!(state, State::Put));
        self.open = self.open - is_open(&self.states[slot.0]) + is_open(&state);
        self.states[slot.0] = state;
    }

    /// Sets the time, in Unix milliseconds, or as [`Value::Nanos`] if milliseconds are too coarse.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, Tick, Value};
    ///
    /// let layout = Layout::integer([Field::unused(1), Field::timestamp(63, Tick::MICROSECOND, 0)])?;
    /// let mut values = layout.values();
    /// assert_eq!(values.time(1_767_225_600_000_i64)?.pack_integer()?, 1_767_225_600_000_000);
    /// let time = Value::Nanos(1_767_225_600_000_001_000); // finer than milliseconds
    /// assert_eq!(values.time(time)?.pack_integer()?, 1_767_225_600_000_001);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn time(&mut self, time: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.put(self.layout.timestamp()?, time.into())
    }

    /// Sets the sequence.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(48), Field::sequence(16)])?;
    /// assert_eq!(layout.values().sequence(7)?.pack_integer()?, 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence(&mut self, sequence: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.put(self.layout.sequence()?, sequence.into())
    }

    /// Sets a bindable.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::bindable(8, "shard")])?;
    /// assert_eq!(layout.values().bind("shard", 7)?.pack_integer()?, 7);
    /// assert_eq!(layout.values().bind("rack", 7).unwrap_err().to_string(), "unknown field `rack`, expected one of `shard`");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bind(&mut self, name: &str, value: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.put(self.layout.bindable(name)?, value.into())
    }

    /// Overrides a constant.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::constant(8, "region", 3)])?;
    /// assert_eq!(layout.values().pack_integer()?, 3);
    /// assert_eq!(layout.values().constant("region", 4)?.pack_integer()?, 4);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn constant(&mut self, name: &str, value: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.put(self.layout.constant(name)?, value.into())
    }

    /// The ID of these values.
    ///
    /// ```
    /// use polyflake::layout::{Field, Id, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::bindable(8, "shard")])?;
    /// assert_eq!(layout.values().pack().unwrap_err().to_string(), "missing value for field `shard`");
    /// assert_eq!(layout.values().bind("shard", 7)?.pack()?, Id::Integer(7));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn pack(&self) -> Result<Id> {
        self.check()?;
        Ok(self.draft.clone())
    }

    /// The ID of these values, in an integer layout; `invalid_type` in a layout of byte IDs.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::bindable(8, "shard")])?;
    /// assert_eq!(layout.values().bind("shard", 7)?.pack_integer()?, 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub fn pack_integer(&self) -> Result<i64> {
        let Id::Integer(id) = self.draft else {
            return Err(Error::invalid_type("an integer layout", "a layout of byte IDs"));
        };
        self.check()?;
        Ok(id)
    }

    /// Writes the ID of these values, in a layout of byte IDs; `invalid_type` in a layout of integers, `invalid_length` if
    /// `id` has another length than an ID. An error leaves `id` unchanged.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::bytes(2, [Field::bindable(16, "shard")])?;
    /// let mut row = [0; 10];
    /// layout.values().bind("shard", 258)?.pack_into(&mut row[8..])?;
    /// assert_eq!(row[8..], [1, 2]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn pack_into(&self, id: &mut [u8]) -> Result<()> {
        self.layout.check_length(id.len())?;
        self.check()?;
        if let Id::Bytes(draft) = &self.draft {
            id.copy_from_slice(draft);
        }
        Ok(())
    }

    /// Refuses values that do not make an ID yet.
    #[inline]
    fn check(&self) -> Result<()> {
        if self.open == 0 { Ok(()) } else { self.why_not() }
    }

    /// The first error, from the top.
    #[cold]
    fn why_not(&self) -> Result<()> {
        (0..self.states.len()).try_for_each(|index| self.check_field(index))
    }

    /// Refuses a field that has no value, or one that does not fit.
    pub(in crate::layout) fn check_field(&self, index: usize) -> Result<()> {
        let field = &self.layout.fields[index];
        match &self.states[index] {
            State::Put => Ok(()),
            State::Missing => Err(field.missing()),
            State::Refused(value) => field.put(value, &mut self.draft.clone()),
        }
    }

    /// Refuses values that do not make an ID, whatever its time and sequence.
    #[inline]
    pub(crate) fn check_all_but_cell(&self) -> Result<()> {
        let cell = [self.layout.time, self.layout.sequence];
        let open_cell =
            cell.into_iter().flatten().filter(|index| !matches!(self.states[*index], State::Put));
        if open_cell.count() == self.open { Ok(()) } else { self.why_not_but_cell(cell) }
    }

    #[cold]
    fn why_not_but_cell(&self, cell: [Option<usize>; 2]) -> Result<()> {
        self.check_all_but(|index| cell.contains(&Some(index)))
    }

    /// Refuses values that do not make an ID, whatever its free fields hold.
    pub(in crate::layout) fn check_all_but(&self, is_free: impl Fn(usize) -> bool) -> Result<()> {
        let mut others = (0..self.states.len()).filter(|index| !is_free(*index));
        others.try_for_each(|index| self.check_field(index))
    }

    /// The bindables without a value. Values of the others must fit.
    pub(crate) fn missing(&self) -> Result<Vec<Slot>> {
        let mut missing = Vec::new();
        for (_, slot) in self.layout.named(|role| matches!(role, Role::Bindable(_))) {
            self.check_if_given(slot.0)?;
            if let State::Missing = self.states[slot.0] {
                missing.push(slot);
            }
        }
        Ok(missing)
    }

    /// As `check_field`, but the value may be missing.
    pub(in crate::layout) fn check_if_given(&self, index: usize) -> Result<()> {
        if let State::Missing = self.states[index] { Ok(()) } else { self.check_field(index) }
    }

    pub(crate) fn layout(&self) -> &'v Layout {
        self.layout
    }

    pub(crate) fn draft(&self) -> &Id {
        &self.draft
    }
}
