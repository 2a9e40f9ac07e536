//! A user's program that stores IDs, a snapshot and a lease, and continues with them when it runs again after an update.

use std::{collections::BTreeSet, error::Error, fs};

use polyflake::sno::{Generator, Sno};

const STATE_FILE: &str = "kept.json";

fn main() -> Result<(), Box<dyn Error>> {
    let kept = fs::read_to_string(STATE_FILE).unwrap_or_default();
    let (kept_ids, ids) = match kept.split_once('\n') {
        None => (Vec::new(), Generator::builder().partition(7).build()?),
        Some((snapshot, ids)) => {
            let ids = ids.lines().map(str::parse).collect::<Result<Vec<Sno>, _>>()?;
            (ids, Generator::builder().restore(serde_json::from_str(snapshot)?)?)
        }
    };
    let leased = polyflake_lease::sno::Generator::new("sqlite:ids.db", "orders")?;

    let mut made = Vec::new();
    for _ in 0..100 {
        made.extend([ids.generate(0)?, leased.generate(0)?]);
    }
    let all: BTreeSet<Sno> = kept_ids.iter().chain(&made).copied().collect();
    assert_eq!(all.len(), kept_ids.len() + 200, "expected different IDs");
    assert!(
        kept_ids.iter().max() < made.iter().min(),
        "expected IDs that sort after the stored ones"
    );

    let snapshot = serde_json::to_string(&ids.close()?)?;
    let lines: Vec<String> = made.iter().map(Sno::to_string).collect();
    fs::write(STATE_FILE, format!("{snapshot}\n{}", lines.join("\n")))?;
    println!("{}", if kept_ids.is_empty() { "stored" } else { "continued" });
    Ok(())
}
