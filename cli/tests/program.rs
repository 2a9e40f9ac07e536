//! Tests the program as a whole. Each test passes command-line arguments, and checks standard output, standard error and
//! the exit status.

use std::{
    collections::HashSet,
    fs,
    io::{BufRead, BufReader, Write},
    process::{Command, Output, Stdio},
};

use polyflake_lease::protocol::{Namespace, Operation, Random, Request, Store as _};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_polyflake");
const NOW: &str = "2026-11-23T09:00:00Z";

#[track_caller]
fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().expect("a program")
}

#[track_caller]
fn stdout_of(arguments: &[&str]) -> String {
    let output = run(arguments);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && talk.is_empty(), "{arguments:?}: {talk}");
    String::from_utf8(output.stdout).expect("text")
}

/// Asserts that the program fails with the given status, and returns its standard error.
#[track_caller]
fn assert_fails(status: i32, arguments: &[&str]) -> String {
    let output = run(arguments);
    let talk = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {talk}");
    talk
}

fn run_with_input(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(PROGRAM);
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("a program");
    child.stdin.take().expect("a pipe").write_all(input).expect("a reader");
    child.wait_with_output().expect("an end")
}

#[test]
fn help_begins_with_examples() {
    let short = assert_fails(2, &[]);
    assert!(short.starts_with("Examples:\n  polyflake inspect"), "{short}");
    for command in ["inspect", "new", "lease"] {
        assert!(stdout_of(&[command, "--help"]).starts_with("Examples:\n"), "{command}");
    }
    assert!(stdout_of(&["--help"]).contains("Exit status: 0, done; 1, rejected"));
}

