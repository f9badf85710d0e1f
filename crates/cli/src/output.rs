//! Output to stdout and stderr: documents, pages, failures. A closed pipe on stdout is not an error.
//!
//! The result of each verb goes through this module, which quotes control characters of foreign text (`untrusted_text` in
//! `model`), so that none steers the terminal. `progress` and `top` draw by themselves and quote in the same way.

use cardscope_engine::pending::{PendingGuard, register_cleanup};
use cardscope_model::report::{ExitStatus, NewsTone, ReportDocument};
use cardscope_model::{json, untrusted_text};
use cardscope_page::figure::wrap_text;
use cardscope_page::tree::Page;
use cardscope_page::tree::terminal::{self, LineSpan, ScreenOptions, SpanStyle};
use cardscope_session::frame::VerbOutcome;
use cardscope_session::output_file::{FileMark, OutputFile};
use cardscope_session::{Failure, Result};
use clap::error::{ContextValue, Error as UsageError};
use clap::{Args, ColorChoice};
use serde::Serialize;
use serde::de::DeserializeOwned;
use signal_hook::consts::SIGXFSZ;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// Options of every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputOptions {
    /// Print one JSON document on stdout and nothing else
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress on stderr
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Report progress on stderr, one JSON object a line
    #[arg(long, global = true, conflicts_with = "quiet")]
    pub(crate) events: bool,
    /// Show everything, including findings, caveats and evidence
    #[arg(long, global = true)]
    pub(crate) details: bool,
    /// Colours: auto, always or never; auto respects NO_COLOR
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) color: ColorChoice,
}

/// True if the running verb reacts to the interrupt itself and ends with a result.
static INTERRUPTIBLE: AtomicBool = AtomicBool::new(false);

/// True after a write beyond the size limit of files (`ulimit -f`, RLIMIT_FSIZE).
static LIMIT_REACHED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Makes such writes fail with EFBIG instead of ending the program by SIGXFSZ. Child processes get the default action
/// again. If no handler can be installed, the first such write kills the program.
pub(crate) fn ignore_size_limit_signal() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::clone(&LIMIT_REACHED));
}

/// Declares that the verb reacts to the interrupt itself and prints its result so far.
pub(crate) fn set_interruptible() {
    INTERRUPTIBLE.store(true, Ordering::Relaxed);
}

pub(crate) fn is_interruptible() -> bool {
    INTERRUPTIBLE.load(Ordering::Relaxed)
}

/// Prints the result of a verb and its failure, if any; returns the exit status.
pub(crate) fn print_outcome<D: ReportDocument + Serialize + DeserializeOwned>(
    options: &OutputOptions,
    outcome: &VerbOutcome<D>,
    page: impl FnOnce(&D) -> Page,
) -> Result<u8> {
    let status = outcome.report.exit_status();
    print_document(options, &outcome.report, |report| {
        let page = page(report);
        // The page's colour and the exit status must express the same verdict.
        let agree = match status {
            ExitStatus::Good => page.tone != NewsTone::Bad || outcome.failure.is_some(),
            ExitStatus::NotProven => page.tone == NewsTone::Warning,
            ExitStatus::Bad => matches!(page.tone, NewsTone::Warning | NewsTone::Bad),
        };
        debug_assert!(agree, "{status:?}, {:?}: {}", page.tone, page.answer);
        page
    })?;
    Ok(match &outcome.failure {
        Some(failure) => {
            print_failure_reason(failure);
            failure.exit_status()
        }
        None => status.code(),
    })
}

/// Prints a document without a verdict, as JSON or as its page; returns the exit status. Foreign text in the document
/// cannot begin a line of its own. Fails if stdout cannot be written, for example on a full disk.
pub(crate) fn print_document<T: Serialize + DeserializeOwned>(
    options: &OutputOptions,
    document: &T,
    page: impl FnOnce(&T) -> Page,
) -> Result<u8> {
    print_answered(options, document, document, page)
}

/// Prints a list, as a JSON object with the field `name` or as its page; returns the exit status.
pub(crate) fn print_list<T: Serialize + DeserializeOwned>(
    options: &OutputOptions,
    name: &str,
    list: &T,
    page: impl FnOnce(&T) -> Page,
) -> Result<u8> {
    print_answered(options, list, &BTreeMap::from([(name, list)]), page)
}

/// Prints the page of `shown`, or `document` as JSON with the page's answer first.
fn print_answered<T: Serialize + DeserializeOwned>(
    options: &OutputOptions,
    shown: &T,
    document: &impl Serialize,
    page: impl FnOnce(&T) -> Page,
) -> Result<u8> {
    let _owing = guard_printing();
    if options.json {
        print_json_text(json::to_answered_json(&page(shown).answer, document))?;
    } else {
        let escaped = untrusted_text::escape_document(shown);
        print_page(options, &page(escaped.as_ref().unwrap_or(shown)))?;
    }
    Ok(0)
}

pub(crate) fn print_json(document: &impl Serialize) -> Result<()> {
    print_json_text(json::to_json_text(document))
}

fn print_json_text(text: serde_json::Result<String>) -> Result<()> {
    let _owing = guard_printing();
    let unwritable = |e| Failure::io_for(format!("the document cannot be written as JSON: {e}"), e);
    print_text(&text.map_err(unwritable)?)
}

/// Prints a page in the terminal's width, coloured if wanted.
pub(crate) fn print_page(options: &OutputOptions, page: &Page) -> Result<()> {
    let coloured = uses_colours(options.color);
    let screen = ScreenOptions { columns: terminal_width(), details: options.details };
    let mut out = String::new();
    for line in terminal::render_lines(page, &screen) {
        let paint = |span: &LineSpan| paint(&untrusted_text::escape_line(&span.text), span.style, coloured);
        let line: String = line.iter().map(paint).collect();
        out += line.trim_end();
        out.push('\n');
    }
    print_text(&out)
}

