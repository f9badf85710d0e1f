//! `top`: live view of cards and their tests on a terminal, from the same API events as the web app.

mod address;
mod client;
mod keys;
mod screen;
mod series;
mod state;
#[cfg(test)]
mod testing;

use crate::output::{self, OutputOptions};
use crate::signals;
use address::ServerAddress;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_page::figure::pluralize;
use cardscope_page::tree::Page;
use cardscope_server::api::{Device, TaskResource};
use cardscope_session::{Failure, Result};
use clap::Args;
use client::{ApiClient, ClientChannels};
use keys::KeyAction;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::style::force_color_output;
use rustix::process::{Signal, getpid, kill_process};
use screen::ScreenStyle;
use serde::{Deserialize, Serialize};
use state::{TopState, count_text};
use std::io::IsTerminal;
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, Instant};

/// Minimum time between two frames, and maximum wait for a key.
const FRAME_INTERVAL: Duration = Duration::from_millis(100);

/// Exit status after a signal.
const INTERRUPTED: u8 = 130;

/// Limit of events handled between two checks for keys.
const MAX_EVENTS_AT_ONCE: usize = 1000;

/// Watch cards and their tests in a terminal
///
/// Shows what the browser app of `cardscope serve` shows, from the same server: cards, the tests on them with speed and
/// temperature over time, findings and answers. Without a server, the devices of this computer and what the kernel counts of them.
#[derive(Debug, Clone, Args)]
pub(crate) struct TopCommand {
    /// Port of the server on this computer
    #[arg(long, default_value_t = 7373, conflicts_with = "url")]
    port: u16,
    /// Address of a server, e.g. http://127.0.0.1:7373 at the end of a tunnel (ssh -L 7373:127.0.0.1:7373 pi.local)
    #[arg(long)]
    url: Option<String>,
    /// Token of that server, as `cardscope serve` printed it; other users see it in the list of processes, unlike the variable
    #[arg(long, env = "CARDSCOPE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Without a server, also show fixed disks and loop devices
    #[arg(long)]
    all: bool,
}

/// Document of `--json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TopDocument {
    /// Host name of the computer with these devices.
    computer: String,
    /// URL of the server; null if none answered.
    server: Option<String>,
    devices: Vec<Device>,
    tasks: Vec<TaskResource>,
}

impl TopCommand {
    pub(super) fn run(self, options: &OutputOptions) -> Result<u8> {
        let token = self.token.filter(|token| !token.is_empty());
        let address = ServerAddress::from_arguments(self.port, self.url.as_deref(), token)?;
        if options.json {
            return output::print_document(options, &load_once(address, self.all)?, |seen| {
                Page::from_answer(summary_answer(seen))
            });
        }
        if !std::io::stdout().is_terminal() || std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
            return Err(Failure::refused(
                "cardscope top draws on a terminal, and stdout is not one that can move its cursor; --json prints one document",
            ));
        }
        let interrupt = signals::shared_interrupt();
        let looks = ScreenStyle { coloured: output::uses_colours(options.color) };
        // `--color always` overrides NO_COLOR.
        if looks.coloured {
            force_color_output(true);
        }
        let state = TopState::new(&address.url);
        let failed = |e: std::io::Error| Failure::io_for(format!("the terminal cannot be used: {e}"), e);
        let ends = client::start_threads(address, self.all).map_err(failed)?;
        let mut screen = TerminalGuard::open().map_err(failed)?;
        let watched = run_screen(&mut screen, state, &ends, &interrupt, looks);
        drop(screen);
        match watched {
            // A closed terminal fails as well, but ends by the signal.
            _ if interrupt.is_raised() => Ok(INTERRUPTED),
            watched => watched.map(|()| 0).map_err(failed),
        }
    }
}

/// State of the server, or of this computer if none answers.
fn load_once(address: ServerAddress, all: bool) -> Result<TopDocument> {
    let (url, named) = (address.url.clone(), address.is_explicit);
    match ApiClient::new(address).load_everything() {
        Ok((host, devices, tasks)) => {
            Ok(TopDocument { computer: host.hostname, server: Some(url), devices, tasks })
        }
        Err(why) if named => Err(Failure::io(format!("{url}: {why}"))),
        Err(why) => {
            let why = format!("{url}: {why}; only the devices of this computer are listed");
            output::print_note(&format!("warning: {why}"));
            let (computer, devices) = (client::host_name(), client::local_devices(all));
            Ok(TopDocument { computer, server: None, devices, tasks: Vec::new() })
        }
    }
}

fn summary_answer(seen: &TopDocument) -> String {
    let devices = count_text(&seen.devices);
    let run = seen.tasks.iter().filter(|task| !task.state.has_ended()).count() as u64;
    match &seen.server {
        None => format!("{devices}; no server answers."),
        Some(_) => format!("{devices}, {} under way.", pluralize(run, "test")),
    }
}

/// Terminal in raw mode, restored when dropped, even by a panic.
struct TerminalGuard(DefaultTerminal);

impl TerminalGuard {
    fn open() -> std::io::Result<Self> {
        ratatui::try_init().map(TerminalGuard)
    }

    /// Restores the terminal and stops the process until the shell continues it.
    fn suspend(&mut self) -> std::io::Result<()> {
        ratatui::try_restore()?;
        kill_process(getpid(), Signal::TSTP)?;
        self.0 = ratatui::try_init()?;
        self.0.clear()
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        // Errors of a closed terminal do not matter.
        let _ = ratatui::try_restore();
        let _ = self.0.show_cursor();
    }
}

/// Draws changes and handles keys until the user quits.
fn run_screen(
    screen: &mut TerminalGuard,
    mut state: TopState,
    ends: &ClientChannels,
    interrupt: &InterruptFlag,
    looks: ScreenStyle,
) -> std::io::Result<()> {
    let mut drawn: Option<Instant> = None;
    let mut new = true;
    while !interrupt.is_raised() {
        for _ in 0..MAX_EVENTS_AT_ONCE {
            match ends.news.try_recv() {
                Ok(news) => state.apply_event(news, clock_time),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    let why = "the threads that ask the server have ended; please report this";
                    return Err(std::io::Error::other(why));
                }
            }
            new = true;
        }
        let since = drawn.map_or(FRAME_INTERVAL, |drawn| drawn.elapsed());
        if new && since >= FRAME_INTERVAL {
            let mut last = 0;
            screen.0.draw(|frame| last = screen::draw_frame(frame, &state, looks))?;
            state.limit_scroll(last);
            (drawn, new) = (Some(Instant::now()), false);
        }
        let wait = if new { FRAME_INTERVAL.saturating_sub(since) } else { FRAME_INTERVAL };
        if !event::poll(wait)? {
            continue;
        }
        match event::read()? {
            Event::Key(key) => match keys::action_for_key(&state.mode, key) {
                None => continue,
                Some(KeyAction::Quit) => return Ok(()),
                Some(KeyAction::Suspend) => screen.suspend()?,
                Some(KeyAction::Redraw) => screen.0.clear()?,
                Some(action) => {
                    if let Some(order) = state.apply_action(action) {
                        // The thread of requests ends only with the program.
                        let _ = ends.orders.send(order);
                    }
                }
            },
            Event::Resize(..) => {}
            _ => continue,
        }
        new = true;
    }
    Ok(())
}

fn clock_time() -> String {
    jiff::Zoned::now().strftime("%H:%M:%S").to_string()
}
