//! Measures the core against its peers and limits, and prints one JSON line for each goal.
//!
//! Every row times ours and the other in turn, in one process pinned to one processor, and states the median of the
//! ratios of neighbouring rounds: the machine's mood cancels out. `cargo xtask bench` runs it.

mod layout;
mod measure;
mod randflake;
mod sno;

fn main() {
    if let Some(core) = core_affinity::get_core_ids().and_then(|cores| cores.last().copied()) {
        core_affinity::set_for_current(core);
    }
    let filter = std::env::args().nth(1).unwrap_or_default();
    for row in
        sno::rows().into_iter().chain(randflake::rows()).filter(|row| row.name.contains(&filter))
    {
        println!("{}", row.measure());
    }
    let limits = sno::limits().into_iter().chain(layout::limits());
    for limit in limits.filter(|limit| limit.name.contains(&filter)) {
        println!("{}", limit.measure());
    }
}
