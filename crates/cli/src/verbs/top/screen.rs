//! The screen: a head, the table of cards, what is selected, and the keys. Whatever comes from outside is shown as
//! `model::outside` has it, cut to its columns.

use super::client::Link;
use super::keys::{self, Mode};
use super::series::{Point, Series};
use super::state::{self, Row, State};
use crate::progress::words::{columns, cut, of_bytes, time};
use cardscope_model::finding::Weight;
use cardscope_model::outside;
use cardscope_model::units::{Size, Speed, three_digits};
use cardscope_report::figure::wrapped;
use cardscope_server::api::{Device, State as Progress, Task, Tone};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// The smallest screen that has room for all of it.
const LEAST: (u16, u16) = (60, 15);

/// From so many columns on latency and model have a column.
const WIDE: u16 = 80;

/// Columns of what stands before a chart.
const SCALE: u16 = 17;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How things look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looks {
    pub(super) coloured: bool,
}

impl Looks {
    fn colour(self, color: Color) -> Style {
        if self.coloured { Style::new().fg(color) } else { Style::new() }
    }

    fn tone(self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => Style::new(),
            Tone::Good => self.colour(Color::Green),
            Tone::Warning => self.colour(Color::Yellow),
            Tone::Bad => self.colour(Color::Red),
        }
    }

    fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }
}

/// The only way for a text to the screen.
fn span(text: &str, style: Style) -> Span<'static> {
    Span::styled(outside::line(text).into_owned(), style)
}

fn plain(text: &str) -> Line<'static> {
    Line::from(span(text, Style::new()))
}

/// A text in exactly so many columns.
fn cell(text: &str, wide: u16, right: bool) -> String {
    let text = cut(&outside::line(text), usize::from(wide));
    let blanks = " ".repeat(usize::from(wide).saturating_sub(columns(&text)));
    if right { blanks + &text } else { text + &blanks }
}

/// A text in lines of so many columns; a word that is longer is cut into pieces.
fn lines_of(text: &str, wide: u16) -> Vec<String> {
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

/// Takes rows from the top of an area, one after the other.
struct Rows {
    left: Rect,
}

impl Rows {
    fn take(&mut self, height: u16) -> Rect {
        let height = height.min(self.left.height);
        let taken = Rect { height, ..self.left };
        self.left.y += height;
        self.left.height -= height;
        taken
    }
}

/// Draws all of it; gives the last line that the details can begin with.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State, looks: Looks) -> usize {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let short = format!("{}×{} characters; cardscope top needs", area.width, area.height);
        for (text, y) in [short, format!("{}×{}. q quits.", LEAST.0, LEAST.1)].iter().zip(0..area.height) {
            frame.render_widget(plain(&cut(text, usize::from(area.width))), Rect { y, height: 1, ..area });
        }
        return 0;
    }
    let mut rows = Rows { left: Rect { height: area.height - 1, ..area } };
    frame.render_widget(head(state, area.width, looks), rows.take(1));
    let hint = hint(state).map(|hint| lines_of(&hint, area.width)).unwrap_or_default();
    for line in hint.iter().take(2) {
        frame.render_widget(Line::from(span(line, looks.tone(Tone::Warning))), rows.take(1));
    }
    let last = match &state.mode {
        Mode::Help => help(frame, rows.left),
        Mode::Details(from) => details(frame, state, *from, rows.left, looks),
        Mode::List | Mode::Confirm(_) => {
            list(frame, state, &mut rows, looks);
            0
        }
    };
    let foot = Rect { y: area.y + area.height - 1, height: 1, ..area };
    frame.render_widget(footer(state, area.width, looks), foot);
    last
}

fn head(state: &State, wide: u16, looks: Looks) -> Line<'static> {
    let cards = state::count_of(state.devices());
    let link = match state.link {
        Link::Connecting => "connecting",
        Link::Live => "connected",
        Link::Away(_) if state.served => "disconnected",
        Link::Away(_) => "no server",
    };
    let newest = state.newest.as_ref().map(|clock| format!("newest event {clock}"));
    let computer = cut(&outside::line(&state.computer), usize::from(wide / 3));
    let parts = [Some(computer).filter(|name| !name.is_empty()), Some(cards), newest, Some(link.to_owned())];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    Line::from(vec![span("cardscope top", looks.strong()), span(&format!(" · {text}"), Style::new())])
}

