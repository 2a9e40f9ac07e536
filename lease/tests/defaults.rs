//! Tests the core's functions `generate` in processes whose environment requests leases. Each test starts this program
//! again, because a process reads the variables once.
#![cfg(all(feature = "sqlite", unix, not(miri)))]
#![allow(unsafe_code, reason = "fork has no safe door")]
#![allow(unreachable_pub, reason = "modules of one test")]

#[path = "../../core/tests/forks/mod.rs"]
mod forks;
#[path = "../../core/tests/support/separate_process.rs"]
mod separate_process;

use std::{env, error::Error as _};

use forks::{fork_with_hooks, fork_without_hooks, run_in_child_with};
use polyflake::{hotguid, sno, uuid7};
use polyflake_lease::install;
use separate_process::run_in_separate_process;

const MEMORY: &str = "memory:defaults?namespace=orders";

/// Calls `generate` of each format, and returns the errors.
fn errors() -> Vec<polyflake::Error> {
    let typed = sno::Id::<Order>::generate().map(drop);
    let plain = [sno::generate(1).map(drop), hotguid::generate(1).map(drop), typed];
    let errors = plain.into_iter().chain([uuid7::generate().map(drop)]);
    errors.map(|made| made.expect_err("an ID was made")).collect()
}

struct Order;

impl sno::Kind for Order {
    const METABYTE: u8 = 1;
}

#[test]
fn no_default_generator_continues_without_the_requested_lease() {
    for (variable, value) in
        [("POLYFLAKE_LEASE", MEMORY), ("POLYFLAKE_LEASE", ""), ("POLYFLAKE_WORKER_ID", "7")]
    {
        run_in_separate_process(&[(variable, value), ("EXPECTED", variable)], || {
            let variable = env::var("EXPECTED").unwrap();
            let check = || {
                for error in errors() {
                    assert_eq!(error.code(), "lease_unavailable");
                    let message = error.to_string();
                    assert!(message.contains("polyflake_lease::install"), "{message}");
                    assert!(message.contains(&format!("{variable} is set")), "{message}");
                }
                vec![1]
            };
            check();
            // Other generators continue. Those of UUID v7 share their random bits with the default generator.
            assert!(
                sno::Generator::new().generate(1).is_ok()
                    && hotguid::Generator::new().generate(1).is_ok()
            );
            assert!(uuid7::Generator::new().generate().is_ok());
            check();
            assert_eq!(run_in_child_with(fork_with_hooks, check), [1]);
            if let Some(fork) = fork_without_hooks() {
                assert_eq!(run_in_child_with(fork, check), [1]);
            }
        });
    }
}

#[test]
fn default_generators_have_leased_worker_ids() {
    run_in_separate_process(&[("POLYFLAKE_LEASE", MEMORY)], || {
        let held = polyflake_lease::sno::Generator::from_env().unwrap();
        assert_eq!(held.lease().worker_id(), Some(0));
        let leases = install().unwrap();
        assert_eq!(install().unwrap_err().code(), "lease_unavailable");
        assert_eq!(sno::generate(1).unwrap().partition(), 1);
        assert_eq!(uuid7::worker_id(uuid7::generate().unwrap()), 0);
        let other = polyflake_lease::hotguid::Generator::from_env().unwrap();
        assert_eq!(other.lease().worker_id(), Some(0), "no Hot Guid was made");
        hotguid::generate(1).unwrap();
        polyflake::after_restore().unwrap();
        assert!(sno::generate(1).unwrap().partition() > 1, "another copy has the worker ID");
        leases.close();
        assert!(errors().iter().all(|error| error.code() == "generator_closed"));
    });
}

#[test]
fn children_lease_for_their_default_generators() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("leases.db");
    let url = format!("sqlite:{}?allow=overlayfs&namespace=orders", file.display());
    run_in_separate_process(&[("POLYFLAKE_LEASE", &url)], || {
        let leases = install().unwrap();
        let partition = || sno::generate(1).unwrap().partition().to_be_bytes().to_vec();
        for fork in
            [Some(fork_with_hooks as forks::Fork), fork_without_hooks()].into_iter().flatten()
        {
            let mut found = vec![run_in_child_with(fork, partition)];
            let own = partition();
            found.extend([run_in_child_with(fork, partition), own.clone()]);
            assert_eq!(partition(), own);
            found.sort();
            found.dedup();
            assert_eq!(found.len(), 3, "{found:?}");
        }
        let closed = run_in_child_with(fork_with_hooks, || {
            leases.close();
            vec![u8::from(sno::generate(1).is_err())]
        });
        assert_eq!((closed, sno::generate(1).is_ok()), (vec![1], true));
    });
}

#[test]
fn install_has_no_effect_without_a_variable() {
    run_in_separate_process(&[], || {
        install().unwrap().close();
        assert!(
            sno::generate(1).is_ok() && hotguid::generate(1).is_ok() && uuid7::generate().is_ok()
        );
        // SAFETY: this test runs alone in its process, and no other thread reads the environment.
        unsafe { env::set_var("POLYFLAKE_LEASE", MEMORY) };
        let error = install().unwrap_err();
        assert!(error.to_string().contains("found it set later"), "{error}");
        assert!(sno::generate(1).is_ok());
    });
}

#[test]
fn install_reports_invalid_variables() {
    let cases = [
        ("POLYFLAKE_LEASE", "", "out_of_range"),
        ("POLYFLAKE_LEASE", "amqp://host?namespace=orders", "out_of_range"),
        ("POLYFLAKE_LEASE", "memory:?namespace=orders&sigterm=true", "out_of_range"),
        ("POLYFLAKE_LEASE", "sqlite:ids.db?namespace=orders", "out_of_range"),
        ("POLYFLAKE_WORKER_ID", "7", "lease_unavailable"),
    ];
    for (variable, value, code) in cases {
        run_in_separate_process(&[(variable, value), ("EXPECTED", code)], || {
            assert_eq!(install().unwrap_err().code(), env::var("EXPECTED").unwrap());
            assert!(errors().iter().all(|error| error.code() == "lease_unavailable"));
        });
    }
}

/// The range of worker IDs exceeds that of snos and UUIDs.
#[test]
fn a_range_for_one_format_fails_only_in_the_others() {
    let url = format!("{MEMORY}&worker_ids=0-1048575");
    run_in_separate_process(&[("POLYFLAKE_LEASE", &url)], || {
        let leases = install().unwrap();
        assert!(hotguid::generate(1).is_ok());
        let error = sno::generate(1).unwrap_err();
        let source =
            error.source().and_then(|source| source.downcast_ref::<polyflake_lease::Error>());
        assert_eq!(
            (error.code(), source.map(polyflake_lease::Error::code)),
            ("lease_unavailable", Some("out_of_range"))
        );
        leases.close();
    });
}

#[test]
fn a_store_that_is_away_is_the_source_of_the_error() {
    run_in_separate_process(
        &[("POLYFLAKE_LEASE", "sqlite:/nowhere/ids.db?namespace=orders&wait=1")],
        || {
            let leases = install().unwrap();
            for error in errors() {
                assert_eq!(error.code(), "lease_unavailable");
                assert!(error.source().is_some());
            }
            leases.close();
        },
    );
}
