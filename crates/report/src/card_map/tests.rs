//! The page of a card like one of a published review: what was found, what was not, and what follows.

use super::*;
use crate::sample::{self, map};
use cardscope_model::card_map::CardMap;
use cardscope_model::report::{Header, Report};

#[test]
fn the_page_says_first_what_the_card_is_made_of_and_what_to_do() {
    sample::same("map.txt", &page(&map()).text());
}

#[test]
fn a_map_that_ended_early_says_why_and_claims_nothing() {
    let whole = map();
    let early = Report {
        header: Header { error: Some("interrupted".to_owned()), ..whole.header },
        body: CardMap {
            measured: Measured::default(),
            profile: Vec::new(),
            advice: Advice::default(),
            ..whole.body
        },
    };
    let page = page(&early).text();
    assert!(page.starts_with("Nothing measured") && page.contains("Ended early: interrupted"), "{page}");
    assert!(page.contains("Page, read unit") && page.contains("the map ended early."), "{page}");
}
