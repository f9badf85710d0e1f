//! Renders a document as its page and HTML for the API.

use crate::api::RenderedPage;
use cardscope_model::untrusted_text;
use cardscope_page::tree::{Page, html};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Renders a document after quoting foreign text in it, which could otherwise begin a line of its own.
pub(crate) fn render_quoted<T: Serialize + DeserializeOwned>(doc: &T, page: impl Fn(&T) -> Page) -> Page {
    page(untrusted_text::escape_document(doc).as_ref().unwrap_or(doc))
}

/// Returns a document with its rendered page.
pub(crate) fn render_document<T>(document: &T, page: impl Fn(&T) -> Page) -> RenderedPage
where
    T: Serialize + DeserializeOwned,
{
    rendered_page(&render_quoted(document, page), serde_json::to_value(document).unwrap_or_default())
}

pub(crate) fn rendered_page(page: &Page, document: Value) -> RenderedPage {
    let html = html::render_fragment(page);
    RenderedPage { answer: page.answer.to_string(), tone: page.tone, html, document }
}
