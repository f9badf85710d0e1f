//! What happens, told to whoever listens: every event has a number, the last ones are kept, and who was away for a moment is
//! told what was missed, or that too much was.

use crate::locked::lock;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::sync::broadcast::{self, Receiver, Sender};

/// Events that are kept for who comes back, and that a slow listener may lag behind.
const KEPT: usize = 1024;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServerEvent {
    /// Counts from 1.
    pub(crate) number: u64,
    /// Its kind.
    pub(crate) name: &'static str,
    /// What there is to say about it, as JSON.
    pub(crate) data: String,
}

/// Where events come together.
pub(crate) struct EventLog {
    kept: Mutex<KeptEvents>,
    sender: Sender<ServerEvent>,
}

#[derive(Default)]
struct KeptEvents {
    number: u64,
    events: VecDeque<ServerEvent>,
}

/// What a listener hears first, and then.
pub(crate) struct EventSubscription {
    pub(crate) first: Vec<ServerEvent>,
    pub(crate) then: Receiver<ServerEvent>,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        EventLog { kept: Mutex::default(), sender: broadcast::channel(KEPT).0 }
    }

    /// Tells everybody.
    pub(crate) fn tell(&self, name: &'static str, data: &impl Serialize) {
        let data = serde_json::to_string(data).unwrap_or_else(|_| "{}".to_owned());
        let mut kept = lock(&self.kept);
        kept.number += 1;
        let event = ServerEvent { number: kept.number, name, data };
        kept.events.push_back(event.clone());
        if kept.events.len() > KEPT {
            kept.events.pop_front();
        }
        // Nobody may listen. Sent with the lock held, so that a new listener hears each event once.
        let _ = self.sender.send(event);
    }

    /// Listens from now on; `last` is the number of the last event that was heard before.
    pub(crate) fn subscribe(&self, last: Option<u64>) -> EventSubscription {
        let kept = lock(&self.kept);
        let then = self.sender.subscribe();
        let oldest = kept.events.front().map_or(kept.number + 1, |event| event.number);
        let first = match last {
            None => Vec::new(),
            // A number from before a restart, or too long ago.
            Some(last) if last > kept.number || last + 1 < oldest => vec![self::gap(kept.number)],
            Some(last) => kept.events.iter().filter(|event| event.number > last).cloned().collect(),
        };
        EventSubscription { first, then }
    }

    /// How many listen.
    pub(crate) fn listeners(&self) -> usize {
        self.sender.receiver_count()
    }
}

/// Says that events up to this one were lost.
pub(crate) fn gap(number: u64) -> ServerEvent {
    ServerEvent { number, name: "gap", data: "{}".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(events: &[ServerEvent]) -> Vec<u64> {
        events.iter().map(|event| event.number).collect()
    }

    #[test]
    fn who_comes_back_hears_what_was_missed_or_that_it_was_too_much() {
        let hub = EventLog::new();
        (0..5).for_each(|n| hub.tell("task", &n));
        assert!(hub.subscribe(None).first.is_empty());
        assert_eq!(numbers(&hub.subscribe(Some(3)).first), [4, 5]);
        assert!(hub.subscribe(Some(5)).first.is_empty());
        assert_eq!(hub.subscribe(Some(9)).first, [gap(5)], "a number of an earlier server");
        (0..2 * KEPT).for_each(|n| hub.tell("moment", &n));
        assert_eq!(hub.subscribe(Some(3)).first[0].name, "gap");
        assert_eq!(hub.subscribe(Some(KEPT as u64 + 5)).first.len(), KEPT);
    }

    #[test]
    fn a_listener_hears_each_event_once() {
        let hub = EventLog::new();
        let mut listener = hub.subscribe(None).then;
        hub.tell("devices", &());
        assert_eq!(listener.try_recv().unwrap().name, "devices");
        assert!(listener.try_recv().is_err());
        assert_eq!(hub.listeners(), 1);
    }
}
