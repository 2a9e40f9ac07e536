//! Commands that may run for so long and no longer.

#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::{
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;

/// Runs a command in a group of its own, and returns whether it succeeded; `None` if it did not end in time. Then it is killed with
/// all that it started.
pub fn ends_well(command: &mut Command, longest: Duration) -> Result<Option<bool>> {
    let (mut child, began) = (apart(command).spawn()?, Instant::now());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if began.elapsed() >= longest {
            kill(&mut child)?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Gives a command a group of its own, on systems that have groups.
fn apart(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    command.process_group(0);
    command
}

fn kill(child: &mut Child) -> Result<()> {
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).status()?;
    child.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, longest: Duration) -> Option<bool> {
        ends_well(Command::new("sh").args(["-c", script]), longest).unwrap()
    }

    #[test]
    fn a_command_ends_well_or_not() {
        let long = Duration::from_secs(20);
        assert_eq!((run("exit 0", long), run("exit 3", long)), (Some(true), Some(false)));
    }

    #[test]
    fn a_command_without_an_end_is_killed_with_all_that_it_started() {
        let folder = std::env::temp_dir().join(format!("polyflake-limit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("alive");
        // A process of the process: it would write the file a second later.
        let script = format!("(sleep 1; touch '{}') & wait; sleep 60", file.display());
        let began = Instant::now();
        assert_eq!(run(&script, Duration::from_millis(300)), None);
        assert!(began.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(1500));
        assert!(!file.exists());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
