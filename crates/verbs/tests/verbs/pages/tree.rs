//! The page tree as JSON.

use cardscope_compare::page::comparison;
use cardscope_testkit::samples as sample;

#[test]
fn page_tree_serializes_completely() {
    let page =
        comparison::comparison_page(&sample::comparison(2, 3, 1), comparison::ComparisonLayout::default());
    let json = serde_json::to_value(&page).unwrap();
    assert_eq!(json["answer"], *page.answer);
    assert_eq!(json["tone"], "plain");
    let table = &json["sections"][1]["blocks"][0]["table"];
    assert_eq!(table["columns"][0]["head"], "test");
    assert_eq!(table["columns"][0]["importance"], 255);
    assert_eq!(table["rows"][0][0], "SEQ1M Q8T1 read");
    assert_eq!(json["sections"].as_array().unwrap().len(), page.sections.len());
}
