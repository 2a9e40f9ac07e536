//! A sno generator under a scripted clock, step by step.
//!
//! The clock is called from inside the generator and may itself take steps, so everything that steps share lies in a
//! [`Stage`] behind shared references: the generator of now, and a frame of readings for each call in progress.

use std::{
    cell::RefCell,
    rc::{Rc, Weak},
    time::Duration,
};

use polyflake::{
    Error, ErrorKind,
    clock::Clock,
    sno::{Builder, Generator, OnExhausted, Snapshot, Sno},
};
use serde_json::{Value, json};

use crate::{
    args::{Answer, Failure, integer, maybe, text},
    ids, outcome,
};

type Scripted = Generator<Script>;

/// What the steps of one trace share.
#[derive(Default)]
struct Stage {
    generator: RefCell<Option<Rc<Scripted>>>,
    frames: RefCell<Vec<Frame>>,
    options: Value,
}

/// One call in progress: its readings, and the steps to take when the clock is read for the second time.
struct Frame {
    readings: Vec<Value>,
    read: usize,
    inside: Vec<Value>,
    answers: Vec<Value>,
}

/// The clock of a stage.
struct Script(Weak<Stage>);

impl Clock for Script {
    fn unix_nanos(&self) -> polyflake::Result<i64> {
        let stage = self.0.upgrade().ok_or(Error::new(ErrorKind::ClockFailed))?;
        stage.read_clock()
    }

    fn sleep(&self, _nanos: u64) -> polyflake::Result<()> {
        Ok(())
    }
}

pub(crate) fn run(args: &Value) -> Answer {
    let stage = Rc::new(Stage { options: args.clone(), ..Stage::default() });
    let builder = stage.builder(args["config"].is_null())?;
    let generator = match snapshot(&args["config"])? {
        None => builder.build(),
        Some(snapshot) if args["original"] == true => builder.import_original(snapshot),
        Some(snapshot) => builder.restore(snapshot),
    };
    stage.generator.replace(Some(Rc::new(generator?)));
    let steps = args["steps"].as_array().into_iter().flatten();
    let answers: Vec<_> = steps.map(|step| stage.step(step)).collect();
    Ok(json!({ "steps": answers }))
}

fn snapshot(config: &Value) -> Result<Option<Snapshot>, Failure> {
    serde_json::from_value(config.clone()).map_err(|error| Failure::Unexpected(error.to_string()))
}

impl Stage {
    /// The options of the trace; a snapshot has its own partition and bounds.
    fn builder(self: &Rc<Self>, fresh: bool) -> Result<Builder<Script>, Failure> {
        let options = &self.options;
        let mut builder = Generator::builder().clock(Script(Rc::downgrade(self)));
        if fresh {
            if let Some(partition) = maybe::<u16>(options, "partition")? {
                builder = builder.partition(partition);
            }
            if let Some(min) = maybe(options, "sequence_min")? {
                builder = builder.sequence_min(min);
            }
            if let Some(max) = maybe(options, "sequence_max")? {
                builder = builder.sequence_max(max);
            }
        }
        if let Some(window) = options["window"].as_array() {
            let window = json!({"start": window[0], "end": window[1]});
            builder = builder.window(integer(&window, "start")?, integer(&window, "end")?);
        }
        if let Some(ms) = maybe(options, "max_wait_ms")? {
            builder = builder.max_wait(Duration::from_millis(ms));
        }
        match options["on_exhausted"].as_str() {
            Some("error") => Ok(builder.on_exhausted(OnExhausted::Error)),
            _ => Ok(builder.on_exhausted(OnExhausted::Wait)),
        }
    }

    /// Takes a step: its readings are the clock's until it ends.
    fn step(self: &Rc<Self>, step: &Value) -> Value {
        self.frames.borrow_mut().push(Frame::new(step));
        let mut answer = outcome(self.call(step));
        let frame = self.frames.borrow_mut().pop().expect("each step pops just its own frame");
        if !step["inside"].is_null() {
            answer["inside"] = frame.answers.into();
        }
        answer
    }

