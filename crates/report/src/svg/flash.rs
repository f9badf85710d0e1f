//! What a card is made of: one erase block with its pages, and the blocks that stay open at a time.

use super::drawing::{Drawing, LINE, cut};
use crate::chart::Flash;
use crate::markup::escaped;
use cardscope_model::units::BinarySize;
use std::fmt::Write;

const LEFT: f64 = 16.0;

/// More pages than this cannot be drawn apart; then only some are.
const MOST_PAGES: u64 = 128;

/// Blocks that a row has room for.
const MOST_BLOCKS: u32 = 16;

pub(super) fn draw(flash: &Flash, width: f64) -> Option<Drawing> {
    let mut drawing = Drawing::default();
    let room = width - 2.0 * LEFT;
    block(&mut drawing, flash, room);
    open(&mut drawing, "open at a time, written in order", flash.open_in_order, room);
    open(&mut drawing, "open at a time, written at random", flash.open_at_random, room);
    if let Some(bytes) = flash.special_bytes {
        words(&mut drawing, &format!("the first {} are treated specially", BinarySize(bytes)), room);
    }
    (drawing.height > 0.0).then_some(drawing)
}

fn words(drawing: &mut Drawing, text: &str, room: f64) {
    drawing.height += LINE;
    let (y, text) = (drawing.height - 3.0, escaped(&cut(text, room)));
    let _ = writeln!(drawing.elements, "<text x=\"{LEFT}\" y=\"{y}\">{text}</text>");
}

/// One erase block, with its pages where both are known.
fn block(drawing: &mut Drawing, flash: &Flash, room: f64) {
    let pages = match (flash.erase_block_bytes, flash.page_bytes) {
        (Some(block), Some(page)) if page > 0 && page <= block => Some((block / page, page)),
        _ => None,
    };
    let text = match (flash.erase_block_bytes, flash.page_bytes, pages) {
        (Some(block), _, Some((count, page))) => {
            format!("an erase block of {}: {count} pages of {}", BinarySize(block), BinarySize(page))
        }
        (Some(block), ..) => format!("an erase block of {}", BinarySize(block)),
        (None, Some(page), _) => format!("pages of {}; the erase block does not show", BinarySize(page)),
        _ => return,
    };
    words(drawing, &text, room);
    let (y, high) = (drawing.height, 30.0);
    let _ = writeln!(
        drawing.elements,
        "<rect class=\"box\" x=\"{LEFT}\" y=\"{y}\" width=\"{room}\" height=\"{high}\"/>"
    );
    if let Some((count, _)) = pages.filter(|(count, _)| *count > 1) {
        let drawn = count.min(MOST_PAGES);
        let step = room / drawn as f64;
        let lines: String =
            (1..drawn).map(|n| format!("M{:.1} {y}v{high}", LEFT + n as f64 * step)).collect();
        let _ = writeln!(
            drawing.elements,
            "<path class=\"grid\" d=\"{lines}\"/><rect class=\"f1\" x=\"{LEFT}\" y=\"{y}\" width=\"{step:.1}\" height=\"{high}\"/>"
        );
    }
    drawing.height += high + 4.0;
    if let Some((count, _)) = pages.filter(|(count, _)| *count > MOST_PAGES) {
        words(drawing, &format!("(each box stands for {} pages)", count.div_ceil(MOST_PAGES)), room);
    }
}

/// Blocks that stay open, a box each.
fn open(drawing: &mut Drawing, name: &str, blocks: Option<(u32, bool)>, room: f64) {
    let Some((count, at_least)) = blocks else { return };
    let least = if at_least { "at least " } else { "" };
    words(drawing, &format!("{least}{count} {name}"), room);
    let (y, step) = (drawing.height, room / f64::from(MOST_BLOCKS));
    for n in 0..MOST_BLOCKS {
        let class = if n < count { "f1" } else { "box" };
        let _ = writeln!(
            drawing.elements,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"14\"/>",
            LEFT + f64::from(n) * step,
            step - 3.0
        );
    }
    drawing.height += 20.0;
    if count > MOST_BLOCKS {
        words(drawing, &format!("({MOST_BLOCKS} of them drawn)"), room);
    }
}
