//! Reads lines from standard input. The input may be UTF-8 (with or without a byte order mark), UTF-16, or in an unknown
//! encoding.

use std::io::{self, BufRead};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Returns the lines of an input, without line endings. Invalid UTF-8 becomes U+FFFD, so that one bad byte affects only its
/// own line. UTF-16, which PowerShell writes, is recognized by its byte order mark or by the zero bytes in its first two
/// characters.
pub(crate) fn lines<'a>(
    mut input: impl BufRead + 'a,
) -> io::Result<Box<dyn Iterator<Item = io::Result<String>> + 'a>> {
    let unit: fn([u8; 2]) -> u16 = match *input.fill_buf()? {
        [0xff, 0xfe, ..] | [1..=255, 0, 1..=255, 0, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] | [0, 1..=255, 0, 1..=255, ..] => u16::from_be_bytes,
        ref start => {
            let bom = if start.starts_with(BOM) { BOM.len() } else { 0 };
            input.consume(bom);
            let text = |line: io::Result<Vec<u8>>| {
                let line = line?;
                let line = line.strip_suffix(b"\r").unwrap_or(&line);
                Ok(String::from_utf8_lossy(line).into_owned())
            };
            return Ok(Box::new(input.split(b'\n').map(text)));
        }
    };
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let (pairs, _) = bytes.as_chunks();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    let text = String::from_utf16_lossy(&units);
    let lines: Vec<_> = text.trim_start_matches('\u{feff}').lines().map(str::to_owned).collect();
    Ok(Box::new(lines.into_iter().map(Ok)))
}
