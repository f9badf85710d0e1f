//! Route of the event stream.

use crate::event_log::{self, EventSubscription, ServerEvent};
use crate::state::SharedState;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio_stream::{Stream, StreamExt, wrappers::ReceiverStream};

/// Number of events by which a connection may lag.
const CHANNEL_CAPACITY: usize = 64;

/// Interval of keep-alive comments, by which a lost connection is noticed.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Streams events: `task` (a Task without moments), `moment` (a TaskMoment), `forgotten`, `devices`, `archive`, `gap`.
///
/// Each event has an id. A client that reconnects with `Last-Event-ID` gets the missed events, or `gap` if too many.
#[utoipa::path(get, path = "/api/events", tag = "events", responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(super) async fn events(
    server: SharedState,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let (sender, receiver) = tokio::sync::mpsc::channel(CHANNEL_CAPACITY);
    let EventSubscription { missed, receiver: mut events } = server.events.subscribe(last);
    let mut closing = server.closing.subscribe();
    drop(server);
    tokio::spawn(async move {
        for event in missed {
            if sender.send(event).await.is_err() {
                return;
            }
        }
        loop {
            let received = tokio::select! {
                received = events.recv() => received,
                _ = closing.wait_for(|closing| *closing) => return,
                () = sender.closed() => return,
            };
            let event = match received {
                Ok(event) => event,
                Err(RecvError::Lagged(_)) => event_log::gap_event(0),
                Err(RecvError::Closed) => return,
            };
            if sender.send(event).await.is_err() {
                return;
            }
        }
    });
    let sse_event = |event: ServerEvent| {
        let sent = Event::default().event(event.name).data(event.data);
        // A gap of a slow connection has no number.
        Ok(if event.number == 0 { sent } else { sent.id(event.number.to_string()) })
    };
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE_INTERVAL);
    Sse::new(ReceiverStream::new(receiver).map(sse_event)).keep_alive(keep_alive)
}
