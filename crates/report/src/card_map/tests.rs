//! The page of a card like that of seed 004: what was found, what was not, and what follows.

use super::*;
use crate::sample::map;
use cardscope_model::card_map::CardMap;
use cardscope_model::report::{Header, Report};

#[test]
fn the_page_says_first_what_the_card_is_made_of_and_ends_with_the_block_of_the_review() {
    assert_eq!(text(&map()), include_str!("../../tests/sample/map.txt"));
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
    let page = text(&early);
    assert!(
        page.contains("nothing shows of what is inside") && page.contains("Ended early: interrupted"),
        "{page}"
    );
    assert!(page.contains("not tested: the map ended before it"), "{page}");
}
