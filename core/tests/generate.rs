//! Tests the trait that all ID generators implement. The tests use a service that accepts a generator, a handle, or a trait
//! object for either of them.

use std::{cell::RefCell, sync::Arc, time::Duration};

use polyflake::{
    ErrorKind, Generate, GenerateAsync, Generated, Result,
    clock::ManualClock,
    hotguid::{self, HotGuid},
    layout,
    randflake::{self, Randflake},
    sno::{self, Id, Kind, Sno},
};

const START_MS: i64 = 1_767_225_600_000;

struct User;

impl Kind for User {
    const METABYTE: u8 = 1;
}

/// Asserts that each of the trait's four methods generates IDs.
fn assert_id<I: Generated<Param: Copy> + Ord + Copy + Default + 'static>(
    ids: &impl Generate<I>,
    param: I::Param,
) -> [I; 2]
where
    for<'b> &'b mut [I]: Into<I::Batch<'b>>,
{
    let mut batch = [I::default(); 4];
    ids.fill(param, (&mut batch[..2]).into()).unwrap();
    assert_eq!(ids.try_fill(param, (&mut batch[2..]).into()).unwrap(), 2);
    let single = [ids.generate(param).unwrap(), ids.try_generate(param).unwrap()];
    let mut all = [&batch[..], &single].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 6, "an ID was made twice");
    single
}

#[test]
fn generators_and_handles_of_all_formats_make_ids() {
    let clock = ManualClock::at_unix_ms(START_MS);
    let snos = sno::Builder::with_clock(&clock).partition(42).build().unwrap();
    assert!(assert_id(&snos, 7_u8).iter().all(|id: &Sno| id.metabyte() == 7));
    assert!(
        assert_id(&RefCell::new(snos.handle()), 8_u8).iter().all(|id: &Sno| id.metabyte() == 8)
    );
    let guids = hotguid::Builder::with_clock(&clock, || Ok([7; 8])).build().unwrap();
    assert!(assert_id(&guids, 9_u32).iter().all(|id: &HotGuid| id.shard_key() == 9));
    assert_id::<HotGuid>(&RefCell::new(guids.handle()), 9);
    let grant = randflake::Grant::new(7, 1_767_225_600, 1_767_229_200).unwrap();
    let flakes = randflake::Builder::with_clock(grant, [7; 16], &clock).build().unwrap();
    assert_id::<Randflake>(&flakes, ());
    assert_id::<Randflake>(&RefCell::new(flakes.handle()), ());
    let twitter =
        layout::preset("twitter", [("datacenter", 1.into()), ("worker", 2.into())]).unwrap();
    let tweets = layout::Builder::with_clock(twitter, &clock).build().unwrap();
    let mut batch = [0_i64; 2];
    let tweet = Generate::<layout::Id>::generate(&tweets, ()).unwrap();
    Generate::<layout::Id>::fill(&RefCell::new(tweets.handle()), (), (&mut batch[..]).into())
        .unwrap();
    assert!(tweet.as_integer() < Some(batch[0]) && batch[0] < batch[1]);
}

#[test]
fn a_handles_ids_stay_sorted_across_batches() {
    let clock = ManualClock::at_unix_ms(START_MS);
    let ids = sno::Builder::with_clock(&clock).partition(42).build().unwrap();
    let handle = RefCell::new(ids.handle());
    let mut all = vec![];
    for _ in 0..3 {
        all.push(handle.generate(1).unwrap());
        let mut batch = [Sno::default(); 3];
        handle.fill(1, &mut batch).unwrap();
        all.extend(batch);
    }
    assert!(all.is_sorted(), "{all:?}");
}

#[test]
fn generate_trait_objects_make_typed_ids() {
    let clock = ManualClock::at_unix_ms(START_MS);
    let ids = sno::Builder::with_clock(clock).partition(42).build().unwrap();
    let object: Arc<dyn Generate<Sno> + Send + Sync> = Arc::new(ids);
    let first = Id::<User>::generate_with(&object).unwrap();
    let many = Id::<User>::generate_many_with(&object, 100).unwrap();
    let last = Id::<User>::try_generate_with(&object).unwrap();
    assert!(many.len() == 100 && many.is_sorted() && first < many[0] && many[99] < last);
    assert_eq!(object.generate(9).map(|id| id.partition()), Ok(42));
}

#[test]
fn boxed_generators_implement_generate() {
    let clock = ManualClock::at_unix_ms(START_MS);
    let boxed: Box<dyn Generate<Sno>> =
        Box::new(sno::Builder::with_clock(clock).partition(42).build().unwrap());
    assert!(Id::<User>::generate_with(&boxed).is_ok());
}

#[test]
fn a_borrowed_handle_returns_an_error() {
    let clock = ManualClock::at_unix_ms(START_MS);
    let ids = sno::Builder::with_clock(clock).partition(42).build().unwrap();
    let handle = RefCell::new(ids.handle());
    let held = handle.borrow();
    let error = Id::<User>::generate_with(&handle).unwrap_err();
    assert_eq!(error.code(), "clock_failed");
    drop(held);
    assert!(Id::<User>::generate_with(&handle).is_ok());
}

/// A generator that returns predefined IDs, similar to a generator that an application might use in tests.
struct ListGenerator(RefCell<Vec<Sno>>);

impl Generate<Sno> for ListGenerator {
    fn generate(&self, _: u8) -> Result<Sno> {
        Ok(self.0.borrow_mut().pop().expect("an ID is left"))
    }
    fn try_generate(&self, metabyte: u8) -> Result<Sno> {
        self.generate(metabyte)
    }
    fn fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<()> {
        self.try_fill(metabyte, ids).map(drop)
    }
    fn try_fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<usize> {
        for id in &mut *ids {
            *id = self.generate(metabyte)?;
        }
        Ok(ids.len())
    }
}

#[test]
fn custom_types_can_implement_generate() {
    let id = Sno::parse("9d5ve8222622g222").unwrap();
    let listed = ListGenerator(RefCell::new(vec![id; 2]));
    assert_eq!(Id::<User>::generate_with(&listed).map(Sno::from), Ok(id));
    listed.0.replace(vec![id.with_metabyte(2)]);
    assert_eq!(Id::<User>::generate_with(&listed).unwrap_err().kind(), ErrorKind::OutOfRange);
}

async fn generate_ids(ids: impl GenerateAsync<Sno>) -> Result<Vec<Id<User>>> {
    let sleep = async |_: Duration| ();
    let mut all = vec![Id::generate_with_async(&ids, sleep).await?];
    all.extend(Id::<User>::generate_many_with_async(&ids, sleep, 3).await?);
    Ok(all)
}

#[tokio::test(flavor = "current_thread")]
async fn the_async_trait_makes_ids() {
    let clock = ManualClock::at_unix_ms(START_MS);
    let made =
        generate_ids(sno::Builder::with_clock(clock).partition(42).build().unwrap()).await.unwrap();
    assert!(made.len() == 4 && made.is_sorted());
}