/// What to do where the server does not answer.
fn hint(state: &State) -> Option<String> {
    let Link::Away(why) = &state.link else { return None };
    let url = state.url.trim_start_matches("http://");
    Some(match (state.served, why.as_str()) {
        (true, why) => format!("{url}: {why}. Tests are shown as they last were."),
        (false, "no server answers") => {
            format!("No server at {url}. To run and see tests: `cardscope serve`")
        }
        (false, why) => format!("{url}: {why}"),
    })
}

fn footer(state: &State, wide: u16, looks: Looks) -> Line<'static> {
    let wide = usize::from(wide);
    let question = |id: &str| {
        let task = state.find(id)?;
        let what = cut(
            &outside::line(&format!("Stop {} of {}?", task.verb, task.target)),
            wide.saturating_sub(48).max(24),
        );
        let then = match (task.state, task.loses_data) {
            (Progress::Queued, _) => "It has not begun.",
            (_, true) => "The card's data are lost.",
            (_, false) => "The card's data are restored first.",
        };
        Some(format!("{what} {then} y/n"))
    };
    let text = match (&state.mode, &state.said) {
        (Mode::Confirm(id), _) => question(id).unwrap_or_else(|| "The test is gone. n".to_owned()),
        (_, Some(said)) => cut(&outside::line(said), wide),
        (Mode::List, None) => {
            let keys = "↑↓ select  Enter details  s stop  ? help  q quit";
            return Line::from(span(keys, looks.dim()));
        }
        (Mode::Details(_), None) => {
            return Line::from(span("↑↓ scroll  Esc back  s stop  ? help  q quit", looks.dim()));
        }
        (Mode::Help, None) => return Line::from(span("Esc back  q quit", looks.dim())),
    };
    Line::from(span(&text, looks.strong()))
}

fn help(frame: &mut Frame<'_>, area: Rect) -> usize {
    let mut lines: Vec<Line<'static>> = vec![Line::default()];
    lines.extend(keys::HELP.iter().map(|(key, what)| plain(&format!("  {} {what}", cell(key, 19, false)))));
    lines.push(Line::default());
    lines.push(plain("  ✓ good   ! warning   ✗ bad: the answer of a test that has ended"));
    show(frame, &lines, area);
    0
}

fn show(frame: &mut Frame<'_>, lines: &[Line<'static>], area: Rect) {
    for (line, y) in lines.iter().zip(area.y..area.y.saturating_add(area.height)) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}

/// Widths of the columns of the table.
struct Widths {
    model: u16,
    state: u16,
    latency: u16,
}

impl Widths {
    const NAME: u16 = 9;
    const SIZE: u16 = 7;
    const DONE: u16 = 5;
    const SPEED: u16 = 5;
    const LATENCY: u16 = 7;
    const CELSIUS: u16 = 3;
    const LEFT: u16 = 5;

    fn of(wide: u16) -> Self {
        let latency = if wide >= WIDE { Self::LATENCY } else { 0 };
        let fixed = [2, Self::NAME, Self::SIZE, Self::DONE, Self::SPEED, latency, Self::CELSIUS, Self::LEFT];
        // A blank behind each column but the mark's and the last.
        let blanks = if wide >= WIDE { 8 } else { 6 };
        let free = wide.saturating_sub(fixed.iter().sum::<u16>() + blanks);
        let model = if wide >= WIDE { (free * 2 / 5).min(30) } else { 0 };
        Widths { model, state: free - model, latency }
    }
}