/// Every example command in the help must succeed.
#[test]
fn the_examples_in_the_help_run() {
    let examples = assert_fails(2, &[]);
    let lines =
        examples.lines().filter(|line| line.starts_with("  polyflake") && !line.contains('<'));
    let mut count = 0;
    for line in lines {
        let command = line.split("   ").next().expect("a command");
        stdout_of(&command.split_whitespace().skip(1).collect::<Vec<_>>());
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn invalid_arguments_exit_with_2_and_a_suggestion() {
    assert!(assert_fails(2, &["inspct", "1"]).contains("'inspect'"));
    assert!(
        assert_fails(2, &["new", "sno", "--metabyte", "256"]).contains("256 is not in 0..=255")
    );
    assert!(assert_fails(2, &["new", "sno", "--lease", "sqlite:x"]).contains("--namespace"));
    assert!(assert_fails(2, &["new", "discord", "--bind", "worker"]).contains("NAME=VALUE"));
    let unbound = assert_fails(2, &["new", "discord"]);
    assert!(
        unbound.contains("discord needs --bind worker=VALUE --bind process=VALUE"),
        "{unbound}"
    );
    let other = assert_fails(2, &["new", "discord", "--bind", "foo=1"]);
    assert!(
        other.contains("discord has no field `foo` for --bind: it has worker, process"),
        "{other}"
    );
    let unknown = assert_fails(1, &["new", "discrod"]);
    assert!(
        unknown.starts_with("error[unknown_format]: ")
            && unknown.contains("did you mean `discord`?")
    );
    assert!(!assert_fails(1, &["new", "nonsense"]).contains("did you mean"));
    assert!(assert_fails(1, &["new", "none.json"]).contains("no such file: none.json"));
    let dropped = assert_fails(2, &["new", "hotguid", "--metabyte", "7"]);
    assert!(dropped.contains("--metabyte is for sno, not for hotguid"), "{dropped}");
    assert!(
        assert_fails(2, &["new", "sno", "--partition", "1", "--namespace", "orders"])
            .contains("cannot be used")
    );
}

#[test]
fn a_card_shows_format_time_fields_and_bits() {
    let card = stdout_of(&["inspect", "175928847299117063", "--now", NOW]);
    let words: Vec<_> = card.split_whitespace().collect();
    assert!(card.starts_with("175928847299117063\n  Discord snowflake, "), "{card}");
    assert!(words.contains(&"2016-04-30T11:18:25.796Z"), "{card}");
    assert!(words.windows(2).any(|pair| pair == ["sequence", "7"]), "{card}");
    assert!(
        card.contains("\n  000000100111000100000110010110101100000100 00001 00000 000000000111\n")
    );
    assert!(!card.contains('\x1b'), "colours in a file");
    assert!(include_str!("../README.md").contains(card.trim_end()), "README.md: {card}");
    assert!(!card.contains(" \n"), "spaces at the end of a line: {card}");
    assert!(stdout_of(&["inspect", "42", "--color", "always"]).contains('\x1b'));
}

#[test]
fn json_is_one_object_per_line_with_large_integers_as_strings() {
    let ids = "175928847299117063\n\n01ARZ3NDEKTSV4RRFFQ69G5FAV\n";
    let output = run_with_input(&["inspect", "--json", "--now", NOW], ids.as_bytes());
    let text = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<Value> = text.lines().map(|line| line.parse().expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["readings"][0]["format"], "discord");
    assert_eq!(lines[0]["readings"][0]["fields"][3]["value"], 7);
    assert_eq!(lines[1]["id"], "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_eq!(lines[1]["readings"][0]["time"], "2016-07-30T23:54:10.259Z");
    assert!(lines[1]["readings"][0]["fields"][1]["value"].is_string());
    assert_eq!(lines[0]["readings"][0]["fields"][3]["offset"], 52);
}

#[test]
fn an_unknown_id_exits_with_1_after_reading_the_others() {
    let output = run(&["inspect", "Grüße", "42"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("of no known format") && text.contains("a counter"), "{text}");
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("error[unknown_format]: 1 of 2 IDs ")
    );
}

/// Input files may start with a byte order mark, be encoded as UTF-16, use Windows line endings, or contain a line that
/// is not valid UTF-8.
#[test]
fn lines_of_any_encoding_are_read() {
    let ids = "42\r\n9afikjv326nct5if\r\n";
    let utf_16 = |unit: fn(u16) -> [u8; 2], bom: &str| {
        format!("{bom}{ids}").encode_utf16().flat_map(unit).collect::<Vec<u8>>()
    };
    for input in [
        ids.as_bytes().to_vec(),
        format!("\u{feff}{ids}").into_bytes(),
        utf_16(u16::to_le_bytes, "\u{feff}"),
        utf_16(u16::to_be_bytes, "\u{feff}"),
        utf_16(u16::to_le_bytes, ""),
        utf_16(u16::to_be_bytes, ""),
    ] {
        let output = run_with_input(&["inspect", "--tsv", "--fields", "format"], &input);
        assert!(output.status.success(), "{input:?}");
        let table = String::from_utf8(output.stdout).expect("text");
        assert_eq!(table, "id\tformat\n42\tcounter\n9afikjv326nct5if\tsno\n", "{input:?}");
    }
    let output = run_with_input(&["inspect", "--tsv"], b"42\n\n\xffx\n9afikjv326nct5if\n");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error[unknown_format]: 1 of 3 IDs is of no known format, the first in line 3\n"
    );
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("2025-10-25T21:23:12.320Z\tsno\n"));
}

#[test]
fn similar_names_are_suggested() {
    for (text, suggestion) in [
        ("9AFIKJV326NCT5IF", "did you mean 9afikjv326nct5if, a sno?"),
        (
            "https://example.com/status/1541815603606036480",
            "did you mean 1541815603606036480, an X (Twitter) snowflake?",
        ),
        ("\u{201c}9afikjv326nct5if\u{201d},", "did you mean 9afikjv326nct5if, a sno?"),
        (
            "id=017f22e2-79b0-7cc3-98c4-dc0c0c07398f;",
            "did you mean 017f22e2-79b0-7cc3-98c4-dc0c0c07398f, a UUID v7?",
        ),
        // These 21 characters could be a Nano ID, but a mistyped public ID is more likely.
        ("Order_1cswj9ra8617edr", "did you mean order_1cswj9ra8617edr, a public ID?"),
        ("9afikjv326nct5i", "a character is missing: a sno has 16, and this has 15"),
        (
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398ff",
            "a character is too many: a UUID has 36, and this has 37",
        ),
        ("01ARZ3NDEKTSV4RRFFQ69G5FA", "a character is missing: a ULID has 26, and this has 25"),
    ] {
        let output = run(&["inspect", text]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        let card = String::from_utf8(output.stdout).expect("text");
        assert_eq!(card, format!("{text}\n  of no known format; {suggestion}\n\n"));
        let output = run(&["inspect", "--json", text]);
        let line: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(line["suggestion"], suggestion);
    }
    assert!(assert_fails(2, &["inspect", ""]).contains("expected an ID, found an empty string"));
    assert!(
        assert_fails(2, &["inspect", "42", " "]).contains("expected an ID, found an empty string")
    );
}

#[test]
fn json_and_tsv_contain_the_requested_readings_and_fields() {
    let id = "175928847299117063";
    assert_eq!(
        stdout_of(&["inspect", "--json", "--best", "--fields", "format,time", "--now", NOW, id]),
        format!(
            "{{\"id\":\"{id}\",\"readings\":[{{\"format\":\"discord\",\"time\":\"2016-04-30T11:18:25.796Z\"}}]}}\n"
        )
    );
    assert_eq!(
        stdout_of(&["inspect", "--tsv", "--fields", "time,format", "--now", NOW, id]),
        format!("id\ttime\tformat\n{id}\t2016-04-30T11:18:25.796Z\tdiscord\n")
    );
    assert!(
        stdout_of(&["inspect", "--tsv", id])
            .starts_with("id\tformat\tconfidence\tprobability\ttime\ttitle\n")
    );
    let whole: Value = stdout_of(&["inspect", "--json", "--now", NOW, id]).parse().expect("JSON");
    let first = whole["readings"][0].as_object().expect("an object");
    let members: Vec<_> = first.keys().map(String::as_str).collect();
    assert_eq!(members, polyflake_inspect::MEMBERS);
    assert!(first["note"].as_str().is_some_and(|note| note.contains("only the source")), "{whole}");
    assert!(!stdout_of(&["inspect", "--best", id]).contains("\n  or "));
    assert!(assert_fails(2, &["inspect", "--json", "--fields", "colour", id]).contains("unix_ms"));
    assert!(assert_fails(2, &["inspect", "--fields", "time", id]).contains("for --json and --tsv"));
}

#[test]
fn new_makes_distinct_ids_that_inspect_identifies() {
    for format in ["sno", "hotguid", "uuid7", "twitter", "sonyflake"] {
        let mut arguments = vec!["new", format, "-n", "2000"];
        arguments.extend(match format {
            "twitter" => &["--bind", "datacenter=1", "--bind", "worker=2"][..],
            "sonyflake" => &["--bind", "machine=513"],
            _ => &[],
        });
        let made = stdout_of(&arguments);
        let ids: HashSet<&str> = made.lines().collect();
        assert_eq!(ids.len(), 2000, "{format}");
        let first = made.lines().next().expect("an ID");
        let read: Value = stdout_of(&["inspect", "--json", first]).parse().expect("JSON");
        assert_eq!(read["readings"][0]["format"], format, "{first}");
    }
    for at in ["2026-01-01T00:00:00.0019Z", "1767225600001"] {
        let ids = stdout_of(&["new", "uuid7", "--at", at, "-n", "2"]);
        let [one, other] = ids.lines().collect::<Vec<_>>()[..] else { panic!("{ids}") };
        assert!(one != other && ids.matches("019b76da-a801-7").count() == 2, "{ids}");
    }
    for at in ["-1", "1969-12-31T23:59:59.9999Z"] {
        assert!(assert_fails(1, &["new", "uuid7", "--at", at]).contains("time_out_of_range"));
    }
    assert!(
        assert_fails(2, &["new", "sno", "--at", "0"]).contains("--at is for uuid7, not for sno")
    );
    let uuid = stdout_of(&["new", "uuid7", "--worker-id", "49374"]);
    let id = polyflake::uuid7::Uuid7::parse(uuid.trim()).expect("a UUID");
    assert_eq!(polyflake::uuid7::worker_id(id), 0xc0de);
    let sno = stdout_of(&["new", "sno", "--metabyte", "7", "--partition", "513"]);
    let read: Value = stdout_of(&["inspect", "--json", sno.trim()]).parse().expect("JSON");
    let fields = &read["readings"][0]["fields"];
    assert_eq!((&fields[2]["value"], &fields[3]["value"]), (&7.into(), &513.into()));
}

/// Consecutive runs with the same explicit worker ID never generate the same ID.
#[test]
fn consecutive_runs_with_one_worker_id_never_collide() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    fs::write(&key, "00112233445566778899aabbccddeeff\n").expect("a file");
    let key = key.to_str().expect("a path");
    let mut seen = HashSet::new();
    for _ in 0..3 {
        for arguments in [
            &["new", "randflake", "--secret-file", key, "--node", "7", "-n", "100"][..],
            &["new", "sno", "--partition", "7", "-n", "100"],
            &["new", "discord", "--bind", "worker=1", "--bind", "process=1", "-n", "100"],
        ] {
            for id in stdout_of(arguments).lines() {
                assert!(seen.insert(id.to_owned()), "{id} was made twice");
            }
        }
    }
    assert_eq!(seen.len(), 900);
}

#[test]
fn secrets_are_read_only_from_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    for (content, works) in
        [(&b"sixteen byte key"[..], true), (b"short", false), (&[0xff; 33], false)]
    {
        fs::write(&key, content).expect("a file");
        let arguments =
            ["new", "randflake", "--node", "1", "--secret-file", key.to_str().expect("a path")];
        if works {
            let id = stdout_of(&arguments);
            let named = stdout_of(&["inspect", id.trim(), "--secret-file", arguments[5]]);
            assert!(named.contains("Randflake, certain"), "{named}");
        } else {
            assert!(assert_fails(1, &arguments).starts_with("error[invalid_secret]: "));
        }
    }
    assert!(
        assert_fails(2, &["new", "randflake", "--node", "1"]).contains("needs --secret-file FILE")
    );
}

