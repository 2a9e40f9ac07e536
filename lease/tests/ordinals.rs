//! Ordinals of platforms: what is read where, what is refused, and the number that a lease then has.
#![cfg(feature = "std")]

use std::{env, ffi::OsString, fs, process::Command, time::Duration};

use polyflake_lease::{ErrorKind, Options, Ordinal, Result, Shape, sno::Generator};

/// Reads an ordinal where one variable is set.
fn read(ordinal: &Ordinal, name: &str, value: &str) -> Result<u64> {
    ordinal.read_in(|asked| (asked == name).then(|| OsString::from(value)))
}

#[test]
fn each_platform_has_its_variable() {
    let cases = [
        (Ordinal::KUBERNETES_POD, "HOSTNAME", "a-b-0", 0),
        (Ordinal::KUBERNETES_POD, "HOSTNAME", "orders-12", 12),
        (Ordinal::KUBERNETES_JOB, "JOB_COMPLETION_INDEX", "3", 3),
        (Ordinal::AWS_BATCH, "AWS_BATCH_JOB_ARRAY_INDEX", "0", 0),
        (Ordinal::GOOGLE_BATCH, "BATCH_TASK_INDEX", "9999", 9999),
        (Ordinal::CLOUD_RUN, "CLOUD_RUN_TASK_INDEX", "4", 4),
        (Ordinal::SLURM_TASK, "SLURM_PROCID", "17", 17),
        (Ordinal::SLURM_ARRAY, "SLURM_ARRAY_TASK_ID", "5", 5),
        (Ordinal::PM2, "NODE_APP_INSTANCE", "1", 1),
        (Ordinal::variable("POD_INDEX"), "POD_INDEX", "007", 7),
        (Ordinal::swarm_slot("SLOT"), "SLOT", "8", 7),
        (Ordinal::name_in("POD_NAME"), "POD_NAME", "x-1-2", 2),
    ];
    for (ordinal, name, value, expected) in cases {
        assert_eq!(read(&ordinal, name, value), Ok(expected), "{name}={value}");
        let error = read(&ordinal, "ANOTHER", value).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("in the environment variable {name}, found none")),
            "{error}"
        );
    }
}

#[test]
fn what_is_no_ordinal_is_refused_and_not_shown() {
    let (number, name, slot) =
        (Ordinal::variable("V"), Ordinal::name_in("V"), Ordinal::swarm_slot("V"));
    let cases = [
        (&number, "", "an ordinal in the environment variable V, found an empty text"),
        (&number, "sesame", "found other characters than digits"),
        (&number, "-1", "found other characters than digits"),
        (&number, "1 ", "found other characters than digits"),
        (&number, "1\u{0661}", "found other characters than digits"),
        (&number, "9007199254740991", "found a number of 2^53 or more"),
        (&number, "99999999999999999999999", "found a number of 2^53 or more"),
        (&slot, "0", "a slot in the environment variable V, found 0, though slots begin with 1"),
        (&name, "sesame", "a name that ends in a hyphen and an ordinal in the environment"),
        (&name, "sesame", "found a name without a hyphen"),
        (&name, "-3", "found a name without a hyphen"),
        (&name, "orders-", "found an empty text"),
        (&name, "orders-7f9c-xk2", "found other characters than digits"),
    ];
    for (ordinal, value, expected) in cases {
        let error = read(ordinal, "V", value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfRange);
        let text = error.to_string();
        assert!(text.contains(expected) && !text.contains("sesame"), "{value:?}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn a_variable_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let error = Ordinal::PM2.read_in(|_| Some(OsString::from_vec(vec![0xff]))).unwrap_err();
    assert!(error.to_string().ends_with("found a text that is not UTF-8"), "{error}");
}

#[test]
fn the_label_of_a_pod_is_found_among_others() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("labels");
    let labels = Ordinal::pod_labels(&path);
    assert!(
        labels
            .read()
            .unwrap_err()
            .to_string()
            .contains("apps.kubernetes.io/pod-index in the labels in")
    );
    let with = |line: &str| {
        let text = format!("app=\"orders\"\n{line}\nstatefulset.kubernetes.io/pod-name=\"a-9\"\n");
        fs::write(&path, text).unwrap();
        labels.read().map_err(|error| error.to_string())
    };
    assert_eq!(with("apps.kubernetes.io/pod-index=\"9\""), Ok(9));
    let refused = [
        ("", "found no such label"),
        ("apps.kubernetes.io/pod-index=9", "found a value without quotation marks"),
        ("apps.kubernetes.io/pod-index=\"\"", "found an empty text"),
        ("apps.kubernetes.io/pod-index=\"x\"", "found other characters than digits"),
    ];
    for (line, expected) in refused {
        assert!(with(line).unwrap_err().ends_with(expected), "{line}");
    }
}

const VARIABLE: &str = "POLYFLAKE_TEST_ORDINAL";

/// In a process of its own, since variables belong to the whole process.
#[test]
fn a_lease_has_the_number_of_the_ordinal() {
    let ordinal = Ordinal::variable(VARIABLE);
    if env::var_os(VARIABLE).is_none() {
        for value in ["3", "99", "100", "x"] {
            let mut again = Command::new(env::current_exe().unwrap());
            again.args(["--exact", "a_lease_has_the_number_of_the_ordinal"]).env(VARIABLE, value);
            assert!(again.status().unwrap().success(), "{value}");
        }
        return;
    }
    let options = || Options::new("orders", Shape::sno(100..=199).unwrap()).unwrap();
    let long = Duration::from_secs(20);
    match ordinal.read() {
        Ok(index @ ..100) => {
            let preferred = options().prefer_ordinal(&ordinal).unwrap();
            let first = Generator::with("memory:", preferred.clone(), long).unwrap();
            assert_eq!(first.lease().number(), Some(100 + index));
            let second = Generator::with("memory:", preferred, long).unwrap();
            assert_ne!(second.lease().number(), Some(100 + index));
            let insisting = options().insist_ordinal(&ordinal).unwrap();
            let brief = Duration::from_millis(200);
            let third = Generator::with("memory:", insisting.clone(), brief);
            assert_eq!(third.err().map(|error| error.code()), Some("numbers_exhausted"));
            first.close();
            let fourth = Generator::with("memory:", insisting, long).unwrap();
            assert_eq!(fourth.lease().number(), Some(100 + index));
        }
        Ok(_) => {
            let error = options().prefer_ordinal(&ordinal).unwrap_err();
            assert_eq!(error.to_string(), "expected an ordinal below 100, found 100");
        }
        Err(_) => assert!(options().insist_ordinal(&ordinal).is_err()),
    }
}
