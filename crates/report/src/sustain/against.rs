//! Two conditions beside each other.

use crate::figure::speed;
use crate::table::Table;
use cardscope_model::sustain::{ComparedLine, Comparison};
use std::fmt::Write;

pub(super) fn text(comparison: &Comparison) -> String {
    let mut out = format!("\nAgainst {}\n", comparison.other);
    for (word, here, there) in &comparison.conditions {
        let _ = writeln!(out, "  {word}: {here} here, {there} there");
    }
    let mut table = Table::new(["", "here", "there", "unit", "ratio", "95 % interval", ""]);
    for line in &comparison.lines {
        table.row(row(line));
    }
    table.drop_blank_columns();
    let _ = write!(out, "{table}");
    for doubt in &comparison.doubts {
        let _ = writeln!(out, "Mind: {doubt}.");
    }
    out
}

fn row(line: &ComparedLine) -> [String; 7] {
    let value = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), speed);
    [
        line.what.clone(),
        value(line.here),
        value(line.there),
        line.unit.clone(),
        line.ratio.map(|r| format!("{r:.2}")).unwrap_or_default(),
        line.ratio_ci95.map(|[low, high]| format!("{low:.2} … {high:.2}")).unwrap_or_default(),
        line.says.clone(),
    ]
}