#[test]
fn layouts_are_checked_described_and_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("orders.json");
    let json = r#"{"id":"integer","bits":64,"fields":[{"kind":"timestamp","bits":48,"tick":"1ms","epoch_ms":0},
        {"kind":"bindable","bits":8,"name":"shard"},{"kind":"sequence","bits":8}]}"#;
    fs::write(&file, json).expect("a file");
    let path = file.to_str().expect("a path");
    assert_eq!(stdout_of(&["layout", "check", path]), "");
    assert!(stdout_of(&["layout", "describe", path]).contains("256000 IDs of one generator"));
    let figures: Value =
        stdout_of(&["layout", "describe", "twitter", "--json"]).parse().expect("JSON");
    assert_eq!(figures["per_second_in_all"], "4194304000");
    assert!(stdout_of(&["layout", "presets"]).lines().any(|line| line == "sonyflake"));
    let id = stdout_of(&["new", path, "--bind", "shard=9"]);
    let card = stdout_of(&["inspect", "--layout", path, id.trim()]);
    assert!(card.contains("\n  orders, "), "{card}");

    fs::write(&file, json.replace("\"bits\":64", "\"bits\":63")).expect("a file");
    assert!(assert_fails(1, &["layout", "check", path]).contains("orders.json: "));
    assert!(
        assert_fails(1, &["layout", "check", "nowhere.json"])
            .starts_with("error[io_failed]: nowhere.json")
    );
}

