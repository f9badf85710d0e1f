//! Renders a stored document by the name of its verb, as the archive and the server show it.

use crate::list::Verb;
use cardscope_model::answer::Answer;
use cardscope_model::report::NewsTone;
use cardscope_page::tree::Page;
use serde_json::Value;

/// Returns the page; `None` for an unknown verb, and for a document of another version that cannot be read.
pub fn page_of_document(kind: &str, document: &Value) -> Option<Page> {
    Verb::find(kind)?.page(document)
}

/// Returns answer and tone of the page, for a line of a list.
pub fn answer_of_document(kind: &str, document: &Value) -> Option<(Answer, NewsTone)> {
    page_of_document(kind, document).map(|page| (page.answer, page.tone))
}
