//! Renders a document as its page and HTML for the API.

use crate::api::RenderedPage;
use cardscope_model::untrusted_text;
use cardscope_page::tree::{Page, html};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use cardscope_verbs::registry::{answer_of_document, page_of_document};

/// Renders a document after quoting foreign text in it, which could otherwise begin a line of its own.
pub(crate) fn render_quoted<T: Serialize + DeserializeOwned>(
    document: &T,
    page: impl Fn(&T) -> Page,
) -> Page {
    let within = untrusted_text::escape_document(document);
    page(within.as_ref().unwrap_or(document))
}

/// Returns a document with its rendered page.
pub(crate) fn render_document<T: Serialize + DeserializeOwned>(
    document: &T,
    page: impl Fn(&T) -> Page,
) -> RenderedPage {
    let page = render_quoted(document, page);
    RenderedPage {
        answer: page.answer.to_string(),
        tone: page.tone,
        html: html::render_fragment(&page),
        document: serde_json::to_value(document).unwrap_or_default(),
    }
}