/// Width of the terminal, else `COLUMNS`, else 80.
fn terminal_width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let real = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    real.or(asked).filter(|columns| *columns > 0).unwrap_or(80)
}

/// True if stdout gets colours.
pub(crate) fn uses_colours(choice: ColorChoice) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let stdout = std::io::stdout();
            stdout.is_terminal() && anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never
        }
    }
}

fn paint(text: &str, style: SpanStyle, coloured: bool) -> String {
    use anstyle::{AnsiColor, Style};
    let style = match style {
        SpanStyle::Plain => Style::new(),
        SpanStyle::Strong | SpanStyle::Message(NewsTone::Plain) => Style::new().bold(),
        SpanStyle::Dim => Style::new().dimmed(),
        SpanStyle::Message(NewsTone::Good) => AnsiColor::Green.on_default().bold(),
        SpanStyle::Message(NewsTone::Warning) => AnsiColor::Yellow.on_default().bold(),
        SpanStyle::Message(NewsTone::Bad) => AnsiColor::Red.on_default().bold(),
    };
    if coloured && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// Guard that keeps a signal from ending the program while an interrupted verb prints its result.
fn guard_printing() -> Option<PendingGuard> {
    is_interruptible().then(|| register_cleanup("the result is printed", ""))
}

fn print_text(body: &str) -> Result<()> {
    print_bytes(format!("{}\n", body.trim_end()).as_bytes())
}

/// Writes bytes to stdout unchanged.
pub(crate) fn print_bytes(body: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(body).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::io_for(format!("stdout cannot be written: {error}"), error))
        }
        _ => Ok(()),
    }
}

/// Writes each file atomically; returns names and sizes. All files are claimed before the first is written, so that
/// foreign files stay unless the mark allows any.
pub(crate) fn write_files(
    option: &'static str,
    folder: &Path,
    mark: FileMark,
    files: Vec<(String, Vec<u8>)>,
) -> Result<Vec<(String, usize)>> {
    let claim =
        |(name, bytes)| Ok((OutputFile::claim(option, &folder.join::<String>(name), None, mark)?, bytes));
    let claimed = files.into_iter().map(claim).collect::<Result<Vec<(_, Vec<u8>)>>>()?;
    let write = |(file, bytes): (OutputFile, Vec<u8>)| {
        file.write_content(&bytes)?;
        Ok((file.name().display().to_string(), bytes.len()))
    };
    claimed.into_iter().map(write).collect()
}

/// Prints a failure on stderr, and with `--json` also as a document on stdout, where scripts read.
pub(crate) fn print_failure(failure: &Failure, options: &OutputOptions) {
    print_failure_reason(failure);
    if options.json {
        let document = serde_json::json!({ "error": failure_text(failure) }).to_string();
        let _ = print_text(&untrusted_text::escape_json(&document));
    }
}

/// Unlocked stderr, for callers that must not block on the lock.
pub(crate) fn stderr() -> std::io::Stderr {
    std::io::stderr()
}

/// Prints a failure on stderr, wrapped at words on a terminal.
pub(crate) fn print_failure_reason(failure: &Failure) {
    let said = format!("cardscope: {}", failure_text(failure));
    match terminal_size::terminal_size_of(std::io::stderr()) {
        // A message with a command is not wrapped, so that the command can be copied.
        Some((width, _)) if !said.contains('`') => {
            wrap_text(&said, usize::from(width.0)).iter().for_each(|line| print_note(line))
        }
        _ => print_note(&said),
    }
}

/// Text of a failure. Adds the size limit of files, which the system signals to this process only.
fn failure_text(failure: &Failure) -> String {
    let mut words = shortened(&failure.to_string()).into_owned();
    if LIMIT_REACHED.load(Ordering::Relaxed) {
        words +=
            "; a file reached the size limit of this shell: raise it (`ulimit -f unlimited`) and try again";
    }
    words
}

/// Shortens quotations of long arguments and files in a message.
fn shortened(message: &str) -> Cow<'_, str> {
    static ARGUMENTS: LazyLock<Vec<String>> =
        LazyLock::new(|| std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect());
    untrusted_text::shorten_message(message, &ARGUMENTS)
}

/// Prints one line on stderr.
pub(crate) fn print_note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", untrusted_text::escape_line(&shortened(line)));
}

/// Prints a question on stderr without a line end.
pub(crate) fn print_question(question: &str) {
    let text = untrusted_text::escape_line(&shortened(question)).into_owned();
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Prints the parser's error with quoted and shortened arguments.
pub(crate) fn print_usage_error(mut error: UsageError) {
    let line = |text: &str| untrusted_text::escape_line(&untrusted_text::shorten_text(text)).into_owned();
    let escaped = |value: &ContextValue| match value {
        ContextValue::String(text) => ContextValue::String(line(text)),
        ContextValue::Strings(all) => ContextValue::Strings(all.iter().map(|text| line(text)).collect()),
        ContextValue::StyledStrs(all) => {
            ContextValue::StyledStrs(all.iter().map(|text| line(&text.to_string()).into()).collect())
        }
        other => other.clone(),
    };
    let typed: Vec<_> = error.context().map(|(kind, value)| (kind, escaped(value))).collect();
    for (kind, value) in typed {
        error.insert(kind, value);
    }
    let text = error.render().to_string();
    let _ = write!(std::io::stderr(), "{}", untrusted_text::escape_page(&shortened(&text)));
}
