//! Refused requests: HTTP status and message.

use crate::api::ApiProblem;
use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cardscope_model::untrusted_text;
use cardscope_session::frame::Failure;
use std::fmt::Display;

pub(crate) type Result<T> = std::result::Result<T, RequestRefusal>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestRefusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    pub(crate) needs_consent: bool,
}

impl RequestRefusal {
    pub(crate) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        RequestRefusal { status, message: why.into(), needs_consent: false }
    }

    pub(crate) fn forbidden(why: &str) -> Self {
        RequestRefusal::new(StatusCode::FORBIDDEN, why)
    }

    pub(crate) fn unknown_client() -> Self {
        let why = "the token is missing or wrong; open the address that `cardscope serve` printed";
        RequestRefusal::new(StatusCode::UNAUTHORIZED, why)
    }

    pub(crate) fn not_found(what: &str) -> Self {
        RequestRefusal::new(StatusCode::NOT_FOUND, format!("there is no {what}"))
    }

    pub(crate) fn wrong_method() -> Self {
        RequestRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "this address takes other methods; see Allow")
    }

    /// Valid but not allowed now.
    pub(crate) fn conflict(why: impl Into<String>) -> Self {
        RequestRefusal::new(StatusCode::CONFLICT, why)
    }

    /// Valid, but loses data without `confirm`.
    pub(crate) fn needs_consent(why: impl Into<String>) -> Self {
        RequestRefusal { needs_consent: true, ..RequestRefusal::conflict(why) }
    }

    /// Input that an error describes.
    pub(crate) fn invalid(why: impl Display) -> Self {
        RequestRefusal::unprocessable(why.to_string())
    }

    pub(crate) fn unprocessable(why: impl Into<String>) -> Self {
        RequestRefusal::new(StatusCode::UNPROCESSABLE_ENTITY, why)
    }
}

impl From<Failure> for RequestRefusal {
    fn from(failure: Failure) -> Self {
        let status = match failure {
            Failure::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        RequestRefusal::new(status, failure.to_string())
    }
}

impl From<JsonRejection> for RequestRefusal {
    fn from(odd: JsonRejection) -> Self {
        RequestRefusal::new(odd.status(), odd.body_text())
    }
}

impl From<PathRejection> for RequestRefusal {
    fn from(_: PathRejection) -> Self {
        RequestRefusal::not_found("thing of that name: it is not UTF-8")
    }
}

impl From<QueryRejection> for RequestRefusal {
    fn from(odd: QueryRejection) -> Self {
        RequestRefusal::unprocessable(odd.body_text())
    }
}

impl IntoResponse for RequestRefusal {
    fn into_response(self) -> Response {
        let error = untrusted_text::shorten_message(&self.message, &[]).into_owned();
        (self.status, Json(ApiProblem { error, needs_consent: self.needs_consent })).into_response()
    }
}
