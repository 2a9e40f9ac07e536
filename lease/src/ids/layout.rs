//! IDs of custom layouts under leased numbers: a field, or several, hold the number.

use core::{ops::RangeInclusive, time::Duration};
use std::{string::String, vec::Vec};

use alloc::{borrow::ToOwned, format, string::ToString};

use polyflake::layout::{self, Batch, Id, Json, Layout, Leased, Tick};

use crate::{
    Options, Result, Shape, Source,
    ids::generator::Begun,
    ids::granted::{Granted, family},
    rules::error::out_of_range,
};

family!(layout);

/// A generator whose constants or bindables of some names hold a leased number: it renews the lease, moves to another number if it
/// must, and returns its number when it is dropped.
///
/// ```
/// use polyflake::layout::preset;
/// use polyflake_lease::layout::Generator;
///
/// let twitter = preset("twitter", [])?;
/// let ids = Generator::new("memory:orders", "posts", &twitter, &["datacenter", "worker"])?;
/// let id = ids.generate()?;
/// let parsed = twitter.parse(&id)?;
/// let (centre, worker) = (parsed.bindable("datacenter")?, parsed.bindable("worker")?);
/// let number = i128::from(ids.lease().number().unwrap());
/// assert_eq!((centre, worker), ((number >> 5).into(), (number & 31).into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It has the calls of the core's generators: one ID, a batch, and calls that never wait.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    /// A generator with the defaults, from a store's URL as in [`open`](crate::open), the name of a namespace of all numbers that the
    /// fields can hold, and the fields, the most significant first. It waits up to 10 seconds for its first grant.
    ///
    /// # Errors
    /// The reason why there is no grant: `lease_unavailable`, `namespace_mismatch` for another layout, and others; as [`shape`] for
    /// the layout and the fields.
    pub fn new(url: &str, namespace: &str, layout: &Layout, fields: &[&str]) -> Result<Self> {
        let numbers = Numbered::new(layout, fields)?.all();
        let options = Options::new(namespace, shape(layout, fields, numbers)?)?;
        Self::with(url, options, layout, fields, Duration::from_secs(10))
    }

    /// As [`Generator::new`], waiting in `sleep`, for example `tokio::time::sleep`, which does not block the thread. If the future is
    /// dropped, a number that was leased meanwhile is returned.
    ///
    /// # Errors
    /// As [`Generator::new`].
    pub async fn new_async(
        url: &str,
        namespace: &str,
        layout: &Layout,
        fields: &[&str],
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        let numbers = Numbered::new(layout, fields)?.all();
        let options = Options::new(namespace, shape(layout, fields, numbers)?)?;
        Self::with_async(url, options, layout, fields, Duration::from_secs(10), sleep).await
    }

    /// A generator from any [`Source`] with other options, whose shape is that of [`shape`] with this layout and these fields. It waits up to `longest`
    /// for its first grant.
    ///
    /// # Errors
    /// As [`Generator::new`]; `out_of_range` for options of another shape or with blocks.
    pub fn with(
        source: impl Into<Source>,
        options: Options,
        layout: &Layout,
        fields: &[&str],
        longest: Duration,
    ) -> Result<Self> {
        begin(source.into(), options, layout, fields, longest)?.ready()
    }

    /// As [`Generator::with`], waiting in `sleep`, which does not block the thread. If the future is dropped, a number that was leased
    /// meanwhile is returned.
    ///
    /// # Errors
    /// As [`Generator::with`].
    pub async fn with_async(
        source: impl Into<Source>,
        options: Options,
        layout: &Layout,
        fields: &[&str],
        longest: Duration,
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        begin(source.into(), options, layout, fields, longest)?.ready_async(sleep).await
    }

    /// One new ID. It waits for a lease as for a tick: up to a second. The first ID in a forked child waits as long for a lease of the
    /// child's own as the generator waited for its first.
    ///
    /// # Errors
    /// `lease_unavailable` without a lease; its source says since when, and why. All else as the core's generator.
    #[inline]
    pub fn generate(&self) -> polyflake::Result<Id> {
        self.call(Leased::generate)
    }

    /// Fills a slice with new IDs: `&mut [i64]` in an integer layout, else packed bytes. A batch across a move to another number goes
    /// on under that number.
    ///
    /// # Errors
    /// As [`Generator::generate`]; `written` is the number of valid IDs at the front of the slice.
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> polyflake::Result<()> {
        let mut ids = ids.into();
        self.call(|leased| leased.fill(again(&mut ids)))
    }

    /// One new ID without waiting, if there is one now. In a forked child the first call begins to lease a number.
    ///
    /// # Errors
    /// `lease_unavailable`, `sequence_exhausted` or `clock_behind` instead of a wait; all else as [`Generator::generate`].
    #[inline]
    pub fn try_generate(&self) -> polyflake::Result<Id> {
        self.try_call(Leased::try_generate)
    }

    /// Fills the front of a slice with as many new IDs as are available now, and returns their number. It never waits.
    ///
    /// # Errors
    /// As [`Generator::fill`], except `sequence_exhausted` and `clock_behind`, which only end the batch.
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> polyflake::Result<usize> {
        let ids = ids.into();
        self.try_call(|leased| leased.try_fill(ids))
    }

    /// One new ID. It waits in `sleep`, for example `tokio::time::sleep`, and does not block the thread.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> polyflake::Result<Id> {
        self.call_async(&sleep, async |leased| leased.generate_async(&sleep).await).await
    }

    /// Fills a slice with new IDs. It waits in `sleep` and does not block the thread. `written` counts the valid IDs at the
    /// front: all in the end, and as many as there were if the call is dropped before.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        ids: impl Into<Batch<'b>>,
        written: &mut usize,
    ) -> impl Future<Output = polyflake::Result<()>> {
        *written = 0; // a call may be dropped before its first poll
        async move {
            let mut ids = ids.into();
            let fill = async |leased: &Leased| {
                leased.fill_async(&sleep, again(&mut ids), &mut *written).await
            };
            self.call_async(&sleep, fill).await
        }
    }
}

