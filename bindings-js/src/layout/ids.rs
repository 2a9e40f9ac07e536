//! Custom layouts: building, describing, packing and parsing.

use alloc::{vec, vec::Vec};

use polyflake::{
    Error, ErrorKind, Result,
    layout::{Batch, Id, Layout, Parsed, Values, preset},
};

use crate::{
    Host, Machine,
    handles::Object,
    message::{Reader, Writer},
    protocol::slot::{layout_kind, layout_range, message, parsed},
};

/// Roles of a value in a message; any other number is a constant.
pub(super) mod role {
    pub(in crate::layout) const TIME: usize = 0;
    pub(in crate::layout) const SEQUENCE: usize = 1;
    pub(in crate::layout) const BINDABLE: usize = 2;
}

/// Fills a batch with IDs, and returns how many it made.
pub(crate) type Fill<'f> = &'f dyn Fn(Batch<'_>) -> Result<usize>;

/// Sets the values of a message, each with a role and a name.
pub(crate) fn set<'v>(values: &mut Values<'v>, mut message: Reader<'v>) -> Result<()> {
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
    /// Writes time and sequence, then the bindables and the constants, each from the most significant field on.
    fn parsed(&mut self, layout: &Layout, parsed: &Parsed<'_>) {
        self.optional(parsed.unix_ms());
        self.optional(layout.sequence().and_then(|slot| parsed.get(slot)).ok());
        for (_, value) in parsed.bindables().chain(parsed.constants()) {
            self.value(&value);
        }
    }
}

/// Layouts, by their handles, with a message. An ID is an integer or a message of its bytes.
impl<C: Host> Machine<C> {
    /// A description -> a handle, 1 if IDs are integers.
    pub fn layout_build(&self) -> Result<()> {
        let message = self.take_message();
        self.keep_layout(Layout::from_value(Reader::new(&message).json())?);
        Ok(())
    }

    /// The name of a preset; names and values of fields that become constants -> a handle, 1 if IDs are integers.
    pub fn layout_preset_build(&self) -> Result<()> {
        let message = self.take_message();
        let mut message = Reader::new(&message);
        let (name, mut fields) = (message.text(), Vec::new());
        while message.has_more() {
            fields.push((message.text(), message.value()));
        }
        self.keep_layout(preset(name, fields)?);
        Ok(())
    }

    fn keep_layout(&self, layout: Layout) {
        let is_integer = layout.is_integer();
        self.put_object(Object::Layout(layout));
        self.scratch.put_number(layout_kind::IS_INTEGER, is_integer.into());
    }

    /// -> the description.
    pub fn layout_description(&self) -> Result<()> {
        let description = self.object()?.layout()?.to_value();
        self.answer(|message| message.json(&description))
    }

    /// -> figures.
    pub fn layout_describe(&self) -> Result<()> {
        let figures = self.object()?.layout()?.describe();
        self.answer(|message| message.description(&figures))
    }

    /// Values -> an ID.
    pub fn layout_pack(&self) -> Result<()> {
        let (object, message) = (self.object()?, self.take_message());
        let mut values = object.layout()?.values();
        set(&mut values, Reader::new(&message))?;
        self.answer_id(&values.pack()?)
    }

    /// An ID, as bytes in a message, or, if the message's length is NaN, as an integer -> its fields.
    pub fn layout_parse(&self) -> Result<()> {
        let (object, is_bytes) = (self.object()?, self.scratch.given(message::LENGTH));
        let id = if is_bytes {
            Id::Bytes(self.take_message())
        } else {
            Id::Integer(self.scratch.bigint(parsed::ID))
        };
        let layout = object.layout()?;
        let parsed = layout.parse(&id)?;
        self.answer(|message| message.parsed(layout, &parsed))
    }

    /// Values, two times -> two IDs in a message.
    pub fn layout_time_range(&self) -> Result<()> {
        let (object, scratch) = (self.object()?, self.scratch);
        let (from, to) = (scratch.time(layout_range::START), scratch.time(layout_range::END));
        let message = self.take_message();
        let mut values = object.layout()?.values();
        set(&mut values, Reader::new(&message))?;
        let (lowest, highest) = values.time_range(from, to)?;
        self.answer(|message| {
            message.id(&lowest);
            message.id(&highest);
        })
    }

    /// Answers with packed IDs. `fill` fills a batch with room for `count` IDs, and returns how many it made.
    pub(crate) fn answer_packed(
        &self,
        layout: &Layout,
        count: usize,
        fill: Fill<'_>,
    ) -> Result<()> {
        if layout.is_integer() {
            let mut ids = vec![0_i64; count];
            let made = fill(ids.as_mut_slice().into())?;
            return self.answer(|message| {
                ids[..made].iter().for_each(|id| message.raw(&id.to_ne_bytes()));
            });
        }
        let length = layout.bits() as usize / 8;
        let mut packed = vec![0; count * length];
        let made = fill(packed.as_mut_slice().into())?;
        self.answer(|message| message.raw(&packed[..made * length]))
    }

    pub(crate) fn answer_id(&self, id: &Id) -> Result<()> {
        match id {
            Id::Integer(id) => {
                self.scratch.put_made(*id);
                Ok(())
            }
            Id::Bytes(id) => self.answer(|message| message.raw(id)),
            // The core has no other type of ID.
            _ => Err(Error::new(ErrorKind::InvalidType)),
        }
    }
}
