//! The program's command-line options.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Result, ensure};
use clap::{Args, Parser};
use idstorm::{
    judge::Format,
    order::Order,
    process::Program,
    results::Results,
    rows,
    storms::{STORMS, Size, Storm},
    time::Time,
};

#[derive(Parser)]
#[command(about = "Runs a generator of IDs through storms, and checks its IDs by four rules")]
enum Options {
    /// List the storms
    List,
    /// Run storms with a host, or with a command that prints one ID per line
    Run(Run),
    /// Run the storms for rows of the table in docs/project/storm.md, and update the table
    Rows(Rows),
    /// Write the table in docs/project/storm.md from the recorded results
    Page,
}

#[derive(Args)]
struct Rows {
    /// The names of files in tests/storm/rows; all by default
    names: Vec<String>,
    /// How often each storm is run
    #[arg(long, default_value_t = 3)]
    runs: u32,
    #[command(flatten)]
    scale: Scale,
}

#[derive(Args)]
struct Run {
    /// Run only these storms; by default, all that the command supports
    #[arg(long = "storm", value_name = "NAME")]
    storms: Vec<String>,
    /// The command prints one ID per line, and nothing else
    #[arg(long)]
    lines: bool,
    /// How IDs are compared: `text` or `number`; if omitted, sorting is not checked
    #[arg(long)]
    order: Option<Order>,
    /// The position of the time in an ID, as `DIGITS:SHIFT:BITS:TICK_US:EPOCH_MS`; for example, `hex:80:48:1000:0` for UUID
    /// v7
    #[arg(long)]
    time: Option<Time>,
    #[command(flatten)]
    scale: Scale,
    /// Let forked children create their own generators
    #[arg(long)]
    renew: bool,
    /// Print the verdicts as one line of JSON
    #[arg(long)]
    json: bool,
    /// The command
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

#[derive(Args)]
struct Scale {
    /// The number of IDs in each storm
    #[arg(long, default_value_t = 20_000)]
    ids: u64,
    /// The number of threads, processes or children
    #[arg(long, default_value_t = 4)]
    width: u64,
    /// The memory for sorting IDs, in MiB
    #[arg(long, default_value_t = 256)]
    memory: usize,
    /// The time limit for a process, in seconds
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// The folder for IDs that do not fit into memory; it needs 8 bytes per ID if the IDs are sorted by time, and up to 50
    /// bytes otherwise
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    folder: PathBuf,
}

impl Scale {
    /// Returns the size of the storms, with `folder` as the folder for their temporary files.
    fn size(&self, folder: PathBuf) -> Size {
        let longest = Duration::from_secs(self.seconds);
        Size { ids: self.ids, width: self.width, memory: self.memory << 20, folder, longest }
    }
}

pub(crate) fn main() -> Result<ExitCode> {
    match Options::parse() {
        Options::List => {
            STORMS.iter().for_each(|storm| println!("{:12}{}", storm.name, storm.what));
            Ok(ExitCode::SUCCESS)
        }
        Options::Run(run) => run.run(),
        Options::Rows(rows) => rows.run(),
        Options::Page => {
            Results::read()?.write()?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl Rows {
    fn run(mut self) -> Result<ExitCode> {
        let folder = tempfile::tempdir_in(&self.scale.folder)?;
        let size = self.scale.size(folder.path().to_owned());
        if self.names.is_empty() {
            self.names = rows::names()?;
        }
        for name in &self.names {
            let found = rows::run(name, &size, self.runs)?;
            // Read the results again, because another process may have recorded other rows in the meantime.
            let mut results = Results::read()?;
            results.set(name, found);
            results.write()?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Run {
    fn run(self) -> Result<ExitCode> {
        let folder = tempfile::tempdir_in(&self.scale.folder)?;
        let size = self.scale.size(folder.path().to_owned());
        let storms = self.storms()?;
        let format = Format { order: self.order, time: self.time };
        let program = Program { command: self.command, is_lines: self.lines, renews: self.renew };
        let mut is_clean = true;
        for storm in storms {
            let verdict = storm.run(&program, &format, &size)?;
            is_clean &= verdict.is_clean();
            if self.json {
                println!("{}", serde_json::json!({ "storm": storm.name, "verdict": verdict }));
            } else {
                println!("{}: {}; {} IDs\n{verdict}", storm.name, storm.what, verdict.ids);
            }
        }
        Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn storms(&self) -> Result<Vec<&'static Storm>> {
        let is_known = |name: &&String| STORMS.iter().any(|storm| storm.name == **name);
        let unknown = self.storms.iter().find(|name| !is_known(name));
        ensure!(unknown.is_none(), "expected the name of a storm (list), found {unknown:?}");
        let is_able = |storm: &&Storm| !self.lines || storm.shape.is_none();
        let is_wanted = |storm: &&Storm| {
            self.storms.is_empty() || self.storms.iter().any(|it| it == storm.name)
        };
        Ok(STORMS.iter().filter(is_able).filter(is_wanted).collect())
    }
}
