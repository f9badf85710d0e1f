//! Progress as JSON, one event a line (`--events`): the same view that a terminal draws, for a program that reads it.

use crate::output;
use cardscope_model::live::{Figure, Found, Stage, Told};
use cardscope_session::Event;
use cardscope_session::bench::Interrupt;
use std::io::{ErrorKind, Write};

/// What is told of an event at once; how far it is follows with the next moment.
pub(super) fn of(event: &Event) -> Option<Told> {
    Some(match event {
        Event::Plan(plan) => Told::Plan {
            stages: plan
                .stages
                .iter()
                .map(|(name, weight)| Stage { name: name.clone(), weight: *weight })
                .collect(),
            says: plan.says.clone(),
        },
        Event::Figure { what, mb_s } => {
            let what = what.strip_prefix("measuring ").unwrap_or(what);
            Told::Figure(Figure { what: what.to_owned(), mb_s: *mb_s })
        }
        Event::Found(finding) => Told::Found(Found {
            weight: finding.weight,
            verdict: finding.verdict.clone(),
            advice: finding.advice.clone(),
        }),
        Event::Stored(session) => Told::Stored { session: session.clone() },
        Event::Note(text) => Told::Note { text: text.clone() },
        Event::Stage(_) | Event::Phase { .. } | Event::Progress { .. } | Event::Wait(_) => return None,
    })
}

/// Writes a line, whole: several threads tell. Where whoever read them has gone, the verb ends as after Ctrl-C: a server that
/// is killed leaves no test behind that nobody can stop.
pub(super) fn tell(told: &Told, interrupt: &Interrupt) {
    let Ok(mut line) = serde_json::to_vec(told) else { return };
    line.push(b'\n');
    let mut stderr = output::stderr().lock();
    let written = stderr.write_all(&line).and_then(|()| stderr.flush());
    if written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        interrupt.raise();
    }
}
