//! Styled text in fixed columns.

use crate::progress::words::cut;
use cardscope_model::outside;
use cardscope_model::report::NewsTone;
use cardscope_page::figure::wrapped;
use cardscope_page::tree::width as columns;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ScreenStyle {
    pub(in super::super) coloured: bool,
}

impl ScreenStyle {
    pub(super) fn colour(self, color: Color) -> Style {
        if self.coloured { Style::new().fg(color) } else { Style::new() }
    }

    pub(super) fn tone(self, tone: NewsTone) -> Style {
        match tone {
            NewsTone::Plain => Style::new(),
            NewsTone::Good => self.colour(Color::Green),
            NewsTone::Warning => self.colour(Color::Yellow),
            NewsTone::Bad => self.colour(Color::Red),
        }
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }
}

/// Quotes control characters. All text on the screen must pass through here.
pub(super) fn span(text: &str, style: Style) -> Span<'static> {
    Span::styled(outside::line(text).into_owned(), style)
}

pub(super) fn styled(text: &str, style: Style) -> Line<'static> {
    Line::from(span(text, style))
}

pub(super) fn plain(text: &str) -> Line<'static> {
    styled(text, Style::new())
}

/// Cuts a text to a width.
pub(super) fn cut_text(text: &str, wide: u16) -> String {
    cut(&outside::line(text), usize::from(wide))
}

/// Pads or cuts a text to exactly `wide` columns.
pub(super) fn cell(text: &str, wide: u16, right: bool) -> String {
    let text = cut_text(text, wide);
    let blanks = " ".repeat(usize::from(wide).saturating_sub(columns(&text)));
    if right { blanks + &text } else { text + &blanks }
}

/// Wraps a text; splits words that are longer than a line.
pub(super) fn lines_of(text: &str, wide: u16) -> Vec<String> {
    let wide = usize::from(wide).max(8);
    let mut lines = Vec::new();
    for line in wrapped(&outside::line(text), wide) {
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
    pub(super) left: Rect,
}

impl RowCursor {
    pub(super) fn take(&mut self, height: u16) -> Rect {
        let height = height.min(self.left.height);
        let taken = Rect { height, ..self.left };
        self.left.y += height;
        self.left.height -= height;
        taken
    }
}

/// Draws lines from the top, as many as fit.
pub(super) fn show(frame: &mut Frame<'_>, lines: &[Line<'static>], area: Rect) {
    for (line, y) in lines.iter().zip(area.y..area.y.saturating_add(area.height)) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}
