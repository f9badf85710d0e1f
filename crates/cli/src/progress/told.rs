//! Progress as JSON, one event a line (`--events`): the same view that a terminal draws, for a program that reads it.

use crate::output;
use cardscope_engine::event::Event;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::live::{Figure, Found, Stage, Told};
use std::io::{ErrorKind, Write};

/// Most stages in the event of a plan: a server sends them again with every change of a task.
const MOST_LISTED: usize = 1000;

/// What is told of an event at once; how far it is follows with the next moment.
pub(super) fn of(event: &Event) -> Option<Told> {
    Some(match event {
        Event::Plan(plan) => Told::Plan {
            stages: match plan.stages.len() > MOST_LISTED {
                true => Vec::new(),
                false => plan.stages.iter().map(stage).collect(),
            },
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

fn stage((name, weight): &(String, f64)) -> Stage {
    Stage { name: name.clone(), weight: *weight }
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

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::event::Plan;

    #[test]
    fn the_event_of_a_plan_lists_at_most_1000_stages() {
        let told = |stages: usize| {
            let plan = Plan::of((0..stages).map(|stage| (format!("round {stage}"), 1.0))).saying("writes");
            match of(&Event::Plan(plan)) {
                Some(Told::Plan { stages, says }) => (stages.len(), says),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(told(MOST_LISTED), (MOST_LISTED, "writes".to_owned()));
        assert_eq!(told(MOST_LISTED + 1), (0, "writes".to_owned()));
    }
}