/// Checks only the generated SQL. `tests/integrations/test_sql_layouts.py` runs it in the databases.
#[test]
fn layout_sql_writes_functions_for_each_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("My Orders.json");
    let json = r#"{"id":"integer","bits":64,"fields":[{"kind":"unused","bits":1},
        {"kind":"timestamp","bits":41,"tick":"1ms","epoch_ms":0},{"kind":"sequence","bits":22}]}"#;
    fs::write(&file, json).expect("a file");
    let path = file.to_str().expect("a path");
    assert!(
        stdout_of(&["layout", "sql", path]).contains("FUNCTION flake.my_orders_time(id bigint)")
    );
    for (dialect, made) in [
        ("postgresql", "FUNCTION flake.ids_range(start timestamptz, until timestamptz)"),
        ("duckdb", "MACRO flake.ids_range(start, until) AS TABLE"),
        ("sqlite", "ms INTEGER AS (((id >> 22) & 2199023255551))"),
    ] {
        let written = stdout_of(&["layout", "sql", path, "--dialect", dialect, "--name", "ids"]);
        assert!(written.contains(made), "{written}");
        assert!(
            stdout_of(&["layout", "sql", "discord", "--dialect", dialect]).contains("discord_")
        );
    }
    assert!(assert_fails(2, &["layout", "sql", path, "--name", "sno"]).contains("found `sno`"));

    let digits = folder.path().join("1.json");
    fs::write(&digits, json).expect("a file");
    let unnamed = assert_fails(1, &["layout", "sql", digits.to_str().expect("a path")]);
    assert!(unnamed.contains("found `1`: set another name with --name"), "{unnamed}");
    let bytes = r#"{"id":"bytes","bits":72,"fields":[
        {"kind":"timestamp","bits":48,"tick":"1ms","epoch_ms":0},{"kind":"sequence","bits":24}]}"#;
    fs::write(&file, bytes).expect("a file");
    for (dialect, made) in [
        ("postgresql", "FUNCTION flake.my_orders_time(id bytea)"),
        ("duckdb", "octet_length(id::BLOB) = 9"),
        ("sqlite", "id BLOB PRIMARY KEY"),
    ] {
        let written = stdout_of(&["layout", "sql", path, "--dialect", dialect]);
        assert!(written.contains(made), "{written}");
    }
}

