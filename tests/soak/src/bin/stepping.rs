//! Generates IDs in four threads while the system clock steps. See `tests/stepping/README.md`.

use std::{
    collections::{BTreeMap, HashSet},
    env, thread,
    time::{Duration, Instant, SystemTime},
};

use polyflake::{
    OnExhausted, Result, hotguid, layout,
    randflake::{self, Grant},
    sno, uuid7,
};

const THREADS: usize = 4;

const MAX_WAIT: Duration = Duration::from_millis(20);

/// A generator of each format, shared by all threads.
struct Generators {
    sno: sno::Generator,
    hotguid: hotguid::Generator,
    layout: layout::Generator,
    randflake: randflake::Generator,
    uuid7: uuid7::Generator,
}

impl Generators {
    fn new() -> Result<Self> {
        let discord = layout::preset("discord", [("worker", 1.into()), ("process", 2.into())])?;
        let lease = Grant::new(7, 1_730_000_000, 2_803_741_824)?;
        let randflake = randflake::Generator::builder(lease, [0; 16]);
        Ok(Self {
            sno: sno::Generator::builder().max_wait(MAX_WAIT).build()?,
            hotguid: hotguid::Generator::builder().max_wait(MAX_WAIT).build()?,
            layout: layout::Generator::builder(discord).max_wait(MAX_WAIT).build()?,
            randflake: randflake.on_exhausted(OnExhausted::Wait).max_wait(MAX_WAIT).build()?,
            uuid7: uuid7::Generator::builder().max_wait(MAX_WAIT).build()?,
        })
    }

    /// Generates one ID in each format. Returns the ID or the error for each format.
    fn generate_one_of_each(&self) -> [Result<(u8, u128)>; 5] {
        let sno =
            |id: sno::Sno| id.to_bytes().iter().fold(0, |id, byte| id << 8 | u128::from(*byte));
        [
            self.sno.generate(1).map(|id| (0, sno(id))),
            self.hotguid.generate(2).map(|id| (1, u128::from_be_bytes(id.to_bytes()))),
            self.layout.generate().map(|id| (2, id_to_u128(&id))),
            self.randflake.generate().map(|id| (3, id.to_u64().into())),
            self.uuid7.generate().map(|id| (4, id.to_u128())),
        ]
    }
}

fn id_to_u128(id: &layout::Id) -> u128 {
    id.as_integer().expect("an integer layout").cast_unsigned().into()
}

/// The IDs, errors and clock readings that one thread observed.
#[derive(Default)]
struct Observations {
    ids: Vec<(u8, u128)>,
    steps_back: usize,
    rejected: BTreeMap<&'static str, u64>,
}

impl Observations {
    fn observe_until(end: Instant, generators: &Generators) -> Self {
        let (mut seen, mut last) = (Self::default(), SystemTime::now());
        while Instant::now() < end {
            for made in generators.generate_one_of_each() {
                match made {
                    Ok(id) => seen.ids.push(id),
                    Err(error) => *seen.rejected.entry(error.code()).or_default() += 1,
                }
            }
            let now = SystemTime::now();
            seen.steps_back += usize::from(now < last);
            last = now;
        }
        seen
    }

    fn merge(mut self, other: Self) -> Self {
        self.ids.extend(other.ids);
        self.steps_back = self.steps_back.max(other.steps_back);
        other
            .rejected
            .into_iter()
            .for_each(|(code, n)| *self.rejected.entry(code).or_default() += n);
        self
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let seconds = env::args().nth(1).ok_or("expected a number of seconds")?.parse()?;
    let (generators, end) = (Generators::new()?, Instant::now() + Duration::from_secs(seconds));
    let seen = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| Observations::observe_until(end, &generators)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .fold(Observations::default(), Observations::merge)
    });
    let Observations { ids, steps_back, rejected } = seen;
    let twice = ids.len() - ids.iter().collect::<HashSet<_>>().len();
    let said = serde_json::json!({"ids": ids.len(), "twice": twice, "stepsBack": steps_back, "rejected": rejected});
    println!("{said}");
    Ok(())
}
