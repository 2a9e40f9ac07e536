//! The figures for people to read.

use super::report::{Contest, Entry, Goal, Report};

/// One line for each entry; those of a curve say where they lie on it.
pub fn print_contest(contest: &Contest) {
    let axis = contest.axis.as_ref().map_or_else(String::new, |axis| format!(", by {axis}"));
    println!("\n{}: ns an item{axis}; median and quartiles of all rounds", contest.name);
    for entry in &contest.entries {
        println!("{}", line(entry));
    }
    for missing in &contest.missing {
        println!("  missing: {} ({})", missing.name, missing.why);
    }
}

fn line(entry: &Entry) -> String {
    let x = entry.x.map_or_else(String::new, |x| x.to_string());
    let mark = if entry.ours { '*' } else { ' ' };
    let [low, high] = entry.quartiles_ns.map(figure);
    format!("{mark} {:<42} {x:>6} {:>10}  {low:>9} .. {high}", entry.name, figure(entry.ns))
}

/// Three digits that count.
fn figure(value: f64) -> String {
    match value {
        v if v < 0.995 => format!("{v:.3}"),
        v if v < 9.95 => format!("{v:.2}"),
        v if v < 99.5 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// Every goal with its verdict, the missed ones last.
pub fn print_goals(report: &Report) {
    let mut goals: Vec<_> = report.goals().collect();
    if goals.is_empty() {
        return println!("\nno goals among these");
    }
    goals.sort_by_key(|goal| !goal.met);
    println!("\ngoals: the median ratio of the same round, which may be at most so much");
    goals.iter().for_each(|goal| println!("{}", verdict(goal)));
    let missed = goals.iter().filter(|goal| !goal.met).count();
    println!("{} goals, {missed} missed", goals.len());
}

fn verdict(goal: &Goal) -> String {
    let Goal { name, ours_ns, against, against_ns, ratio, goal: most, met, .. } = goal;
    let (ours, theirs) = (figure(*ours_ns), figure(*against_ns));
    let said = if *met { "met   " } else { "MISSED" };
    let ratios = format!("{:>6} <= {:<6}", figure(*ratio), figure(*most));
    format!("  {said} {ratios} {name}: {ours} ns, against {theirs} ns ({against})")
}

#[cfg(test)]
mod tests {
    #[test]
    fn figures_keep_three_digits() {
        let shown = [0.0361, 0.25, 1.0, 34.49, 196.4, 28_400.0].map(super::figure);
        assert_eq!(shown, ["0.036", "0.250", "1.00", "34.5", "196", "28400"]);
    }
}
