//! Compares records byte for byte with the examples in `docs/leases.md`, and checks that malformed strings are rejected.

use polyflake_lease::{
    Shape,
    protocol::{Namespace, Operation, Random, Record, Reply, ReplyContent, Request},
};

const LEASES_PAGE: &str = include_str!("../../docs/leases.md");

fn record() -> Record {
    Record {
        first: 42,
        count: 1,
        start: 1_763_650_000_000,
        granted_until: 1_763_653_600_000,
        token: Random(0x7d79_3037_a076_0186_574b_0282_f2f4_35e7),
        version: 5,
        incarnation: Random(0x5d41_402a_bc4b_2a76_b971_9d91_1017_c592),
        holder: "orders-7".into(),
    }
}

fn namespace() -> Namespace {
    Namespace {
        name: "orders".into(),
        shape: Shape::sno(0..=65_535).unwrap().to_json(),
        incarnation: Random(7),
        store: "memory:1".into(),
        records: 43,
        longest_ms: 3_600_000,
        quiet_until: 0,
        previous_store: String::new(),
        previous_quiet_until: 0,
        version: 9,
    }
}

#[test]
fn the_page_shows_the_stored_records() {
    assert!(LEASES_PAGE.contains(&format!("\n{}\n", record().to_json())), "{}", record().to_json());
    let namespace = namespace();
    assert!(LEASES_PAGE.contains(&format!("shape   {}\n", namespace.shape)));
    assert!(LEASES_PAGE.contains(&format!("digest  {}\n", namespace.digest())));
}

#[test]
fn records_round_trip() {
    let odd = Record { holder: "it's \"one\" \\ \u{e9}\u{1f40d}".into(), ..record() };
    for record in [record(), odd, Record::fresh(0, 1 << 20, Random(u128::MAX))] {
        assert_eq!(Record::from_json(&record.to_json()), Ok(record));
    }
    assert_eq!(Namespace::from_json(&namespace().to_json()), Ok(namespace()));
}

#[test]
fn a_token_has_one_canonical_encoding() {
    let token = Random(0x7d79_3037_a076_0186_574b_0282_f2f4_35e7);
    assert_eq!(Random::parse("7d793037a0760186574b0282f2f435e7"), Ok(token));
    for text in ["7D793037a0760186574b0282f2f435e7", "+d793037a0760186574b0282f2f435e7", "7d79", ""]
    {
        assert_eq!(Random::parse(text).unwrap_err().code(), "store_damaged", "{text}");
    }
}

#[track_caller]
fn assert_error_code(text: &str, code: &str) {
    let error = Record::from_json(text).unwrap_err();
    assert_eq!(error.code(), code, "{text}: {error}");
    assert!(!error.to_string().ends_with('.') && !error.to_string().is_empty());
}

/// Each test case is a valid record with one part replaced.
#[test]
fn malformed_records_are_rejected() {
    let text = record().to_json();
    let damaged = [
        ("{\"count\":1", "{\"count\":0"),
        ("{\"count\":1", "{\"count\":3"),
        ("{\"count\":1", "{\"count\":9007199254740992"),
        ("{\"count\":1", "{\"count\":01"),
        ("{\"count\":1", "{\"count\":-1"),
        ("{\"count\":1", "{\"count\":1.0"),
        ("{\"count\":1", "{\"count\":\"1\""),
        ("{\"count\":1", "{\"count\":"),
        ("{\"count\":1,", "{"),
        ("{\"count\":1,", "{\"count\":1,\"count\":1,"),
        ("\"count\":1,\"first\":42", "\"first\":42,\"count\":1"),
        ("\"first\":42", "\"first\":42,\"flag\":1"),
        ("\"first\":42", "\"first\": 42"),
        ("\"first\":42", "\"first\":9007199254740991"),
        ("\"first\":42", "\"first\":99999999999999999999999999"),
        ("\"format\":1", "\"format\":0"),
        ("1763653600000", "1763649999999"),
        ("orders-7", "orders\n7"),
        ("orders-7", "orders\\u0037"),
        ("orders-7", "orders\\"),
        ("7d793037", "7D793037"),
        ("7d793037", "+d793037"),
        ("7d793037", "d793037"),
        ("7d793037", "77d793037"),
        ("\"version\":5", "\"version\":0"),
        ("\"version\":5}", "\"version\":5"),
        ("\"version\":5}", "\"version\":5}}"),
        ("\"version\":5}", "\"version\":5}\n"),
        ("{\"count\"", " {\"count\""),
        ("{\"count\"", "[\"count\""),
    ];
    for (from, to) in damaged {
        assert!(text.contains(from), "{from}");
        assert_error_code(&text.replace(from, to), "store_damaged");
    }
    assert_error_code(&text.replace("orders-7", &"x".repeat(201)), "store_damaged");
    assert_error_code(&text.replace("\"format\":1", "\"format\":2"), "schema_too_new");
    assert_error_code("", "store_damaged");
    for end in 0..text.len() {
        assert_error_code(&text[..end], "store_damaged");
    }
}

