//! Renders readings as pictures that show the ID, its bits grouped by field, and a line for each field.

use alloc::{format, string::String};
use core::fmt::Write;

use crate::reading::{Field, Reading, Role};

const WIDTH: u32 = 480;
const MARGIN: u32 = 16;
/// The number of bits in a row. Each bit is [`CELL_WIDTH`] wide, so a row is as wide as the picture without its margins.
const BITS_PER_ROW: u32 = 32;
const CELL_WIDTH: u32 = 14;
const ROW_HEIGHT: u32 = 24;
const LINE_HEIGHT: u32 = 22;
/// The vertical position of the first row of bits.
const BITS_TOP: u32 = 56;
/// An encoded sno has `SNO_LEN` characters of `BITS_PER_CHARACTER` bits each. In the picture, each character is
/// `CHARACTER_WIDTH` wide, so all characters together are as wide as a row of bits.
const SNO_LEN: usize = 16;
const BITS_PER_CHARACTER: u32 = 5;
const CHARACTER_WIDTH: u32 = 28;
/// The maximum length of a displayed value, in characters.
const MAX_VALUE_LEN: usize = 34;

/// The style sheet. White digits are legible on each of the field colors, with a contrast ratio of at least 4.5, so the
/// light and dark color schemes use the same field colors.
const STYLE: &str = "\
.card { fill: #ffffff; stroke: #d0d7de; }
text { fill: #1f2328; font: 13px system-ui, -apple-system, \"Segoe UI\", Helvetica, Arial, sans-serif; }
.id { font-weight: 600; }
.id, .bit, .value { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.bit { fill: #ffffff; text-anchor: middle; }
.name { font-weight: 600; }
.value { font-size: 12px; }
.width { fill: #59636e; text-anchor: end; }
.fixed { fill: #59636e; } .time { fill: #0969da; } .worker_id { fill: #1a7f37; }
.type_tag, .shard_key, .key_version { fill: #bc4c00; } .tick_tock { fill: #9a6700; }
.sequence { fill: #bf3989; } .random, .hash { fill: #8250df; } .encrypted { fill: #cf222e; }
@media (prefers-color-scheme: dark) {
.card { fill: #0d1117; stroke: #3d444d; }
text { fill: #f0f6fc; }
.bit { fill: #ffffff; }
.width { fill: #9198a1; }
}";

impl Reading {
    /// Returns the reading as an SVG picture. It shows the ID as it was written, the bits in the colors of their fields,
    /// and the names, widths and values of the fields. The picture supports light and dark color schemes, and its title
    /// describes the same content in words.
    ///
    /// ```
    /// use polyflake_inspect::{Context, inspect};
    ///
    /// let id = "175928847299117063";
    /// let readings = inspect(id, &Context { now_ms: 1_795_422_487_000, ..Context::default() });
    /// assert!(readings[0].picture(id).contains("Discord snowflake"));
    /// ```
    #[must_use]
    pub fn picture(&self, id: &str) -> String {
        let rows = self.bits.div_ceil(BITS_PER_ROW);
        let lines = BITS_TOP + rows * ROW_HEIGHT + 12;
        let count = self.fields.iter().fold(0, |count, _| count + 1);
        let height = lines + count * LINE_HEIGHT + MARGIN - 4;
        let title = escape_xml(&self.title(id));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"t\">\n\
             <title id=\"t\">{title}</title>\n<style>\n{STYLE}\n</style>\n\
             <rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
            WIDTH - 1,
            height - 1,
        );
        if self.format == "sno" && id.chars().count() == SNO_LEN {
            self.draw_characters(id, &mut svg);
        } else {
            draw_caption(id, &mut svg);
        }
        for field in &self.fields {
            self.draw_cells(field, &mut svg);
        }
        for (field, at) in self.fields.iter().zip(0..) {
            self.draw_field(field, lines + at * LINE_HEIGHT, &mut svg);
        }
        svg + "</svg>\n"
    }

    /// Returns a description of the picture in words.
    fn title(&self, id: &str) -> String {
        let fields = self.fields.iter().map(|field| {
            let bits = if field.bits == 1 { "bit" } else { "bits" };
            format!("{} {bits} of {}, {}", field.bits, field.name, self.value(field))
        });
        let fields: alloc::vec::Vec<_> = fields.collect();
        format!("The {} bits of the {} {id}: {}", self.bits, self.title, fields.join("; "))
    }

    /// Draws the characters of a sno above the bits, in the colors of their fields. A character encodes five bits, and has
    /// the color of the field to which most of these bits belong. Ties are impossible, because two fields that share a
    /// character never contribute the same number of bits.
    fn draw_characters(&self, id: &str, svg: &mut String) {
        let owner = |at: u32| {
            let bits = at * BITS_PER_CHARACTER..(at + 1) * BITS_PER_CHARACTER;
            let shared = |field: &&Field| {
                let end = bits.end.min(field.offset + field.bits);
                end.saturating_sub(bits.start.max(field.offset))
            };
            self.fields.iter().max_by_key(shared).map_or(Role::Fixed, |field| field.role)
        };
        for (character, at) in id.chars().zip(0..) {
            let (class, x) = (owner(at).as_str(), MARGIN + at * CHARACTER_WIDTH);
            write_line(
                svg,
                format_args!(
                    "<rect class=\"{class}\" x=\"{x}\" y=\"14\" width=\"{}\" height=\"34\" rx=\"3\"/>\
                     <text class=\"bit\" x=\"{}\" y=\"39\" style=\"font-size: 24px; font-weight: 600\">{character}</text>",
                    CHARACTER_WIDTH - 1,
                    x + CHARACTER_WIDTH / 2,
                ),
            );
        }
    }

    /// Draws the bits of a field, row by row.
    fn draw_cells(&self, field: &Field, svg: &mut String) {
        let (mut from, end) = (field.offset, field.offset + field.bits);
        while from < end {
            let to = end.min((from / BITS_PER_ROW + 1) * BITS_PER_ROW);
            let (x, y) = (
                MARGIN + from % BITS_PER_ROW * CELL_WIDTH,
                BITS_TOP + from / BITS_PER_ROW * ROW_HEIGHT,
            );
            let (class, width) = (field.role.as_str(), (to - from) * CELL_WIDTH - 1);
            write_line(
                svg,
                format_args!(
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"20\" rx=\"3\"/>"
                ),
            );
            let places =
                (from..to).map(|at| MARGIN + at % BITS_PER_ROW * CELL_WIDTH + CELL_WIDTH / 2);
            let places = places.fold(String::new(), |list, x| list + &format!(" {x}"));
            let bits = (from..to).map(|at| if self.bit(at) { '1' } else { '0' });
            let bits: String = bits.collect();
            write_line(
                svg,
                format_args!(
                    "<text class=\"bit\" x=\"{}\" y=\"{}\">{bits}</text>",
                    places.trim(),
                    y + 15
                ),
            );
            from = to;
        }
    }

    /// Draws the name, width and value of a field.
    fn draw_field(&self, field: &Field, y: u32, svg: &mut String) {
        let time = (field.role == Role::Time).then(|| self.time()).flatten();
        let value =
            escape_xml(&truncate(&time.unwrap_or_else(|| self.value(field)), MAX_VALUE_LEN));
        let (class, name) = (field.role.as_str(), escape_xml(&truncate(&field.name, 16)));
        let (base, bits) = (y + 15, if field.bits == 1 { "bit" } else { "bits" });
        let row = format_args!(
            "<rect class=\"{class}\" x=\"{MARGIN}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"3\"/>\
             <text class=\"name\" x=\"36\" y=\"{base}\">{name}</text>\
             <text class=\"width\" x=\"202\" y=\"{base}\">{} {bits}</text>\
             <text class=\"value\" x=\"214\" y=\"{base}\">{value}</text>",
            y + 4,
            field.bits,
        );
        write_line(svg, row);
    }
}

/// Draws the ID as the user wrote it, in the largest font that fits the picture's width.
fn draw_caption(id: &str, svg: &mut String) {
    // In the style sheet's monospaced fonts, the width of a character is six tenths of the font size.
    let size = (WIDTH - 2 * MARGIN) * 10 / 6 / id.chars().fold(0, |count, _| count + 1).max(1);
    let (size, id) = (size.clamp(6, 24), escape_xml(id));
    write_line(
        svg,
        format_args!(
            "<text class=\"id\" x=\"{MARGIN}\" y=\"38\" style=\"font-size: {size}px\">{id}</text>"
        ),
    );
}

fn write_line(svg: &mut String, line: core::fmt::Arguments<'_>) {
    writeln!(svg, "{line}").expect("a String takes all that is written");
}

/// Returns the string, or its first `most` characters and an ellipsis if the string is longer.
fn truncate(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
