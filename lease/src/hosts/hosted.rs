//! A lease that a host in another language keeps, over a database client of that language.
//!
//! A [`Hosted`] holds the rules and the statements, and nothing that needs a system: the host hands it times, random numbers and what
//! came of its last command, and gets the next command. Commands and answers are JSON, one value each:
//!
//! | command | the host | its answer |
//! |---|---|---|
//! | `{"do":"open"}` | opens a connection, in autocommit | `{"opened":NAME}`, the name of an `SQLite` file by [`open_file`](crate::steps::open_file), else null |
//! | `{"do":"run","statements":[[TEXT,[VALUE,..]],..],"within_ms":N}` | runs them in order, up to the first that fails | `{"rows":[ROWS,..],"failure":null}` |
//! | `{"do":"close"}` | closes the connection | `null` |
//! | `{"do":"begin","first":N,"last":N,"start":MS,"end":MS}` | gives the grant to the generator, as [`Granted::begin`] | `null`, or `{"not_begun":REASON}` |
//! | `{"do":"extend","end":MS}` | moves the end of the generator's grant, as [`Granted::extend`] | `null` |
//! | `{"do":"seal"}` | ends the generator, as [`Granted::seal`] | `{"used_until":MS}`, null if it used no tick |
//! | `{"do":"tell","event":EVENT}` | tells of the event | `null` |
//! | `{"do":"wait","ms":N}` | sleeps so long, or until [`Hosted::close`] | `null` |
//! | `{"do":"end"}` | does nothing more | |
//!
//! A failure is `{"code":SQLSTATE,"message":TEXT}`; the code is null where no server answered, and in `SQLite`. To a command that was not
//! done within its time the host answers `{"silent":true}`, and a connection that it could not open is `{"failure":FAILURE}`. Values and
//! times are integers below 2^53. In the child of a fork the host forgets this lease, and begins another one.

mod place;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{mem, ops::RangeInclusive};

use polyflake::layout::Layout;
use serde_json::{Map, Value as Json, json};

pub use crate::ids::granted::{Family, Granted};
pub use place::Place;
#[cfg(feature = "sqlite")]
pub(crate) use place::plain;

use crate::{
    Action, Error, ErrorKind, Event, Grant, Keeper, Moment, Options, Random, Reply, Request,
    Result, Shape,
    ids::numbered::{self, Numbered},
    rules::error::{no_grant, out_of_range, silent},
    rules::events::Events,
    rules::json::MOST,
    stores::steps::{Engine, Failure, Known, Outcome, Step, Steps},
};

/// A pause of this length in milliseconds closes the connection, as it does in this crate's own hosts.
const IDLE_MS: u64 = 100;

/// Number of random numbers for a command: for its statements, the choice of a number, its token, an incarnation, and pauses.
pub const RANDOMS: usize = 8;

type Draw = Box<dyn FnMut() -> Result<Random> + Send>;

/// The work of keeping a lease, command by command.
///
/// ```
/// use polyflake_lease::{Moment, Random, hosted::Hosted};
///
/// let settings = r#"{"namespace":"orders","family":"sno","store":"postgresql"}"#;
/// let mut lease = Hosted::new(settings)?;
/// let now = Moment { wall_ms: 1_763_650_000_000, elapsed_ms: 0 };
/// let random = || [Random(1); 8]; // in production: from the operating system
/// assert_eq!(lease.next(now, random(), "null"), r#"{"do":"open"}"#);
/// let statements = lease.next(now, random(), r#"{"opened":null}"#);
/// assert!(statements.starts_with(r#"{"do":"run","statements":[["BEGIN "#));
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
pub struct Hosted {
    keeper: Keeper<Draw>,
    /// For the keeper, until the next command.
    random: Arc<Mutex<Vec<Random>>>,
    events: Events,
    /// Events that the host has not told yet.
    told: Arc<Mutex<VecDeque<Event>>>,
    is_postgresql: bool,
    known: Known,
    /// The connection that is open, if there is one.
    engine: Option<Engine>,
    /// `true` if the connection is of no use any more.
    is_stale: bool,
    answer_limit: u64,
    under_way: UnderWay,
    /// The next command, if it is known, and what its answer will be for. Others may come before it.
    command: Option<(Json, UnderWay)>,
    is_closing: bool,
    refused: Option<Error>,
    grants: u64,
    renewals: u64,
    failures: u64,
}

/// What the host does now, and what its answer is for.
enum UnderWay {
    Nothing,
    Opening(Asked),
    Running(Asked, Box<Steps>),
    Beginning { number: u64, span: (u64, u64) },
    Extending(u64),
    Sealing,
}

/// A request of the keeper, which is given up at a time.
struct Asked {
    request: Request,
    until: u64,
}

