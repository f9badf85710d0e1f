//! Prompts on the terminal: consent to data loss, and temperatures typed during a run.

use crate::output;
use crate::progress::screen;
use cardscope_endurance::verb::sustain::{ManualReading, ManualThermometer};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_session::consent::{ConsentQuestion, ConsentSource, GivenBeforehand};
use std::io::{BufRead, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Consent by a question on the terminal, unless it was given as an option.
pub(crate) struct TerminalPrompt {
    /// Target given in `--yes-destroy`.
    pub(crate) given_consent: Option<String>,
    /// Ends the wait for an answer.
    pub(crate) interrupt: InterruptFlag,
}

impl ConsentSource for TerminalPrompt {
    fn ask(&mut self, question: &ConsentQuestion) -> Option<String> {
        if self.given_consent.is_some() || !std::io::stdin().is_terminal() {
            return GivenBeforehand(self.given_consent.clone()).ask(question);
        }
        // Progress lines must not overwrite the question.
        let _alone = screen::pause_drawing();
        output::print_note(&format!("This overwrites data on {}.", question.at_stake));
        output::print_question(&format!("Type {} to go on: ", question.target));
        let answer = read_line(&self.interrupt)?;
        Some(answer.trim_end_matches(['\n', '\r']).to_owned())
    }

    fn announce(&mut self, text: &str) {
        output::print_note(text);
    }
}

/// Reads a line; `None` after Ctrl-C. Uses its own thread, because a signal does not end the read.
fn read_line(interrupt: &InterruptFlag) -> Option<String> {
    let (hand_over, lines) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let _ = hand_over.send(read.ok().map(|_| line));
    });
    while !interrupt.is_raised() {
        match lines.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => return line,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}

/// Reads temperatures typed during a run: `PLACE VALUE`, or only the value if there is one place.
pub(crate) struct TypedTemperatures;

impl ManualReading for TypedTemperatures {
    fn begin(&mut self, places: &[String], into: ManualThermometer) {
        let (first, several) = (places.first().cloned().unwrap_or_default(), places.len() > 1);
        let how = if several { "PLACE VALUE" } else { "a value" };
        let places = places.join(", ");
        screen::print_above(&format!("type {how} in °C and Enter as often as you like: {places}"));
        // The thread ends with the program, because a read of the terminal cannot be cancelled.
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                let said = parse_temperature(&line, &first);
                if !said.is_some_and(|(place, celsius)| into.submit(place, celsius)) {
                    screen::print_above(&format!("{line:?} is not a temperature of one of these places"));
                }
            }
        });
    }
}

/// Parses place and value.
fn parse_temperature<'a>(line: &'a str, only: &'a str) -> Option<(&'a str, f64)> {
    let line = line.trim();
    let (place, value) = line.rsplit_once([' ', '\t', '=']).unwrap_or((only, line));
    Some((place.trim(), value.replace(',', ".").parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::parse_temperature;

    #[test]
    fn typed_temperatures_are_parsed() {
        assert_eq!(parse_temperature("41.5", "card"), Some(("card", 41.5)));
        assert_eq!(parse_temperature(" reader 38,2 ", "card"), Some(("reader", 38.2)));
        assert_eq!(parse_temperature("card surface=51", "x"), Some(("card surface", 51.0)));
        assert_eq!(parse_temperature("warm", "card"), None);
    }
}
