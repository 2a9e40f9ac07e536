//! Prints the results in human-readable form.

use std::collections::BTreeSet;

use super::report::{Comparison, Entry, Goal, Report};

/// Prints a line for each entry. If the entries form a curve, each line includes the entry's position on the axis.
pub fn print_comparison(contest: &Comparison) {
    let axis = contest.axis.as_ref().map_or_else(String::new, |axis| format!(", by {axis}"));
    println!("\n{}: an item{axis}; median and quartiles of all rounds", contest.name);
    for entry in &contest.entries {
        println!("{}", entry_row(entry));
    }
    for missing in &contest.missing {
        println!("  missing: {} ({})", missing.name, missing.why);
    }
}

fn entry_row(entry: &Entry) -> String {
    let x = entry.x.map_or_else(String::new, |x| x.to_string());
    let mark = if entry.ours { '*' } else { ' ' };
    let [low, ns, high] = entry.quartiles().map(format_time);
    format!("{mark} {:<42} {x:>6} {ns:>10}  {low:>9} .. {high}", entry.name)
}

/// Formats a time in nanoseconds, or in milliseconds if it is at least 1 ms.
fn format_time(ns: f64) -> String {
    if ns < 1e6 {
        format!("{} ns", format_figure(ns))
    } else {
        format!("{} ms", format_figure(ns / 1e6))
    }
}

/// Formats a number with three significant digits and at most four decimal places.
fn format_figure(value: f64) -> String {
    let decimals = match value {
        v if v < 0.0995 => 4,
        v if v < 0.995 => 3,
        v if v < 9.95 => 2,
        v if v < 99.5 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Prints every goal with its verdict. Missed goals come last.
pub fn print_goals(report: &Report) {
    let mut goals: Vec<_> = report.goals().collect();
    if goals.is_empty() {
        return println!("\nno goals among these");
    }
    goals.sort_by_key(|goal| !goal.met);
    println!("\nthe system's clock is read by: {}", clock(report));
    println!("goals: the median ratio of the same round, which may be at most so much");
    goals.iter().for_each(|goal| println!("{}", goal_verdict(goal)));
    let missed = goals.iter().filter(|goal| !goal.met).count();
    println!("{} goals, {missed} missed", goals.len());
}

fn clock(report: &Report) -> &str {
    report.clock().unwrap_or("no program said")
}

fn goal_verdict(goal: &Goal) -> String {
    let Goal { name, ours_ns, against, against_ns, ratio, goal: most, met, .. } = goal;
    let [ours, theirs] = [*ours_ns, *against_ns].map(format_time);
    let said = if *met { "met   " } else { "MISSED" };
    let ratios = format!("{:>6} <= {:<6}", format_figure(*ratio), format_figure(*most));
    format!("  {said} {ratios} {name}: {ours}, against {theirs} ({against})")
}

/// Returns the goals as the page docs/project/goals.md.
pub fn page(report: &Report) -> String {
    let rows = report.goals().map(|goal| {
        let Goal { name, ours_ns, against, against_ns, ratio, goal: most, met, .. } = goal;
        let [ours, theirs] = [ours_ns, against_ns].map(format_time);
        let [ratio, most] = [ratio, most].map(format_figure);
        let met = if met { "yes" } else { "**no**" };
        format!("| {name} | {ours} | {against} | {theirs} | {ratio} | {most} | {met} |\n")
    });
    let missing = report.contests.iter().flat_map(|contest| &contest.missing);
    let missing = missing.map(|missing| format!("- {}: {}\n", missing.name, missing.why));
    let (rows, missing): (String, BTreeSet<String>) = (rows.collect(), missing.collect());
    let missing: String = missing.into_iter().collect();
    let missing = if missing.is_empty() { "nothing\n" } else { &missing };
    format!(
        "# The goals, as last measured\n\nWritten by `cargo xtask bench --plots`: {}; the system's clock is read by: {}.\n\n\
        Times are of one ID, or of a program that imports; the ratio is the median over the rounds, and may be at most the goal.\n\n\
        | goal | ours | against | theirs | ratio | goal | met |\n|---|---|---|---|---|---|---|\n{rows}\n\
        Not available on this machine:\n\n{missing}",
        report.machine.to_string().replace('\n', "; "),
        clock(report),
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn figures_keep_three_digits() {
        let shown = [0.0361, 0.25, 1.0, 34.49, 196.4, 28_400.0].map(super::format_figure);
        assert_eq!(shown, ["0.0361", "0.250", "1.00", "34.5", "196", "28400"]);
        assert_eq!([9.784, 67_347_200.0].map(super::format_time), ["9.78 ns", "67.3 ms"]);
    }
}
