//! The program `polyflake`: recognizes and generates IDs, describes layouts, and manages leases.
//!
//! Data goes to standard output, messages to standard error.

mod failure;
mod inspect;
mod layout;
mod lease;
mod lines;
mod make;
mod manual;
mod paint;
mod serve;
mod sql;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  polyflake inspect 175928847299117063          which system made this ID, and when?
  polyflake inspect --json < ids.txt            a line of JSON for each line
  polyflake new sno --metabyte 7                an ID with the type tag 7
  polyflake new discord -n 3 --bind worker=1 --bind process=0
  polyflake layout describe twitter             fields, capacity, last day
";

const EXIT_CODES: &str = "\
Exit status: 0, done; 1, rejected or failed, with a code and the reason on standard error; 2, a mistake in the arguments.

Colors follow NO_COLOR, CLICOLOR_FORCE and --color.";

/// Recognizes IDs of any format, generates new ones, and manages leases of worker IDs.
#[derive(Parser)]
#[command(name = "polyflake", version, before_help = EXAMPLES, after_help = EXIT_CODES, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    color: colorchoice_clap::Color,
}

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    New(make::Arguments),
    Layout(layout::Arguments),
    /// Prints an SQL file with functions for a database.
    ///
    /// Load a file for PostgreSQL with `polyflake sql polyflake.sql | psql -1`. Functions for your own layouts are printed by
    /// `polyflake layout sql`.
    Sql {
        #[arg(value_enum)]
        file: sql::File,
    },
    Lease(lease::Arguments),
    /// Prints the completions for a shell.
    Completions {
        shell: clap_complete::Shell,
    },
    /// Prints the manual page in roff.
    Man,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(inspect::mark_hyphens(std::env::args_os()));
    arguments.color.write_global();
    let done = match arguments.command {
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::New(arguments) => make::run(&arguments),
        Command::Layout(arguments) => layout::run(&arguments),
        Command::Sql { file } => sql::text(file).and_then(|text| failure::print(text.as_bytes())),
        Command::Lease(arguments) => lease::run(&arguments),
        Command::Completions { shell } => {
            let mut written = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "polyflake", &mut written);
            failure::print(&written)
        }
        Command::Man => manual::page(Arguments::command(), EXAMPLES)
            .map_err(Failure::from)
            .and_then(|page| failure::print(&page)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
