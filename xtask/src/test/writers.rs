//! Texts that are written through `dyn fmt::Write`: put together piece by piece. `write!` would reach the formatting of the standard
//! library through a table of functions. The build takes that formatting out of wasm modules and finds only direct calls of it.

/// The folders of code in wasm modules.
const FOLDERS: [&str; 3] = ["core/src/", "bindings-js/src/", "bindings-wasm/src/"];

/// Ways to format a text.
const FORMATTING: [&str; 3] = ["write!(", "writeln!(", ".write_fmt("];

/// Lines that format a text, in files with a writer that is known only at run time.
pub(super) fn formatting<'s>(files: impl Iterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    let meant = files.filter(|(path, text)| {
        FOLDERS.iter().any(|folder| path.starts_with(folder))
            && ["dyn fmt::Write", "dyn Write", "dyn core::fmt::Write"]
                .iter()
                .any(|it| text.contains(it))
    });
    let lines = meant.flat_map(|(path, text)| {
        text.lines().enumerate().map(move |(at, line)| (path, at + 1, line.trim_start()))
    });
    let formats =
        |line: &str| FORMATTING.iter().any(|way| line.contains(way)) && !line.starts_with("//");
    let found = lines.filter(|(_, _, line)| formats(line));
    found.map(|(path, at, _)| format!("{path}:{at}: formats beside a `dyn fmt::Write`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> usize {
        formatting([(path, text)].into_iter()).len()
    }

    #[test]
    fn a_writer_in_a_wasm_module_formats_nothing() {
        let text = "fn put(f: &mut dyn fmt::Write) {\n    write!(f, \"{x}\")\n}";
        assert_eq!(faults("core/src/a.rs", text), 1);
        assert_eq!(faults("core/src/a.rs", &text.replace("write!(f", "f.write_fmt(f")), 1);
        assert_eq!(faults("lease/src/a.rs", text), 0);
    }

    #[test]
    fn pieces_and_formatters_pass() {
        assert_eq!(faults("core/src/a.rs", "f: &mut dyn fmt::Write\n    f.write_str(x)"), 0);
        assert_eq!(
            faults("core/src/a.rs", "f: &mut fmt::Formatter<'_>\n    write!(f, \"{x}\")"),
            0
        );
        assert_eq!(faults("core/src/a.rs", "dyn fmt::Write\n// not write!(f)"), 0);
    }
}
