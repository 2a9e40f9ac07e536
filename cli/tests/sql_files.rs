//! Compares the files in `crates/sql` with the output of `polyflake sql`. To print them after an intended change, use
//! `POLYFLAKE_PRINT=1 cargo test -p polyflake-cli --test sql_files`.

use std::{env, fs, path::Path, process::Command};

#[test]
fn checked_in_sql_files_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/sql");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("a folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("text");
        if Path::new(&name).extension().is_none_or(|end| end != "sql") {
            continue;
        }
        let program = env!("CARGO_BIN_EXE_polyflake");
        let output = Command::new(program).args(["sql", &name]).output().expect("a program");
        assert!(output.status.success(), "{name}: {output:?}");
        if env::var_os("POLYFLAKE_PRINT").is_some() {
            fs::write(folder.join(&name), output.stdout).expect("a file");
        } else {
            let checked_in = fs::read(folder.join(&name)).expect("a file");
            assert!(output.stdout == checked_in, "crates/sql/{name} is not as it is printed");
        }
        count += 1;
    }
    assert_eq!(count, 5, "expected each file of `polyflake sql` in crates/sql");
}
