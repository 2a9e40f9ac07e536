//! The description of a layout's IDs.

use crate::{
    format::{Description, FieldDescription},
    layout::{Id, Json, Layout, Representation, ResolvedField, Role},
};

impl Description {
    /// Returns the description as a JSON value that uses the field names of this struct.
    ///
    /// This method is not part of the public API. It exists for bindings.
    #[doc(hidden)]
    pub fn to_value(&self) -> Json {
        let mut object = Json::object();
        object.insert("bits", Json::from_value(self.bits));
        object.insert("fields", Json::List(self.fields().iter().map(Json::from).collect()));
        object.insert("per_second", Json::from_option(self.per_second));
        object.insert("per_second_in_all", Json::from_option(self.per_second_in_all));
        object.insert("first_ms", Json::from_option(self.first_ms));
        object.insert("last_ms", Json::from_option(self.last_ms));
        object.insert("sorts_by_time", Json::Bool(self.sorts_by_time));
        object.insert("below_2_53", Json::Bool(self.below_2_53));
        object.insert("below_2_63", Json::Bool(self.below_2_63));
        object
    }
}

impl From<&FieldDescription> for Json {
    fn from(field: &FieldDescription) -> Self {
        let mut object = Json::object();
        object.insert("name", Json::from_value(field.name()));
        object.insert("kind", Json::from_value(field.kind));
        object.insert("offset", Json::from_value(field.offset));
        object.insert("bits", Json::from_value(field.bits));
        object
    }
}

impl Layout {
    /// Returns the size, fields, rate and time span of the layout's IDs.
    ///
    /// ```
    /// use polyflake::layout::preset;
    ///
    /// let sonyflake = preset("sonyflake", [])?.describe();
    /// assert_eq!(sonyflake.per_second, Some(25_600));
    /// assert_eq!(sonyflake.per_second_in_all, Some(25_600 * 65_536));
    /// assert_eq!(sonyflake.last_ms, Some(6_907_087_738_870));
    /// assert!(sonyflake.sorts_by_time && sonyflake.below_2_63 && !sonyflake.below_2_53);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn describe(&self) -> Description {
        let fields =
            self.fields.iter().map(|field| (&*field.name, field.role.as_str(), field.width.bits));
        let (first_ms, last_ms) = self.first_and_last_ms().unzip();
        let mut description = Description::from_fields(fields);
        description.per_second = self.ids_per_second(1);
        description.per_second_in_all =
            self.generator_count().and_then(|generators| self.ids_per_second(generators));
        (description.first_ms, description.last_ms) = (first_ms.flatten(), last_ms.flatten());
        description.sorts_by_time = self.sorts_by_time();
        description.below_2_53 = self.highest_id().is_below(53);
        description.below_2_63 = self.highest_id().is_below(63);
        description
    }

    /// Returns the number of IDs per second that `generators` generators can create together.
    fn ids_per_second(&self, generators: u128) -> Option<u128> {
        let timeline = self.timeline()?;
        let (first, last) = self.slot_range()?;
        let in_a_tick = u128::from(last - first) + 1;
        let in_a_million_ticks = in_a_tick.checked_mul(generators)?.checked_mul(1_000_000)?;
        Some(in_a_million_ticks / u128::from(timeline.tick().as_micros()))
    }

    /// Returns the number of generators that the bindable fields can distinguish, or `None` if the number exceeds 2^127.
    fn generator_count(&self) -> Option<u128> {
        let bindables = self.fields.iter().filter(|field| field.role.is_bindable());
        1_u128.checked_shl(bindables.map(|field| field.width.bits).sum())
    }

    /// Returns the start times of the first and the last tick.
    fn first_and_last_ms(&self) -> Option<(Option<i64>, Option<i64>)> {
        let timeline = self.timeline()?;
        Some((timeline.start_ms(0), timeline.last_ms()))
    }

    fn sorts_by_time(&self) -> bool {
        let Ok(at) = self.timestamp() else { return false };
        let (above, field) = (&self.fields[..at.0], &self.fields[at.0]);
        let fixed = |field: &ResolvedField| {
            field.width.bits == 0 || matches!(field.role, Role::Constant(_) | Role::Unused)
        };
        // If the timestamp includes an integer's sign bit, IDs in the second half of the time range are negative. (With a
        // 64-bit timestamp, negative IDs represent times before the epoch.)
        let has_sign = self.representation == Representation::Integer
            && field.offset == 0
            && (1..64).contains(&field.width.bits);
        above.iter().all(fixed) && !field.invert && !has_sign
    }

    /// Returns the ID that is highest when read as an unsigned integer. Constants keep their values.
    fn highest_id(&self) -> Id {
        let mut id = self.blank.clone();
        for field in &self.fields {
            if !matches!(field.role, Role::Constant(_) | Role::Unused) {
                id.fill_field(field, true);
            }
        }
        id
    }
}
