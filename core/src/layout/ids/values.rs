//! Packs values into an ID.

use alloc::vec::Vec;

use crate::{
    Error, Result,
    layout::{FieldIndex, Id, Layout, ResolvedField, Role, Value, foreign_field_index},
};

/// A buffer for the field values of one ID. Create it once and reuse it for every ID.
///
/// With a [`FieldIndex`], the name of a field is looked up only once. Setting a field that the layout does not have fails
/// immediately with `unknown_field`. All other errors are reported when the ID is packed, in field order, starting with the
/// most significant field: a missing value (`missing_field`), a wrong type (`invalid_type`), or a value that does not fit
/// (`out_of_range`, `time_out_of_range`).
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
pub struct Values<'l> {
    layout: &'l Layout,
    partial: PartialId,
}

/// An ID in which some fields may not be set yet.
#[derive(Clone, Debug)]
pub(in crate::layout) struct PartialId {
    /// The ID with the values that have been set so far. Each value that fits is stored as soon as it is set.
    pub(in crate::layout) id: Id,
    /// The state of each field's value.
    states: Vec<State>,
    /// The number of fields whose value is missing or was rejected.
    open: usize,
}

/// The state of one field's value.
#[derive(Clone, Debug)]
enum State {
    Missing,
    /// The value is stored in the ID.
    Put,
    /// The value does not fit. The error is reported when the ID is packed, because errors of more significant fields take
    /// precedence.
    Rejected(Error),
}

impl State {
    fn initial(role: &Role) -> Self {
        match role {
            Role::Constant(_) | Role::Unused => Self::Put,
            Role::Timestamp(_) | Role::Sequence(_) | Role::Bindable(_) => Self::Missing,
        }
    }

    const fn is_set(&self) -> bool {
        matches!(self, Self::Put)
    }
}

impl<'l> Values<'l> {
    pub(in crate::layout) fn new(layout: &'l Layout) -> Self {
        let states: Vec<_> =
            layout.fields.iter().map(|field| State::initial(&field.role)).collect();
        let open = states.iter().filter(|state| !state.is_set()).count();
        Self::from_partial(layout, PartialId { id: layout.blank.clone(), states, open })
    }

    /// Creates a buffer that starts from a partial ID of this layout.
    pub(in crate::layout) const fn from_partial(layout: &'l Layout, partial: PartialId) -> Self {
        Self { layout, partial }
    }