#[test]
fn operator_commands_show_and_change_a_namespace() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("leases.db");
    let url = format!("sqlite:{}?allow=overlayfs", file.display());
    // A wrong path causes an error, and no empty store is created.
    for step in [
        &["status", "orders/sno"][..],
        &["evict", "orders/sno", "1", "--yes"],
        &["restored", "--yes"],
    ] {
        let rejection = assert_fails(1, &[&["lease"], step, &["--url", &url]].concat());
        assert!(rejection.starts_with("error[lease_unavailable]: "), "{rejection}");
        assert!(!file.exists());
    }
    let lease = ["--lease", &url, "--namespace", "orders"];
    let ids = |count: &str| {
        let made = stdout_of(&[&["new", "sno", "-n", count], &lease[..]].concat());
        made.lines().map(str::to_owned).collect::<HashSet<_>>()
    };
    let (first, second) = (ids("1000"), ids("1000"));
    assert!(first.is_disjoint(&second) && first.len() + second.len() == 2000);
    let operate = |step: &str, more: &[&str]| {
        stdout_of(&[&["lease", step, "orders/sno", "--url", &url], more].concat())
    };
    for step in [
        &["evict", "orders/sno", "9"][..],
        &["reserve", "orders/sno", "9", "the old importer"],
        &["free", "orders/sno", "9", "--unused-since", "2026-11-29T12:00:00Z"],
        &["restored"],
        &["promoted", "sqlite:0:0", "sqlite:1:1"],
    ] {
        let rejection = assert_fails(2, &[&["lease"], step, &["--url", &url]].concat());
        assert!(rejection.contains("--yes"), "{rejection}");
    }
    assert!(operate("status", &[]).starts_with("granted   0\nreserved  0\n"));
    let reserved = operate("reserve", &["9", "the old importer", "--yes"]);
    assert!(reserved.starts_with("you can configure worker ID 9 by hand from 20"), "{reserved}");
    let shown = operate("status", &[]);
    assert!(shown.starts_with("granted   0\nreserved  1\n"), "{shown}");
    assert!(shown.ends_with("\n       9  reserved  the old importer\n"), "{shown}");
    let status: Value = operate("status", &["--json"]).parse().expect("JSON");
    assert_eq!((&status["reserved"], &status["granted"]), (&1.into(), &0.into()));
    let record = status["records"].as_array().expect("records").iter().find(|it| it["first"] == 9);
    assert_eq!(record.expect("a record")["holder"], "the old importer");
    assert!(!status.to_string().contains("token"));
    let rejection = assert_fails(1, &["lease", "evict", "orders/sno", "9", "--yes", "--url", &url]);
    assert!(rejection.starts_with("error[out_of_range]: "), "{rejection}");
    let freed = operate("free", &["9", "--unused-since", "2026-11-29T12:00:00Z", "--yes"]);
    assert!(freed.starts_with("worker ID 9 is free from 20"), "{freed}");
    let whole =
        |step: &str, more: &[&str]| stdout_of(&[&["lease", step, "--url", &url], more].concat());
    assert!(whole("restored", &["--yes"]).starts_with("orders/sno: grants begin at 20"));
    let status: Value = operate("status", &["--json"]).parse().expect("JSON");
    assert!(status["quiet_until"].as_u64() > status["now"].as_u64());
    let store = status["store"].as_str().expect("a name");
    let rejection =
        assert_fails(1, &["lease", "promoted", "sqlite:0:0", store, "--yes", "--url", &url]);
    assert!(rejection.starts_with("error[store_changed]: "), "{rejection}");
    assert_eq!(operate("dead", &["--holder", "nobody"]), "");
    let token = "7d793037a0760186574b0282f2f435e7";
    let dead = ["lease", "dead", "orders/sno", "0", "--url", &url, "--token", token];
    assert!(assert_fails(2, &dead).contains("--yes"));
    let rejection = assert_fails(1, &[&dead[..], &["--yes"]].concat());
    assert!(rejection.starts_with("error[lease_lost]: "), "{rejection}");
    assert!(
        assert_fails(1, &["lease", "status", "nobody", "--url", &url])
            .starts_with("error[out_of_range]")
    );

    let short = assert_fails(1, &["lease", "status", "orders", "--url", &url]);
    assert!(short.contains("no namespace `orders`; did you mean `orders/sno`?"), "{short}");
    assert!(assert_fails(1, &["lease", "status", "orders"]).contains("POLYFLAKE_LEASE"));
    let mut by_variable = Command::new(PROGRAM);
    by_variable
        .args(["lease", "status", "orders/sno"])
        .env("POLYFLAKE_LEASE", format!("{url}&namespace=orders"));
    assert!(by_variable.output().expect("a program").status.success());
    by_variable.env("POLYFLAKE_LEASE", "sqlite:leases.db?namespace=orders");
    by_variable.current_dir(folder.path());
    let relative = by_variable.output().expect("a program");
    let rejection = String::from_utf8_lossy(&relative.stderr).into_owned();
    assert!(!relative.status.success() && rejection.contains("the absolute path"), "{rejection}");
    let seen_by_all = "postgres://operator:secret@db/orders";
    let rejection = assert_fails(1, &["lease", "status", "orders", "--url", seen_by_all]);
    assert!(
        rejection.contains("without a password") && !rejection.contains("secret@"),
        "{rejection}"
    );
}

/// A format that has default generators leases as the variable requests, or fails.
#[test]
fn new_ids_obey_the_variable() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let url = format!("sqlite:{}?allow=overlayfs", folder.path().join("ids.db").display());
    let new = |format, more: &[&str], variables: &[(&str, &str)]| {
        let mut program = Command::new(PROGRAM);
        program.args(["new", format]).args(more).envs(variables.iter().copied());
        let output = program.output().expect("a program");
        let [printed, errors] = [output.stdout, output.stderr].map(String::from_utf8);
        if output.status.success() {
            Ok(printed.expect("text"))
        } else {
            Err(errors.expect("text"))
        }
    };
    for format in ["sno", "hotguid", "uuid7"] {
        let variables = [
            ("POLYFLAKE_LEASE", &*format!("{url}&namespace=orders")),
            ("POLYFLAKE_WORKER_ID", "3"),
        ];
        new(format, &[], &variables).expect("an ID");
        let name = format!("orders/{format}");
        let status = stdout_of(&["lease", "status", &name, "--json", "--url", &url]);
        let status: Value = status.parse().expect("JSON");
        let records = status["records"].as_array().expect("records");
        assert!(records[3]["start"].as_u64() > Some(0), "{status}");
        let rejection = new(format, &[], &variables[1..]).expect_err("the worker ID alone");
        assert!(rejection.contains("POLYFLAKE_WORKER_ID is set without it"), "{rejection}");
        let rejection = new(format, &[], &[("POLYFLAKE_LEASE", "")]).expect_err("empty");
        assert!(rejection.starts_with("error[out_of_range]"), "{rejection}");
    }
    assert!(new("sno", &["--partition", "7"], &[("POLYFLAKE_LEASE", "")]).is_ok());
}