fn list(frame: &mut Frame<'_>, state: &State, rows: &mut Rows, looks: Looks) {
    let (wide, all) = (rows.left.width, state.rows());
    let widths = Widths::of(wide);
    let heads = ["card", "size", "model", "state"].map(str::to_owned);
    let figures = ["done", "MB/s", "latency", "°C", "left"].map(str::to_owned);
    frame.render_widget(
        Line::from(span(&columns_of("  ", &heads, Some(&figures), &widths, wide), looks.dim())),
        rows.take(1),
    );
    if all.is_empty() {
        show(frame, &nothing(state), rows.take(2));
        return;
    }
    let selected = state.selected(&all);
    // What is selected has the larger half.
    let height = usize::from((rows.left.height / 2).saturating_sub(1).max(2)).min(all.len());
    let first = (selected + 1).saturating_sub(height);
    let area = rows.take(u16::try_from(height).unwrap_or(u16::MAX));
    let shown = all.iter().enumerate().skip(first).take(height);
    let lines: Vec<Line<'static>> =
        shown.map(|(at, row)| line(row, at == selected, &widths, wide, looks)).collect();
    show(frame, &lines, area);
    if let Some(row) = all.get(selected) {
        let more = all.len().saturating_sub(first + height);
        let title = rows.take(1);
        frame.render_widget(title_of(row, more, wide, looks), title);
        panel(frame, row, rows.left, looks);
    }
}

fn nothing(state: &State) -> Vec<Line<'static>> {
    match state.link {
        Link::Connecting => vec![plain("  Asking the server…")],
        _ => vec![
            plain("  No card, stick or reader found, and no test."),
            plain("  Plug one in, or try a simulated card: `cardscope sim list`"),
        ],
    }
}

/// A line of the table; where there are no figures, the state takes their room.
fn columns_of(
    mark: &str,
    [name, size, model, state]: &[String; 4],
    figures: Option<&[String; 5]>,
    widths: &Widths,
    wide: u16,
) -> String {
    let mut line = format!("{mark}{} {} ", cell(name, Widths::NAME, false), cell(size, Widths::SIZE, true));
    if widths.model > 0 {
        line += &format!("{} ", cell(model, widths.model, false));
    }
    let Some([done, speed, latency, celsius, left]) = figures else {
        let room = usize::from(wide).saturating_sub(columns(&line));
        return line + &cell(state, u16::try_from(room).unwrap_or_default(), false);
    };
    line += &format!(
        "{} {} {} ",
        cell(state, widths.state, false),
        cell(done, Widths::DONE, true),
        cell(speed, Widths::SPEED, true)
    );
    if widths.latency > 0 {
        line += &format!("{} ", cell(latency, widths.latency, true));
    }
    line + &format!("{} {}", cell(celsius, Widths::CELSIUS, true), cell(left, Widths::LEFT, true))
}

