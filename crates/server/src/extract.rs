//! Extractors of request parts that refuse invalid input as [`RequestRefusal`].

use crate::refusal::{RequestRefusal, Result};
use axum::Json;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::{CONTENT_LENGTH, HeaderMap};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// Name or id in the path, or several.
pub(crate) struct ItemId<T = String>(pub(crate) T);

/// Parameters in the query.
pub(crate) struct QueryOf<T>(pub(crate) T);

/// JSON object of a request body. Refuses an array, which serde accepts as a struct's fields in order.
pub(crate) struct JsonBody<T>(pub(crate) T);

/// JSON object of a request body, or the default if the body is empty.
pub(crate) struct OptionalJsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for ItemId<T> {
    type Rejection = RequestRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Path(id) = Path::from_request_parts(parts, state).await?;
        Ok(ItemId(id))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryOf<T> {
    type Rejection = RequestRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Query(query) = Query::from_request_parts(parts, state).await?;
        Ok(QueryOf(query))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalJsonBody<T> {
    type Rejection = RequestRefusal;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        if request.body().is_end_stream() {
            return Ok(OptionalJsonBody(T::default()));
        }
        JsonBody::from_request(request, state).await.map(|JsonBody(document)| OptionalJsonBody(document))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = RequestRefusal;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
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

/// Content-Length of a request.
pub(crate) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// All values of a repeatable query parameter.
pub(crate) fn query_values(query: Option<&str>, key: &str) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.filter(|(name, _)| name == key).map(|(_, value)| value.into_owned()).collect()
}
