//! The page holds together whatever cards are called, is small, reaches nowhere, and reads well without its script.

use super::*;
use crate::sample;
use base64::Engine;
use cardscope_model::publication::Publication;
use sha2::Digest;

/// The page as XML: what it has is closed, so that a reader for XML reads it once the few elements that HTML leaves
/// open, its head and its script are out of the way.
fn well_formed(page: &str) {
    let body = page.split_once("<body>").map(|(_, body)| body).unwrap();
    let (body, _) = body.rsplit_once("<script>").unwrap();
    let body = body.replace(" hidden", "").replace(" open>", ">");
    let (body, _) = body.split_once("<div id=\"tip\"").unwrap();
    let closed = close_inputs(body);
    roxmltree::Document::parse(&format!("<body>{closed}</body>")).unwrap_or_else(|e| panic!("{e}"));
}

/// Inputs and breaks have no end in HTML.
fn close_inputs(body: &str) -> String {
    let parts = body.split("<input").enumerate().map(|(number, part)| match number {
        0 => part.to_owned(),
        _ => format!("<input{}", part.replacen('>', "/>", 1)),
    });
    parts.collect::<String>().replace("<br>", "<br/>")
}

fn hostile() -> Publication {
    let mut publication = sample::publication(3, 3, 3);
    let name = "</script><img src=x onerror=alert(1)>\"'&\u{1}\u{202e}";
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
fn a_card_that_is_called_like_the_end_of_a_script_ends_none() {
    let page = html(&hostile());
    assert_eq!(page.matches("</script>").count(), page.matches("<script").count());
    assert!(!page.contains("<img") && !page.contains('\u{202e}') && !page.contains('\u{1}'));
    assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"));
    well_formed(&page);
}

#[test]
fn names_end_no_script_either_where_they_stand_as_data() {
    let mut publication = sample::publication(6, 3, 2);
    publication.comparison.tests[0].step = Some("</script>".into());
    let page = html(&publication);
    assert_eq!(page.matches("</script>").count(), 2, "the page's own two");
    assert!(page.contains("\\u003c/script>"));
}

#[test]
fn the_policy_lets_our_script_run_and_no_other() {
    let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(SCRIPT.as_bytes()));
    assert_eq!(hash, SCRIPT_HASH, "page.js changed: SCRIPT_HASH follows");
    assert!(SCRIPT.len() < 20_000, "{}", SCRIPT.len());
    assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("fetch(") && !SCRIPT.contains("innerHTML"));
}

#[test]
fn series_and_latencies_of_two_settings_stand_in_rows_of_their_own() {
    let mut publication = sample::of_two_settings(2, 2, 1);
    let part = &mut publication.cards[0];
    let warm = publication.comparison.entries[1].name.clone();
    let mut others = part.latencies.clone();
    others
        .iter_mut()
        .for_each(|l| (l.entry, l.condition, l.runs) = (warm.clone(), "cooling passive".into(), 7));
    part.latencies.extend(others);
    let page = html(&publication);
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("<tr><th>SEQ1M Q8T1 read · ")).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[1].contains("cooling passive") && rows[1].contains("<td>7</td>"), "{rows:?}");
    well_formed(&page);
}

#[test]
fn an_interval_is_said_to_hold_the_true_mean_and_not_the_next_one() {
    let page = html(&sample::publication(3, 3, 1)).replace('\u{a0}', " ");
    assert!(page.contains("95 of 100 intervals hold the true mean") && !page.contains("as many runs again"));
}

#[test]
fn the_page_reaches_nowhere() {
    let page = html(&sample::publication(3, 3, 3));
    assert!(page.contains("default-src 'none'"));
    // The name of SVG in the script is a name, no address that anything is loaded from.
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for reach in ["http:", "https:", " src=", "@import", "url("] {
        assert!(!outside.contains(reach), "{reach}");
    }
}

#[test]
fn twenty_cards_with_ten_runs_of_twelve_tests_stay_small_and_every_one_is_there() {
    let page = html(&sample::publication(20, 10, 12));
    assert!(page.len() < 900_000, "{} bytes", page.len());
    for number in 0..20 {
        assert!(page.contains(&format!("id=\"card-{number}\"")), "{number}");
    }
    well_formed(&page);
}

#[test]
fn a_page_about_nothing_is_still_a_page() {
    let page = html(&sample::publication(0, 0, 0));
    well_formed(&page);
    assert!(!page.contains("id=\"speed\"") && page.contains("id=\"methods\""));
}

#[test]
fn headings_follow_each_other_without_a_gap_and_each_part_can_be_reached() {
    let page = html(&sample::publication(3, 3, 3));
    let levels: Vec<usize> =
        page.match_indices("<h").filter_map(|(at, _)| page[at + 2..at + 3].parse().ok()).collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    for (at, _) in page.match_indices("href=\"#") {
        let id = page[at + 7..].split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
}

#[test]
fn numbers_that_are_none_are_dashes() {
    let mut publication = sample::publication(3, 3, 2);
    let spread = publication.comparison.tests[0].spreads[0].as_mut().unwrap();
    (spread.mean, spread.best, spread.ci95) = (f64::NAN, f64::INFINITY, Some([f64::NAN, f64::INFINITY]));
    spread.runs = vec![f64::NAN, f64::NEG_INFINITY, -4.0];
    publication.rankings[0].places[0].value = f64::NAN;
    publication.comparison.tests[0].pairs[0].percent = f64::NAN;
    let page = html(&publication).replace(SCRIPT, "").replace(STYLE, "");
    assert!(!page.contains("NaN") && !page.contains(">inf"), "no number");
    well_formed(&html(&publication));
}

#[test]
fn a_card_under_two_settings_is_counted_once() {
    let publication = sample::of_two_settings(3, 3, 3);
    assert_eq!(publication.comparison.entries.len(), 4);
    assert!(subtitle(&publication).starts_with("3 cards · "), "{}", subtitle(&publication));
}
