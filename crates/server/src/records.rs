//! The page of a document as the API has it.

use crate::api::RenderedPage;
use cardscope_model::outside;
use cardscope_page::tree::{Page, html};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use cardscope_verbs::records::{answer, page};

/// The page of a document, in which nothing from outside begins a line of its own.
pub(crate) fn within_lines<T: Serialize + DeserializeOwned>(document: &T, page: impl Fn(&T) -> Page) -> Page {
    let within = outside::within_lines(document);
    page(within.as_ref().unwrap_or(document))
}

/// A document with its page.
pub(crate) fn made<T: Serialize + DeserializeOwned>(document: &T, page: impl Fn(&T) -> Page) -> RenderedPage {
    let page = within_lines(document, page);
    RenderedPage {
        answer: page.answer.to_string(),
        tone: page.tone,
        html: html::fragment(&page),
        document: serde_json::to_value(document).unwrap_or_default(),
    }
}
