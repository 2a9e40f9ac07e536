//! Compares the pictures in `docs/pictures` with the crate's output. To regenerate the pictures after an intended change,
//! use `POLYFLAKE_DRAW=1 cargo test -p polyflake-inspect --test pictures`.

use std::{env, fs, path::Path};

use polyflake::randflake::Codec;
use polyflake_inspect::{Context, inspect};

/// The name of a picture, the ID that it shows, and the checked-in picture.
const PICTURES: [(&str, &str, &str); 5] = [
    ("sno", "9afikjv326nct5if", include_str!("../../../docs/pictures/sno.svg")),
    ("randflake", "amb6fiq6d10u2", include_str!("../../../docs/pictures/randflake.svg")),
    (
        "hotguid",
        "69231e2a-5f3b-91c4-d8a7-000105000000",
        include_str!("../../../docs/pictures/hotguid.svg"),
    ),
    (
        "uuid7",
        "019ab0a9-4d10-7a3c-9f58-21c0de5a7b03",
        include_str!("../../../docs/pictures/uuid7.svg"),
    ),
    ("discord", "175928847299117063", include_str!("../../../docs/pictures/discord.svg")),
];

#[test]
fn checked_in_pictures_are_up_to_date() {
    let codec = Codec::new(*b"sixteen byte key");
    // 2026-11-23T09:00:00Z.
    let context = Context { now_ms: 1_795_424_400_000, secret: Some(&codec), ..Context::default() };
    for (name, id, checked_in) in PICTURES {
        let readings = inspect(id, &context);
        let reading = readings.iter().find(|reading| reading.format == name).expect("a reading");
        let drawn = reading.picture(id);
        if env::var_os("POLYFLAKE_DRAW").is_some() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
            fs::write(folder.join(name).with_extension("svg"), drawn).expect("a picture");
        } else {
            assert!(drawn == checked_in, "docs/pictures/{name}.svg is not as it is drawn");
        }
    }
}

/// The names come from layouts, which are untrusted, so they must be escaped.
#[test]
fn pictures_escape_names_and_ids() {
    use polyflake::layout::{Field, Layout, Tick};
    let fields = [Field::timestamp(32, Tick::SECOND, 0), Field::bindable(32, Some("<b>&\""))];
    let layout = Layout::integer(fields).expect("a layout");
    let context =
        Context { now_ms: 1_795_424_400_000, layouts: &[("<i>", &layout)], ..Context::default() };
    let readings = inspect("1", &context);
    let picture = readings.iter().find(|of| of.format == "<i>").expect("a reading").picture("<s>");
    assert!(picture.contains("&lt;i&gt; &lt;s&gt;: ") && picture.contains("&lt;b&gt;&amp;&quot;"));
    assert!(!["<i>", "<b>", "<s>"].iter().any(|text| picture.contains(text)), "{picture}");
}
