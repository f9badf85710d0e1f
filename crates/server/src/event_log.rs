//! Event log with broadcast: events are numbered and the last ones kept, so that a client that reconnects gets the missed
//! ones, or a `gap` if there were too many.

use crate::poison;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::sync::broadcast::{self, Receiver, Sender};

/// Number of events kept for reconnecting clients, and the limit by which a slow one may lag.
const MAX_KEPT: usize = 1024;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServerEvent {
    /// Counts from 1; 0 in a gap without a number.
    pub(crate) number: u64,
    pub(crate) name: &'static str,
    /// JSON.
    pub(crate) data: String,
}

pub(crate) struct EventLog {
    kept: Mutex<KeptEvents>,
    sender: Sender<ServerEvent>,
}

#[derive(Default)]
struct KeptEvents {
    number: u64,
    events: VecDeque<ServerEvent>,
}

/// Missed events and the receiver of new ones.
pub(crate) struct EventSubscription {
    pub(crate) missed: Vec<ServerEvent>,
    pub(crate) receiver: Receiver<ServerEvent>,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        EventLog { kept: Mutex::default(), sender: broadcast::channel(MAX_KEPT).0 }
    }

    /// Numbers, keeps and broadcasts an event.
    pub(crate) fn publish(&self, name: &'static str, data: &impl Serialize) {
        let data = serde_json::to_string(data).unwrap_or_else(|_| "{}".to_owned());
        let mut kept = poison::lock(&self.kept);
        kept.number += 1;
        let event = ServerEvent { number: kept.number, name, data };
        kept.events.push_back(event.clone());
        if kept.events.len() > MAX_KEPT {
            kept.events.pop_front();
        }
        // Fails without listeners. Sent under the lock, so that a new listener gets each event exactly once.
        let _ = self.sender.send(event);
    }

    /// Publishes an event without data: clients load again what its name says.
    pub(crate) fn publish_change(&self, name: &'static str) {
        self.publish(name, &serde_json::json!({}));
    }

    /// Subscribes to new events; `last` is the number of the last event that the client received.
    pub(crate) fn subscribe(&self, last: Option<u64>) -> EventSubscription {
        let kept = poison::lock(&self.kept);
        let oldest = kept.events.front().map_or(kept.number + 1, |event| event.number);
        let missed = match last {
            None => Vec::new(),
            // A number of an earlier server, or one that is too old.
            Some(last) if last > kept.number || last + 1 < oldest => vec![gap_event(kept.number)],
            Some(last) => kept.events.iter().filter(|event| event.number > last).cloned().collect(),
        };
        EventSubscription { missed, receiver: self.sender.subscribe() }
    }

    pub(crate) fn listener_count(&self) -> usize {
        self.sender.receiver_count()
    }
}

/// Event in place of lost ones up to this number.
pub(crate) fn gap_event(number: u64) -> ServerEvent {
    ServerEvent { number, name: "gap", data: "{}".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(events: &[ServerEvent]) -> Vec<u64> {
        events.iter().map(|event| event.number).collect()
    }

    #[test]
    fn reconnecting_client_gets_missed_events_or_gap() {
        let hub = EventLog::new();
        (0..5).for_each(|n| hub.publish("task", &n));
        assert!(hub.subscribe(None).missed.is_empty());
        assert_eq!(numbers(&hub.subscribe(Some(3)).missed), [4, 5]);
        assert!(hub.subscribe(Some(5)).missed.is_empty());
        assert_eq!(hub.subscribe(Some(9)).missed, [gap_event(5)], "a number of an earlier server");
        (0..2 * MAX_KEPT).for_each(|n| hub.publish("moment", &n));
        assert_eq!(hub.subscribe(Some(3)).missed[0].name, "gap");
        assert_eq!(hub.subscribe(Some(MAX_KEPT as u64 + 5)).missed.len(), MAX_KEPT);
    }

    #[test]
    fn subscriber_receives_each_event_once() {
        let hub = EventLog::new();
        let mut listener = hub.subscribe(None).receiver;
        hub.publish("devices", &());
        assert_eq!(listener.try_recv().unwrap().name, "devices");
        assert!(listener.try_recv().is_err());
        assert_eq!(hub.listener_count(), 1);
    }
}
