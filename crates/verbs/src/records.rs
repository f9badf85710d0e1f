//! The page of any verb's document, by the verb: what an archive or a server has kept is shown as the verb shows it.

use crate::list::Verb;
use cardscope_model::answer::Answer;
use cardscope_model::report::NewsTone;
use cardscope_page::tree::Page;
use serde_json::Value;

/// The page; `None` where the verb has none, or the document is too early or too old for it.
pub fn page(kind: &str, document: &Value) -> Option<Page> {
    Verb::find(kind)?.page(document)
}

/// Answer and tone of that page, for a line of a list.
pub fn answer(kind: &str, document: &Value) -> Option<(Answer, NewsTone)> {
    page(kind, document).map(|page| (page.answer, page.tone))
}
