//! Pages of maps: a complete one like in a published review, one that ended early, and long answers.

use super::*;
use cardscope_model::card_map::CardMap;
use cardscope_model::report::{Report, ReportHeader};
use cardscope_testkit::samples as sample;
use cardscope_testkit::samples::map_report;

#[test]
fn page_starts_with_geometry_and_settings() {
    sample::assert_same_sample("map.txt", &page(&map_report()).to_text());
}

#[test]
fn early_end_names_its_reason_and_no_property() {
    let whole = map_report();
    let early = Report {
        header: ReportHeader { error: Some("interrupted".to_owned()), ..whole.header },
        body: CardMap {
            measured: MeasuredMap::default(),
            profile: Vec::new(),
            advice: MapAdvice::default(),
            ..whole.body
        },
    };
    let page = page(&early).to_text();
    assert!(page.starts_with("NOT TESTED: ") && page.contains("Ended early: interrupted"), "{page}");
    assert!(page.contains("Page, read unit") && page.contains("the map ended early."), "{page}");
}

#[test]
fn answer_names_the_properties_that_fit() {
    let row = |name, found: &str| PropertyRow {
        name,
        value: found.to_owned(),
        confidence: Some(0.99),
        evidence: String::new(),
    };
    let (read, write) = (row("read queue", "none"), row("write queue of 32", &queue_gain(3.43)));
    assert_eq!(properties_that_fit(&[read, write]), "Read queue: none; write queue of 32: 3.43 × faster.");
    let many: Vec<PropertyRow> = (0..9).map(|_| row("open blocks in order", "no limit")).collect();
    let said = properties_that_fit(&many);
    assert!(said.chars().count() <= ANSWER_COLUMNS && said.ends_with("; 7 more below."), "{said}");
    assert_eq!([queue_gain(1.01), queue_gain(0.5)], ["no gain", "2.00 × slower"]);
}
