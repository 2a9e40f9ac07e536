//! The profile of each missed goal: the parts of its work, measured in the same run.

use super::{
    report::{Contest, Entry, Goal, Report},
    table::figure,
};

/// The parts of the work of a goal: entries of a contest.
struct Profile {
    /// The goal's name, without what it is measured against.
    goal: &'static str,
    /// Contests with the names of their entries. Of an entry that makes a curve, the point at the goal's own place on the axis, if
    /// it has one there, and else all points.
    parts: &'static [(&'static str, &'static [&'static str])],
}

const ONE_ID: &str = "rust: the parts of one ID";
const ONE_ID_IN_NODE: &str = "node: the parts of one ID";

/// Goals whose parts are not simply the other entries of their contest.
const PROFILES: &[Profile] = &[
    Profile {
        goal: "rust: sno generate, coarse clock",
        parts: &[(ONE_ID, &["the coarse clock", "a swap", "the coarse clock and a swap"])],
    },
    Profile {
        goal: "rust: sno generate, exact clock",
        parts: &[(
            ONE_ID,
            &["the exact clock", "a swap", "the exact clock and a swap", "sno without its clock"],
        )],
    },
    Profile {
        goal: "rust: sno generate",
        parts: &[(
            ONE_ID,
            &[
                "the counter",
                "a swap",
                "the counter, then a swap",
                "a swap, then the counter",
                "the system clock and a swap",
                "sno without its clock",
                "SystemTime::now",
            ],
        )],
    },
    Profile {
        goal: "rust: Hot Guid generate",
        parts: &[(
            ONE_ID,
            &[
                "the counter, then a swap",
                "the system clock and a swap",
                "Hot Guid without its clock",
            ],
        )],
    },
    Profile {
        goal: "rust: Randflake generate",
        parts: &[(
            ONE_ID,
            &[
                "a block of Randflake's cipher",
                "the counter, then a swap",
                "the system clock and a swap",
                "Randflake without its clock",
            ],
        )],
    },
    Profile {
        goal: "node: a Randflake bigint",
        parts: &[
            (ONE_ID_IN_NODE, &["a number asked of the addon", "a bigint out of memory"]),
            (ONE_ID, &["a block of Randflake's cipher", "the system clock and a swap"]),
        ],
    },
    Profile {
        goal: "node: a sno text in wasm",
        parts: &[(
            ONE_ID_IN_NODE,
            &["a number asked of wasm", "Date.now", "16 characters out of memory"],
        )],
    },
    Profile {
        goal: "rust: two threads, a handle each, synthetic clock",
        parts: &[(ONE_ID, &["texts by one thread", "texts by two threads"])],
    },
    Profile {
        goal: "python: sno batch of 65,536 into NumPy",
        parts: &[
            ("rust: batches", &["sno"]),
            ("python: batches", &["sno, as NumPy", "10 bytes each copied", "ones, 10 bytes each"]),
        ],
    },
];

/// The missed goals with their parts, as a section of a page. A goal without a profile of its own has all other entries of its
/// contest that lie at the same place on its axis.
pub fn section(report: &Report) -> String {
    let rows = report.contests.iter().flat_map(|contest| {
        let missed = contest.goals.iter().filter(|goal| !goal.met);
        missed.map(move |goal| row(goal, &parts(report, contest, goal)))
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "\n## What stands in the way\n\nThe missed goals: the time that each leaves, the time that ours takes, and the parts that were measured in the \
        same run.\n\n| goal | leaves | ours | parts |\n|---|---|---|---|\n{rows}"
    )
}

fn row(Goal { name, ours_ns, against_ns, goal: most, .. }: &Goal, parts: &[&Entry]) -> String {
    let parts: Vec<_> = parts.iter().map(|entry| part(entry)).collect();
    let [leaves, ours] = [against_ns * most, *ours_ns].map(figure);
    format!("| {name} | {leaves} | {ours} | {} |\n", parts.join("; "))
}

fn part(Entry { name, x, ns, .. }: &Entry) -> String {
    let place = x.map_or_else(String::new, |x| format!(" at {x}"));
    format!("{name}{place} {}", figure(*ns))
}

fn parts<'r>(report: &'r Report, contest: &'r Contest, goal: &Goal) -> Vec<&'r Entry> {
    let name = goal.name.split(", against ").next();
    let place = own(contest, goal).and_then(|entry| entry.x);
    let profile = PROFILES.iter().find(|profile| name == Some(profile.goal));
    let Some(Profile { parts, .. }) = profile else {
        return beside(contest, goal);
    };
    let entries = parts.iter().flat_map(|(name, parts)| {
        let measured = report.contests.iter().filter(move |contest| contest.name == *name);
        measured.flat_map(move |contest| {
            parts.iter().flat_map(move |part| points(contest, part, place))
        })
    });
    entries.collect()
}

/// An entry of a contest: its point at a place on the axis, or all of its points if none lies there.
fn points<'c>(contest: &'c Contest, name: &str, place: Option<u32>) -> Vec<&'c Entry> {
    let all: Vec<_> = contest.entries.iter().filter(|entry| entry.name == name).collect();
    let there: Vec<_> = all.iter().copied().filter(|entry| entry.x == place).collect();
    if there.is_empty() { all } else { there }
}

