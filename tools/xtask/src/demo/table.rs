//! Prints rows of values as a table with aligned columns.

use serde_json::Value;

/// Prints rows in columns. The first row is the heading.
pub fn print(rows: &[Vec<String>]) {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..rows[0].len()).map(width).collect();
    for row in rows {
        let cells: Vec<_> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("  {}", cells.join("  ").trim_end());
    }
}

/// Returns a JSON value as a string. If the value is a string, omits the quotes.
pub fn without_quotes(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