#[test]
fn namespaces_are_listed_and_counted() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let url = format!("sqlite:{}?allow=overlayfs", folder.path().join("ids.db").display());
    for namespace in ["orders", "users"] {
        stdout_of(&["new", "sno", "--lease", &url, "--namespace", namespace]);
    }
    assert_eq!(stdout_of(&["lease", "list", "--url", &url]), "orders/sno\nusers/sno\n");
    let metrics = stdout_of(&["lease", "metrics", "--url", &url]);
    for line in [
        "# TYPE polyflake_lease_free gauge",
        "polyflake_lease_granted{namespace=\"orders/sno\"} 0",
        "polyflake_lease_free{namespace=\"users/sno\"} 65536",
        "polyflake_lease_longest_seconds{namespace=\"orders/sno\"} 3600",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
    assert!(!metrics.contains("next_end_seconds{"), "{metrics}");
    assert!(
        stdout_of(&["lease", "status", "orders/sno", "--url", &url]).contains("longest   3600 s")
    );
}

#[test]
fn lease_check_prints_one_line_and_sets_the_exit_status() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("ids.db");
    let url = format!("sqlite:{}?namespace=orders&allow=overlayfs", path.display());
    let found = stdout_of(&["lease", "check", &url]);
    assert_eq!(found, format!("a worker ID can be leased from sqlite:{}\n", path.display()));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    let missing = assert_fails(1, &["lease", "check", "sqlite:/nowhere/ids.db?namespace=orders"]);
    let expected = "error[lease_unavailable]: cannot lease a worker ID from sqlite:/nowhere/ids.db: the folder does not exist\n";
    assert_eq!(missing, expected);
    let unset = assert_fails(1, &["lease", "check"]);
    assert!(unset.contains("cannot read POLYFLAKE_LEASE: it is not set"), "{unset}");
    let seen_by_all = "postgres://lease:sesame@db/orders?namespace=orders";
    assert!(assert_fails(1, &["lease", "check", seen_by_all]).contains("without a password"));
}

/// Other users of the machine can see command-line arguments, so a password is rejected anywhere in the URL.
#[test]
fn only_urls_with_a_password_are_rejected() {
    for url in [
        "postgres://lease:sesame@db/orders?namespace=orders",
        "postgres://lease@db/orders?namespace=orders&password=sesame",
        "postgres://db/orders?password=sesame&namespace=orders",
    ] {
        for arguments in [&["lease", "check", url][..], &["lease", "list", "--url", url]] {
            let rejection = assert_fails(1, arguments);
            assert!(rejection.starts_with("error[invalid_secret]: "), "{rejection}");
            assert!(!rejection.contains("sesame"), "{rejection}");
        }
    }
    for url in ["sqlite:///nowhere/a:b@c/ids.db", "sqlite:/nowhere/namespace=a/ids.db"] {
        let rejection = assert_fails(1, &["lease", "list", "--url", url]);
        assert!(rejection.contains("the folder does not exist"), "{rejection}");
    }
}

/// Asserts that the metrics include unreadable namespaces and restored stores, because alerts depend on them.
#[test]
fn metrics_include_unreadable_namespaces_and_restored_stores() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let [url, copy] = ["ids.db", "copy.db"]
        .map(|name| format!("sqlite:{}?allow=overlayfs", folder.path().join(name).display()));
    stdout_of(&["new", "sno", "--lease", &url, "--namespace", "orders"]);
    let sane = stdout_of(&["lease", "metrics", "--url", &url]);
    for line in [
        "polyflake_lease_readable{namespace=\"orders/sno\"} 1",
        "polyflake_lease_restored{namespace=\"orders/sno\"} 0",
    ] {
        assert!(sane.lines().any(|it| it == line), "{line}: {sane}");
    }
    // The program whose lease it is exports the remaining time.
    let alerts = include_str!("../../examples/operate/alerts.yml");
    let named = alerts.split(|c: char| !c.is_ascii_lowercase() && c != '_');
    for name in named.filter(|name| name.starts_with("polyflake_lease_")) {
        let is_ours = sane.contains(&format!("# TYPE {name} gauge\n"));
        assert!(is_ours || name == "polyflake_lease_remaining_seconds", "{name}: {sane}");
    }
    let broken = Namespace {
        name: "broken".into(),
        shape: "{}".into(),
        incarnation: Random(7),
        store: String::new(),
        records: 0,
        longest_ms: 3_600_000,
        quiet_until: 0,
        previous_store: String::new(),
        previous_quiet_until: 0,
        version: 1,
    };
    let request =
        Request { number: 1, namespace: "broken".into(), operation: Operation::Open(broken) };
    polyflake_lease::protocol::open(&url).expect("a store").answer(&request).expect("a namespace");
    fs::copy(folder.path().join("ids.db"), folder.path().join("copy.db")).expect("a copy");
    for (url, is_restored) in [(url, 0), (copy, 1)] {
        let output = run(&["lease", "metrics", "--url", &url]);
        let talk = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && talk.contains("broken: "), "{talk}");
        let metrics = String::from_utf8(output.stdout).expect("text");
        for line in [
            "polyflake_lease_granted{namespace=\"orders/sno\"} 0",
            "polyflake_lease_readable{namespace=\"broken\"} 0",
            "polyflake_lease_readable{namespace=\"orders/sno\"} 1",
            &format!("polyflake_lease_restored{{namespace=\"orders/sno\"}} {is_restored}"),
        ] {
            assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
        }
        assert!(!metrics.contains("granted{namespace=\"broken\"}"), "{metrics}");
    }
}

