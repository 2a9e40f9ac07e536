//! Tests which ordinals are accepted, and how leases derive worker IDs from ordinals.
#![cfg(feature = "std")]

use std::{env, ffi::OsString, process::Command, time::Duration};

use polyflake_lease::{ErrorKind, Options, Ordinal, Result, Shape, sno::Generator};

/// Reads an ordinal as if only one environment variable were set.
fn read_ordinal(ordinal: &Ordinal, name: &str, value: &str) -> Result<u64> {
    ordinal.read_in(|asked| (asked == name).then(|| OsString::from(value)))
}

#[test]
fn invalid_ordinal_variables_are_rejected_without_their_value() {
    let ordinal = Ordinal::variable("V");
    for (value, expected) in [("0", 0), ("9999", 9999), ("007", 7)] {
        assert_eq!(read_ordinal(&ordinal, "V", value), Ok(expected));
        let error = read_ordinal(&ordinal, "ANOTHER", value).unwrap_err().to_string();
        assert_eq!(error, "expected an ordinal in the environment variable V, found none");
    }
    let cases = [
        ("", "found an empty text"),
        ("sesame", "found other characters than digits"),
        ("-1", "found other characters than digits"),
        ("1 ", "found other characters than digits"),
        ("1\u{0661}", "found other characters than digits"),
        ("9007199254740991", "found a number of 2^53 or more"),
        ("99999999999999999999999", "found a number of 2^53 or more"),
    ];
    for (value, expected) in cases {
        let error = read_ordinal(&ordinal, "V", value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfRange);
        let text = error.to_string();
        assert!(text.ends_with(expected) && !text.contains("sesame"), "{value:?}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn a_non_utf8_variable_is_rejected() {
    use std::os::unix::ffi::OsStringExt;
    let ordinal = Ordinal::variable("V");
    let error = ordinal.read_in(|_| Some(OsString::from_vec(vec![0xff]))).unwrap_err();
    assert!(error.to_string().ends_with("found a text that is not UTF-8"), "{error}");
}

const VARIABLE: &str = "POLYFLAKE_TEST_ORDINAL";

/// Runs in a separate process, because environment variables apply to the whole process.
#[test]
fn a_lease_uses_the_ordinal_as_its_worker_id() {
    let ordinal = Ordinal::variable(VARIABLE);
    if env::var_os(VARIABLE).is_none() {
        for value in ["3", "99", "100", "x"] {
            let mut again = Command::new(env::current_exe().unwrap());
            again
                .args(["--exact", "a_lease_uses_the_ordinal_as_its_worker_id"])
                .env(VARIABLE, value);
            assert!(again.status().unwrap().success(), "{value}");
        }
        return;
    }
    let options = || Options::new("orders", Shape::sno(100..=199).unwrap()).unwrap();
    let long = Duration::from_secs(20);
    match ordinal.read() {
        Ok(index @ ..100) => {
            let preferred = options().preferred_ordinal(&ordinal).unwrap();
            let first = Generator::with("memory:", preferred.clone(), long).unwrap();
            assert_eq!(first.lease().worker_id(), Some(100 + index));
            let second = Generator::with("memory:", preferred, long).unwrap();
            assert_ne!(second.lease().worker_id(), Some(100 + index));
            let required = options().required_ordinal(&ordinal).unwrap();
            let brief = Duration::from_millis(200);
            let third = Generator::with("memory:", required.clone(), brief);
            assert_eq!(third.err().map(|error| error.code()), Some("worker_ids_exhausted"));
            first.close();
            let fourth = Generator::with("memory:", required, long).unwrap();
            assert_eq!(fourth.lease().worker_id(), Some(100 + index));
        }
        Ok(_) => {
            let error = options().preferred_ordinal(&ordinal).unwrap_err();
            assert_eq!(error.to_string(), "expected an ordinal below 100, found 100");
        }
        Err(_) => assert!(options().required_ordinal(&ordinal).is_err()),
    }
}
