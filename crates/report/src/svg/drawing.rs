//! What the drawings of all kinds of charts are made of: elements and their height, coordinates, texts that fit a width.

use std::fmt;

/// A part of a picture: its elements and its height.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    pub(super) elements: String,
    pub(super) height: f64,
    /// Attributes of the root that tell a page's script how to read coordinates back into values.
    pub(super) reading: String,
}

/// Height of a line of text.
pub(super) const LINE: f64 = 16.0;

/// A coordinate: to a tenth, without digits that say nothing.
pub(super) struct N(pub(super) f64);

impl fmt::Display for N {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round();
        if tenths % 10.0 == 0.0 {
            write!(f, "{:.0}", tenths / 10.0 + 0.0)
        } else {
            write!(f, "{:.1}", tenths / 10.0)
        }
    }
}

/// About how wide a text of 12 px is: an average letter of sans-serif fonts takes 0.55 of the font's size.
pub(super) fn wide(text: &str) -> f64 {
    text.chars().count() as f64 * 6.6
}

/// A text cut to a width.
pub(super) fn cut(text: &str, width: f64) -> String {
    let most = (width / 6.6).max(2.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{}…", kept.trim_end_matches([' ', '.', ',']))
}

/// A text in lines of a width.
pub(super) fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if wide(line) + wide(word) + 6.6 <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, width)),
        }
    }
    lines
}
