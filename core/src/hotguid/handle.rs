//! Handles: each reserves blocks of a generator's slots for one thread, so that threads scale.

use core::{num::NonZeroU32, ops::Deref};

use super::{Generator, HotGuid, family::Identities};
use crate::{
    Result,
    clock::Clock,
    generator::{BLOCK, Blocks, Mode, Pack, handle_calls, handles, holds},
};

/// Makes IDs of a shared [`Generator`] for one thread. Slots that it reserved in a second and did not use by its end are lost.
///
/// Its IDs are in order as long as a block lasts and the counter does not pass its end; IDs of different handles mix.
///
/// It cannot be cloned, since a handle and its clone would both give out the rest of the block:
///
/// ```compile_fail
/// let ids = polyflake::hotguid::Generator::new();
/// let twin = ids.handle().clone();
/// ```
#[derive(Debug)]
#[repr(align(128))] // Written with every ID: two side by side would share a cache line and slow each other down.
pub struct Handle<G> {
    generator: G,
    blocks: Blocks<Identities>,
}

impl<C: Clock> Generator<C> {
    handles!(
        "use polyflake::hotguid::Generator;\n\n\
         let ids = Generator::new();",
        7
    );
}

impl<G> Handle<G> {
    holds!(
        "use polyflake::hotguid::{Generator, Handle};\n\n\
         let ids = Generator::new();";);
}

impl<C: Clock, G: Deref<Target = Generator<C>>> Handle<G> {
    handle_calls!(HotGuid, shard_key: u32 = 7;
        "use polyflake::hotguid::Generator;\n\n\
         let ids = Generator::new();");
}
