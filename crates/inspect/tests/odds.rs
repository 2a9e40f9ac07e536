//! Tests that the probabilities are accurate: of all readings with a probability of 90%, nine in ten must be correct. Each
//! format is checked with IDs that were found on web pages, IDs from other libraries, and numbers that belong to no format.

use std::collections::BTreeMap;

use polyflake::layout::{Field, Layout};
use polyflake_inspect::{Confidence, Context, inspect, likely, sentence};

/// 2026-11-23T09:00:00Z.
const CONTEXT: Context<'_> =
    Context { now_ms: 1_795_424_400_000, secret: None, epoch_ms: None, layouts: &[] };
/// One millisecond in the units of a snowflake, whose lowest 22 bits are not part of the time.
const SNOWFLAKES_PER_MS: u64 = 1 << 22;

/// A pseudorandom number generator that produces the same sequence on each run.
struct Random(u64);

impl Random {
    fn random_below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn parse_list(list: &str) -> impl Iterator<Item = (String, String)> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut cells = line.split('\t').map(str::to_owned);
        let format = cells.next().expect("a format");
        (format, cells.next().expect("an ID after a tab"))
    })
}

/// Returns random numbers, and snowflakes from a small number of nodes. Some of the snowflakes have the Unix epoch, and
/// others have unknown epochs.
fn generated_ids() -> Vec<(String, String)> {
    let mut random = Random(1);
    let mut all = Vec::new();
    for number in 0..60 {
        let age = random.random_below(6 * 365 * 86_400) * 1000 + random.random_below(1000);
        let nodes = [1, 8, 64, 1024][usize::try_from(random.random_below(4)).expect("below 4")];
        let low = random.random_below(nodes) << 12 | random.random_below(4);
        let made = CONTEXT.now_ms.cast_unsigned() - age;
        // LinkedIn's IDs have the same bits.
        all.push(("linkedin or snowflake", (made * SNOWFLAKES_PER_MS) | low));
        all.push(("none", random.random_below(1 << 31) << 32 | random.random_below(1 << 31) << 1));
        // The probability model assumes that one in 64 snowflakes has an epoch that is not in the table. Here, that epoch
        // is a random time in 2017 or 2018.
        if number % 12 == 0 {
            let epoch = 1_483_228_800_000 + random.random_below(730 * 86_400) * 1000;
            all.push(("none", ((made - epoch) * SNOWFLAKES_PER_MS) | low));
        }
    }
    all.into_iter().map(|(format, id)| (format.to_owned(), id.to_string())).collect()
}

fn load_corpus() -> Vec<(String, String)> {
    let lists = [include_str!("found.tsv"), include_str!("made.tsv")];
    lists.into_iter().flat_map(parse_list).chain(generated_ids()).collect()
}

/// The number of correct readings, the total number of readings, and the sum of their probabilities.
#[derive(Default)]
struct Count {
    right: u32,
    all: u32,
    probabilities: f64,
}

impl Count {
    fn add(&mut self, is_right: bool, probability: f64) {
        self.right += u32::from(is_right);
        self.all += 1;
        self.probabilities += probability;
    }

    fn correct_share(&self) -> f64 {
        f64::from(self.right) / f64::from(self.all)
    }
}

