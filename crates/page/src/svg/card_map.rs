//! Flash geometry and speed over the addresses as SVG. The height and opacity of a column show the speed of its slowest
//! part; a row below marks lost data.

use super::palette::{LINE_HEIGHT, PicturePart, RIGHT_ALIGNED, SECONDARY_TEXT, ShortNumber, cut_to_width};
use crate::chart::{AddressChart, FlashChart};

use cardscope_model::units::{BinarySize, three_digits as speed};
use std::fmt::Write;

const LEFT_MARGIN: f64 = 16.0;

/// Pages that are distinguishable in the picture of a block. If there are more, a box stands for several.
const MAX_PAGE_BOXES: u64 = 128;

/// Boxes that fit in a row of open blocks.
const MAX_BLOCK_BOXES: u32 = 16;

pub(super) fn draw_flash(flash: &FlashChart, width: f64) -> Option<PicturePart> {
    let mut drawing = PicturePart::default();
    let room = width - 2.0 * LEFT_MARGIN;
    draw_erase_block(&mut drawing, flash, room);
    draw_open_blocks(&mut drawing, "open at a time, written in order", flash.open_in_order, room);
    draw_open_blocks(&mut drawing, "open at a time, written at random", flash.open_at_random, room);
    if let Some(bytes) = flash.special_bytes {
        draw_text_line(&mut drawing, &format!("the first {} are treated specially", BinarySize(bytes)), room);
    }
    (drawing.height > 0.0).then_some(drawing)
}

fn draw_text_line(drawing: &mut PicturePart, text: &str, room: f64) {
    drawing.height += LINE_HEIGHT;
    drawing.write_text((LEFT_MARGIN, drawing.height - 3.0), "", &cut_to_width(text, room));
}

/// An erase block, divided into its pages if both sizes are known.
fn draw_erase_block(drawing: &mut PicturePart, flash: &FlashChart, room: f64) {
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
    draw_text_line(drawing, &text, room);
    let (y, high) = (drawing.height, 30.0);
    drawing.draw_box("box", [LEFT_MARGIN, y, room, high]);
    if let Some((count, _)) = pages.filter(|(count, _)| *count > 1) {
        let drawn = count.min(MAX_PAGE_BOXES);
        let step = room / drawn as f64;
        let line = |n| format!("M{:.1} {y}v{high}", LEFT_MARGIN + n as f64 * step);
        let lines: String = (1..drawn).map(line).collect();
        let _ = writeln!(drawing.elements, "<path class=\"grid\" d=\"{lines}\"/>");
        drawing.draw_box("f1", [LEFT_MARGIN, y, step, high]);
    }
    drawing.height += high + 4.0;
    if let Some((count, _)) = pages.filter(|(count, _)| *count > MAX_PAGE_BOXES) {
        let text = format!("(each box stands for {} pages)", count.div_ceil(MAX_PAGE_BOXES));
        draw_text_line(drawing, &text, room);
    }
}

/// Open blocks, one box each.
fn draw_open_blocks(drawing: &mut PicturePart, name: &str, blocks: Option<(u32, bool)>, room: f64) {
    let Some((count, at_least)) = blocks else { return };
    let least = if at_least { "at least " } else { "" };
    draw_text_line(drawing, &format!("{least}{count} {name}"), room);
    let (y, step) = (drawing.height, room / f64::from(MAX_BLOCK_BOXES));
    for n in 0..MAX_BLOCK_BOXES {
        let class = if n < count { "f1" } else { "box" };
        drawing.draw_box(class, [LEFT_MARGIN + f64::from(n) * step, y, step - 3.0, 14.0]);
    }
    drawing.height += 20.0;
    if count > MAX_BLOCK_BOXES {
        draw_text_line(drawing, &format!("({MAX_BLOCK_BOXES} of them drawn)"), room);
    }
}

const STRIP_HEIGHT: f64 = 56.0;

/// Left edge of the strips, after the labels of their scale.
const SCALE_WIDTH: f64 = 52.0;

/// Steps of opacity, which repeat the height so that it can be read from a distance.
const OPACITY_STEPS: f64 = 5.0;

