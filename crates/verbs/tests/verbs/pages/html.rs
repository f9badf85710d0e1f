//! HTML pages: valid for any card name, small, self-contained, and readable without the script.

use cardscope_compare::page::publication::page::publication_page as page_of;
use cardscope_model::publication::Publication;
use cardscope_page::tree::Page;
use cardscope_page::tree::html::render_document;
use cardscope_testkit::samples as sample;

fn html(publication: &Publication) -> String {
    render_document(&page_of(publication))
}

/// Parses the page as XML after removing head and script.
fn well_formed(page: &str) {
    let body =
        page.split_once("<body").and_then(|(_, body)| body.split_once('>')).map(|(_, body)| body).unwrap();
    let (body, _) = body.rsplit_once("<script type=\"module\">").unwrap();
    let closed = body.replace("<br>", "<br/>");
    roxmltree::Document::parse(&format!("<body>{closed}</body>")).unwrap_or_else(|e| panic!("{e}"));
}

const SCRIPT: &str = include_str!("../../../../page/src/tree/html/page.js");
const STYLE: &str = include_str!("../../../../page/src/tree/html/page.css");
const STRANGE: &str = "</script><img src=x onerror=alert(1)>\"'&\u{1}\u{202e}";

fn hostile() -> Publication {
    let mut publication = sample::publication(3, 3, 3);
    let name = STRANGE;
    publication.title = name.into();
    publication.comparison.entries[1].name = name.into();
    publication.comparison.entries[1].sources = vec![name.into()];
    publication.comparison.differs[0].values[1] = Some(name.into());
    publication.comparison.tests[0].step = Some(name.into());
    publication.rankings[0].places[1].entry.name = name.into();
    publication.rankings[0].not_placed.push((name.into(), name.into()));
    publication.cards[1].title = name.into();
    publication.cards[1].card.note = Some(name.into());
    publication.cards[1].pieces = vec![name.into()];
    publication.cards[1].events[0].note = Some(name.into());
    publication.cards[1].courses.iter_mut().for_each(|c| c.condition = name.into());
    publication
}

#[test]
fn card_name_cannot_close_script() {
    let page = html(&hostile());
    assert_eq!((page.matches("</script>").count(), page.matches("<script").count()), (1, 1));
    assert!(!page.contains("<img") && !page.contains('\u{202e}') && !page.contains('\u{1}'));
    assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"));
    well_formed(&page);
}

#[test]
fn html_page_loads_nothing() {
    let page = html(&sample::publication(3, 3, 3));
    assert!(page.contains("default-src 'none'"));
    // The SVG namespace in the script is a name, not an address that is loaded.
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for reach in ["http:", "https:", " src=", "@import", "url("] {
        assert!(!outside.contains(reach), "{reach}");
    }
}

#[test]
fn page_of_twenty_cards_is_small_and_complete() {
    let publication = sample::publication(20, 10, 12);
    let page = html(&publication);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    for part in &publication.cards {
        assert!(page.contains(&format!("<summary>{}</summary>", part.title)), "{}", part.title);
    }
    well_formed(&page);
}

#[test]
fn empty_publication_gives_valid_page() {
    well_formed(&html(&sample::publication(0, 0, 0)));
    well_formed(&render_document(&Page::default()));
}

#[test]
fn heading_levels_have_no_gap() {
    let page = html(&sample::publication(3, 3, 3));
    let levels: Vec<usize> =
        page.match_indices("<h").filter_map(|(at, _)| page[at + 2..at + 3].parse().ok()).collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn missing_numbers_are_dashes() {
    let mut publication = sample::publication(3, 3, 2);
    let spread = publication.comparison.tests[0].spreads[0].as_mut().unwrap();
    (spread.mean, spread.best, spread.ci95) = (f64::NAN, f64::INFINITY, Some([f64::NAN, f64::INFINITY]));
    spread.runs = vec![f64::NAN, f64::NEG_INFINITY, -4.0];
    publication.rankings[0].places[0].value = f64::NAN;
    publication.comparison.tests[0].pairs[0].percent = f64::NAN;
    let page = html(&publication);
    let outside = page.replace(SCRIPT, "").replace(STYLE, "");
    assert!(!outside.contains("NaN") && !outside.contains(">inf"), "no number");
    well_formed(&page);
}

#[test]
fn bars_and_heat_map_carry_script_data() {
    let page = html(&sample::publication(3, 3, 2));
    let row = page.lines().find(|line| line.contains("data-r=")).unwrap();
    let values = row.split("data-v=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert_eq!(values.split(' ').count(), 4, "average, worst, best, median: {row}");
    assert!(page.contains("<td class=\"s10\">100 %</td>"), "the best is shaded");
}