/// The `steps` test covers valid requests and replies of each type.
#[test]
fn malformed_requests_and_replies_are_rejected() {
    let request =
        Request { number: 7, namespace: "orders".into(), operation: Operation::Find { limit: 8 } };
    let found = ReplyContent::Differs(Some(record()));
    let reply = Reply { now: 7, store: "memory:1".into(), namespace: None, content: found };
    let (request, reply) = (request.to_json(), reply.to_json());
    for text in [&request, &reply] {
        assert!(LEASES_PAGE.contains(&request), "{request}");
        for (from, to) in [
            ("\"find\"", "\"seek\""),
            ("\"differs\"", "\"different\""),
            ("\"limit\":8", "\"limit\":4294967296"),
            ("\"limit\":8", "\"limit\":8,\"more\":1"),
            ("\"number\":7", "\"number\":-7"),
            ("\"count\":1", "\"count\":3"),
            ("\"namespace\":null,", ""),
            ("\"now\":7", "\"now\": 7"),
            ("}", "} "),
        ] {
            let other = text.replace(from, to);
            if &other == text {
                continue;
            }
            let errors = [Request::from_json(&other).err(), Reply::from_json(&other).err()];
            for error in errors {
                assert_eq!(error.map(|error| error.code()), Some("store_damaged"), "{other}");
            }
        }
        for end in 0..text.len() {
            assert!(Request::from_json(&text[..end]).is_err());
            assert!(Reply::from_json(&text[..end]).is_err());
        }
    }
}

#[test]
fn a_shape_that_does_not_match_its_digest_is_rejected() {
    let text = namespace().to_json();
    for (from, to) in [
        ("65535", "65534"),
        ("\"digest\":\"8e", "\"digest\":\"9e"),
        ("\"records\":43", "\"records\":-43"),
        ("\"version\":9", "\"version\":0"),
        ("\"orders\"", "\"\""),
        ("\"orders\"", "\"or ders\""),
    ] {
        let error = Namespace::from_json(&text.replace(from, to)).unwrap_err();
        assert_eq!(error.code(), "store_damaged", "{to}: {error}");
    }
}

#[test]
fn shapes_have_different_digests_if_ids_could_collide() {
    let sno = Shape::sno(0..=1023).unwrap();
    let node = |secret: [u8; 16]| Shape::randflake(0..=1023, &secret).unwrap();
    let layout = |tick| Shape::layout("{}", (0, tick), &["shard"], 0..=1023).unwrap();
    let shapes = [
        sno.clone(),
        Shape::sno(0..=1022).unwrap(),
        node([0; 16]),
        node([1; 16]),
        Shape::hotguid(0..=1023).unwrap(),
        layout(1000),
        layout(2000),
        Shape::layout("{ }", (0, 1000), &["shard"], 0..=1023).unwrap(),
        Shape::layout("{}", (1, 1000), &["shard"], 0..=1023).unwrap(),
        Shape::layout("{}", (0, 1000), &["data", "center"], 0..=1023).unwrap(),
    ];
    let texts: std::collections::HashSet<_> = shapes.iter().map(Shape::to_json).collect();
    assert_eq!(texts.len(), shapes.len());
    assert!(!node([7; 16]).to_json().contains("0707"), "expected nothing of the secret");
}

#[test]
fn invalid_shapes_are_rejected() {
    assert_eq!(Shape::sno(0..=65_536).unwrap_err().code(), "out_of_range");
    let (first, last) = (1, 0);
    assert_eq!(Shape::sno(first..=last).unwrap_err().code(), "out_of_range");
    assert_eq!(Shape::hotguid(0..=1 << 20).unwrap_err().code(), "out_of_range");
    assert!(Shape::layout("{}", (0, 0), &["shard"], 0..=1).is_err());
    assert!(Shape::layout("{}", (0, 1000), &[], 0..=1).is_err());
    assert!(Shape::layout("{}", (0, 1000), &["shard"], 0..=u64::MAX).is_err());
}

#[test]
fn grant_bounds_align_to_ticks_and_milliseconds() {
    let grid = |epoch, tick| Shape::layout("{}", (epoch, tick), &["n"], 0..=1).unwrap().grid();
    let sno = Shape::sno(0..=1).unwrap().grid();
    assert_eq!(
        (sno.floor(1_763_650_000_003), sno.ceil(1_763_650_000_001)),
        (1_763_650_000_000, 1_763_650_000_004)
    );
    assert_eq!(
        (sno.floor(1_763_650_000_004), sno.ceil(1_763_650_000_004)),
        (1_763_650_000_004, 1_763_650_000_004)
    );
    // With ticks of 1.5 ms, only every second tick starts on a whole millisecond, that is, every 3 ms from the epoch.
    let odd = grid(1001, 1500);
    assert_eq!((odd.floor(1003), odd.ceil(1003), odd.ceil(1005)), (1001, 1004, 1007));
    let fine = grid(0, 1);
    assert_eq!((fine.floor(5), fine.ceil(5), fine.interval()), (5, 5, 1));
    for ms in [0, 1, 1000, Record::RESERVED - 1, Record::RESERVED] {
        assert!(odd.floor(ms) <= ms && odd.ceil(ms) <= Record::RESERVED);
    }
}
