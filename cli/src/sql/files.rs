//! `polyflake sql`: the SQL files for formats and known services, and for functions with secrets.
//!
//! `crates/sql` contains what this module prints. Each file consists of a part in the folder `files` and of functions that
//! are written like those of a layout, so that both read an ID by the same expressions.

use polyflake::layout::{PRESETS, preset};

use super::{
    Failure, Table, VERSION, duckdb,
    formats::{ALIASES, Preset, preset_names},
    postgresql, sqlite,
};

/// An SQL file.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum File {
    /// Reads IDs in PostgreSQL
    #[value(name = "polyflake.sql")]
    Postgresql,
    /// Reads IDs in `DuckDB`
    #[value(name = "polyflake.duckdb.sql")]
    Duckdb,
    /// Reads IDs in SQLite
    #[value(name = "polyflake.sqlite.sql")]
    Sqlite,
    /// Decrypts Randflakes in PostgreSQL
    #[value(name = "randflake.sql")]
    Randflake,
    /// Encodes and decodes public IDs in PostgreSQL
    #[value(name = "public.sql")]
    Public,
}

/// The cipher of Randflakes and public IDs.
const CIPHER: &str = include_str!("files/cipher.sql");

/// Returns the content of a file.
pub(crate) fn text(file: File) -> Result<String, Failure> {
    let (name, template) = match file {
        File::Postgresql => ("polyflake.sql", include_str!("files/polyflake.sql")),
        File::Duckdb => ("polyflake.duckdb.sql", include_str!("files/polyflake.duckdb.sql")),
        File::Sqlite => ("polyflake.sqlite.sql", include_str!("files/polyflake.sqlite.sql")),
        File::Randflake => ("randflake.sql", include_str!("files/randflake.sql")),
        File::Public => ("public.sql", include_str!("files/public.sql")),
    };
    let presets = presets()?;
    let names = preset_names(&presets);
    // The comment at the top ends at the first empty line.
    let (head, own) = template.split_once("\n\n").unwrap_or((template.trim_end(), ""));
    let (title, rest) = head.split_once("\n--\n").unwrap_or((head, ""));
    let head = format!("{title}\n-- Written by `polyflake sql {name}` {VERSION}.\n--\n{rest}\n");
    let own = own
        .replace("{presets}", &names.join(", "))
        .replace("{quoted presets}", &format!("'{}'", names.join("', '")));
    let with_cipher = |schema| {
        let definitions = own.replace("{cipher}", &CIPHER.replace("{schema}", schema));
        postgresql::secret_script(&head, schema, &definitions)
    };
    match file {
        File::Postgresql => Ok(postgresql::formats_file(&head, &own, &presets)),
        File::Duckdb => Ok(duckdb::formats_file(&head, &own, &presets)),
        File::Sqlite => sqlite::formats_file(&head, &presets),
        File::Randflake => Ok(with_cipher("randflake")),
        File::Public => Ok(with_cipher("polyflake_public")),
    }
}

fn presets() -> Result<Vec<Preset>, Failure> {
    let read = |name: &&'static str| {
        let aliases = ALIASES.iter().filter(|(of, _)| of == name).map(|(_, alias)| *alias);
        let names = [*name].into_iter().chain(aliases).collect();
        Ok(Preset { names, table: Table::new(&preset(name, [])?, name)? })
    };
    PRESETS.iter().map(read).collect()
}
