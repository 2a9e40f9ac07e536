//! Custom layouts: building, describing, packing and parsing.

use alloc::{vec, vec::Vec};

use polyflake::{
    Error, ErrorKind, Result,
    layout::{Batch, Id, Layout, Parsed, Values, preset},
};

use crate::{
    Host, Machine, ScratchRef,
    handles::Object,
    message::{Reader, Writer},
    protocol::register,
};

/// Roles of a value in a message. Any other number stands for a constant.
pub(super) mod role {
    pub(in crate::layout) const TIME: usize = 0;
    pub(in crate::layout) const SEQUENCE: usize = 1;
    pub(in crate::layout) const BINDABLE: usize = 2;
}

/// Fills a batch with IDs, and returns how many IDs it wrote.
pub(crate) type FillBatch<'f> = &'f dyn Fn(Batch<'_>) -> Result<usize>;

/// Sets the values that a message contains. In the message, each value has a role and a name.
pub(crate) fn set_values<'v>(values: &mut Values<'v>, mut message: Reader<'v>) -> Result<()> {
    while message.has_more() {
        let (role, name, value) = (message.length(), message.text(), message.value());
        match role {
            role::TIME => values.time(value),
            role::SEQUENCE => values.sequence(value),
            role::BINDABLE => values.bind(name, value),
            _ => values.constant(name, value),
        }?;
    }
    Ok(())
}

impl Writer {
    /// Writes the time and the sequence, then the bindables, then the constants. Within the bindables and within the
    /// constants, the most significant field comes first.
    fn put_parsed(&mut self, layout: &Layout, parsed: &Parsed<'_>) {
        self.optional(parsed.unix_ms());
        self.optional(layout.sequence().and_then(|field| parsed.get(field)).ok());
        for (_, value) in parsed.bindables().chain(parsed.constants()) {
            self.value(&value);
        }
    }
}

/// Operations on layouts. Each operation reads a message. All operations except those that create a layout also read a
/// handle. An ID is an integer, or a message with the ID's bytes.
impl<C: Host> Machine<C> {
    /// Reads a description. Writes a handle, and 1 if the layout's IDs are integers.
    pub fn layout_build(&self, at: ScratchRef) -> Result<()> {
        let message = self.take_message(at);
        self.store_layout(at, Layout::from_value(Reader::new(&message).json())?);
        Ok(())
    }

    /// Reads the name of a preset, and the names and values of the fields that become constants. Writes a handle, and 1 if
    /// the layout's IDs are integers.
    pub fn layout_preset_build(&self, at: ScratchRef) -> Result<()> {
        let message = self.take_message(at);
        let mut message = Reader::new(&message);
        let (name, mut fields) = (message.text(), Vec::new());
        while message.has_more() {
            fields.push((message.text(), message.value()));
        }
        self.store_layout(at, preset(name, fields)?);
        Ok(())
    }

    fn store_layout(&self, at: ScratchRef, layout: Layout) {
        let is_integer = layout.is_integer();
        self.put_object(at, Object::Layout(layout));
        at.put_number(register::ANSWER, is_integer.into());
    }

    /// Writes the description.
    pub fn layout_description(&self, at: ScratchRef) -> Result<()> {
        let description = self.object(at)?.layout()?.to_value();
        self.answer(at, |message| message.json(&description))
    }

    /// Writes the layout's properties, such as its size, rate and time span.
    pub fn layout_describe(&self, at: ScratchRef) -> Result<()> {
        let figures = self.object(at)?.layout()?.describe();
        self.answer(at, |message| message.description(&figures))
    }

    /// Reads values, and writes an ID.
    pub fn layout_pack(&self, at: ScratchRef) -> Result<()> {
        let (object, message) = (self.object(at)?, self.take_message(at));
        let mut values = object.layout()?.values();
        set_values(&mut values, Reader::new(&message))?;
        self.put_layout_id(at, &values.pack()?)
    }

    /// Reads an ID, either as bytes in a message or, if the message's length is NaN, as an integer. Writes its fields.
    pub fn layout_parse(&self, at: ScratchRef) -> Result<()> {
        let (object, is_bytes) = (self.object(at)?, !at.number(register::LENGTH).is_nan());
        let id = if is_bytes {
            Id::Bytes(self.take_message(at))
        } else {
            Id::Integer(at.bigint(register::VALUE))
        };
        let layout = object.layout()?;
        let parsed = layout.parse(&id)?;
        self.answer(at, |message| message.put_parsed(layout, &parsed))
    }

    /// Reads values, a start time and an end time. Writes a message with the lowest and the highest ID in the time range.
    pub fn layout_time_range(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let (from, to) = (at.time(register::VALUE), at.time(register::VALUE + 1));
        let message = self.take_message(at);
        let mut values = object.layout()?.values();
        set_values(&mut values, Reader::new(&message))?;
        let (lowest, highest) = values.time_range(from, to)?;
        self.answer(at, |message| {
            message.id(&lowest);
            message.id(&highest);
        })
    }

    /// Writes packed IDs. `fill` receives a batch with room for `count` IDs, writes new IDs into it, and returns their
    /// number.
    pub(crate) fn put_packed_ids(
        &self,
        at: ScratchRef,
        layout: &Layout,
        count: usize,
        fill: FillBatch<'_>,
    ) -> Result<()> {
        if layout.is_integer() {
            let mut ids = vec![0_i64; count];
            let made = fill(ids.as_mut_slice().into())?;
            return self.answer(at, |message| {
                ids[..made].iter().for_each(|id| message.raw(&id.to_ne_bytes()));
            });
        }
        let length = layout.bits() as usize / 8;
        let mut packed = vec![0; count * length];
        let made = fill(packed.as_mut_slice().into())?;
        self.answer(at, |message| message.raw(&packed[..made * length]))
    }

    pub(crate) fn put_layout_id(&self, at: ScratchRef, id: &Id) -> Result<()> {
        match id {
            Id::Integer(id) => {
                at.put_integer_id(*id);
                Ok(())
            }
            Id::Bytes(id) => self.answer(at, |message| message.raw(id)),
            // The core has no other ID type.
            _ => Err(Error::new(ErrorKind::InvalidType)),
        }
    }
}