fn line(row: &Row<'_>, selected: bool, widths: &Widths, wide: u16, looks: Looks) -> Line<'static> {
    let (state, tone) = row.state();
    let sign = match tone {
        Tone::Plain => "",
        Tone::Good => "✓ ",
        Tone::Warning => "! ",
        Tone::Bad => "✗ ",
    };
    let figures = [row.done(), row.speed(), row.latency(), row.celsius(), row.left()];
    let some = figures.iter().any(|figure| !figure.is_empty());
    let words = [row.name().to_owned(), row.size(), row.model().to_owned(), format!("{sign}{state}")];
    let mark = if selected { "> " } else { "  " };
    let text = columns_of(mark, &words, some.then_some(&figures), widths, wide);
    let style = looks.tone(tone);
    Line::from(span(&text, if selected { style.add_modifier(Modifier::REVERSED) } else { style }))
}

fn title_of(row: &Row<'_>, more: usize, wide: u16, looks: Looks) -> Line<'static> {
    let (name, size) = (row.device.map_or(row.name(), |device| &device.path), row.size());
    let model = row.model();
    let size = if model.ends_with(&size) { "" } else { &size };
    let parts: Vec<&str> = [name, model, size].into_iter().filter(|part| !part.is_empty()).collect();
    let more = if more > 0 { format!(" {more} more below ──") } else { String::new() };
    let room = usize::from(wide).saturating_sub(columns(&more) + 5);
    let text = format!("── {} ", cut(&outside::line(&parts.join(" · ")), room));
    let rule = "─".repeat(usize::from(wide).saturating_sub(columns(&text) + columns(&more)));
    Line::from(span(&format!("{text}{rule}{more}"), looks.dim()))
}

/// What is selected: what it does, how it went over time, and what was found.
fn panel(frame: &mut Frame<'_>, row: &Row<'_>, area: Rect, looks: Looks) {
    let mut rows = Rows { left: area };
    let wide = area.width;
    let above = match (row.task, row.device) {
        (Some(task), _) => about(task, wide, looks),
        (None, Some(device)) => idle(device, row, wide),
        (None, None) => Vec::new(),
    };
    let findings = row.task.map(|task| findings(task, wide, looks)).unwrap_or_default();
    let few = u16::try_from(above.len()).unwrap_or(u16::MAX).min(area.height / 2);
    show(frame, &above, rows.take(few));
    if let Some(series) = row.series.filter(|series| series.seconds() > 0.0) {
        let room = rows.left.height.saturating_sub(u16::try_from(findings.len().min(3)).unwrap_or(3));
        charts(frame, series, rows.take(room.min(10)), looks);
    }
    // The newest are of most interest; all of them are in the details.
    let height = usize::from(rows.left.height);
    show(frame, &findings[findings.len().saturating_sub(height)..], rows.left);
}

/// What a test does, or came to.
fn about(task: &Task, wide: u16, looks: Looks) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if task.state.has_ended() {
        lines.extend(answer(task, wide, looks));
    } else if let Some(moment) = &task.moment {
        let bytes = moment.bytes.map(|bytes| match moment.total_bytes {
            Some(all) if all > 0 => of_bytes(bytes.min(all), all),
            _ => Size(bytes).to_string(),
        });
        let waits = moment.waits_for.as_ref().map(|what| format!("waiting for {what}"));
        let phase = Some(moment.phase.clone()).filter(|phase| !phase.is_empty());
        let left = moment.left_s.map(|left| format!("{} left", time(left)));
        let parts = [Some(state::progress(task)), phase, bytes, waits, left];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        lines.push(plain(&cut(&outside::line(&text), usize::from(wide))));
    } else {
        lines.push(plain(&state::progress(task)));
    }
    if !task.says.is_empty() && !task.state.has_ended() {
        lines.push(Line::from(span(&cut(&outside::line(&task.says), usize::from(wide)), looks.dim())));
    }
    lines
}

/// What came of a test, the word for how good that is first.
fn answer(task: &Task, wide: u16, looks: Looks) -> Vec<Line<'static>> {
    let tone = state::tone(task);
    let word = match tone {
        Tone::Plain => "",
        Tone::Good => "good: ",
        Tone::Warning => "warning: ",
        Tone::Bad => "bad: ",
    };
    let style = looks.tone(tone).add_modifier(Modifier::BOLD);
    let text = format!("{word}{}", state::progress(task));
    let mut lines: Vec<Line<'static>> =
        lines_of(&text, wide).iter().map(|line| Line::from(span(line, style))).collect();
    let why = task.error.as_ref().filter(|why| !text.contains(why.as_str()));
    lines.extend(why.into_iter().flat_map(|why| lines_of(why, wide)).map(|line| plain(&line)));
    let ended = task
        .ended_at
        .as_ref()
        .map(|at| format!("{} ended {}", task.verb, at.replace('T', " ").replace('Z', " UTC")));
    lines.extend(ended.map(|ended| Line::from(span(&ended, looks.dim()))));
    lines
}

