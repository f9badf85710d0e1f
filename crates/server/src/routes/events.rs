//! Route of the event stream.

use crate::event_log::{self, EventSubscription, ServerEvent};
use crate::state::ServerState;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use std::convert::Infallible;
use std::sync::Arc;
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
    State(server): State<Arc<ServerState>>,
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
            let heard = tokio::select! {
                heard = events.recv() => heard,
                _ = closing.wait_for(|closing| *closing) => return,
                () = sender.closed() => return,
            };
            let event = match heard {
                Ok(event) => event,
                Err(RecvError::Lagged(_)) => event_log::gap_event(0),
                Err(RecvError::Closed) => return,
            };
            if sender.send(event).await.is_err() {
                return;
            }
        }
    });
    let said = |event: ServerEvent| {
        let said = Event::default().event(event.name).data(event.data);
        // A gap of a slow connection has no number.
        Ok(if event.number == 0 { said } else { said.id(event.number.to_string()) })
    };
    Sse::new(ReceiverStream::new(receiver).map(said))
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL))
}
