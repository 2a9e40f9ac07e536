//! Slots of the scratch area: used by the names of the generated files alone. The types of both languages refuse other indices; this
//! holds that no cast goes around them.

use crate::generate;

/// The folders on both sides of the scratch area.
const FOLDERS: [&str; 2] = ["bindings-js/src/", "packages/js/src/"];

/// The views of the slots, right before an index.
const VIEWS: [&str; 2] = ["numbers[", "bigints["];

/// Casts to the types of slots, and the making of them.
const MAKING: [&str; 4] = ["as NumberSlot", "as IntegerSlot", "IntegerSlot(", " Slot("];

/// Lines that use a slot without its name.
pub(super) fn nameless<'s>(files: impl Iterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    let meant = files.filter(|(path, text)| {
        FOLDERS.iter().any(|folder| path.starts_with(folder)) && !text.starts_with(generate::MARK)
    });
    let lines = meant.flat_map(|(path, text)| {
        text.lines().enumerate().map(move |(at, line)| (format!("{path}:{}", at + 1), line))
    });
    let refused = lines.filter(|(_, line)| is_indexed(line) || makes_slot(line));
    refused.map(|(place, _)| format!("{place}: a slot without its name")).collect()
}

/// Returns whether a view is indexed by other than a name.
fn is_indexed(line: &str) -> bool {
    let indices = VIEWS.iter().flat_map(|view| line.split(view).skip(1));
    indices.into_iter().any(|index| !index.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn makes_slot(line: &str) -> bool {
    MAKING.iter().any(|making| line.contains(making))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> usize {
        nameless(
            [("packages/js/src/sno/ids.ts", text), ("core/src/lib.rs", "numbers[0]")].into_iter(),
        )
        .len()
    }

    #[test]
    fn a_literal_or_a_cast_is_found() {
        for text in [
            "numbers[2] = 1;",
            "(m.bigints[-0]);",
            "let at = 2 as NumberSlot;",
            "= Slot(2);",
            "numbers[a.b]; numbers[1]",
        ] {
            assert_eq!(faults(text), 1, "{text}");
        }
    }

    #[test]
    fn names_and_generated_files_pass() {
        assert_eq!(faults("numbers[manySlots.count] = 1;\nslots: readonly NumberSlot[]"), 0);
        assert_eq!(faults(&format!("{}`x`.\nnumbers[2]", generate::MARK)), 0);
    }
}