    /// Sets the value of a field.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let (time, worker) = (twitter.timestamp()?, twitter.bindable("worker")?); // look up the slots once
    /// let mut values = twitter.values();
    /// values.bind("datacenter", 11)?.sequence(0)?;
    /// let id = values.set(time, 1_656_432_460_105_i64)?.set(worker, 26)?.pack_integer()?;
    /// assert_eq!(id, 1_541_815_603_606_036_480);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "what kind of value it is is known where it is called")]
    pub fn set<'v>(&mut self, slot: FieldIndex, value: impl Into<Value<'v>>) -> Result<&mut Self> {
        let Some(field) = self.layout.fields.get(slot.0) else {
            return Err(foreign_field_index());
        };
        let value = value.into();
        // The common case, a small integer that fits, is inlined into the caller, where the type of the value is known. All
        // other values and all errors are handled by a function that is compiled only once.
        let Some(bits) = field.small_number(&value) else {
            return self.set_slow(slot, field, &value);
        };
        self.partial.id.write_field(field, bits);
        // The buffer is reused for many IDs, so the field usually has a value already. In this case, neither the field's
        // state nor `open` changes.
        if !self.partial.states[slot.0].is_set() {
            self.set_state(slot, State::Put);
        }
        Ok(self)
    }

    /// Works like `set`, but is not generic, so that it is compiled only once.
    fn set_value(&mut self, slot: FieldIndex, value: Value<'_>) -> Result<&mut Self> {
        self.set(slot, value)
    }

    /// Sets any value other than a small integer, or records its error.
    #[cold]
    fn set_slow(
        &mut self,
        slot: FieldIndex,
        field: &ResolvedField,
        value: &Value<'_>,
    ) -> Result<&mut Self> {
        if let Role::Unused = field.role {
            return Err(foreign_field_index());
        }
        // If the value is rejected, the ID keeps the bits of the previous value. These bits are never visible, because the
        // ID cannot be packed while any value is rejected.
        let put = field.write_value(value, &mut self.partial.id);
        self.set_state(slot, put.map_or_else(State::Rejected, |()| State::Put));
        Ok(self)
    }

    fn set_state(&mut self, slot: FieldIndex, state: State) {
        let is_open = |state: &State| usize::from(!state.is_set());
        let PartialId { states, open, .. } = &mut self.partial;
        *open = *open - is_open(&states[slot.0]) + is_open(&state);
        states[slot.0] = state;
    }

    /// Sets the time. The time is a number of Unix milliseconds or, for ticks shorter than a millisecond, a
    /// [`Value::Nanos`].
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
    pub fn time<'v>(&mut self, time: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.set_value(self.layout.timestamp()?, time.into())
    }

    /// Sets the sequence number.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(48), Field::sequence(16)])?;
    /// assert_eq!(layout.values().sequence(7)?.pack_integer()?, 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence<'v>(&mut self, sequence: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.set_value(self.layout.sequence()?, sequence.into())
    }

    /// Sets the value of a bindable field.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::bindable(8, "shard")])?;
    /// assert_eq!(layout.values().bind("shard", 7)?.pack_integer()?, 7);
    /// assert_eq!(layout.values().bind("rack", 7).unwrap_err().to_string(), "unknown field `rack`, expected one of `shard`");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bind<'v>(&mut self, name: &str, value: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.set_value(self.layout.bindable(name)?, value.into())
    }

    /// Overrides the value of a constant field.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::constant(8, "region", 3)])?;
    /// assert_eq!(layout.values().pack_integer()?, 3);
    /// assert_eq!(layout.values().constant("region", 4)?.pack_integer()?, 4);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn constant<'v>(&mut self, name: &str, value: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.set_value(self.layout.constant(name)?, value.into())
    }

    /// Packs the values into an ID.
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
        Ok(self.partial.id.clone())
    }

    /// Packs the values into an integer ID. Returns `invalid_type` if the layout has byte IDs.
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
        let Id::Integer(id) = self.partial.id else {
            return Err(Error::invalid_type("an integer layout", "a layout of byte IDs"));
        };
        self.check()?;
        Ok(id)
    }

    /// Rejects missing values and values that do not fit. If several fields are affected, returns the error of the most
    /// significant one.
    #[inline]
    fn check(&self) -> Result<()> {
        if self.partial.open == 0 { Ok(()) } else { self.check_all_except(|_| false) }
    }

    /// Rejects missing values and values that do not fit, except those of the timestamp and the sequence.
    #[inline]
    pub(in crate::layout) fn check_all_except_time_and_sequence(&self) -> Result<()> {
        let cell = [self.layout.time, self.layout.sequence];
        let open = cell.iter().flatten().filter(|index| !self.partial.states[**index].is_set());
        // If the counts are equal, all fields except the timestamp and the sequence have valid values, and the generator
        // sets these two itself. Comparing counts avoids a loop over all fields for each ID.
        if open.count() == self.partial.open {
            return Ok(());
        }
        self.check_all_except(|index| cell.contains(&Some(index)))
    }

    /// Rejects missing values and values that do not fit, except in fields that `is_free` accepts.
    #[cold]
    pub(in crate::layout) fn check_all_except(
        &self,
        is_free: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let mut others = (0..self.partial.states.len()).filter(|index| !is_free(*index));
        others.try_for_each(|index| self.check_field(index))
    }

    /// Rejects a field whose value is missing or does not fit.
    #[cold]
    pub(in crate::layout) fn check_field(&self, index: usize) -> Result<()> {
        match &self.partial.states[index] {
            State::Put => Ok(()),
            State::Missing => Err(self.layout.fields[index].missing_field()),
            State::Rejected(error) => Err(error.clone()),
        }
    }

    /// Works like `check_field`, but accepts a missing value.
    pub(in crate::layout) fn check_if_set(&self, index: usize) -> Result<()> {
        if self.is_missing(index) { Ok(()) } else { self.check_field(index) }
    }

    fn is_missing(&self, index: usize) -> bool {
        matches!(self.partial.states[index], State::Missing)
    }

    /// Returns the first bindable field without a value, or an error if the value of any other bindable field does not fit.
    pub(in crate::layout) fn first_missing_bindable(&self) -> Result<Option<FieldIndex>> {
        let bindables = || self.layout.fields_with_role(Role::is_bindable).map(|(_, slot)| slot);
        bindables().try_for_each(|slot| self.check_if_set(slot.0))?;
        Ok(bindables().find(|slot| self.is_missing(slot.0)))
    }

    pub(in crate::layout) const fn layout(&self) -> &'l Layout {
        self.layout
    }

    pub(in crate::layout) const fn id(&self) -> &Id {
        &self.partial.id
    }

    pub(in crate::layout) fn into_partial(self) -> PartialId {
        self.partial
    }
}
