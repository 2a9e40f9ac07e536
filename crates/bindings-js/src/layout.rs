//! Calls for custom layouts: this file contains the calls on generators, `ids` contains the calls on descriptions and IDs,
//! and `columns` contains the calls on columns of IDs.

mod columns;
mod ids;

use alloc::{rc::Rc, string::String};

use polyflake::{
    Result,
    layout::{Builder, Generator, Id, Snapshot, Values},
};

use crate::{
    Host, Machine, ScratchRef,
    generators::GeneratorCalls,
    handles::Object,
    message::{Reader, Writer},
    protocol::register,
};
use ids::set_values;

/// Returns a generator's values, with missing values filled in from a message.
fn values<'v, C>(generator: &'v Generator<C>, message: &'v [u8]) -> Result<Values<'v>> {
    let mut values = generator.values();
    set_values(&mut values, Reader::new(message))?;
    Ok(values)
}

/// Operations on generators. Each operation that generates IDs reads a message with bindables.
impl<C: Host> Machine<C> {
    /// Reads the handle of a layout, the shared options, and two flags that are 1 if set: whether a layout without a
    /// timestamp is allowed, and whether a snapshot is restored. Then reads a message that contains the snapshot, if one is
    /// restored, and the names of bindables, each with its value or range. Writes the generator's handle.
    pub fn layout_generator_build(&self, at: ScratchRef) -> Result<()> {
        let ((clock, key), shared) = (self.take_clock(), at.shared_options()?);
        let (object, message) = (self.object(at)?, self.take_message(at));
        let mut message = Reader::new(&message);
        let [is_sequence_only, is_restored] = at.values(register::OWN);
        let snapshot = (is_restored > 0.0).then(|| Snapshot::from_value(message.json()));
        let snapshot = snapshot.transpose()?;
        let mut builder = Builder::with_clock(object.layout()?.clone(), clock)
            .sequence_only(is_sequence_only > 0.0);
        while message.has_more() {
            let name = String::from(message.text());
            builder = match message.range() {
                Some((first, last)) => builder.range(name, first..=last),
                None => builder.bind(name, message.value().into_owned()),
            };
        }
        builder = shared.apply_all(builder);
        let generator = C::get_or_build(key, Generator::is_usable, || match snapshot {
            Some(snapshot) => builder.restore(snapshot),
            None => builder.build(),
        })
        .map_err(|error| shared.with_option_name(error))?;
        self.put_object(at, Object::LayoutGenerator(generator));
        Ok(())
    }

    /// Generates an ID, and writes it.
    pub fn layout_generate(&self, at: ScratchRef) -> Result<()> {
        self.generate_layout_id(self.object(at)?.layout_generator()?, Generator::generate_with)
    }

    #[inline(never)]
    fn generate_layout_id(
        &self,
        generator: &Generator<C>,
        one: fn(&Generator<C>, &Values<'_>) -> Result<Id>,
    ) -> Result<()> {
        let message = self.take_message(self.scratch);
        let id = one(generator, &values(generator, &message)?)?;
        self.put_layout_id(self.scratch, &id)
    }
}

/// The parameter of each call is a message with bindables. Packed IDs are integers or bytes.
impl<C: Host> GeneratorCalls<C> for Generator<C> {
    fn put_one(&self, machine: &Machine<C>) -> Result<()> {
        machine.generate_layout_id(self, Self::try_generate_with)
    }

    fn begin_one(&self, machine: &Machine<C>, object: Rc<Object<C>>) -> Result<()> {
        let at = machine.scratch;
        let message = machine.take_message(at);
        machine.begin(at, async move {
            let generator = object.layout_generator()?;
            let values = values(generator, &message)?;
            let id = generator.generate_with_async(|time| at.sleep(time), &values).await?;
            let mut message = Writer::new(at);
            match &id {
                Id::Integer(id) => message.raw(&id.to_ne_bytes()),
                Id::Bytes(id) => message.raw(id),
                // The core has no other ID type.
                _ => {}
            }
            Ok(message.finish())
        })
    }

    fn put_many(&self, machine: &Machine<C>, waits: bool) -> Result<()> {
        let (at, message) = (machine.scratch, machine.take_message(machine.scratch));
        let (count, values) = (at.count(), values(self, &message)?);
        machine.put_packed_ids(at, self.layout(), count, &|ids| {
            if waits {
                self.fill_with(&values, ids).map(|()| count)
            } else {
                self.try_fill_with(&values, ids)
            }
        })
    }

    /// Writes the statistics as an object.
    fn put_stats(&self, machine: &Machine<C>) -> Result<()> {
        let stats = self.stats();
        machine.answer(machine.scratch, |message| {
            message.object(3);
            message.name("lastMs").optional(stats.last_ms);
            message.name("len").value(&stats.len.into());
            message.name("closed").flag(stats.closed);
        })
    }

    /// Writes the snapshot.
    fn put_final_state(&self, machine: &Machine<C>) -> Result<()> {
        let snapshot = self.close()?.to_value();
        machine.answer(machine.scratch, |message| message.json(&snapshot))
    }

    fn may_repeat_object(&self, other: &Object<C>, end: Option<i64>) -> Result<bool> {
        let Object::LayoutGenerator(other) = other else { return Ok(false) };
        self.may_repeat(other, end)
    }
}
