//! Objects that JavaScript refers to by handle until it garbage-collects their owners.
//!
//! A handle is an index into the machine's list, so a call passes it as a number. Each entry is an `Rc`, because a call may
//! invoke a caller's clock, and the clock may make further calls. The list is not borrowed while the clock runs, and the
//! call's own reference keeps its object alive.

use alloc::rc::Rc;

use polyflake::{Error, ErrorKind, Result};

use crate::{Host, Machine, ScratchRef, protocol::register, turns::SuspendedCall};

/// Declares the kinds of objects, with an accessor for each. The generators of all ID formats come first, then the other
/// objects. `$` is the dollar sign in the declared macro.
macro_rules! objects {
    (
        $d:tt generators {
            $($(#[$cfg:meta])? $name:ident: $generator:ident($object:ty),)*
        }
        $($others:tt)*
    ) => {
        objects! {
            $($(#[$cfg])? $name: $generator($object),)*
            $($others)*
        }

        /// Evaluates an expression with the generator that an object contains. The generator may be of any ID format.
        macro_rules! with_generator {
            ($d object:expr, $d generator:ident => $d run:expr) => {
                match &*$d object {
                    $($(#[$cfg])? Object::$generator($d generator) => $d run,)*
                    _ => Err(released_handle_error()),
                }
            };
        }
        pub(crate) use with_generator;
    };
    ($($(#[$cfg:meta])? $name:ident: $kind:ident($object:ty),)*) => {
        /// An object behind a handle.
        #[allow(clippy::large_enum_variant, reason = "each is allocated separately, in an `Rc`")]
        pub(crate) enum Object<C: Host> {$(
            $(#[$cfg])?
            $kind($object),
        )*}

        impl<C: Host> Object<C> {$(
            $(#[$cfg])?
            #[inline]
            pub(crate) fn $name(&self) -> Result<&$object> {
                if let Self::$kind(object) = self { Ok(object) } else { Err(released_handle_error()) }
            }
        )*}
    };
}

objects! {
    $ generators {
        #[cfg(feature = "sno")]
        sno: Sno(C::Shared<polyflake::sno::Generator<C>>),
        #[cfg(feature = "randflake")]
        randflake: Randflake(crate::randflake::RandflakeGenerator<C>),
        #[cfg(feature = "hotguid")]
        hotguid: HotGuid(polyflake::hotguid::Generator<C>),
        #[cfg(feature = "layout")]
        layout_generator: LayoutGenerator(C::Shared<polyflake::layout::Generator<C>>),
        #[cfg(feature = "uuid7")]
        uuid7: Uuid7(C::Shared<polyflake::uuid7::Generator<C>>),
    }
    #[cfg(feature = "randflake")]
    codec: Codec(polyflake::randflake::Codec),
    #[cfg(feature = "randflake")]
    cipher: Cipher(polyflake::sparx64::Sparx64),
    #[cfg(feature = "layout")]
    layout: Layout(polyflake::layout::Layout),
    #[cfg(feature = "public")]
    public_ids: PublicIds(polyflake::public::Keyring),
    #[cfg(feature = "public")]
    public_type: PublicType(crate::public::PublicType<C>),
    waiting: Waiting(SuspendedCall),
}

/// Operations on objects of any type. Each operation also reads a handle.
impl<C: Host> Machine<C> {
    /// Drops the object behind a handle. The handle may then be reused.
    pub fn release(&self, at: ScratchRef) -> Result<()> {
        let place = at.read_usize(register::HANDLE);
        // Clear the cached object as well. Otherwise it would outlive its handle.
        let _last = self.last.take();
        let released = self.handles.borrow_mut().get_mut(place).and_then(Option::take);
        // Drop the object last, because dropping a clock may run code that calls back into the machine.
        drop(released);
        Ok(())
    }

    /// Sets the clock for the next generator that is built.
    pub fn set_clock(&self, clock: C) {
        self.clock.replace(Some(clock));
    }

    /// Returns the clock for the generator that is being built: the clock that was set, or the system clock if none was
    /// set. Also returns the options by which the generator is shared with other threads.
    pub(crate) fn take_clock(&self) -> (C, C::SharingKey) {
        let mut clock = self.clock.take().unwrap_or_else(C::system);
        let key = clock.take_sharing_key();
        (clock, key)
    }

    /// Returns the object whose handle is in a call's arguments.
    ///
    /// This is usually the object of the previous call, which is cached. The processor can predict that the handle matches
    /// the cached one and continue speculatively, whereas a lookup in the list is a chain of dependent loads. Handles are
    /// compared as bits, which avoids converting a float.
    #[inline]
    pub(crate) fn object(&self, at: ScratchRef) -> Result<Rc<Object<C>>> {
        let handle = at.raw_bits(register::HANDLE);
        match &*self.last.borrow() {
            Some((last, object)) if *last == handle => return Ok(object.clone()),
            _ => {}
        }
        let object = self.find_object(at.read_usize(register::HANDLE))?;
        self.last.replace(Some((handle, object.clone())));
        Ok(object)
    }

    /// Returns the object behind a handle.
    #[inline(never)]
    pub(crate) fn find_object(&self, handle: usize) -> Result<Rc<Object<C>>> {
        self.handles.borrow().get(handle).cloned().flatten().ok_or_else(released_handle_error)
    }

    /// Stores an object, and writes its handle.
    pub(crate) fn put_object(&self, at: ScratchRef, thing: Object<C>) {
        at.put_number(register::HANDLE, self.insert(thing));
    }

    #[allow(clippy::cast_precision_loss, reason = "no memory holds 2^53 objects")]
    fn insert(&self, thing: Object<C>) -> f64 {
        let mut object = self.handles.borrow_mut();
        // Handles are reused, so that the list does not grow without bound on a page that creates and drops many objects.
        let free = object.iter().position(Option::is_none);
        let place = free.unwrap_or(object.len());
        if free.is_none() {
            object.push(None);
        }
        object[place] = Some(Rc::new(thing));
        place as f64
    }
}

#[cold]
pub(crate) fn released_handle_error() -> Error {
    Error::new(ErrorKind::GeneratorClosed)
}
