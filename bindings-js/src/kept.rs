//! What JavaScript holds by handle, and releases when it forgets it.

use alloc::{rc::Rc, vec::Vec};

use polyflake::{Error, ErrorKind, Result};

use crate::{Host, Machine, message::Reader, turns::Waiting};

/// Says what there is to keep, and how to get at each kind.
macro_rules! kept {
    ($($(#[$cfg:meta])? $name:ident: $kind:ident($kept:ty),)*) => {
        /// Anything that a handle may stand for.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "each lies in memory of its own")]
        pub(crate) enum Kept<C> {$(
            $(#[$cfg])?
            $kind($kept),
        )*}

        impl<C> Kept<C> {$(
            $(#[$cfg])?
            #[inline]
            pub(crate) fn $name(&self) -> Result<&$kept> {
                if let Self::$kind(kept) = self { Ok(kept) } else { Err(gone()) }
            }
        )*}
    };
}

kept! {
    #[cfg(feature = "sno")]
    sno: Sno(polyflake::sno::Generator<C>),
    #[cfg(feature = "randflake")]
    randflake: Randflake(crate::randflake::Flakes<C>),
    #[cfg(feature = "randflake")]
    codec: Codec(polyflake::randflake::Codec),
    #[cfg(feature = "randflake")]
    cipher: Cipher(polyflake::sparx64::Sparx64),
    #[cfg(feature = "hotguid")]
    hotguid: HotGuid(polyflake::hotguid::Generator<C>),
    #[cfg(feature = "layout")]
    layout: Layout(polyflake::layout::Layout),
    #[cfg(feature = "layout")]
    layout_generator: LayoutGenerator(polyflake::layout::Generator<C>),
    waiting: Waiting(Waiting),
}

/// Handles are in the first slot.
impl<C: Host> Machine<C> {
    /// Forgets what a handle stands for; it may be given out again.
    pub fn release(&self) -> Result<()> {
        let place = self.scratch.length();
        let _last = self.last.take();
        let released = self.kept.borrow_mut().get_mut(place).and_then(Option::take);
        // Only now, since the clock's end may run code that comes back here.
        drop(released);
        Ok(())
    }

    /// Sets the clock of the generator that is built next.
    pub fn set_clock(&self, clock: C) {
        self.clock.replace(Some(clock));
    }

    /// The clock of the generator that is being built: the system's, if no other was set.
    pub(crate) fn take_clock(&self) -> C {
        self.clock.take().unwrap_or_else(C::system)
    }

    /// What the handle in the first slot stands for.
    ///
    /// Mostly that of the call before: the processor guesses so, and goes on before it knows.
    #[inline]
    pub(crate) fn kept(&self) -> Result<Rc<Kept<C>>> {
        match &*self.last.borrow() {
            Some((handle, kept)) if *handle == self.scratch.bigint(0) => return Ok(kept.clone()),
            _ => {}
        }
        let kept = self.kept_at(0)?;
        self.last.replace(Some((self.scratch.bigint(0), kept.clone())));
        Ok(kept)
    }

    /// What the handle in another slot stands for.
    #[inline(never)]
    pub(crate) fn kept_at(&self, slot: usize) -> Result<Rc<Kept<C>>> {
        self.kept_by(self.scratch.place(slot))
    }

    /// What the handles in a message stand for.
    pub(crate) fn kept_in_message(&self) -> Result<Vec<Rc<Kept<C>>>> {
        let message = self.take_message();
        let mut handles = Reader::new(&message);
        let mut all = Vec::new();
        while handles.has_more() {
            all.push(self.kept_by(handles.length())?);
        }
        Ok(all)
    }

    fn kept_by(&self, handle: usize) -> Result<Rc<Kept<C>>> {
        self.kept.borrow().get(handle).cloned().flatten().ok_or_else(gone)
    }

    /// Keeps a thing and gives its handle.
    #[allow(clippy::cast_precision_loss, reason = "there is no memory for 2^53 of them")]
    pub(crate) fn keep(&self, thing: Kept<C>) {
        let mut kept = self.kept.borrow_mut();
        let free = kept.iter().position(Option::is_none);
        let place = free.unwrap_or(kept.len());
        if free.is_none() {
            kept.push(None);
        }
        kept[place] = Some(Rc::new(thing));
        self.scratch.put_numbers([place as f64]);
    }
}

#[cold]
pub(crate) fn gone() -> Error {
    Error::new(ErrorKind::GeneratorClosed)
}
