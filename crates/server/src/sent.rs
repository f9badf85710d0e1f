//! What a request's body says.

use crate::problem::Refusal;
use axum::Json;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

/// A document that was sent: an object in JSON. In an object's place serde takes an array, too, as its fields in their order.
pub(crate) struct Sent<T>(pub(crate) T);

/// As [`Sent`], or the document's default where no body was sent.
pub(crate) struct OptionalBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        if request.body().is_end_stream() {
            return Ok(OptionalBody(T::default()));
        }
        Sent::from_request(request, state).await.map(|Sent(document)| OptionalBody(document))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Sent<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let whole = Bytes::from_request(Request::from_parts(parts.clone(), body), state).await;
        let bytes = whole.map_err(JsonRejection::from)?;
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Err(Refusal::odd("the body is an array; an object is expected"));
        }
        let Json(document) = Json::from_request(Request::from_parts(parts, Body::from(bytes)), state).await?;
        Ok(Sent(document))
    }
}
