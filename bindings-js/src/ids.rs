//! IDs: texts, bytes and fields, one file for each family.

mod columns;
mod hotguid;
pub(crate) mod layout;
mod randflake;
mod sno;
mod sparx64;

use polyflake::Result;

use crate::{Host, Machine};

/// IDs that one call converts or makes.
pub(crate) const BATCH: usize = 1024;

/// Figures, as messages.
impl<C: Host> Machine<C> {
    /// -> figures.
    pub fn sno_describe(&self) -> Result<()> {
        self.answer(|message| message.description(&polyflake::sno::describe()))
    }
    /// -> figures.
    pub fn randflake_describe(&self) -> Result<()> {
        self.answer(|message| message.description(&polyflake::randflake::describe()))
    }
    /// -> figures.
    pub fn hotguid_describe(&self) -> Result<()> {
        self.answer(|message| message.description(&polyflake::hotguid::describe()))
    }
}