#[test]
fn readings_with_90_percent_odds_are_right_nine_times_in_ten() {
    let mut formats: BTreeMap<String, Count> = BTreeMap::new();
    let mut tenths: BTreeMap<String, Count> = BTreeMap::new();
    for (format, id) in load_corpus() {
        let readings = inspect(&id, &CONTEXT);
        let Some(first) = readings.first() else { continue };
        let is_right = format.contains(&first.format);
        tenths
            .entry(format!("{:.1}", (first.probability * 10.0).floor() / 10.0))
            .or_default()
            .add(is_right, first.probability);
        if first.probability >= 0.9 {
            formats.entry(first.format.clone()).or_default().add(is_right, first.probability);
        }
    }
    let table = |counts: &BTreeMap<String, Count>| {
        let row = |(name, count): (&String, &Count)| {
            format!("{name}: {} of {}\n", count.right, count.all)
        };
        counts.iter().map(row).collect::<String>()
    };
    println!("{}\n{}", table(&formats), table(&tenths));
    assert!(formats.len() >= 25, "{}", table(&formats));
    for (format, count) in formats.iter().filter(|(_, count)| count.all >= 5) {
        assert!(count.correct_share() >= 0.9, "{format}: {} of {}", count.right, count.all);
    }
    for (tenth, count) in tenths.iter().filter(|(_, count)| count.all >= 20) {
        let called = count.probabilities / f64::from(count.all);
        assert!(
            count.correct_share() >= called - 0.1,
            "called {tenth}: {} of {}",
            count.right,
            count.all
        );
    }
}

/// Returns the format that the inspector names first. For a string without a known format, returns `none` if the readings
/// have a probability below 50% together. The second value is `true` if the program calls the format certain.
fn named(id: &str, format: &str) -> (String, bool) {
    let readings = inspect(id, &CONTEXT);
    let known: f64 = readings.iter().map(|reading| reading.probability).sum();
    let is_shown = format != "none" || known >= 0.5;
    let first = likely(&readings).next().filter(|_| is_shown);
    let is_certain =
        readings.first().is_some_and(|first| first.confidence() == Confidence::Certain);
    (first.map_or_else(|| "none".to_owned(), |first| first.format.clone()), is_certain)
}

/// Most found IDs are named correctly, and nearly all of those that are called certain. `cargo test -p polyflake-inspect
/// --test odds -- --nocapture found` prints the table.
#[test]
fn found_ids_are_named_correctly_and_certain_ones_are_right() {
    let mut formats: BTreeMap<String, [u32; 4]> = BTreeMap::new();
    for (format, id) in parse_list(include_str!("found.tsv")) {
        let (first, is_certain) = named(&id, &format);
        let is_right = first == format;
        assert!(format != "none" || !is_certain, "{id} is called certain");
        let counts = [true, is_right, is_certain, is_certain && is_right];
        let row = formats.entry(format).or_default();
        for (sum, count) in row.iter_mut().zip(counts) {
            *sum += u32::from(count);
        }
    }
    println!("| format | IDs | right | called certain | of those right |\n|---|---|---|---|---|");
    for (format, [all, right, certain, right_certain]) in &formats {
        println!("| {format} | {all} | {right} | {certain} | {right_certain} |");
    }
    let sum = |at: usize| f64::from(formats.values().map(|row| row[at]).sum::<u32>());
    println!("| all | {} | {} | {} | {} |", sum(0), sum(1), sum(2), sum(3));
    assert!(sum(1) / sum(0) >= 0.95, "{} of {} right", sum(1), sum(0));
    assert!(sum(3) / sum(2) >= 0.98, "{} of {} certain ones right", sum(3), sum(2));
    assert!(formats["none"][0] >= 200);
    let [all, right, ..] = formats["none"].map(f64::from);
    let stated = format!(
        "The first reading is right for {} of {} IDs with a known format. For {right} of {all} strings without one, the \
         readings have a probability below 50% together. Of the {} readings that are called certain, {} are right.",
        sum(1) - right,
        sum(0) - all,
        sum(2),
        sum(3)
    );
    assert!(include_str!("../README.md").contains(&stated), "README.md does not state: {stated}");
    assert!(formats.values().filter(|row| row[0] >= 5).count() >= 25);
}

/// The examples in the specifications and README files of these formats have no ambiguity that would excuse another name.
#[test]
fn examples_of_specifications_are_named_correctly() {
    let all = [
        "typeid", "ulid", "ksuid", "xid", "cuid", "objectid", "tsid", "scru128", "uuid-nil",
        "uuid-max",
    ];
    let is_listed = |format: &str| {
        all.contains(&format)
            || format.strip_prefix("uuid").is_some_and(|version| version.len() == 1)
    };
    let lists = parse_list(include_str!("found.tsv"));
    let mut count = 0;
    for (format, id) in lists.filter(|(format, _)| is_listed(format)) {
        assert_eq!(named(&id, &format).0, format, "{id}");
        count += 1;
    }
    assert!(count >= 150, "{count}");
}