/// A device on which nothing runs.
fn idle(device: &Device, row: &Row<'_>, wide: u16) -> Vec<Line<'static>> {
    let mut lines: Vec<String> = Vec::new();
    match (device.safe, &device.reason) {
        (true, _) => lines.push(format!("Safe to test: `cardscope check {}`", device.path)),
        (false, reason) => {
            let reason = reason.as_deref().unwrap_or("reason unknown");
            let advice = device.advice.as_ref().map(|advice| format!("; {advice}"));
            lines.push(format!("Not safe to test: {reason}{}", advice.unwrap_or_default()));
        }
    }
    if let Some(traffic) = row.traffic {
        let speeds = [traffic.read_mb_s, traffic.write_mb_s].map(|mb_s| Speed(mb_s).to_string());
        lines.push(format!("The kernel counts: reads {}, writes {}", speeds[0], speeds[1]));
    }
    lines.iter().flat_map(|line| lines_of(line, wide)).map(|line| plain(&line)).collect()
}

fn weight(weight: Weight, looks: Looks) -> (&'static str, Style) {
    match weight {
        Weight::Bad => ("bad", looks.tone(Tone::Bad)),
        Weight::Hint => ("hint", looks.tone(Tone::Warning)),
        Weight::Note => ("note", Style::new()),
    }
}

/// Speeds, and findings below them, in a line each.
fn findings(task: &Task, wide: u16, looks: Looks) -> Vec<Line<'static>> {
    let found = task.findings.iter().map(|found| {
        let (word, style) = weight(found.weight, looks);
        (format!("{word}: {}", found.verdict), style)
    });
    let speeds =
        task.figures.iter().map(|figure| (format!("{}: {}", figure.what, Speed(figure.mb_s)), Style::new()));
    let all: Vec<(String, Style)> = speeds.chain(found).collect();
    all.iter()
        .map(|(text, style)| Line::from(span(&cut(&outside::line(text), usize::from(wide)), *style)))
        .collect()
}

/// Speed over time, temperature below it, and the time.
fn charts(frame: &mut Frame<'_>, series: &Series, area: Rect, looks: Looks) {
    let hot = series.range(Point::celsius);
    let below = match (hot, area.height) {
        (None, _) | (_, 0..4) => 0,
        (Some(_), 4..7) => 1,
        (Some(_), _) => 2,
    };
    let mut rows = Rows { left: area };
    let axis = u16::from(area.height >= 3);
    let above = area.height.saturating_sub(below + axis);
    if let Some((_, high)) = series.range(Point::mb_s) {
        let scale = [format!("speed {:>10}", Speed(high).to_string()), format!("{:>16}", "0")];
        chart(
            frame,
            &series.columns(room(area), Point::mb_s),
            (0.0, high),
            &scale,
            rows.take(above),
            looks.colour(Color::Cyan),
        );
    }
    if let (Some((low, high)), true) = (hot, below > 0) {
        // A card that stays as it is has a line at the bottom.
        let top = high.max(low + 5.0);
        let scale =
            [format!("temp. {:>10}", format!("{top:.0} °C")), format!("{:>16}", format!("{low:.0} °C"))];
        let one = [format!("temp. {:>10}", format!("{low:.0}–{high:.0} °C")), String::new()];
        let scale = if below == 1 { one } else { scale };
        chart(
            frame,
            &series.columns(room(area), Point::celsius),
            (low, top),
            &scale,
            rows.take(below),
            looks.colour(Color::Magenta),
        );
    }
    if axis > 0 {
        let span_s = series.seconds();
        let all = if span_s < 10.0 { format!("{} s", three_digits(span_s)) } else { time(span_s) };
        let line = format!(
            "{}0 s{}",
            " ".repeat(usize::from(SCALE)),
            cell(&all, area.width.saturating_sub(SCALE + 3), true)
        );
        frame.render_widget(Line::from(span(&line, looks.dim())), rows.take(1));
    }
}

/// Columns for the values of a chart.
fn room(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(SCALE))
}

