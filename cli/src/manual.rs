//! `polyflake man`: one page that documents every command and its options.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;

/// Returns the manual page in roff. It is a single page, because a program that is distributed as one binary has no
/// installer to install a separate page for each command.
pub(crate) fn page(mut command: Command, examples: &str) -> io::Result<Vec<u8>> {
    command.build();
    let whole = Man::new(command.clone());
    let mut page = Vec::new();
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    whole.render_synopsis_section(&mut page)?;
    whole.render_description_section(&mut page)?;
    whole.render_options_section(&mut page)?;
    for of in command.get_subcommands() {
        write_sections(of, &mut page)?;
    }
    let examples =
        examples.trim_start_matches("Examples:\n").replace('-', "\\-").replace('\'', "\\(aq");
    write!(page, ".SH EXAMPLES\n.nf\n{examples}.fi\n")?;
    whole.render_extra_section(&mut page)?;
    whole.render_version_section(&mut page)?;
    Ok(page)
}

/// Writes the section for a command, or the sections for its subcommands.
fn write_sections(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    if command.get_name() == "help" {
        return Ok(());
    }
    if command.has_subcommands() {
        return command.get_subcommands().try_for_each(|of| write_sections(of, page));
    }
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    let text = String::from_utf8_lossy(&text).replace(".SH ", ".SS ");
    write!(page, ".SH \"{}\"\n{text}", name.to_uppercase())
}
