//! Checks the examples in docs/formats.md: the page must contain each value that this test computes.

use data_encoding::HEXLOWER;
use polyflake::{
    hotguid::{self, HotGuid},
    layout::{Layout, PRESETS, preset},
    randflake::{Codec, Parts},
    sno::Sno,
    sparx64::Sparx64,
    uuid7::Uuid7,
};

const PAGE: &str = include_str!("../../../../docs/formats.md");

#[track_caller]
fn assert_page_contains(text: &str) {
    assert!(PAGE.contains(text), "expected {text:?} in docs/formats.md");
}

#[test]
fn the_page_shows_the_sno_example() {
    let id = Sno::parse("hxxxxxxwnbcndcnc").unwrap();
    assert_page_contains(&format!("{}  =  {id}", HEXLOWER.encode(id.as_bytes())));
    assert_page_contains(&format!(
        "timestamp {} (Unix ms {}), tick-tock {}, metabyte {}, partition {}, sequence {}",
        id.tick(),
        id.unix_ms(),
        u8::from(id.tick_tock()),
        id.metabyte(),
        id.partition(),
        id.sequence()
    ));
}

#[test]
fn the_page_shows_the_sparx64_example() {
    let cipher = Sparx64::new(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes());
    let block = 0x0123_4567_89ab_cdef_u64.to_be_bytes();
    assert_page_contains(&format!(
        "0123456789abcdef  ->  {}",
        HEXLOWER.encode(&cipher.encrypt_block(block))
    ));
}

#[test]
fn the_page_shows_the_randflake_example() {
    let secret = HEXLOWER.decode(b"dffd6021bb2bd5b0af676290809ec3a5").unwrap();
    let parts = Parts { timestamp: 1_730_000_000, node: 0, sequence: 2 };
    let id = Codec::from_slice(&secret).unwrap().encrypt(parts).unwrap();
    assert_page_contains(&HEXLOWER.encode(&secret));
    assert_page_contains(&format!("raw 2, id {}, text {}", id.to_i64(), &*id.text()));
}

#[test]
fn the_page_shows_the_hot_guid_example() {
    let machine = [0xaa, 0xbb, 0xcc, 0xdd, 0xee];
    let parts = hotguid::Parts { timestamp: 1_763_650_000, machine, counter: 1, shard_key: 7 };
    let id = HotGuid::from_parts(parts).unwrap();
    assert_page_contains(&format!(
        "bytes {}, text {}",
        HEXLOWER.encode(&id.to_bytes()),
        &*id.text()
    ));
    assert_page_contains(&format!("bytes of .NET: {}", HEXLOWER.encode(&id.to_dotnet_bytes())));
    assert_page_contains(&format!("for SQL Server: {}", &*id.sql_text()));
}

#[test]
fn the_page_shows_the_uuid7_example() {
    let id = Uuid7::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").unwrap();
    let (unix_ms, sequence, random) = (id.unix_ms(), id.sequence(), id.random());
    assert_page_contains(&format!(
        "Unix ms {unix_ms}, sequence {sequence}, random {random:014x}  =  {id}"
    ));
}

#[test]
fn the_layout_on_the_page_round_trips() {
    let json = PAGE.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let layout = Layout::from_json(json).unwrap();
    assert_eq!(layout, Layout::from_json(&layout.to_json()).unwrap());
}

#[test]
fn the_page_lists_the_fields_of_every_preset() {
    for name in PRESETS {
        let layout: serde_json::Value =
            serde_json::from_str(&preset(name, []).unwrap().to_json()).unwrap();
        let row = PAGE.lines().find(|line| line.starts_with(&format!("| `{name}`"))).unwrap();
        for field in layout["fields"].as_array().unwrap() {
            let what = match field["kind"].as_str().unwrap() {
                "timestamp" => "time",
                "bindable" => field["name"].as_str().unwrap(),
                kind => kind,
            };
            assert!(row.contains(&format!("{} {what}", field["bits"])), "{name}: {field} in {row}");
            if let Some(epoch) = field.get("epoch_ms") {
                assert!(row.contains(&format!("| {epoch}, ")), "{name}: {epoch} in {row}");
            }
        }
    }
}