/// Values as bars, the lowest a line at the bottom; the scale's top and bottom before it.
fn chart(
    frame: &mut Frame<'_>,
    values: &[Option<f64>],
    (low, high): (f64, f64),
    scale: &[String; 2],
    area: Rect,
    style: Style,
) {
    let height = usize::from(area.height);
    let eighths = |value: f64| {
        let share = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        ((share * (height * 8) as f64).round() as usize).max(1)
    };
    for row in 0..height {
        let below = (height - 1 - row) * 8;
        let bar = |value: &Option<f64>| match value.map(|value| eighths(value).saturating_sub(below)) {
            None | Some(0) => ' ',
            Some(full) => BLOCKS[full.min(8) - 1],
        };
        let label = match row {
            0 => scale[0].as_str(),
            last if last + 1 == height => scale[1].as_str(),
            _ => "",
        };
        let bars: String = values.iter().map(bar).collect();
        let y = area.y + u16::try_from(row).unwrap_or_default();
        let line = Line::from(vec![span(&cell(label, SCALE, false), Style::new()), span(&bars, style)]);
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}

/// All of what is selected, from a line on; gives the last line to begin with.
fn details(frame: &mut Frame<'_>, state: &State, from: usize, area: Rect, looks: Looks) -> usize {
    let all = state.rows();
    let Some(row) = all.get(state.selected(&all)) else { return 0 };
    let mut rows = Rows { left: area };
    frame.render_widget(title_of(row, 0, area.width, looks), rows.take(1));
    let lines = everything(row, area.width, looks);
    let last = lines.len().saturating_sub(usize::from(rows.left.height));
    show(frame, &lines[from.min(last)..], rows.left);
    last
}

fn everything(row: &Row<'_>, wide: u16, looks: Looks) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    let head = |lines: &mut Vec<Line<'static>>, text: &str| {
        lines.push(Line::default());
        lines.push(Line::from(span(text, looks.strong())));
    };
    let within = |text: &str, style: Style| {
        let lines = lines_of(text, wide.saturating_sub(2));
        lines.into_iter().map(move |line| Line::from(span(&format!("  {line}"), style)))
    };
    if let Some(task) = row.task {
        lines.extend(about(task, wide, looks));
        if !task.findings.is_empty() {
            head(&mut lines, "Findings");
        }
        for found in &task.findings {
            let (word, style) = weight(found.weight, looks);
            lines.extend(within(&format!("{word}: {}", found.verdict), style));
            lines.extend(found.advice.iter().flat_map(|advice| within(&format!("  {advice}"), Style::new())));
        }
        if !task.figures.is_empty() {
            head(&mut lines, "Figures");
        }
        for figure in &task.figures {
            lines.extend(within(
                &format!("{} {:>11}", cell(&figure.what, 28, false), Speed(figure.mb_s).to_string()),
                Style::new(),
            ));
        }
        if !task.plan.is_empty() {
            head(&mut lines, "Stages");
        }
        let now = task.moment.as_ref().map_or(0, |moment| moment.stage_number as usize);
        for (number, stage) in task.plan.iter().enumerate().map(|(at, stage)| (at + 1, stage)) {
            let mark = match number.cmp(&now) {
                _ if task.state == Progress::Complete => "done",
                std::cmp::Ordering::Less => "done",
                std::cmp::Ordering::Equal if !task.state.has_ended() => "now",
                _ => "",
            };
            lines.extend(within(&format!("{number} {} {mark}", cell(&stage.name, 40, false)), Style::new()));
        }
        if !task.notes.is_empty() {
            head(&mut lines, "Notes");
        }
        task.notes.iter().for_each(|note| lines.extend(within(note, Style::new())));
        head(&mut lines, "Test");
        let at = |name: &str, at: &Option<String>| at.as_ref().map(|at| format!("{name} {at}"));
        let session = task.session.as_ref().map(|session| format!("cardscope archive show {session}"));
        let facts = [
            Some(format!("{} {}", task.verb, task.target)),
            at("ordered", &Some(task.queued_at.clone())),
            at("began", &task.started_at),
            at("ended", &task.ended_at),
            session,
        ];
        facts.iter().flatten().for_each(|fact| lines.extend(within(fact, Style::new())));
    }
    if let Some(device) = row.device {
        if row.task.is_none() {
            lines.extend(idle(device, row, wide));
        }
        head(&mut lines, "Device");
        let of = |name: &str, system: &Option<String>, mounted: &[String]| {
            let at = if mounted.is_empty() { String::new() } else { format!(" at {}", mounted.join(", ")) };
            format!("{name}: {}{at}", system.as_deref().unwrap_or("unknown"))
        };
        let taken_out = if device.removable { "removable" } else { "fixed" };
        let writes = if device.read_only { ", read-only" } else { "" };
        lines.extend(within(&format!("{} ({}, {taken_out}{writes})", device.path, device.bus), Style::new()));
        if device.filesystem.is_some() || !device.mounted_at.is_empty() {
            lines.extend(within(&of(&device.name, &device.filesystem, &device.mounted_at), Style::new()));
        }
        for part in &device.partitions {
            lines.extend(within(&of(&part.name, &part.filesystem, &part.mounted_at), Style::new()));
        }
    }
    lines
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
