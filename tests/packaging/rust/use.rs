//! Uses every format and every feature of the packaged crate.

use polyflake::{Result, hotguid, layout, randflake, sno, uuid7};

fn main() -> Result<()> {
    let id = sno::generate(7)?;
    assert_eq!((sno::Sno::parse(&id.to_string())?, id.metabyte()), (id, 7));

    let lease = randflake::Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    let ids = randflake::Generator::builder(lease, *b"sixteen byte key").build()?;
    assert_eq!(ids.inspect(ids.generate()?).node, 42);

    let guid = hotguid::generate(7)?;
    assert_eq!((hotguid::HotGuid::parse(&guid.to_string())?, guid.shard_key()), (guid, 7));
    assert_eq!(sno::Sno::from_uuid_bytes(id.to_uuid_bytes())?, id);

    assert!(uuid7::generate()? < uuid7::generate()?);
    let ids = uuid7::Generator::builder().worker_id(7).build()?;
    assert_eq!(uuid7::worker_id(ids.generate()?), 7);

    let twitter = layout::preset("twitter", [])?;
    assert_eq!(layout::Layout::from_json(&twitter.to_json())?, twitter);
    Ok(())
}