/// Starts a generator, which is of use once its lease is ready.
fn begin(
    source: Source,
    options: Options,
    layout: &Layout,
    fields: &[&str],
    longest: Duration,
) -> Result<Begun<Leased>> {
    let numbered = Numbered::new(layout, fields)?;
    if !options.is_of("layout") || !options.is_shape(&shape(layout, fields, options.numbers())?) {
        return Err(out_of_range("expected options of the layout and its fields, without blocks"));
    }
    let waits = options.waits;
    Granted::start(source, options, longest, move |number, window| {
        let layout = Layout::from_value(numbered.with(number))?;
        let generator = waits.give(layout::Generator::builder(layout));
        generator.window(window.start, window.end).build()
    })
}

/// The same buffer for another call.
fn again<'b>(ids: &'b mut Batch<'_>) -> Batch<'b> {
    match ids {
        Batch::Integers(ids) => Batch::Integers(ids),
        Batch::Bytes(ids) => Batch::Bytes(ids),
        _ => unreachable!("a buffer is of integers or of bytes"),
    }
}

/// The shape of a layout's numbers, which some of its constants or bindables hold, the most significant first.
///
/// ```
/// use polyflake::layout::preset;
/// use polyflake_lease::layout::shape;
///
/// let sonyflake = preset("sonyflake", [])?;
/// assert_eq!(shape(&sonyflake, &["machine"], 0..=99)?.numbers(), 0..=99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `out_of_range` for numbers that the fields do not hold, for fields of more than 52 bits together, for a field that is no integer
/// constant or bindable of the layout, for other bindables, which a lease has no values for, and for a layout without a timestamp or
/// with an epoch before 1970.
pub fn shape(layout: &Layout, fields: &[&str], numbers: RangeInclusive<u64>) -> Result<Shape> {
    let numbered = Numbered::new(layout, fields)?;
    if numbers.end() > numbered.all().end() {
        let (last, most) = (numbers.end(), numbered.last);
        return Err(out_of_range(format!("expected numbers up to {most}, found {last}")));
    }
    let text = text_of(&numbered.with(0));
    if text.chars().any(char::is_control) {
        return Err(out_of_range("expected names without control characters"));
    }
    Shape::layout(&text, numbered.time, fields, numbers)
}

/// A layout in which a number can be put.
struct Numbered {
    layout: Json,
    /// The place of each field in the layout's list, the number of bits below its part of the number, and its width.
    parts: Vec<(usize, u32, u32)>,
    last: u64,
    /// The epoch in Unix milliseconds, and the tick in microseconds.
    time: (u64, u64),
}

