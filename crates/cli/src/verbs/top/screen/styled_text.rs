//! Styled text in fixed columns.

use crate::progress::format::cut_to_width;
use cardscope_model::report::NewsTone;
use cardscope_model::untrusted_text;
use cardscope_page::figure::wrap_text;
use cardscope_page::tree::display_width as columns;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ScreenStyle {
    pub(in super::super) coloured: bool,
}

impl ScreenStyle {
    pub(super) fn colour_style(self, color: Color) -> Style {
        if self.coloured { Style::new().fg(color) } else { Style::new() }
    }

    pub(super) fn tone_style(self, tone: NewsTone) -> Style {
        match tone {
            NewsTone::Plain => Style::new(),
            NewsTone::Good => self.colour_style(Color::Green),
            NewsTone::Warning => self.colour_style(Color::Yellow),
            NewsTone::Bad => self.colour_style(Color::Red),
        }
    }

    pub(super) fn dim_style(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn strong_style(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }
}

/// Quotes control characters. All text on the screen must pass through here.
pub(super) fn safe_span(text: &str, style: Style) -> Span<'static> {
    Span::styled(untrusted_text::escape_line(text).into_owned(), style)
}

pub(super) fn styled_line(text: &str, style: Style) -> Line<'static> {
    Line::from(safe_span(text, style))
}

pub(super) fn plain_line(text: &str) -> Line<'static> {
    styled_line(text, Style::new())
}

/// Cuts a text to a width.
pub(super) fn cut_text(text: &str, wide: u16) -> String {
    cut_to_width(&untrusted_text::escape_line(text), usize::from(wide))
}

/// Pads or cuts a text to exactly `wide` columns.
pub(super) fn padded_cell(text: &str, wide: u16, right: bool) -> String {
    let text = cut_text(text, wide);
    let blanks = " ".repeat(usize::from(wide).saturating_sub(columns(&text)));
    if right { blanks + &text } else { text + &blanks }
}

/// Wraps a text; splits words that are longer than a line.
pub(super) fn wrap_lines(text: &str, wide: u16) -> Vec<String> {
    let wide = usize::from(wide).max(8);
    let mut lines = Vec::new();
    for line in wrap_text(&untrusted_text::escape_line(text), wide) {
        let mut piece = String::new();
        for letter in line.chars() {
            if columns(&piece) + columns(letter.encode_utf8(&mut [0; 4])) > wide {
                lines.push(std::mem::take(&mut piece));
            }
            piece.push(letter);
        }
        lines.push(piece);
    }
    lines
}

/// Allocates rows from the top of an area.
pub(super) struct RowCursor {
    pub(super) remaining: Rect,
}

impl RowCursor {
    pub(super) fn take_rows(&mut self, height: u16) -> Rect {
        let height = height.min(self.remaining.height);
        let taken = Rect { height, ..self.remaining };
        self.remaining.y += height;
        self.remaining.height -= height;
        taken
    }
}

/// Draws lines from the top, as many as fit.
pub(super) fn draw_lines(frame: &mut Frame<'_>, lines: &[Line<'static>], area: Rect) {
    for (line, y) in lines.iter().zip(area.y..area.y.saturating_add(area.height)) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}
