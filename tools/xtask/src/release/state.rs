//! Records the completed steps of a rehearsal, so that a resumed rehearsal does not repeat them.
//!
//! A step counts as completed as long as its inputs are unchanged and its outcome is intact. Inputs are compared by hashes
//! of their contents, not by modification times.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
struct CompletedStep {
    inputs: String,
    outcome: Value,
}

pub struct State {
    file: PathBuf,
    done: BTreeMap<String, CompletedStep>,
}

impl State {
    /// Reads the state from a file. If the file is absent or unreadable, no step counts as completed.
    pub fn read(file: PathBuf) -> Self {
        let text = fs::read_to_string(&file).unwrap_or_default();
        Self { file, done: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// Returns the recorded outcome of a step if the step was completed with the same inputs and its outcome is intact.
    /// Otherwise performs the step, and records its outcome immediately, because a later step may fail.
    pub fn run_once<T: Serialize + DeserializeOwned>(
        &mut self,
        step: &str,
        inputs: &str,
        is_intact: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let done = self.done.get(step).filter(|done| done.inputs == inputs);
        let known = done.and_then(|done| serde_json::from_value(done.outcome.clone()).ok());
        if let Some(outcome) = known.filter(is_intact) {
            println!("done before: {step}");
            return Ok(outcome);
        }
        println!("\n== {step} ==");
        let outcome = make()?;
        let done =
            CompletedStep { inputs: inputs.to_owned(), outcome: serde_json::to_value(&outcome)? };
        self.done.insert(step.to_owned(), done);
        fs::write(&self.file, serde_json::to_string_pretty(&self.done)?)?;
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use anyhow::bail;

    use super::*;

    fn temp_file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        (folder, file)
    }

    /// Reads the state from the file again, as a new process would, and runs a step with this state. If the step must be
    /// performed, its outcome is `made`. Returns the step's outcome.
    fn run_with_new_state(
        file: &Path,
        inputs: &str,
        is_intact: bool,
        made: Result<u32>,
    ) -> Result<u32> {
        State::read(file.to_owned()).run_once("step", inputs, |_: &u32| is_intact, || made)
    }

    #[test]
    fn a_step_with_the_same_inputs_is_not_repeated() {
        let (_folder, file) = temp_file();
        assert_eq!(run_with_new_state(&file, "a", true, Ok(1)).unwrap(), 1);
        assert_eq!(run_with_new_state(&file, "a", true, Ok(2)).unwrap(), 1);
    }

    #[test]
    fn a_step_with_other_inputs_is_repeated() {
        let (_folder, file) = temp_file();
        assert_eq!(run_with_new_state(&file, "a", true, Ok(1)).unwrap(), 1);
        assert_eq!(run_with_new_state(&file, "b", true, Ok(2)).unwrap(), 2);
    }

    #[test]
    fn a_step_whose_outcome_was_changed_is_repeated() {
        let (_folder, file) = temp_file();
        assert_eq!(run_with_new_state(&file, "a", true, Ok(1)).unwrap(), 1);
        assert_eq!(run_with_new_state(&file, "a", false, Ok(2)).unwrap(), 2);
    }

    #[test]
    fn a_failed_step_is_repeated() {
        let (_folder, file) = temp_file();
        run_with_new_state(&file, "a", true, Err(anyhow::anyhow!("no"))).unwrap_err();
        assert_eq!(run_with_new_state(&file, "a", true, Ok(2)).unwrap(), 2);
    }

    #[test]
    fn an_unreadable_state_means_that_nothing_was_done() {
        let (_folder, file) = temp_file();
        fs::write(&file, "{").unwrap();
        let step = State::read(file).run_once("step", "a", |_: &u32| true, || bail!("was done"));
        step.unwrap_err();
    }
}
