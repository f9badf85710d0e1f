//! Renders a document as its page and HTML for the API.

use crate::api::RenderedPage;
use cardscope_model::outside;
use cardscope_page::tree::{Page, html};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use cardscope_verbs::records::{answer, page};

/// Renders a document after quoting foreign text in it, which could otherwise begin a line of its own.
pub(crate) fn within_lines<T: Serialize + DeserializeOwned>(document: &T, page: impl Fn(&T) -> Page) -> Page {
    let within = outside::within_lines(document);
    page(within.as_ref().unwrap_or(document))
}

/// Returns a document with its rendered page.
pub(crate) fn made<T: Serialize + DeserializeOwned>(document: &T, page: impl Fn(&T) -> Page) -> RenderedPage {
    let page = within_lines(document, page);
    RenderedPage {
        answer: page.answer.to_string(),
        tone: page.tone,
        html: html::fragment(&page),
        document: serde_json::to_value(document).unwrap_or_default(),
    }
}
