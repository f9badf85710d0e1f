//! The page of any verb's document, by the verb: what an archive or a server has kept is shown as the verb shows it.

use cardscope_bench::page as bench;
use cardscope_capacity::page as verify;
use cardscope_check::page as check;
use cardscope_endurance::page::{endure, sustain};
use cardscope_flash::page as card_map;
use cardscope_format::page::format;
use cardscope_host::page::observe;
use cardscope_identity::page as identity;
use cardscope_import::page as import;
use cardscope_model::answer::Answer;
use cardscope_model::report::Tone;
use cardscope_model::units::Degrees;
use cardscope_page::tree::Page;
use cardscope_restore::page as restore;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The page; `None` where the verb has none, or the document is too early or too old for it.
pub fn page(kind: &str, document: &Value) -> Option<Page> {
    match kind {
        "bench" => of(document, bench::page),
        "verify" => of(document, verify::page),
        "map" => of(document, card_map::page),
        "check" => of(document, check::page),
        "marks" => of(document, check::marks),
        "endure" => of(document, endure::page),
        "format" => of(document, format::page),
        "sustain" => of(document, sustain::page),
        "observe" => of(document, observe::page),
        "restore" => of(document, restore::page),
        "info" => of(document, |card| identity::page(card, Degrees::Celsius)),
        "import" => of(document, import::log),
        _ => None,
    }
}

/// Answer and tone of that page, for a line of a list.
pub fn answer(kind: &str, document: &Value) -> Option<(Answer, Tone)> {
    page(kind, document).map(|page| (page.answer, page.tone))
}

fn of<T: DeserializeOwned>(document: &Value, page: impl FnOnce(&T) -> Page) -> Option<Page> {
    T::deserialize(document).ok().map(|document| page(&document))
}