/// GUIDs of the shape that Amazon Cognito uses have no RFC variant, and a quarter of them fits the time of a Hot Guid.
#[test]
fn guids_without_an_rfc_version_are_not_called_hot_guids() {
    let mut random = Random(7);
    let mut group = |limit: u64| random.random_below(limit);
    let (mut others, count) = (0, 2000);
    for _ in 0..count {
        let head = group(1 << 31) << 1 | group(2);
        let variant = ["2", "5", "c", "d", "e"][usize::try_from(group(5)).expect("below 5")];
        let id = format!(
            "{head:08x}-{:04x}-70{:02x}-{variant}{:03x}-{:012x}",
            group(1 << 16),
            group(1 << 8),
            group(1 << 12),
            group(1 << 31) << 16 | group(1 << 16)
        );
        let first = &inspect(&id, &CONTEXT)[0];
        let is_guid = first.format.starts_with("guid-");
        others += u32::from(!is_guid);
        assert!(is_guid || first.confidence() < Confidence::Certain, "{id}: {first:?}");
    }
    assert!(others <= count / 50, "{others} of {count}");
}

/// A power of two consists of zeros, which every format explains well.
#[test]
fn a_power_of_two_is_no_certain_id() {
    for power in 44..64 {
        let id = (1_u64 << power).to_string();
        let readings = inspect(&id, &CONTEXT);
        assert!(readings[0].confidence() < Confidence::Certain, "{id}: {:?}", readings[0]);
    }
}

/// A further format in the table must not change whether a string is of an unknown format.
#[test]
fn the_share_of_unknown_formats_depends_on_the_string_alone() {
    let share = |id: &str, context: &Context<'_>| {
        let readings = inspect(id, context);
        let first = &readings[0];
        let known: f64 = readings.iter().map(|reading| reading.probability).sum();
        (1.0 - known) / first.probability
    };
    for id in ["175928847299117063", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "1541815603606036480"] {
        let alone = share(id, &CONTEXT);
        let layout = Layout::integer([Field::bindable(64, "all")]).expect("a layout");
        let layouts = [("other", &layout)];
        let beside = share(id, &Context { layouts: &layouts, ..CONTEXT });
        assert!((alone - beside).abs() < 1e-9, "{id}: {alone} and {beside}");
    }
}

/// If the time of the most likely reading is impossible in its format, the reason says that no other format fits.
#[test]
fn a_first_reading_with_an_unusual_time_fits_only_its_format() {
    let mut count = 0;
    for (_, id) in load_corpus() {
        let readings = inspect(&id, &CONTEXT);
        let Some(first) = readings.first() else { continue };
        let is_unusual = ["in the future", "before the first such ID", "past all calendars"]
            .iter()
            .any(|reason| first.reason.ends_with(reason));
        let fits_only = first.reason.starts_with("it fits only ");
        assert_eq!(is_unusual, fits_only, "{id}: {}", first.reason);
        count += u32::from(is_unusual);
    }
    assert!(count >= 3, "{count}");
    for (id, time) in [
        ("9m4e2mr0ui3e8a215n4g", "2011, before the first such ID"),
        ("00000000000000000000", "1970, before the first such ID"),
        ("vvvvvvvvvvvvvvvvvvvg", "2106, which is in the future"),
    ] {
        let readings = inspect(id, &CONTEXT);
        let xid = likely(&readings).next().expect("a likely reading");
        let reason = format!("it fits only xid, with an unusual time: its time would be in {time}");
        assert_eq!((xid.format.as_str(), xid.reason.as_str()), ("xid", reason.as_str()), "{id}");
    }
}

