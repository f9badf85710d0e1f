//! One stream of events for everything.

use crate::hub::{self, EventSubscription, ServerEvent};
use crate::state::ServerState;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio_stream::{Stream, StreamExt, wrappers::ReceiverStream};

/// Events that a connection may lag behind.
const ROOM: usize = 64;

/// A word is said this often, so that a connection that is gone is noticed.
const ALIVE: Duration = Duration::from_secs(15);

/// Events: `task` (a Task without moments), `moment` (a TaskMoment), `forgotten`, `devices`, `archive`, `gap`.
///
/// Each has an id; who comes back with `Last-Event-ID` hears what was missed, or `gap`, where that was too much.
#[utoipa::path(get, path = "/api/events", tag = "events", responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(super) async fn events(
    State(server): State<Arc<ServerState>>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let (sender, receiver) = tokio::sync::mpsc::channel(ROOM);
    let EventSubscription { first, mut then } = server.hub.subscribe(last);
    let mut closing = server.closing.subscribe();
    drop(server);
    tokio::spawn(async move {
        for event in first {
            if sender.send(event).await.is_err() {
                return;
            }
        }
        loop {
            let heard = tokio::select! {
                heard = then.recv() => heard,
                _ = closing.wait_for(|closing| *closing) => return,
                () = sender.closed() => return,
            };
            let event = match heard {
                Ok(event) => event,
                Err(RecvError::Lagged(_)) => hub::gap(0),
                Err(RecvError::Closed) => return,
            };
            if sender.send(event).await.is_err() {
                return;
            }
        }
    });
    let said = |event: ServerEvent| {
        let said = Event::default().event(event.name).data(event.data);
        // A gap that was found here has no number of its own.
        Ok(if event.number == 0 { said } else { said.id(event.number.to_string()) })
    };
    Sse::new(ReceiverStream::new(receiver).map(said)).keep_alive(KeepAlive::new().interval(ALIVE))
}