impl Numbered {
    fn new(layout: &Layout, names: &[&str]) -> Result<Self> {
        let mut layout = layout.to_value();
        let fields = fields_of(&mut layout);
        let time = time_of(fields)?;
        let (mut parts, mut below) = (Vec::<(usize, u32, u32)>::new(), 0);
        for name in names.iter().rev() {
            let place = fields.iter_mut().position(|field| text(field, "name") == Some(name));
            let found = place.filter(|place| parts.iter().all(|(other, ..)| other != place));
            let width = found.and_then(|place| width_of(&fields[place]));
            let (Some(place), Some(width)) = (found, width) else {
                let reason = format!("expected an integer constant or bindable `{name:.40}`, once");
                return Err(out_of_range(reason));
            };
            parts.push((place, below, width));
            below += width;
        }
        let mut others = fields.iter().enumerate().filter(|(place, field)| {
            let is_named = parts.iter().any(|(other, ..)| other == place);
            text(field, "kind") == Some("bindable") && !is_named
        });
        if let Some((_, field)) = others.next() {
            let name = text(field, "name").unwrap_or_default();
            let reason = format!("expected a value of the lease for `{name:.40}`, found none");
            return Err(out_of_range(reason));
        }
        if !(1..=52).contains(&below) {
            return Err(out_of_range(format!("expected fields of 1 to 52 bits, found {below}")));
        }
        Ok(Self { layout, parts, last: (1 << below) - 1, time })
    }

    /// Every number that the fields hold.
    fn all(&self) -> RangeInclusive<u64> {
        0..=self.last
    }

    /// The layout whose fields hold a number, as constants.
    fn with(&self, number: u64) -> Json {
        let mut layout = self.layout.clone();
        let fields = fields_of(&mut layout);
        for (place, below, width) in &self.parts {
            let part = number >> below & ((1 << width) - 1);
            let Json::Object(members) = &mut fields[*place] else { continue };
            members.retain(|(name, _)| !matches!(&**name, "kind" | "type" | "value"));
            members.push(("kind".to_owned(), Json::Text("constant".to_owned())));
            members.push(("value".to_owned(), Json::Integer(part.cast_signed())));
        }
        layout
    }
}

fn member<'j>(object: &'j Json, name: &str) -> Option<&'j Json> {
    let Json::Object(members) = object else { return None };
    members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
}

fn text<'j>(object: &'j Json, name: &str) -> Option<&'j str> {
    if let Some(Json::Text(text)) = member(object, name) { Some(text) } else { None }
}

fn integer(object: &Json, name: &str) -> Option<i64> {
    if let Some(Json::Integer(number)) = member(object, name) { Some(*number) } else { None }
}

/// A layout's fields; none in a value that describes no layout.
fn fields_of(layout: &mut Json) -> &mut [Json] {
    let Json::Object(members) = layout else { return &mut [] };
    match members.iter_mut().find(|(name, _)| name == "fields") {
        Some((_, Json::List(fields))) => fields,
        _ => &mut [],
    }
}

/// The width of an integer constant or bindable.
fn width_of(field: &Json) -> Option<u32> {
    let is_number = matches!(text(field, "kind"), Some("constant" | "bindable"))
        && matches!(text(field, "type"), None | Some("integer"));
    integer(field, "bits").filter(|bits| is_number && *bits <= 52)?.try_into().ok()
}

/// The epoch in Unix milliseconds, and the tick in microseconds.
fn time_of(fields: &[Json]) -> Result<(u64, u64)> {
    let time = fields.iter().find(|field| text(field, "kind") == Some("timestamp"));
    let time = time.ok_or_else(|| out_of_range("expected a layout with a timestamp"))?;
    let tick = text(time, "tick").and_then(|tick| tick.parse::<Tick>().ok());
    let epoch = integer(time, "epoch_ms").and_then(|epoch| u64::try_from(epoch).ok());
    match (epoch, tick) {
        (Some(epoch), Some(tick)) => Ok((epoch, tick.as_micros())),
        _ => Err(out_of_range("expected an epoch from 1970 on")),
    }
}

/// Canonical JSON, as docs/leases.md has it.
fn text_of(value: &Json) -> String {
    match value {
        Json::Integer(number) => number.to_string(),
        Json::Text(text) => quoted(text),
        Json::Bool(value) => value.to_string(),
        Json::List(items) => {
            format!("[{}]", items.iter().map(text_of).collect::<Vec<_>>().join(","))
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let pairs =
                members.iter().map(|(name, value)| format!("{}:{}", quoted(name), text_of(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
        _ => "null".to_owned(),
    }
}

/// A text in quotation marks; those with control characters are refused later.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}