/// An operator watches a store because it fails occasionally, so an error must not end the command.
#[test]
fn a_watched_status_survives_errors() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let [file, away] = ["ids.db", "away.db"].map(|name| folder.path().join(name));
    let url = format!("sqlite:{}?allow=overlayfs", file.display());
    stdout_of(&["new", "sno", "--lease", &url, "--namespace", "orders"]);
    let mut command = Command::new(PROGRAM);
    command.args(["lease", "status", "orders/sno", "--url", &url, "--watch", "1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("one");
    let mut shown = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut talk = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut next = || shown.by_ref().flatten().find(|line| line.starts_with("granted"));
    // The second line shows that the command has repeated its request.
    assert!(next().is_some() && next().is_some());
    fs::rename(&file, &away).expect("a file");
    let error = talk.next().expect("an error").expect("text");
    assert!(error.starts_with("error[lease_unavailable]: "), "{error}");
    fs::rename(&away, &file).expect("a file");
    assert!(next().is_some(), "the program ended");
    child.kill().expect("a program");
    child.wait().expect("an end");
    // A usage error ends the command immediately.
    let missing = assert_fails(1, &["lease", "status", "none", "--url", &url, "--watch", "1"]);
    assert!(missing.starts_with("error[out_of_range]: "), "{missing}");
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let mut command = Command::new(PROGRAM);
    let command = command.args(["new", "sno", "-n", "100000000"]).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("a program");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn completions_and_the_manual_list_every_command() {
    for text in [
        stdout_of(&["completions", "bash"]),
        stdout_of(&["completions", "fish"]),
        stdout_of(&["man"]),
    ] {
        for command in ["inspect", "new", "layout", "lease"] {
            assert!(text.contains(command), "{command}");
        }
    }
}

/// The manual is a single page, so it must contain the options of every command and refer to no other page.
#[test]
fn the_manual_lists_all_options_on_one_page() {
    let page = stdout_of(&["man"]).replace("\\-", "-");
    for option in ["--fields", "--metabyte", "--namespace", "--not-before", "--secret-file"] {
        assert!(page.contains(&format!("\\fB{option}\\fR")), "{option}");
    }
    for title in
        ["POLYFLAKE INSPECT", "POLYFLAKE LAYOUT DESCRIBE", "POLYFLAKE LEASE STATUS", "EXAMPLES"]
    {
        assert!(page.contains(title), "{title}");
    }
    assert!(!page.contains("(1)"), "a page that nothing writes");
}

/// On a terminal, the output is colored unless `NO_COLOR` is set, and a progress bar is shown while IDs are written to a
/// file.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_gets_colours_and_a_progress_bar() {
    let folder = tempfile::tempdir().expect("a folder");
    let on_terminal = |command: &str, variables: &[(&str, &str)]| {
        let mut script = Command::new("script");
        script.args(["-qec", command, "/dev/null"]).current_dir(folder.path());
        script.env("TERM", "xterm-256color").env_remove("NO_COLOR").envs(variables.iter().copied());
        let output = script.stdin(Stdio::null()).output().expect("util-linux");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let inspect = format!("{PROGRAM} inspect 175928847299117063");
    assert!(on_terminal(&inspect, &[]).contains("\x1b[36m"));
    assert!(!on_terminal(&inspect, &[("NO_COLOR", "1")]).contains('\x1b'));
    let long = on_terminal(&format!("{PROGRAM} new sno -n 3000000 > ids"), &[]);
    assert!(long.contains("/3000000"), "{long}");
    let made = fs::read_to_string(folder.path().join("ids")).expect("a file");
    assert_eq!(made.lines().count(), 3_000_000);
    assert!(!made.contains('\x1b'));
}

/// IDs of Firebase begin with a hyphen. They can precede and follow options, and a mistyped option is still reported.
#[test]
fn ids_that_begin_with_a_hyphen_are_read() {
    let id = "-JhLeOlGIEjaIOFHR0xd";
    for arguments in [
        ["inspect", id, "--tsv", "--fields", "format"],
        ["inspect", "--tsv", "--fields", "format", id],
    ] {
        assert_eq!(stdout_of(&arguments), format!("id\tformat\n{id}\tpushid\n"));
    }
    assert!(
        stdout_of(&["inspect", "--tsv", "-8446744073709551616"])
            .contains("\n-8446744073709551616\t")
    );
    assert!(assert_fails(2, &["inspect", "--josn", "42"]).contains("'--json'"));
}

#[test]
fn all_formats_are_listed_and_counted() {
    let list = stdout_of(&["inspect", "--formats"]);
    let names: Vec<_> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, polyflake_inspect::formats().map(|(name, _)| name).collect::<Vec<_>>());
    let count = format!(" {} ", names.len());
    for page in [
        include_str!("../README.md"),
        include_str!("../../crates/inspect/README.md"),
        include_str!("../../CHANGELOG.md"),
    ] {
        let line = page.lines().find(|line| line.contains("formats") && line.contains(&count));
        assert!(line.is_some(), "expected a page to state{count}formats: {}", &page[..200]);
    }
}

#[test]
fn an_epoch_is_read_as_a_time_or_as_milliseconds() {
    let id = (95_000_000_000_u64 << 22).to_string();
    for epoch in ["1700000000000", "2023-11-14T22:13:20Z"] {
        assert_eq!(
            stdout_of(&[
                "inspect",
                "--epoch",
                epoch,
                "--tsv",
                "--fields",
                "format,time",
                "--now",
                NOW,
                &id
            ]),
            format!("id\tformat\ttime\n{id}\tsnowflake-epoch\t2026-11-18T11:06:40.000Z\n")
        );
    }
    assert!(assert_fails(2, &["inspect", "--epoch", "monday", &id]).contains("RFC 3339 or Unix"));
}

/// The program prints the same line of JSON for an ID as the page uses.
#[test]
fn the_page_and_the_program_agree_on_every_line() {
    let found = include_str!("../../crates/inspect/tests/found.tsv");
    let ids: Vec<_> = found
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').nth(1).expect("an ID"))
        .collect();
    let output = run_with_input(&["inspect", "--json", "--now", NOW], ids.join("\r\n").as_bytes());
    let lines = String::from_utf8(output.stdout).expect("text");
    let now: jiff::Timestamp = NOW.parse().expect("a time");
    let mut count = 0;
    for (id, line) in ids.iter().zip(lines.lines()) {
        let page: Value = inspect_page::look(id, now.as_millisecond(), "").parse().expect("JSON");
        assert_eq!(page["answer"], line.parse::<Value>().expect("JSON"), "{id}");
        count += 1;
    }
    assert_eq!(count, ids.len());
}

/// If the timestamp of integers includes the sign bit, they sort as signed integers only until it is set.
#[test]
fn a_description_states_until_when_signed_integers_sort() {
    for (preset, until) in [
        ("discord", Some("2084-09-06T15:47:35.552Z")),
        ("instagram", Some("2046-06-27T17:00:49.497Z")),
        ("twitter", None),
    ] {
        let text = stdout_of(&["layout", "describe", preset]);
        let line = text.lines().find(|line| line.starts_with("sorts by time ")).expect("a line");
        let json: Value =
            stdout_of(&["layout", "describe", preset, "--json"]).parse().expect("JSON");
        let ms =
            until.map(|until| until.parse::<jiff::Timestamp>().expect("a time").as_millisecond());
        let sorts = until.map_or_else(
            || "yes".to_owned(),
            |until| format!("as unsigned integers; as signed integers until {until}"),
        );
        assert_eq!(line, format!("sorts by time {sorts}"));
        assert_eq!(json["sorts_as_signed_until_ms"].as_i64(), ms);
        assert_eq!(json["sorts_by_time"], ms.is_none());
    }
}

/// The row of the platform is printed even if its server cannot be reached. A rejected platform needs no connection.
#[test]
fn a_check_prints_what_is_known_of_the_platform() {
    let url = "postgres://lease@ids.invalid.neon.tech/app?namespace=orders&connect_timeout=1";
    let text = String::from_utf8(run(&["lease", "check", url]).stdout).expect("text");
    assert!(text.starts_with("Neon: works; add `wait=40`"), "{text}");
    let url = "mysql://lease@gateway.tidbcloud.com/app?namespace=orders";
    let talk = assert_fails(1, &["lease", "check", url]);
    assert!(
        talk.contains("TiDB cannot be a store") && talk.contains("polyflake lease serve"),
        "{talk}"
    );
}
