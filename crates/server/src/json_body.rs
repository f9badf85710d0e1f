//! Extractors for JSON request bodies.

use crate::refusal::RequestRefusal;
use axum::Json;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

/// JSON object of a request body. Refuses an array, which serde accepts as a struct's fields in order.
pub(crate) struct JsonBody<T>(pub(crate) T);

/// JSON object of a request body, or the default if the body is empty.
pub(crate) struct OptionalJsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalJsonBody<T> {
    type Rejection = RequestRefusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, RequestRefusal> {
        if request.body().is_end_stream() {
            return Ok(OptionalJsonBody(T::default()));
        }
        JsonBody::from_request(request, state).await.map(|JsonBody(document)| OptionalJsonBody(document))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = RequestRefusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, RequestRefusal> {
        let (parts, body) = request.into_parts();
        let whole = Bytes::from_request(Request::from_parts(parts.clone(), body), state).await;
        let bytes = whole.map_err(JsonRejection::from)?;
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Err(RequestRefusal::unprocessable("the body is an array; an object is expected"));
        }
        let Json(document) = Json::from_request(Request::from_parts(parts, Body::from(bytes)), state).await?;
        Ok(JsonBody(document))
    }
}
