//! The features of the crates for users in sets that no other test builds: alone, in pairs, and with the oldest versions of
//! dependencies that the crates allow.

mod minimal;

use anyhow::{Context, Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::workspace;

#[derive(Args)]
pub struct Options {
    /// Build with the oldest versions of dependencies that the crates allow
    #[arg(long)]
    minimal: bool,
}

pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    if options.minimal {
        return minimal::build(&shell);
    }
    for name in workspace::published(&shell)? {
        let sets = sets(&features(&shell, &name)?);
        for set in &sets {
            let chosen = ["--package", &name, "--no-default-features", "--features", set];
            cmd!(shell, "cargo check --quiet {chosen...}").env("RUSTFLAGS", "-D warnings").run()?;
        }
        println!("{name}: {} sets of features", sets.len());
    }
    Ok(())
}

/// The features of a crate, without the set that is the default.
fn features(shell: &Shell, name: &str) -> Result<Vec<String>> {
    let said = cmd!(shell, "cargo metadata --no-deps --format-version 1").quiet().read()?;
    let metadata: serde_json::Value = serde_json::from_str(&said)?;
    let packages = metadata["packages"].as_array().context("expected packages")?;
    let package = packages.iter().find(|package| package["name"] == name);
    let features = package.and_then(|package| package["features"].as_object());
    let features = features.with_context(|| format!("expected the features of {name}"))?;
    ensure!(features.len() > 1, "expected features of {name}, found none");
    Ok(features.keys().filter(|feature| *feature != "default").cloned().collect())
}

/// Nothing, each feature alone, each pair, and all.
fn sets(features: &[String]) -> Vec<String> {
    let pairs = features.iter().enumerate().flat_map(|(index, one)| {
        features[index + 1..].iter().map(move |other| format!("{one},{other}"))
    });
    let mut sets = vec![String::new(), features.join(",")];
    sets.extend(features.iter().cloned().chain(pairs));
    sets
}

#[cfg(test)]
mod tests {
    #[test]
    fn sets_are_none_all_each_and_pairs() {
        let features = ["a", "b", "c"].map(str::to_owned);
        let wanted = ["", "a,b,c", "a", "b", "c", "a,b", "a,c", "b,c"];
        assert_eq!(super::sets(&features), wanted);
    }
}
