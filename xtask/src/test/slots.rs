//! Slots of the scratch area: used by the names of the generated files alone. The types of both languages refuse other indices; this
//! holds that no cast goes around them.

use crate::generate;

/// The folders on both sides of the scratch area.
const FOLDERS: [&str; 2] = ["bindings-js/src/", "packages/js/src/"];

/// The views of the slots, right before an index.
const VIEWS: [&str; 2] = ["numbers[", "bigints["];

/// Casts to the types of slots, the making of them, and a cast that fits every index.
const MAKING: [&str; 5] =
    ["as NumberSlot", "as IntegerSlot", "IntegerSlot(", " Slot(", "as never]"];

/// The files that read or write slots whatever the call.
const ANY_CALL: [&str; 2] = ["packages/js/src/handle.ts", "packages/js/src/machine.ts"];

/// Types of a machine by records, where a variable of a machine has calls.
const RECORDS: [&str; 3] = [": MachineWith<", ": Floats<", ": Integers<"];

/// Lines that use a slot without its name, or without its call.
pub(super) fn nameless<'s>(files: impl Iterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    let meant = files.filter(|(path, text)| {
        FOLDERS.iter().any(|folder| path.starts_with(folder)) && !text.starts_with(generate::MARK)
    });
    let lines = meant.flat_map(|(path, text)| {
        text.lines().enumerate().map(move |(at, line)| (path, at + 1, line))
    });
    let fault = |(path, at, line): (&str, usize, &str)| {
        let fault = fault_of(path, line)?;
        Some(format!("{path}:{at}: a slot without its {fault}"))
    };
    lines.filter_map(fault).collect()
}

/// The part of a slot that a line keeps from the compiler.
fn fault_of(path: &str, line: &str) -> Option<&'static str> {
    if is_indexed(line) || makes_slot(line) {
        Some("name")
    } else if !ANY_CALL.contains(&path) && is_of_any_call(line) {
        Some("call")
    } else {
        None
    }
}

/// Returns whether a view is indexed by other than a name.
fn is_indexed(line: &str) -> bool {
    let indices = VIEWS.iter().flat_map(|view| line.split(view).skip(1));
    indices.into_iter().any(|index| !index.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn makes_slot(line: &str) -> bool {
    MAKING.iter().any(|making| line.contains(making))
}

/// Returns whether a line declares a variable of a machine, or of its slots, by records.
fn is_of_any_call(line: &str) -> bool {
    let is_variable = ["const ", "let "].iter().any(|word| line.trim_start().starts_with(word));
    is_variable && RECORDS.iter().any(|records| line.contains(records))
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
            "m.numbers[two as never] = 1;",
            "  const m: MachineWith<\"many\"> = machine();",
            "let numbers: Floats<\"many\"> = m.numbers;",
        ] {
            assert_eq!(faults(text), 1, "{text}");
        }
    }

    #[test]
    fn names_and_generated_files_pass() {
        assert_eq!(faults("numbers[manySlots.count] = 1;\nslots: readonly NumberSlot[]"), 0);
        assert_eq!(faults("function f(m: MachineWith<\"many\">): void {\n} = {} as never,"), 0);
        assert_eq!(faults("const m: MachineFor<\"snoFill\"> = machine();"), 0);
        assert_eq!(faults(&format!("{}`x`.\nnumbers[2]", generate::MARK)), 0);
    }
}
