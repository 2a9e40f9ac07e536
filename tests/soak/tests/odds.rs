//! Checks the collision probabilities that docs/promises.md states for default partitions against a simulation.

use std::{fs, path::Path};

use fastrand::Rng;
use polyflake::kernels::partition_after;

/// Number of trials per case.
const TRIALS: u32 = 20_000;
/// Number of possible lower bounds for the default partitions.
const BOUND_COUNT: u32 = 32_768;

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/promises.md"))
        .unwrap()
}

/// Finds the table whose header begins with `head`, and returns the numbers in its rows. Ignores all characters except
/// digits and decimal points.
fn table(head: &str) -> Vec<Vec<f64>> {
    let text = readme();
    let rows = text.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let number = |cell: &str| {
        let kept: String = cell.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
        kept.parse().unwrap()
    };
    let cells = |row: &str| row.trim_matches('|').split('|').map(number).collect();
    rows.take_while(|row| row.starts_with('|')).map(cells).collect()
}

/// Returns the fraction of trials that succeed.
fn chance(mut trial: impl FnMut() -> bool) -> f64 {
    f64::from((0..TRIALS).map(|_| u32::from(trial())).sum::<u32>()) / f64::from(TRIALS)
}

/// Returns whether any two processes share a partition when each process has the given number of generators.
fn has_shared_partition(random: &mut Rng, generators: u32, processes: u32) -> bool {
    let mut taken = vec![false; 65_536];
    (0..processes).any(|_| {
        let base = random.u32(..65_536);
        let mine: Vec<_> = (0..generators).map(|count| partition_after(base, count)).collect();
        let meets = mine.iter().any(|partition| taken[*partition]);
        mine.into_iter().for_each(|partition| taken[partition] = true);
        meets
    })
}

/// Converts a count that was parsed from a table in the documentation to an integer.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small whole number")]
fn count_from_cell(cell: f64) -> u32 {
    cell as u32
}

#[test]
fn processes_share_partitions_at_the_documented_rate() {
    let rows = table("| generators in a process and its forks");
    assert_eq!(rows.len(), 4);
    let mut random = Rng::with_seed(7);
    for row in rows {
        let generators = count_from_cell(row[0]);
        for (processes, least, most) in [(row[1], 0.008, 0.0145), (row[2], 0.48, 0.53)] {
            let found = chance(|| {
                has_shared_partition(&mut random, generators, count_from_cell(processes))
            });
            assert!((least..most).contains(&found), "{generators} in {processes}: {found}");
        }
    }
}

#[test]
fn generators_of_one_partition_collide_at_the_documented_rate() {
    let rows = table("| IDs in the tick, each");
    assert_eq!(rows.len(), 4);
    let mut random = Rng::with_seed(7);
    for row in rows {
        let (ids, documented) = (count_from_cell(row[0]), row[1] / 100.0);
        let collide =
            |random: &mut Rng| random.u32(..BOUND_COUNT).abs_diff(random.u32(..BOUND_COUNT)) < ids;
        let found = (0..200).map(|_| chance(|| collide(&mut random))).sum::<f64>() / 200.0;
        assert!(
            (found - documented).abs() < documented * 0.1,
            "{ids} IDs: {found}, not {documented}"
        );
    }
}