    fn call(self: &Rc<Self>, step: &Value) -> Answer {
        let generator =
            self.generator.borrow().clone().expect("a trace has a generator while it runs");
        match text(step, "op")? {
            "generate" => generate(&generator, step),
            "generate_at" => Ok(ids::hex(
                generator.generate_at(integer(step, "unix_ms")?, integer(step, "metabyte")?)?,
            )
            .into()),
            "stats" => stats(&generator),
            "extend_window" => generator
                .extend_window(integer(step, "end_ms")?)
                .map(|()| Value::Null)
                .map_err(Failure::from),
            "close" => written(&generator.close()?),
            "restore" => self.restore(&generator),
            _ => Err(Failure::UnknownOp),
        }
    }

    /// Closes the generator, and goes on with one from its snapshot, which has been JSON in between.
    fn restore(self: &Rc<Self>, generator: &Scripted) -> Answer {
        let closed = written(&generator.close()?)?;
        let snapshot = snapshot(&closed)?.expect("a snapshot is not null");
        let restored = self.builder(false)?.restore(snapshot)?;
        self.generator.replace(Some(Rc::new(restored)));
        Ok(closed)
    }

    fn read_clock(self: &Rc<Self>) -> polyflake::Result<i64> {
        let inside = self.next_reading();
        if !inside.is_empty() {
            let answers = inside.iter().map(|step| self.step(step)).collect();
            self.top(|frame| frame.answers = answers);
        }
        self.top(|frame| frame.shown())
    }

    /// Counts a reading; the second one brings the steps to take inside it.
    fn next_reading(&self) -> Vec<Value> {
        self.top(|frame| {
            frame.read += 1;
            if frame.read == 2 { std::mem::take(&mut frame.inside) } else { Vec::new() }
        })
    }

    fn top<T>(&self, look: impl FnOnce(&mut Frame) -> T) -> T {
        look(self.frames.borrow_mut().last_mut().expect("the clock is read only during a step"))
    }
}

impl Frame {
    fn new(step: &Value) -> Self {
        let list = |name: &str| step[name].as_array().cloned().unwrap_or_default();
        Self { readings: list("clock"), read: 0, inside: list("inside"), answers: Vec::new() }
    }

    /// The reading of now, the last one for ever.
    fn shown(&self) -> polyflake::Result<i64> {
        let reading = self.readings.get(self.read - 1).or(self.readings.last());
        let unix_ms = reading.and_then(Value::as_str).and_then(|text| text.parse().ok());
        polyflake::clock::nanos_from_ms(unix_ms.ok_or(Error::new(ErrorKind::ClockFailed))?)
    }
}

fn generate(generator: &Scripted, step: &Value) -> Answer {
    let metabyte = integer(step, "metabyte")?;
    let Some(count) = maybe::<usize>(step, "count")? else {
        return Ok(json!([ids::hex(generator.generate(metabyte)?)]));
    };
    let mut made = vec![Sno::from_bytes([0; 10]); count];
    generator.fill(metabyte, &mut made)?;
    Ok(made.into_iter().map(ids::hex).collect())
}

fn stats(generator: &Scripted) -> Answer {
    let stats = generator.stats()?;
    Ok(json!({
        "sequence": stats.sequence,
        "len": stats.len,
        "now": stats.now,
        "wall_hi": stats.wall_hi,
        "wall_safe": stats.wall_safe,
        "drifts": stats.drifts,
        "partition": stats.partition,
        "sequence_min": stats.sequence_min,
        "sequence_max": stats.sequence_max,
        "closed": stats.closed,
    }))
}

fn written(snapshot: &Snapshot) -> Answer {
    serde_json::to_value(snapshot).map_err(|error| Failure::Unexpected(error.to_string()))
}