/// The entry of a goal itself.
fn own<'c>(contest: &'c Contest, goal: &Goal) -> Option<&'c Entry> {
    #[allow(clippy::float_cmp, reason = "the same figure twice")]
    contest.entries.iter().find(|entry| entry.ns == goal.ours_ns)
}

/// The entries of a goal's contest at the place of its own entry.
fn beside<'r>(contest: &'r Contest, goal: &Goal) -> Vec<&'r Entry> {
    let place = own(contest, goal).map(|entry| (entry.x, &entry.name));
    let is_beside = |entry: &&Entry| {
        place.is_none_or(|(x, name)| {
            entry.x == x && entry.name != *name || x != entry.x && entry.name == *name
        })
    };
    contest.entries.iter().filter(is_beside).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn contest(name: &str, entries: &[(&str, f64)], goals: &[(&str, f64, f64)]) -> Contest {
        let entries: Vec<_> = entries
            .iter()
            .map(|(name, ns)| json!({"name": name, "ours": true, "x": null, "ns": ns, "quartiles_ns": [ns, ns]}))
            .collect();
        let goals: Vec<_> = goals
            .iter()
            .map(|(name, ours, most)| {
                json!({
                    "name": name, "ours_ns": ours, "against": "them", "against_ns": 10.0, "ratio": ours / 10.0,
                    "ratio_quartiles": [ours, ours], "goal": most, "met": ours / 10.0 <= *most,
                })
            })
            .collect();
        let line = json!({"contest": name, "axis": null, "entries": entries, "goals": goals, "missing": []});
        serde_json::from_value(line).expect("a program's line")
    }

    fn report(contests: Vec<Contest>) -> Report {
        Report { machine: super::super::machine::describe(), contests }
    }

    #[test]
    fn a_missed_goal_has_the_parts_of_its_profile() {
        let goals = [
            ("rust: sno generate, against ferroid", 8.0, 0.5),
            ("rust: Hot Guid generate", 4.0, 0.5),
        ];
        let ids = contest("rust: one ID", &[("sno", 8.0), ("ulid", 30.0)], &goals);
        let parts = contest(
            ONE_ID,
            &[("the counter", 3.0), ("a swap", 4.5), ("the coarse clock", 1.0)],
            &[],
        );
        let page = section(&report(vec![ids, parts]));
        assert!(page.contains("| rust: sno generate, against ferroid | 5.00 | 8.00 | the counter 3.00; a swap 4.50 |\n"), "{page}");
        assert!(!page.contains("Hot Guid"), "{page}");
    }

    #[test]
    fn parts_come_from_several_contests_and_only_for_the_goal_that_is_named() {
        let goals = [
            ("node: a Randflake bigint", 8.0, 0.5),
            ("node: a sno text in wasm, in Chromium", 8.0, 0.5),
        ];
        let ids = contest("node: one ID", &[("sno", 8.0)], &goals);
        let node =
            contest(ONE_ID_IN_NODE, &[("a bigint out of memory", 3.0), ("Date.now", 9.0)], &[]);
        let rust = contest(ONE_ID, &[("the system clock and a swap", 4.0)], &[]);
        let page = section(&report(vec![rust, ids, node]));
        let parts = "a bigint out of memory 3.00; the system clock and a swap 4.00";
        assert!(
            page.contains(&format!("| node: a Randflake bigint | 5.00 | 8.00 | {parts} |\n")),
            "{page}"
        );
        assert!(!page.contains("Date.now"), "{page}");
    }

    #[test]
    fn without_a_profile_it_has_the_other_entries_of_its_contest() {
        let ours =
            contest("node: texts", &[("sno", 8.0), ("memory", 3.0)], &[("node: sno", 8.0, 0.5)]);
        let page = section(&report(vec![ours]));
        assert!(page.contains("| node: sno | 5.00 | 8.00 | memory 3.00 |\n"), "{page}");
    }

    #[test]
    fn a_part_of_a_curve_is_its_point_at_the_place_of_the_goal() {
        let goals = [("python: sno batch of 65,536 into NumPy", 8.0, 0.5)];
        let curve = |mut contest: Contest, places: [Option<u32>; 3]| {
            contest.entries.iter_mut().zip(places).for_each(|(entry, x)| entry.x = x);
            contest
        };
        let python = contest(
            "python: batches",
            &[("sno, into NumPy", 8.0), ("sno, as NumPy", 3.0), ("sno, as NumPy", 5.0)],
            &goals,
        );
        let rust = contest("rust: batches", &[("sno", 7.0), ("sno", 1.0)], &[]);
        let places = [Some(65_536), Some(4), Some(65_536)];
        let page =
            section(&report(vec![curve(python, places), curve(rust, [Some(1), Some(4), None])]));
        let parts = "sno at 1 7.00; sno at 4 1.00; sno, as NumPy at 65536 5.00";
        assert!(page.contains(&format!("into NumPy | 5.00 | 8.00 | {parts} |\n")), "{page}");
    }

    #[test]
    fn where_all_are_met_there_is_no_section() {
        let met = contest("node: texts", &[("sno", 4.0)], &[("node: sno", 4.0, 0.5)]);
        assert_eq!(section(&report(vec![met])), "");
    }
}