impl Hosted {
    /// A lease without a grant. Settings are `namespace` (the family's name is added), `family`, `store` (`sqlite` or `postgresql`); for
    /// Randflake `secret` as 32 hexadecimal digits; for layouts `layout`, its JSON as a text, and `fields`, the most significant first. And if
    /// given: `numbers` (the first and the last), `lease_ms`, `holder`, `prefer`, `insist`.
    ///
    /// # Errors
    /// `out_of_range` for a setting out of its limits or of another kind.
    pub fn new(settings: &str) -> Result<Self> {
        let settings = Settings::read(settings)?;
        let is_postgresql = match settings.text("store")? {
            "postgresql" => true,
            "sqlite" => false,
            _ => return Err(unfit("store")),
        };
        let told = Arc::new(Mutex::new(VecDeque::new()));
        let hear = told.clone();
        let options =
            settings.options()?.watch(move |event| locked(&hear).push_back(event.clone()));
        let random = Arc::new(Mutex::new(Vec::new()));
        let mine = random.clone();
        let draw: Draw = Box::new(move || locked(&mine).pop().ok_or_else(no_random));
        Ok(Self {
            events: options.events(),
            answer_limit: options.answer_limit(),
            keeper: Keeper::new(options, draw),
            random,
            told,
            is_postgresql,
            known: Known::default(),
            engine: None,
            is_stale: false,
            under_way: UnderWay::Nothing,
            command: None,
            is_closing: false,
            refused: None,
            grants: 0,
            renewals: 0,
            failures: 0,
        })
    }

    /// Takes what came of the last command, `null` at first, and returns the next command. The random numbers are new ones of the operating
    /// system at each call; a command needs up to so many.
    pub fn next(&mut self, now: Moment, random: [Random; RANDOMS], answer: &str) -> String {
        let [for_steps, others @ ..] = random;
        *locked(&self.random) = others.into();
        let answer = serde_json::from_str(answer).unwrap_or(Json::Bool(false));
        self.take(&answer, now, for_steps);
        loop {
            if let Some(event) = locked(&self.told).pop_front() {
                return json!({ "do": "tell", "event": told(&event) }).to_string();
            }
            if mem::take(&mut self.is_stale) && self.engine.take().is_some() {
                return json!({ "do": "close" }).to_string();
            }
            if let Some((command, under_way)) = self.command.take() {
                self.under_way = under_way;
                return command.to_string();
            }
            self.advance(now, for_steps);
        }
    }

    /// Begins to return the number, with the next command.
    pub fn close(&mut self) {
        self.is_closing = true;
        self.keeper.close();
    }

    /// Figures: `number` and `end` of the grant, `remaining_ms`, `grants`, `renewals`, `failures`, and the last refusal since the last
    /// grant or renewal (`refused`), as JSON.
    pub fn status(&self, wall_ms: u64) -> String {
        let end = self.keeper.end();
        json!({
            "number": self.keeper.number(),
            "end": end,
            "remaining_ms": end.map_or(0, |end| end.saturating_sub(wall_ms)),
            "grants": self.grants,
            "renewals": self.renewals,
            "failures": self.failures,
            "refused": self.refused.as_ref().map(error_of),
        })
        .to_string()
    }

    /// The reason why there is no ID now, as JSON: `code`, `message`, and `until`, the end of the cause if it is known.
    pub fn reason(&self, wall_ms: u64) -> String {
        let refused = self.refused.as_ref();
        error_of(&no_grant(self.keeper.end(), self.is_closing, wall_ms, refused)).to_string()
    }

    /// Takes the host's answer.
    fn take(&mut self, answer: &Json, now: Moment, random: Random) {
        let is_silent = answer.get("silent").is_some();
        match mem::replace(&mut self.under_way, UnderWay::Nothing) {
            UnderWay::Nothing => {}
            UnderWay::Opening(asked) | UnderWay::Running(asked, _) if is_silent => {
                self.replied(&asked, Err(silent()), now);
            }
            UnderWay::Opening(asked) => self.opened(asked, answer, now, random),
            UnderWay::Running(asked, steps) => {
                self.step(asked, steps, Outcome::from(answer), now);
            }
            UnderWay::Beginning { number, span } => match answer.get("not_begun") {
                None => {
                    (self.grants, self.refused) = (self.grants + 1, None);
                    self.events.begun(number, span);
                }
                Some(reason) => {
                    let reason = reason.as_str().unwrap_or("expected a generator").to_string();
                    let error = Error::new(ErrorKind::LeaseUnavailable, reason);
                    self.keeper.not_begun(error, now);
                }
            },
            UnderWay::Extending(end) => {
                (self.renewals, self.refused) = (self.renewals + 1, None);
                self.events.renewed(end);
            }
            UnderWay::Sealing => {
                // Without an answer the whole grant counts as used.
                let used = answer.get("used_until").map_or(Some(MOST), Json::as_u64);
                self.keeper.sealed(used, now);
                self.events.sealed(used);
            }
        }
    }

