//! The output of a host: one line for each chunk of IDs that a thread generated.
//!
//! | line | meaning |
//! |---|---|
//! | `?` | The library is loaded. The host waits for a line before it creates the generator. |
//! | `# GENERATOR THREAD BEGIN END WALL_BEGIN WALL_END ID...` | A chunk with its clock readings. |
//! | `! MESSAGE` | A call failed. |
//! | `.` | The process generates no further IDs. |
//!
//! `BEGIN` and `END` are readings of the monotonic clock, and `WALL_BEGIN` and `WALL_END` are readings of the wall clock,
//! all in nanoseconds. `GENERATOR` is 0 in the process that was started. The copies of that process are numbered from 1. If
//! each thread has a separate generator, `GENERATOR` is the number of the thread, counted from 0. A line has at most 4,096
//! bytes and is written with a single write, so that lines of several writers never mix. If a process is killed, it has
//! written each line either completely or not at all.

use anyhow::{Context, Result, bail};

/// A line that a host prints.
#[derive(Debug, PartialEq)]
pub enum Line<'t> {
    /// The host waits for a line of input.
    Ready,
    /// IDs from one thread.
    Chunk(Chunk<'t>),
    /// The message of a call that failed.
    Error(&'t str),
    /// The last line that a process prints.
    End,
}

/// IDs from one thread, in the order in which it generated them.
#[derive(Debug, PartialEq)]
pub struct Chunk<'t> {
    /// The number of the process copy that generated the IDs.
    pub generator: u32,
    /// The number of the thread within that copy.
    pub thread: u32,
    /// Readings of the monotonic clock before the first ID and after the last one.
    pub span: Option<[u64; 2]>,
    /// Readings of the wall clock before the first ID and after the last one.
    pub wall: Option<[u64; 2]>,
    /// The IDs.
    pub ids: Vec<&'t str>,
}

impl<'t> Line<'t> {
    /// Parses a line that a host printed.
    pub fn parse_host_line(line: &'t str) -> Result<Self> {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        Ok(match first {
            "?" => Self::Ready,
            "." => Self::End,
            "!" => Self::Error(rest),
            "#" => Self::Chunk(chunk(rest).with_context(|| format!("not a chunk: {line}"))?),
            _ => bail!("expected a line of a host, found {line:?} (--lines reads IDs only)"),
        })
    }

    /// Parses a line from a command that prints one ID per line.
    #[must_use]
    pub fn parse_id_line(line: &'t str) -> Self {
        let ids = vec![line.trim()];
        Self::Chunk(Chunk { generator: 0, thread: 0, span: None, wall: None, ids })
    }
}

fn chunk(text: &str) -> Result<Chunk<'_>> {
    let mut words = text.split(' ');
    let mut number = || -> Result<u64> { Ok(words.next().context("too short")?.parse()?) };
    let [generator, thread] = [number()?, number()?];
    let (span, wall) = ([number()?, number()?], [number()?, number()?]);
    let [generator, thread] = [generator.try_into()?, thread.try_into()?];
    Ok(Chunk { generator, thread, span: Some(span), wall: Some(wall), ids: words.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_lines_are_parsed() {
        let chunk = Chunk {
            generator: 1,
            thread: 2,
            span: Some([3, 4]),
            wall: Some([5, 6]),
            ids: vec!["a", "b"],
        };
        assert_eq!(Line::parse_host_line("# 1 2 3 4 5 6 a b").unwrap(), Line::Chunk(chunk));
        assert_eq!(Line::parse_host_line("! it failed").unwrap(), Line::Error("it failed"));
        assert_eq!(Line::parse_host_line("?").unwrap(), Line::Ready);
        assert_eq!(Line::parse_host_line(".").unwrap(), Line::End);
        for wrong in ["", "# 1 2 3 4 5", "# 1 2 3 4 5 x a", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            assert!(Line::parse_host_line(wrong).is_err(), "{wrong}");
        }
    }
}
