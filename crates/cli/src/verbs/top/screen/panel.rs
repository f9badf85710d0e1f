//! Panel with a summary of the selected row.

use super::chart::draw_charts;
use super::styled_text::{RowCursor, ScreenStyle, cut_text, draw_lines, plain_line, styled_line, wrap_lines};
use crate::progress::format::{bytes_of_total, format_time};
use crate::verbs::top::state::{self, TopRow};
use cardscope_model::finding::FindingWeight;
use cardscope_model::report::NewsTone;
use cardscope_model::units::{DecimalSize, SpeedMbS};
use cardscope_server::api::{Device, TaskResource};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

/// Draws state, charts and findings of a row.
pub(super) fn draw_panel(frame: &mut Frame<'_>, row: &TopRow<'_>, area: Rect, looks: ScreenStyle) {
    let mut rows = RowCursor { remaining: area };
    let wide = area.width;
    let above = match (row.task, row.device) {
        (Some(task), _) => task_lines(task, wide, looks),
        (None, Some(device)) => device_lines(device, row, wide),
        (None, None) => Vec::new(),
    };
    let findings = row.task.map(|task| result_lines(task, wide, looks)).unwrap_or_default();
    let few = u16::try_from(above.len()).unwrap_or(u16::MAX).min(area.height / 2);
    draw_lines(frame, &above, rows.take_rows(few));
    if let Some(series) = row.series.filter(|series| series.seconds() > 0.0) {
        let room = rows.remaining.height.saturating_sub(u16::try_from(findings.len().min(3)).unwrap_or(3));
        draw_charts(frame, series, rows.take_rows(room.min(10)), looks);
    }
    // If not all fit, the newest are shown; the details have all.
    let height = usize::from(rows.remaining.height);
    draw_lines(frame, &findings[findings.len().saturating_sub(height)..], rows.remaining);
}

/// Lines about a running or ended test.
pub(super) fn task_lines(task: &TaskResource, wide: u16, looks: ScreenStyle) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if task.state.has_ended() {
        lines.extend(answer_lines(task, wide, looks));
    } else if let Some(moment) = &task.moment {
        let bytes = moment.bytes.map(|bytes| match moment.total_bytes {
            Some(all) if all > 0 => bytes_of_total(bytes.min(all), all),
            _ => DecimalSize(bytes).to_string(),
        });
        let waits = moment.waits_for.as_ref().map(|what| format!("waiting for {what}"));
        let phase = Some(moment.phase.clone()).filter(|phase| !phase.is_empty());
        let left = moment.left_s.map(|left| format!("{} left", format_time(left)));
        let parts = [Some(state::progress_text(task)), phase, bytes, waits, left];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        lines.push(plain_line(&cut_text(&text, wide)));
    } else {
        lines.push(plain_line(&state::progress_text(task)));
    }
    if !task.says.is_empty() && !task.state.has_ended() {
        lines.push(styled_line(&cut_text(&task.says, wide), looks.dim_style()));
    }
    lines
}

/// Answer of an ended test, preceded by its tone as a word.
fn answer_lines(task: &TaskResource, wide: u16, looks: ScreenStyle) -> Vec<Line<'static>> {
    let tone = state::task_tone(task);
    let word = match tone {
        NewsTone::Plain => "",
        NewsTone::Good => "good: ",
        NewsTone::Warning => "warning: ",
        NewsTone::Bad => "bad: ",
    };
    let style = looks.tone_style(tone).add_modifier(Modifier::BOLD);
    let text = format!("{word}{}", state::progress_text(task));
    let answer = wrap_lines(&text, wide).into_iter().map(|line| styled_line(&line, style));
    let why = task.error.iter().filter(|why| !text.contains(why.as_str()));
    let why = why.flat_map(|why| wrap_lines(why, wide)).map(|line| plain_line(&line));
    let ended = task.ended_at.iter().map(|at| at.replace('T', " ").replace('Z', " UTC"));
    let ended = ended.map(|at| styled_line(&format!("{} ended {at}", task.verb), looks.dim_style()));
    answer.chain(why).chain(ended).collect()
}

/// Lines about a device without a test.
pub(super) fn device_lines(device: &Device, row: &TopRow<'_>, wide: u16) -> Vec<Line<'static>> {
    let mut lines = vec![match (device.info.safe, &device.info.reason) {
        (true, _) => format!("Safe to test: `cardscope check {}`", device.info.path),
        (false, reason) => {
            let reason = reason.as_deref().unwrap_or("reason unknown");
            let advice = device.advice.as_ref().map(|advice| format!("; {advice}"));
            format!("Not safe to test: {reason}{}", advice.unwrap_or_default())
        }
    }];
    if let Some(traffic) = row.traffic {
        let speeds = [traffic.read_mb_s, traffic.write_mb_s].map(|mb_s| SpeedMbS(mb_s).to_string());
        lines.push(format!("The kernel counts: reads {}, writes {}", speeds[0], speeds[1]));
    }
    lines.iter().flat_map(|line| wrap_lines(line, wide)).map(|line| plain_line(&line)).collect()
}

pub(super) fn weight_label(weight: FindingWeight, looks: ScreenStyle) -> (&'static str, Style) {
    match weight {
        FindingWeight::Bad => ("bad", looks.tone_style(NewsTone::Bad)),
        FindingWeight::Hint => ("hint", looks.tone_style(NewsTone::Warning)),
        FindingWeight::Note => ("note", Style::new()),
    }
}

/// Speeds and findings, one line each.
fn result_lines(task: &TaskResource, wide: u16, looks: ScreenStyle) -> Vec<Line<'static>> {
    let line = |text: String, style| styled_line(&cut_text(&text, wide), style);
    let findings = task.findings.iter().map(|finding| {
        let (word, style) = weight_label(finding.weight, looks);
        line(format!("{word}: {}", finding.verdict), style)
    });
    let figures = task.figures.iter();
    let figures = figures.map(|f| line(format!("{}: {}", f.what, SpeedMbS(f.mb_s)), Style::new()));
    figures.chain(findings).collect()
}
