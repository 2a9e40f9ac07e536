//! Custom layouts: generators are here, descriptions and IDs in `ids`, columns of IDs in `columns`.

mod columns;
mod ids;

use alloc::string::String;

use polyflake::{
    Result,
    layout::{Batch, Builder, Generator, Id, Snapshot, Values},
};

use crate::{
    At, Host, Machine,
    handles::Object,
    message::{Reader, Writer},
    protocol::slot,
};
use ids::set;

/// Returns a generator's values, completed with the values in a message.
fn values<'v, C>(generator: &'v Generator<C>, message: &'v [u8]) -> Result<Values<'v>> {
    let mut values = generator.values();
    set(&mut values, Reader::new(message))?;
    Ok(values)
}

/// Returns a message with one packed ID.
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

/// Fills a batch with new IDs, and returns how many it wrote.
type Fill<'f, C> = &'f dyn Fn(&Generator<C>, &Values<'_>, Batch<'_>) -> Result<usize>;

/// Calls on generators. All but the first also take a handle, and those that generate IDs take a message with bindables, too.
impl<C: Host> Machine<C> {
    /// Takes options, and a message with the snapshot, if there is one, and the names of bindables, each with its value or
    /// range. Writes a handle.
    pub fn layout_generator_build(&self, at: At) -> Result<()> {
        let (clock, shared) = (self.take_clock(), at.shared()?);
        let sequence_only = at.integer(slot::LAYOUT_OPTIONS_SEQUENCE_ONLY, "sequenceOnly", 1)? == 1;
        let is_restored = at.integer(slot::LAYOUT_OPTIONS_RESTORED, "restored", 1)? == 1;
        let layout = self.object_of(at.place(slot::LAYOUT_OPTIONS_LAYOUT))?.layout()?.clone();
        let message = self.take_message_of(
            at.place(slot::LAYOUT_OPTIONS_MESSAGE_LENGTH),
            at.place(slot::PIECE_OFFSET),
        );
        let mut message = Reader::new(&message);
        let snapshot = is_restored.then(|| Snapshot::from_value(message.json())).transpose()?;
        let mut builder = Builder::with_clock(layout, clock).sequence_only(sequence_only);
        while message.has_more() {
            let name = String::from(message.text());
            builder = match message.range() {
                Some((first, last)) => builder.range(name, first..=last),
                None => builder.bind(name, message.value().into_owned()),
            };
        }
        builder = shared.give_all(builder);
        let generator = match snapshot {
            Some(snapshot) => builder.restore(snapshot),
            None => builder.build(),
        }
        .map_err(|error| shared.named(error))?;
        self.put_object(at, Object::LayoutGenerator(generator));
        Ok(())
    }

    /// Generates an ID, and writes it.
    pub fn layout_generate(&self, at: At) -> Result<()> {
        self.layout_one(at, Generator::generate_with)
    }

    /// Generates an ID without waiting, and writes it.
    pub fn layout_try_generate(&self, at: At) -> Result<()> {
        self.layout_one(at, Generator::try_generate_with)
    }

    #[inline(never)]
    fn layout_one(&self, at: At, one: fn(&Generator<C>, &Values<'_>) -> Result<Id>) -> Result<()> {
        let (object, message) = (self.object(at)?, self.take_message(at));
        let generator = object.layout_generator()?;
        let id = one(generator, &values(generator, &message)?)?;
        self.answer_id(at, &id)
    }

    /// Generates one ID in turns, and writes it packed.
    pub fn layout_one_async(&self, at: At) -> Result<()> {
        let (object, message) = (self.object(at)?, self.take_message(at));
        self.begin(at, async move {
            let generator = object.layout_generator()?;
            let values = values(generator, &message)?;
            let id = generator.generate_with_async(|time| at.sleep(time), &values).await?;
            Ok(Some(packed(&id)))
        })
    }

    /// Takes a count of at most [`BATCH`](crate::protocol::BATCH). Writes packed IDs.
    pub fn layout_fill(&self, at: At) -> Result<()> {
        let count = at.count(slot::MANY_COUNT);
        self.layout_fill_by(at, &|generator, values, ids| {
            generator.fill_with(values, ids)?;
            Ok(count)
        })
    }

    /// Generates IDs without waiting, and writes them packed.
    pub fn layout_fill_now(&self, at: At) -> Result<()> {
        self.layout_fill_by(at, &|generator, values, ids| generator.try_fill_with(values, ids))
    }

    #[inline(never)]
    fn layout_fill_by(&self, at: At, fill: Fill<'_, C>) -> Result<()> {
        let (object, count) = (self.object(at)?, at.count(slot::MANY_COUNT));
        let message = self.take_message(at);
        let generator = object.layout_generator()?;
        let values = values(generator, &message)?;
        self.answer_packed(at, generator.layout(), count, &|ids| fill(generator, &values, ids))
    }

    /// Writes the start of the last tick used, the number of IDs that were used in it, and whether the generator is closed.
    pub fn layout_stats(&self, at: At) -> Result<()> {
        let stats = self.object(at)?.layout_generator()?.stats();
        self.answer(at, |message| {
            message.optional(stats.last_ms);
            message.value(&stats.len.into());
            message.flag(stats.closed);
        })
    }

    /// Closes the generator, and writes its snapshot.
    pub fn layout_close(&self, at: At) -> Result<()> {
        let snapshot = self.object(at)?.layout_generator()?.close()?.to_value();
        self.answer(at, |message| message.json(&snapshot))
    }
}
