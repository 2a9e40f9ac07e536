//! Writes the generated sections of `docs/project/platforms.md`. The other sections are written by hand.

use std::fs;

use anyhow::{Context, Result};

use super::platforms;
use crate::workspace;

/// The page's path, relative to the root.
const PAGE: &str = "docs/project/platforms.md";

/// The title of the section for artefacts that do not depend on a platform.
pub const EVERY_PLATFORM: &str = "Every platform";
/// The title of the section that compares sizes.
pub const SIZES: &str = "Sizes";

/// Replaces the section with the given title.
pub fn set_section(title: &str, text: &str) -> Result<()> {
    let path = workspace::root().join(PAGE);
    let page = fs::read_to_string(&path)?;
    Ok(fs::write(path, replace_section(&page, title, text)?)?)
}

/// Returns the faults that the `tidy` step reports: one for each section that is missing from the page.
pub fn faults() -> Result<Vec<String>> {
    let page = fs::read_to_string(workspace::root().join(PAGE))?;
    let platforms = platforms::all_platforms()?.into_iter().map(|platform| platform.says);
    let titles = platforms.chain([EVERY_PLATFORM, SIZES].map(str::to_owned));
    let missing = titles.filter(|title| !page.contains(&heading(title)));
    Ok(missing.map(|title| format!("{PAGE}: expected a section \"{title}\"")).collect())
}

fn heading(title: &str) -> String {
    format!("\n## {title}\n")
}

fn replace_section(page: &str, title: &str, text: &str) -> Result<String> {
    let heading = heading(title);
    let missing = || format!("expected a section \"{title}\" in {PAGE}");
    let (before, rest) = page.split_once(&heading).with_context(missing)?;
    let after = rest.find("\n## ").map_or("", |end| &rest[end..]);
    Ok(format!("{before}{heading}\n{text}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_section_is_replaced() {
        let page = "# A\n\nb\n\n## C\n\nd\n\n## E\n\nf\n";
        assert_eq!(
            replace_section(page, "C", "new\n").unwrap(),
            "# A\n\nb\n\n## C\n\nnew\n\n## E\n\nf\n"
        );
        assert_eq!(
            replace_section(page, "E", "new\n").unwrap(),
            "# A\n\nb\n\n## C\n\nd\n\n## E\n\nnew\n"
        );
        replace_section(page, "D", "new").unwrap_err();
    }
}