    fn opened(&mut self, asked: Asked, answer: &Json, now: Moment, random: Random) {
        let name = answer.get("opened").map(|name| name.as_str().unwrap_or_default().to_string());
        let engine = if self.is_postgresql {
            Engine::Postgresql
        } else {
            Engine::Sqlite(name.clone().unwrap_or_default())
        };
        if name.is_none() {
            let failure = Failure::from(&answer["failure"]);
            return self.replied(&asked, Err(engine.error(&failure)), now);
        }
        self.engine = Some(engine);
        self.begin(asked, now, random);
    }

    /// Begins to answer a request over the connection that is open, or opens one.
    fn begin(&mut self, asked: Asked, now: Moment, random: Random) {
        let Some(engine) = self.engine.clone() else {
            self.command = Some((json!({ "do": "open" }), UnderWay::Opening(asked)));
            return;
        };
        let steps = Box::new(Steps::new(engine, &asked.request, random));
        self.step(asked, steps, Outcome::default(), now);
    }

    /// Goes on with a request after an outcome.
    fn step(&mut self, asked: Asked, mut steps: Box<Steps>, outcome: Outcome, now: Moment) {
        match steps.next_with(outcome, &mut self.known) {
            Ok(Step::Run(statements)) => {
                let within_ms = asked.until.saturating_sub(now.elapsed_ms);
                let statements: Vec<_> = statements.iter().map(Json::from).collect();
                let command =
                    json!({ "do": "run", "statements": statements, "within_ms": within_ms });
                self.command = Some((command, UnderWay::Running(asked, steps)));
            }
            Ok(Step::Done(reply)) => self.replied(&asked, Ok(*reply), now),
            Err(error) => self.replied(&asked, Err(error), now),
        }
    }

    /// Does what the keeper wants next.
    fn advance(&mut self, now: Moment, random: Random) {
        let command = match self.keeper.poll(now) {
            Action::Ask(request) => {
                let until = now.elapsed_ms + self.answer_limit;
                return self.begin(Asked { request, until }, now, random);
            }
            Action::Begin(grant) => self.hand_over(&grant, now),
            Action::Extend(end) => {
                (json!({ "do": "extend", "end": end }), UnderWay::Extending(end))
            }
            Action::Seal => (json!({ "do": "seal" }), UnderWay::Sealing),
            Action::Refused(error) => {
                (self.failures, self.refused) = (self.failures + 1, Some(error.clone()));
                return self.events.refused(error);
            }
            Action::Wait(until) => {
                let ends_in = self.events.look(now.wall_ms).unwrap_or(u64::MAX);
                // Woken now and then to look at the clocks, since sleeps may not count suspension.
                let pause = until.saturating_sub(now.elapsed_ms).min(ends_in).min(10_000);
                self.is_stale |= pause >= IDLE_MS;
                (json!({ "do": "wait", "ms": pause }), UnderWay::Nothing)
            }
            Action::End => {
                self.is_stale = true;
                (json!({ "do": "end" }), UnderWay::Nothing)
            }
        };
        self.command = Some(command);
    }

    fn hand_over(&mut self, grant: &Grant, now: Moment) -> (Json, UnderWay) {
        let (numbers, start, end) = (grant.numbers(), grant.start(), grant.end());
        let (first, last) = numbers.into_inner();
        // A fork in the generator copies no connection in use.
        self.is_stale = true;
        // The end of a grant that was not renewed comes before the next one.
        self.events.look(now.wall_ms);
        let command =
            json!({ "do": "begin", "first": first, "last": last, "start": start, "end": end });
        (command, UnderWay::Beginning { number: first, span: (start, end) })
    }

    /// Hands a reply to the keeper. A file is closed after each request, and a connection that failed.
    fn replied(&mut self, asked: &Asked, reply: Result<Reply>, now: Moment) {
        self.is_stale = !self.is_postgresql || reply.is_err();
        self.keeper.answered(asked.request.number, reply, now);
    }
}

/// Without the settings, which may hold a secret.
impl core::fmt::Debug for Hosted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Hosted").field("keeper", &self.keeper).finish_non_exhaustive()
    }
}

fn locked<V>(value: &Mutex<V>) -> MutexGuard<'_, V> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A keeper that finds none tries again.
fn no_random() -> Error {
    Error::new(ErrorKind::LeaseUnavailable, "expected random numbers of the host, found none")
}

fn error_of(error: &Error) -> Json {
    json!({ "code": error.code(), "message": error.to_string(), "until": error.until() })
}

