//! Parts of the page.

use super::*;
use base64::Engine;
use cardscope_model::publication::CardPicture;
use sha2::Digest;

const HOSTILE_TEXT: &str = "</script><img src=x onerror=alert(1)>\"'&\u{1}\u{202e}";

#[test]
fn policy_allows_only_the_page_script() {
    let hash = base64::engine::general_purpose::STANDARD
        .encode(sha2::Sha256::digest(format!("{PAGE_SCRIPT}{SCRIPT_START}")));
    assert_eq!(hash, SCRIPT_HASH, "page.js changed: SCRIPT_HASH follows");
    for forbidden in ["</script", "fetch(", "XMLHttpRequest", "innerHTML", "eval("] {
        assert!(!PAGE_SCRIPT.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn photographs_are_embedded() {
    let mut page = Page::new("a card", NewsTone::Plain, "One card.");
    let picture = CardPicture { caption: HOSTILE_TEXT.into(), media_type: "image/png", bytes: vec![1, 2, 3] };
    page.add_section("", [PageBlock::Picture(picture)]);
    let page = render_document(&page);
    assert!(
        page.contains("<img src=\"data:image/png;base64,AQID\"") && page.contains("img-src data:"),
        "{page}"
    );
}

#[test]
fn verdict_is_emphasized_and_readable_as_a_sentence() {
    let said = answer_html(&Answer::with_verdict("FAKE", ": holds 52 GB of 1 TB."));
    assert_eq!(
        said,
        "<span class=\"verdict\">FAKE</span><span class=\"unseen\">:</span> holds 52\u{a0}GB of 1\u{a0}TB."
    );
    assert_eq!(answer_html(&"SD: no verdict".into()), "SD: no verdict");
}

/// `UPDATE_DOCS=1 cargo test -p cardscope-page --lib` updates the stylesheet of the app.
#[test]
fn app_stylesheet_has_the_page_colours() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/style/charts.css");
    let head = "/* Colours and charts of the published pages, as `palette::page()` of crates/page writes them: copied, not edited. */";
    let style = format!("{head}\n{}", svg::palette::themed_style(":root"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &style).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), style, "web/src/style/charts.css is out of date");
}