/// X IDs have the same fields as Discord IDs from before September 2022. Only their times differ.
#[test]
fn ambiguous_formats_have_similar_odds_and_a_note() {
    for (format, id) in parse_list(include_str!("found.tsv")) {
        if !["twitter", "discord"].contains(&format.as_str()) {
            continue;
        }
        let readings = inspect(&id, &CONTEXT);
        let odds =
            |format| readings.iter().find(|reading| reading.format == format).expect("a reading");
        let (x, discord) = (odds("twitter"), odds("discord"));
        let is_indistinguishable = discord.unix_ms.is_some_and(|ms| ms <= CONTEXT.now_ms);
        let ratio = (x.probability / discord.probability).max(discord.probability / x.probability);
        assert_eq!(is_indistinguishable, ratio <= 2.000_001, "{id}: {ratio}");
        assert_eq!(
            (is_indistinguishable, is_indistinguishable),
            (x.note.is_some(), discord.note.is_some()),
            "{id}"
        );
    }
    let tweet = inspect("1541815603606036480", &CONTEXT);
    assert_eq!(tweet[0].format, "twitter");
    assert!(
        sentence(&tweet).ends_with(
            " It may also be a Discord snowflake of 2026-08-25T14:24:45.448Z, which has the same bits: only the source of the ID can tell."
        ),
        "{}",
        sentence(&tweet)
    );
}

/// An ID may belong to a format that is not in the table, so a reading in a rare format must not appear certain if there is
/// little evidence for it.
#[test]
fn a_rare_format_gets_low_odds() {
    let readings = inspect("7102577116159582209", &CONTEXT);
    let first = ["linkedin", "snowflake"].contains(&readings[0].format.as_str());
    assert!(first && readings[0].time().as_deref() == Some("2023-08-30T09:05:43.994Z"));
    let baidu = readings.iter().find(|reading| reading.format == "baidu").expect("a reading");
    assert!(baidu.probability < 0.1, "{}", baidu.probability);
    let mut random = Random(2);
    for _ in 0..2000 {
        let id =
            (random.random_below(1 << 31) << 32 | random.random_below(1 << 31) << 1).to_string();
        for reading in inspect(&id, &CONTEXT) {
            let is_rare =
                ["baidu", "sonyflake", "unix-ns", "unix-us"].contains(&reading.format.as_str());
            assert!(
                !is_rare || reading.probability < 0.95,
                "{id}: {} {}",
                reading.format,
                reading.probability
            );
        }
    }
}

/// A valid ID in one of this project's formats is always recognized, whatever its time.
#[test]
fn ids_of_this_project_are_recognized() {
    for id in [
        "a7rdmuv326nct5if",
        "aaaaaaaa55aaaaaa",
        "2222222222222222",
        "xxxxxxxxxxxxxxxx",
        "order_1260vq138vspyq4",
        "1a4u0c6j9lvq2",
    ] {
        let readings = inspect(id, &CONTEXT);
        assert!(likely(&readings).next().is_some(), "{id}");
        assert!(sentence(&readings) != "This is no ID of a known format.", "{id}");
    }
    let public = inspect("user_1260vq138vspyq4", &CONTEXT);
    assert_eq!((public[0].format.as_str(), public[0].probability > 0.99), ("public-id", true));
    for mistyped in [
        "order_1260vq138vspyq5",
        "order_1260vq138vspqy4",
        "Order_1260vq138vspyq4",
        "_1260vq138vspyq4",
    ] {
        assert!(
            inspect(mistyped, &CONTEXT).iter().all(|reading| reading.format != "public-id"),
            "{mistyped}"
        );
    }
}

/// The inspector accepts the check characters that the core crate writes.
#[test]
fn public_ids_of_the_vectors_are_recognized() {
    let vectors = include_str!("../../../tests/vectors/public.json");
    let texts = vectors.split("\"text\": \"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut count = 0;
    for text in texts.filter(|text| text.contains('_')) {
        let readings = inspect(text, &CONTEXT);
        count += u32::from(readings.first().is_some_and(|first| first.format == "public-id"));
    }
    assert!(count >= 40, "{count}");
}
