//! Places of register fields in the specification.

use cardscope_identity::page::page;
use cardscope_model::identity::{HexRegisters, from_hex};
use cardscope_model::units::TemperatureUnit;
use cardscope_page::tree::{PageBlock, html};

#[test]
fn register_fields_match_specification_places() {
    let identity = from_hex(HexRegisters {
        cid: Some("035344535530344780811ea6ab00b37f"),
        csd: Some("400e00325b5900001d877f800a4000d5"),
        scr: Some("0235800000000000"),
        ocr: Some("c0ff8000"),
        ..HexRegisters::default()
    });
    let page = page(&identity.unwrap(), TemperatureUnit::Celsius);
    let html = html::render_fragment(&page);
    let mut seen = 0;
    for section in page.sections.iter().filter(|section| section.head.ends_with(')')) {
        for (label, _) in section.blocks.iter().flat_map(|block| match block {
            PageBlock::Facts(facts) => facts.as_slice(),
            _ => &[],
        }) {
            let (before, _) = html.split_once(&format!(">{label}</dt>")).unwrap();
            assert!(
                before.ends_with('"') && before.rsplit('<').next().unwrap().starts_with("dt title="),
                "{label}"
            );
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
    assert!(html.contains("<dt title=\"PLS 5.2, table 5-2\">name (PNM)</dt>"), "{html}");
}