pub(super) fn draw_addresses(map: &AddressChart, width: f64) -> Option<PicturePart> {
    let columns = Some(map.column_count()).filter(|n| *n > 0)?;
    let room = width - SCALE_WIDTH - LEFT_MARGIN;
    let step = room / columns as f64;
    let mut drawing = PicturePart::default();
    for (number, one) in map.strips.iter().enumerate() {
        drawing.height += LINE_HEIGHT;
        let speeds = if one.speeds.is_empty() { String::new() } else { format!(": {}", one.speeds) };
        let name = cut_to_width(&format!("{}{speeds}", one.name), room);
        drawing.write_text((SCALE_WIDTH, drawing.height - 4.0), "", &name);
        draw_speed_strip(&mut drawing, &one.columns, step, number + 1);
        drawing.height += STRIP_HEIGHT + 8.0;
    }
    if !map.lost.is_empty() {
        draw_lost_boxes(&mut drawing, &map.lost, step);
    }
    draw_address_axis(&mut drawing, map.bytes, room);
    Some(drawing)
}

fn draw_speed_strip(drawing: &mut PicturePart, speeds: &[Option<f64>], step: f64, class: usize) {
    let y = drawing.height;
    let most = speeds.iter().flatten().copied().fold(0.0, f64::max);
    drawing.draw_box("track", [SCALE_WIDTH, y, step * speeds.len() as f64, STRIP_HEIGHT]);
    // All columns of a step share one path element, which keeps the file small.
    for level in 1..=OPACITY_STEPS as usize {
        let mut d = String::new();
        for (column, mb_s) in speeds.iter().enumerate() {
            let Some(share) = mb_s.map(|v| if most > 0.0 { v / most } else { 0.0 }) else { continue };
            if ((share * OPACITY_STEPS).ceil().max(1.0) as usize) == level {
                let high = (share * STRIP_HEIGHT).max(1.0);
                let (x, top) = (SCALE_WIDTH + column as f64 * step, y + STRIP_HEIGHT - high);
                let [x, top, high, step] = [x, top, high, step].map(ShortNumber);
                let _ = write!(d, "M{x} {top}h{step}v{high}h-{step}z");
            }
        }
        if !d.is_empty() {
            let opacity = format!("fill-opacity=\"{:.2}\"", 0.35 + 0.65 * level as f64 / OPACITY_STEPS);
            let _ = writeln!(drawing.elements, "<path class=\"f{class}\" {opacity} d=\"{d}\"/>");
        }
    }
    let attributes = format!("{RIGHT_ALIGNED}{SECONDARY_TEXT} font-size=\"11\"");
    for (value, at) in [(speed(most), y + 9.0), ("0".to_owned(), y + STRIP_HEIGHT)] {
        drawing.write_text((SCALE_WIDTH - 5.0, at), &attributes, &value);
    }
}

/// Marks the columns with lost data by a box, which is visible without colour.
fn draw_lost_boxes(drawing: &mut PicturePart, lost: &[f64], step: f64) {
    drawing.height += LINE_HEIGHT;
    drawing.write_text((SCALE_WIDTH, drawing.height - 4.0), "", "lost or failed");
    let y = drawing.height;
    drawing.draw_box("track", [SCALE_WIDTH, y, step * lost.len() as f64, 10.0]);
    let columns = lost.iter().enumerate().filter(|(_, share)| **share > 0.0);
    let places = columns.map(|(column, _)| SCALE_WIDTH + column as f64 * step);
    let boxes: String = places.map(|x| format!("M{x:.1} {y}h{step:.1}v10h-{step:.1}z")).collect();
    let _ = writeln!(drawing.elements, "<path class=\"lost\" d=\"{boxes}\"/>");
    drawing.height += 16.0;
}

/// Address axis from 0 to the end of the card, in decimal units as on packages.
fn draw_address_axis(drawing: &mut PicturePart, bytes: u64, room: f64) {
    drawing.height += LINE_HEIGHT;
    let y = drawing.height - 4.0;
    for (quarter, anchor) in (0..).zip(["start", "middle", "middle", "middle", "end"]) {
        let share = f64::from(quarter) / 4.0;
        let at = bytes as f64 * share;
        let text = match bytes / 1_000_000_000 {
            0 => format!("{:.0} MB", at / 1e6),
            1..10 => format!("{:.1} GB", at / 1e9),
            _ => format!("{:.0} GB", at / 1e9),
        };
        let attributes = format!(" text-anchor=\"{anchor}\"{SECONDARY_TEXT}");
        drawing.write_text((SCALE_WIDTH + room * share, y), &attributes, &text);
    }
    drawing.height += 4.0;
}
