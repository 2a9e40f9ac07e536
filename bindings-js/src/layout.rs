//! Custom layouts: generators here, descriptions and IDs in `ids`, columns of IDs in `columns`.

mod columns;
mod ids;

use alloc::string::String;

use polyflake::{
    Result,
    layout::{Batch, Builder, Generator, Id, Pool, Snapshot, Values},
};

use crate::{
    Host, Machine,
    generators::give,
    handles::Object,
    message::{Reader, Writer},
    protocol::slot::{extension, layout_options as own, many},
};
use ids::set;

/// A generator's values, completed by those of a message.
fn values<'v, C>(generator: &'v Generator<C>, message: &'v [u8]) -> Result<Values<'v>> {
    let mut values = generator.values();
    set(&mut values, Reader::new(message))?;
    Ok(values)
}

/// A message of one packed ID.
fn packed(id: &Id) -> Writer {
    let mut message = Writer::default();
    match id {
        Id::Integer(id) => message.raw(&id.to_ne_bytes()),
        Id::Bytes(id) => message.raw(id),
        // The core has no other type of ID.
        _ => {}
    }
    message
}

/// Fills a batch with new IDs, and returns how many it made.
type Fill<'f, C> = &'f dyn Fn(&Generator<C>, &Values<'_>, Batch<'_>) -> Result<usize>;

/// Generators, by their handles; calls that make IDs also take a message of bindables.
impl<C: Host> Machine<C> {
    /// Options; a message with the snapshot, if there is one, and the names and values of fixed bindables -> a handle.
    pub fn layout_generator_build(&self) -> Result<()> {
        let (scratch, clock, shared) = (self.scratch, self.take_clock(), self.scratch.shared()?);
        let sequence_only = scratch.integer(own::SEQUENCE_ONLY, "sequenceOnly", 1)? == 1;
        let is_restored = scratch.integer(own::RESTORED, "restored", 1)? == 1;
        let layout = self.object_at(own::LAYOUT)?.layout()?.clone();
        let message = self.take_message_at(own::MESSAGE_LENGTH);
        let mut message = Reader::new(&message);
        let snapshot = is_restored.then(|| Snapshot::from_value(message.json())).transpose()?;
        let mut builder = Builder::with_clock(layout, clock).sequence_only(sequence_only);
        while message.has_more() {
            builder = builder.bind(String::from(message.text()), message.value().into_owned());
        }
        give!(builder, shared, window);
        let generator = match snapshot {
            Some(snapshot) => builder.restore(snapshot),
            None => builder.build(),
        }
        .map_err(|error| shared.named(error))?;
        self.put_object(Object::LayoutGenerator(generator));
        Ok(())
    }

    /// -> an ID.
    pub fn layout_generate(&self) -> Result<()> {
        self.layout_one(Generator::generate_with)
    }

    /// Does the same without waiting -> an ID.
    pub fn layout_try_generate(&self) -> Result<()> {
        self.layout_one(Generator::try_generate_with)
    }

    #[inline(never)]
    fn layout_one(&self, one: fn(&Generator<C>, &Values<'_>) -> Result<Id>) -> Result<()> {
        let (object, message) = (self.object()?, self.take_message());
        let generator = object.layout_generator()?;
        let id = one(generator, &values(generator, &message)?)?;
        self.answer_id(&id)
    }

    /// One ID, made in turns -> a packed ID.
    pub fn layout_one_async(&self) -> Result<()> {
        let (object, message, scratch) = (self.object()?, self.take_message(), self.scratch);
        self.begin(async move {
            let generator = object.layout_generator()?;
            let values = values(generator, &message)?;
            let id = generator.generate_with_async(|time| scratch.sleep(time), &values).await?;
            Ok(Some(packed(&id)))
        })
    }

    /// Also a count of at most [`BATCH`](crate::protocol::BATCH) -> packed IDs.
    pub fn layout_fill(&self) -> Result<()> {
        let count = self.scratch.count(many::COUNT);
        self.layout_fill_by(&|generator, values, ids| {
            generator.fill_with(values, ids)?;
            Ok(count)
        })
    }

    /// Does the same without waiting -> the packed IDs that could be made.
    pub fn layout_fill_now(&self) -> Result<()> {
        self.layout_fill_by(&|generator, values, ids| generator.try_fill_with(values, ids))
    }

    #[inline(never)]
    fn layout_fill_by(&self, fill: Fill<'_, C>) -> Result<()> {
        let (object, count) = (self.object()?, self.scratch.count(many::COUNT));
        let message = self.take_message();
        let generator = object.layout_generator()?;
        let values = values(generator, &message)?;
        self.answer_packed(generator.layout(), count, &|ids| fill(generator, &values, ids))
    }

    /// A message of handles -> nothing; refused unless all may be in one pool.
    pub fn layout_pool(&self) -> Result<()> {
        let object = self.objects_in_message()?;
        Pool::new(object.iter().filter_map(|object| object.layout_generator().ok())).map(drop)
    }

    /// Also the new end.
    pub fn layout_extend_window(&self) -> Result<()> {
        self.object()?.layout_generator()?.extend_window(self.scratch.time(extension::END))
    }

    /// -> start of the last tick used, number of IDs used up in it, closed.
    pub fn layout_stats(&self) -> Result<()> {
        let stats = self.object()?.layout_generator()?.stats();
        self.answer(|message| {
            message.optional(stats.last_ms);
            message.value(&stats.len.into());
            message.flag(stats.closed);
        })
    }

    /// -> the snapshot.
    pub fn layout_close(&self) -> Result<()> {
        let snapshot = self.object()?.layout_generator()?.close()?.to_value();
        self.answer(|message| message.json(&snapshot))
    }
}
