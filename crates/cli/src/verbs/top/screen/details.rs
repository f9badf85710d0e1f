//! Details of the selected row.

use super::card_table::row_title;
use super::panel::{device_lines, task_lines, weight_label};
use super::styled_text::{RowCursor, ScreenStyle, draw_lines, padded_cell, styled_line, wrap_lines};
use crate::verbs::list::volume_lines;
use crate::verbs::top::state::{TopRow, TopState};
use cardscope_model::units::SpeedMbS;
use cardscope_server::api::{Device, TaskResource, TaskState as Progress};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use std::cmp::Ordering;

/// Draws the details from a line on; returns the last line to which they can scroll.
pub(super) fn draw_details(
    frame: &mut Frame<'_>,
    state: &TopState,
    from: usize,
    area: Rect,
    looks: ScreenStyle,
) -> usize {
    let all = state.rows();
    let Some(row) = all.get(state.selected_index(&all)) else { return 0 };
    let mut rows = RowCursor { remaining: area };
    frame.render_widget(row_title(row, 0, area.width, looks), rows.take_rows(1));
    let lines = detail_lines(row, area.width, looks);
    let last = lines.len().saturating_sub(usize::from(rows.remaining.height));
    draw_lines(frame, &lines[from.min(last)..], rows.remaining);
    last
}

/// Builder of lines under headings.
struct DetailLines {
    lines: Vec<Line<'static>>,
    wide: u16,
    strong: Style,
}

impl DetailLines {
    fn add_heading_if(&mut self, text: &str, has_lines: bool) {
        if has_lines {
            self.lines.extend([Line::default(), styled_line(text, self.strong)]);
        }
    }

    fn add_text(&mut self, text: &str) {
        self.add_styled(text, Style::new());
    }

    fn add_styled(&mut self, text: &str, style: Style) {
        let lines = wrap_lines(text, self.wide.saturating_sub(2));
        self.lines.extend(lines.iter().map(|line| styled_line(&format!("  {line}"), style)));
    }
}

fn detail_lines(row: &TopRow<'_>, wide: u16, looks: ScreenStyle) -> Vec<Line<'static>> {
    let mut page = DetailLines { lines: Vec::new(), wide, strong: looks.strong_style() };
    if let Some(task) = row.task {
        page.lines.extend(task_lines(task, wide, looks));
        add_test(&mut page, task, looks);
    }
    if let Some(device) = row.device {
        if row.task.is_none() {
            page.lines.extend(device_lines(device, row, wide));
        }
        add_device(&mut page, device);
    }
    page.lines
}

fn add_test(page: &mut DetailLines, task: &TaskResource, looks: ScreenStyle) {
    page.add_heading_if("Findings", !task.findings.is_empty());
    for found in &task.findings {
        let (word, style) = weight_label(found.weight, looks);
        page.add_styled(&format!("{word}: {}", found.verdict), style);
        found.advice.iter().for_each(|advice| page.add_text(&format!("  {advice}")));
    }
    page.add_heading_if("Figures", !task.figures.is_empty());
    for figure in &task.figures {
        let speed = SpeedMbS(figure.mb_s).to_string();
        page.add_text(&format!("{} {speed:>11}", padded_cell(&figure.what, 28, false)));
    }
    page.add_heading_if("Stages", !task.plan.is_empty());
    let now = task.moment.as_ref().map_or(0, |moment| moment.stage_number as usize);
    for (number, stage) in (1..).zip(&task.plan) {
        let mark = match number.cmp(&now) {
            _ if task.state == Progress::Complete => "done",
            Ordering::Less => "done",
            Ordering::Equal if !task.state.has_ended() => "now",
            _ => "",
        };
        page.add_text(&format!("{number} {} {mark}", padded_cell(&stage.name, 40, false)));
    }
    page.add_heading_if("Notes", !task.notes.is_empty());
    task.notes.iter().for_each(|note| page.add_text(note));
    page.add_heading_if("Test", true);
    let at = |name: &str, at: Option<&String>| at.map(|at| format!("{name} {at}"));
    let facts = [
        Some(format!("{} {}", task.verb, task.target)),
        at("ordered", Some(&task.queued_at)),
        at("began", task.started_at.as_ref()),
        at("ended", task.ended_at.as_ref()),
        task.session.as_ref().map(|session| format!("cardscope archive show {session}")),
    ];
    facts.iter().flatten().for_each(|fact| page.add_text(fact));
}

fn add_device(page: &mut DetailLines, device: &Device) {
    page.add_heading_if("Device", true);
    let removable = if device.info.removable { "removable" } else { "fixed" };
    let writes = if device.info.read_only { ", read-only" } else { "" };
    page.add_text(&format!("{} ({}, {removable}{writes})", device.info.path, device.info.bus));
    let (whole, parts) = volume_lines(&device.info);
    whole.into_iter().chain(parts).for_each(|line| page.add_text(&line));
}