fn told(event: &Event) -> Json {
    let fields = match event {
        Event::Acquired { number, start, end } => {
            json!({ "number": number, "start": start, "end": end })
        }
        Event::Renewed { number, end } | Event::Expired { number, end } => {
            json!({ "number": number, "end": end })
        }
        Event::Moved { from, number, start, end } => {
            json!({ "from": from, "number": number, "start": start, "end": end })
        }
        Event::Refused(error) => error_of(error),
        Event::Sealed { number, used_until } => {
            json!({ "number": number, "used_until": used_until })
        }
    };
    let Json::Object(mut fields) = fields else { return fields };
    fields.insert("name".into(), event.name().into());
    fields.insert("text".into(), event.to_string().into());
    Json::Object(fields)
}

/// The settings of a lease.
struct Settings(Map<String, Json>);

fn unfit(key: &str) -> Error {
    out_of_range(format!("expected a valid `{key}` in the settings of a lease"))
}

impl Settings {
    fn read(text: &str) -> Result<Self> {
        match serde_json::from_str(text) {
            Ok(Json::Object(settings)) => Ok(Self(settings)),
            _ => Err(out_of_range("expected the settings of a lease, found another text")),
        }
    }

    fn text(&self, key: &str) -> Result<&str> {
        self.0.get(key).and_then(Json::as_str).ok_or_else(|| unfit(key))
    }

    /// A setting that need not be there.
    fn given(&self, key: &str) -> Option<&Json> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn number(&self, key: &str) -> Result<Option<u64>> {
        let Some(value) = self.given(key) else { return Ok(None) };
        value.as_u64().filter(|number| *number <= MOST).map(Some).ok_or_else(|| unfit(key))
    }

    fn options(&self) -> Result<Options> {
        let mut options = Options::new(self.text("namespace")?, self.shape()?)?;
        if let Some(number) = self.number("prefer")? {
            options = options.prefer(number)?;
        }
        if let Some(number) = self.number("insist")? {
            options = options.insist(number)?;
        }
        if let Some(lease_ms) = self.number("lease_ms")? {
            options = options.lease_ms(lease_ms)?;
        }
        match self.given("holder") {
            Some(_) => options.holder(self.text("holder")?),
            None => Ok(options),
        }
    }

    /// The range of numbers, or another one.
    fn numbers(&self, all: RangeInclusive<u64>) -> Result<RangeInclusive<u64>> {
        let Some(numbers) = self.given("numbers") else { return Ok(all) };
        match numbers.as_array().map(Vec::as_slice) {
            Some([first, last]) => {
                let pair = first.as_u64().zip(last.as_u64());
                pair.map(|(first, last)| first..=last).ok_or_else(|| unfit("numbers"))
            }
            _ => Err(unfit("numbers")),
        }
    }

    fn shape(&self) -> Result<Shape> {
        match self.text("family")? {
            "sno" => Shape::sno(self.numbers(0..=65_535)?),
            "hotguid" => Shape::hotguid(self.numbers(0..=0xf_ffff)?),
            "randflake" => {
                let secret = Random::parse(self.text("secret")?).map_err(|_| unfit("secret"))?;
                Shape::randflake(self.numbers(0..=131_071)?, &secret.0.to_be_bytes())
            }
            "layout" => {
                let layout = layout_from(self.text("layout")?)?;
                let fields = self.0.get("fields").and_then(Json::as_array);
                let fields = fields.ok_or_else(|| unfit("fields"))?;
                let fields: Option<Vec<_>> = fields.iter().map(Json::as_str).collect();
                let fields = fields.ok_or_else(|| unfit("fields"))?;
                let all = Numbered::new(&layout, &fields)?.all();
                numbered::shape(&layout, &fields, self.numbers(all)?)
            }
            _ => Err(unfit("family")),
        }
    }
}

fn layout_from(text: &str) -> Result<Layout> {
    Layout::from_json(text).map_err(|error| out_of_range(error.to_string()))
}

/// A layout whose fields hold a number, as constants: for the generator of a grant.
///
/// # Errors
/// As those of the settings' `layout` and `fields`.
pub fn layout_of(layout: &Layout, fields: &[&str], number: u64) -> Result<Layout> {
    let numbered = Numbered::new(layout, fields)?.with(number);
    Layout::from_value(numbered).map_err(|error| out_of_range(error.to_string()))
}

/// The machine and the counter's start of a Hot Guid generator under a number, for `provide_identity`; `start` is drawn at random.
pub fn identity(number: u64, start: [u8; 3]) -> [u8; 8] {
    let [.., a, b, c] = number.to_be_bytes();
    let [x, y, z] = start;
    [a, b, c, 0, 0, x, y, z]
}
