//! Runs traces of a generator with a scripted clock. A trace is a list of steps, and each format defines its own steps.
//!
//! The generator calls the clock, which may itself run steps. Therefore, all steps hold shared references to one [`Stage`],
//! which contains the current generator and a frame of clock readings for each call in progress.

use std::{
    cell::RefCell,
    rc::{Rc, Weak},
    time::Duration,
};

use polyflake::{
    Error, ErrorKind, OnExhausted,
    clock::{Clock, nanos_from_ms},
};
use serde_json::{Value, json};

use crate::{
    answer_reply,
    args::{Answer, Failure, integer, optional_integer},
};

/// A generator that can run the steps of a trace.
pub(crate) trait TracedGenerator: Sized + 'static {
    /// Returns the generator for a trace's options.
    fn build(options: &Value, clock: ScriptedClock) -> Result<Self, Failure>;

    /// Runs a step, and returns its answer. A step that replaces the generator does so through `stage`.
    fn call(&self, step: &Value, stage: &Rc<Stage<Self>>) -> Answer;
}

/// Builds a generator, runs all steps of a trace, and returns their answers.
pub(crate) fn run<G: TracedGenerator>(options: &Value) -> Answer {
    let stage = Rc::new(Stage::<G> {
        options: options.clone(),
        generator: RefCell::default(),
        frames: RefCell::default(),
    });
    stage.replace(G::build(options, stage.clock())?);
    let steps = options["steps"].as_array().into_iter().flatten();
    let answers: Vec<_> = steps.map(|step| stage.step(step)).collect();
    Ok(json!({ "steps": answers }))
}

/// The state shared by the steps of a trace.
pub(crate) struct Stage<G> {
    pub(crate) options: Value,
    generator: RefCell<Option<Rc<G>>>,
    frames: RefCell<Vec<Frame>>,
}

/// A call in progress: its clock readings, and the steps to run when the clock is read for the second time.
struct Frame {
    readings: Vec<Value>,
    read: usize,
    inside: Vec<Value>,
    answers: Vec<Value>,
}

/// The scripted clock of a stage.
pub(crate) struct ScriptedClock(Weak<dyn ReadingSource>);

/// The interface through which [`ScriptedClock`] gets a stage's clock readings.
trait ReadingSource {
    fn read(self: Rc<Self>) -> polyflake::Result<i64>;
}

impl Clock for ScriptedClock {
    fn unix_nanos(&self) -> polyflake::Result<i64> {
        self.0.upgrade().ok_or(Error::new(ErrorKind::ClockFailed))?.read()
    }

    fn sleep(&self, _nanos: u64) -> polyflake::Result<()> {
        Ok(())
    }
    fn info(&self) -> polyflake::clock::ClockInfo {
        polyflake::clock::ClockInfo::new().for_tests(true)
    }
}

impl<G: TracedGenerator> ReadingSource for Stage<G> {
    fn read(self: Rc<Self>) -> polyflake::Result<i64> {
        let inside = self.next_read_steps();
        if !inside.is_empty() {
            let answers = inside.iter().map(|step| self.step(step)).collect();
            self.with_current_frame(|frame| frame.answers = answers);
        }
        self.with_current_frame(|frame| frame.current_reading())
    }
}

impl<G: TracedGenerator> Stage<G> {
    pub(crate) fn clock(self: &Rc<Self>) -> ScriptedClock {
        let stage = Rc::downgrade(self);
        ScriptedClock(stage)
    }

    /// Replaces the stage's generator.
    pub(crate) fn replace(&self, generator: G) {
        self.generator.replace(Some(Rc::new(generator)));
    }

    /// Runs a step. While the step runs, the clock returns the step's readings.
    fn step(self: &Rc<Self>, step: &Value) -> Value {
        let generator =
            self.generator.borrow().clone().expect("a trace has a generator while it runs");
        self.frames.borrow_mut().push(Frame::new(step));
        let mut answer = answer_reply(generator.call(step, self));
        let frame = self.frames.borrow_mut().pop().expect("each step pops just its own frame");
        if !step["inside"].is_null() {
            answer["inside"] = frame.answers.into();
        }
        answer
    }

    /// Counts a read of the clock. If it is the call's second read, returns the steps to run during this read.
    fn next_read_steps(&self) -> Vec<Value> {
        self.with_current_frame(|frame| {
            frame.read += 1;
            if frame.read == 2 { std::mem::take(&mut frame.inside) } else { Vec::new() }
        })
    }

    fn with_current_frame<T>(&self, look: impl FnOnce(&mut Frame) -> T) -> T {
        look(self.frames.borrow_mut().last_mut().expect("the clock is read only during a step"))
    }
}

impl Frame {
    fn new(step: &Value) -> Self {
        let list = |name: &str| step[name].as_array().cloned().unwrap_or_default();
        Self { readings: list("clock"), read: 0, inside: list("inside"), answers: Vec::new() }
    }

    /// Returns the current clock reading. Once the readings run out, the last one is repeated forever. If a reading is not
    /// a valid time, the clock fails.
    fn current_reading(&self) -> polyflake::Result<i64> {
        let reading = self.readings.get(self.read - 1).or(self.readings.last());
        let unix_ms = reading.and_then(Value::as_str).and_then(|text| text.parse().ok());
        nanos_from_ms(unix_ms.ok_or(Error::new(ErrorKind::ClockFailed))?)
    }
}

/// Returns the trace's `window` in Unix milliseconds, if it has one.
pub(crate) fn window(options: &Value) -> Result<Option<(i64, i64)>, Failure> {
    integer_pair(options, "window")
}

/// Returns the two integers of an optional argument.
pub(crate) fn integer_pair(
    args: &Value,
    name: &'static str,
) -> Result<Option<(i64, i64)>, Failure> {
    let Some(pair) = args[name].as_array() else { return Ok(None) };
    let ends = json!({"start": pair[0], "end": pair[1]});
    Ok(Some((integer(&ends, "start")?, integer(&ends, "end")?)))
}

/// Returns the trace's `on_exhausted`, if it has one.
pub(crate) fn on_exhausted(options: &Value) -> Option<OnExhausted> {
    match options["on_exhausted"].as_str()? {
        "error" => Some(OnExhausted::Error),
        _ => Some(OnExhausted::Wait),
    }
}

/// Returns the trace's `max_wait_ms`, if it has one.
pub(crate) fn max_wait(options: &Value) -> Result<Option<Duration>, Failure> {
    Ok(optional_integer(options, "max_wait_ms")?.map(Duration::from_millis))
}
