//! The colors for field roles.

use anstyle::{AnsiColor, Style};
use polyflake_inspect::Role;

pub(crate) const TITLE: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

pub(crate) fn style(role: Role) -> Style {
    match role {
        Role::Time => AnsiColor::Cyan.on_default(),
        Role::TypeTag | Role::ShardKey | Role::KeyVersion => AnsiColor::Magenta.on_default(),
        Role::WorkerId => AnsiColor::Yellow.on_default(),
        Role::Sequence => AnsiColor::Green.on_default(),
        Role::Encrypted => AnsiColor::Red.on_default(),
        Role::Fixed => Style::new().dimmed(),
        _ => AnsiColor::Blue.on_default(),
    }
}
