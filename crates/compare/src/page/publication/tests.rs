//! Formats of small documents, and of names that could break them.

use super::*;
use cardscope_model::card_details::CardDetails;
use cardscope_model::card_map::FlashGeometry;
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::condition::Condition;
use cardscope_testkit::samples as sample;
use serde_json::json;
use std::collections::BTreeMap;

/// Publication of two cards, two runs and one test: small enough to be read whole.
pub(super) fn small_publication() -> Publication {
    let mut publication = sample::publication(2, 2, 1);
    publication
        .cards
        .iter_mut()
        .for_each(|part| (part.courses, part.map, part.verify, part.sustain) = (vec![], None, None, None));
    if let Some(second) = publication.cards.get_mut(1) {
        second.latencies.clear();
    }
    publication
}

#[test]
fn crystaldiskmark_layout_matches_its_snapshot() {
    let text = crystaldiskmark(&small_publication());
    assert_eq!(text.matches("[Read]").count(), 2, "a report a card");
    insta::assert_snapshot!(text.split("\n\n---").next().unwrap(), @r"
    ------------------------------------------------------------------------------
    Cardscope 0.1.0, in the layout of CrystalDiskMark 8
                        MB/s are true: 10^6 bytes a second; the fastest run counts
    ------------------------------------------------------------------------------
    * MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
    * KB = 1000 bytes, KiB = 1024 bytes

    [Read]
      SEQ    1MiB (Q=  8, T= 1):    58.810 MB/s [     56.1 IOPS] <   524.34 us>

    Profile: cdm8-default
       Test: 1 GiB (x10) [Alder Swift 64GB]
       Mode:
       Date: 2026/05/17
         OS: unknown
    ");
}

#[test]
fn crystaldiskmark_recipe_gives_the_best_of_the_loops() {
    let mut publication = small_publication();
    let spread = publication.comparison.tests[0].spreads[0].as_mut().unwrap();
    let own = spread.as_printed.as_mut().unwrap();
    (own.best.value, own.best.unit) = (61.25, "MB/s".to_owned());
    assert!(crystaldiskmark(&publication).contains("(Q=  8, T= 1):    61.250 MB/s"));
    // MB/s of another tool can have any unit.
    publication.comparison.entries[0].settings.iter_mut().for_each(|s| s.recipe = "kdiskmark".into());
    assert!(crystaldiskmark(&publication).contains("(Q=  8, T= 1):    58.810 MB/s"));
}

#[test]
fn kdiskmark_layout_matches_its_snapshot() {
    let text = kdiskmark(&small_publication());
    let second = text.match_indices("Cardscope (").nth(1).unwrap().0;
    insta::assert_snapshot!(text[..second].trim_end(), @r"
                       Cardscope (0.1.0), in the layout and units of KDiskMark 3.3.0
                                                         The mean of all runs counts
    --------------------------------------------------------------------------------
    * MB/s = 1,024,000 bytes/s, as KDiskMark counts them
    * KB = 1000 bytes, KiB = 1024 bytes

    [Read]
    Sequential   1 MiB (Q=  8, T= 1):    56.458 MB/s [     55.1 IOPS] <   524.34 us>

    Profile: cdm8-default
       Test: 1 GiB (x10)
       Date: 2026-05-17
         OS: unknown
     Target: Alder Swift 64GB
    ");
}

#[test]
fn csv_matches_its_sample() {
    let rows = String::from_utf8(to_csv(&small_publication()).unwrap()).unwrap().replace('\r', "");
    sample::assert_same_sample("small.csv", &rows);
}

#[test]
fn details_of_a_card_are_in_every_text_format() {
    let mut publication = small_publication();
    let mut details = CardDetails { pcie_link: Some("PCIe 3.0 x1".into()), ..CardDetails::default() };
    details.limits.tmt1_celsius = Some(81.0);
    details.add_temperatures(&Condition::default(), Some(45.0), Some(82.0));
    let unit = Property::measured(4 << 20, 0.99, PropertyEvidence::default());
    details.add_geometry(FlashGeometry { erase_block_bytes: unit, ..FlashGeometry::default() });
    publication.cards[0].map = None;
    publication.comparison.details.insert(publication.cards[0].card_id.clone(), details);
    for format in ["html", "markdown", "json", "csv", "plotly"] {
        let text = (format_by_name(format).unwrap().write)(&publication).unwrap();
        let text = String::from_utf8(text).unwrap();
        let unit = if ["json", "csv"].contains(&format) { "4194304" } else { "4 MiB (99 %)" };
        assert!(
            text.contains("PCIe 3.0 x1") && text.contains("81") && text.contains(unit),
            "{format}: {text}"
        );
    }
    for text in [render_markdown(&publication_page(&publication)), plotly_page(&publication)] {
        assert!(text.contains("Idle 45 °C, peak 82 °C."), "{text}");
    }
}

#[test]
fn markdown_matches_its_sample() {
    sample::assert_same_sample("small.md", &render_markdown(&publication_page(&small_publication())));
}

#[test]
fn plotly_block_has_the_published_form() {
    let page = plotly_page(&small_publication());
    let block = page.split("{{< plotly >}}").nth(1).and_then(|rest| rest.split("{{< /plotly >}}").next());
    let chart: serde_json::Value = serde_json::from_str(block.unwrap()).unwrap();
    let run = |name: &str, x: f64| json!({ "x": [x], "name": name, "type": "bar", "orientation": "h" });
    assert_eq!(
        chart,
        json!({
            "common_data": { "y": ["SEQ1M Q8T1 read"] },
            "data": [run("Run 2", 58.81), run("Run 1", 56.817)],
            "layout": {
                "margin": { "t": 0, "l": 140, "b": 60 },
                "xaxis": { "ticksuffix": " MB/s", "range": [0, 63.515] },
                "legend": { "traceorder": "reversed" },
                "autosize": true,
                "height": 300
            },
            "config": { "responsive": true }
        })
    );
    let blocks: Vec<&str> = page.split("{{< plotly >}}").skip(1).collect();
    assert_eq!(blocks.len(), 2 + 3, "every run of two cards; averages, worsts, bests");
}

#[test]
fn document_survives_json() {
    let publication = sample::publication(3, 3, 3);
    let written = super::to_json(&publication).unwrap();
    let back: Publication = serde_json::from_slice(&written).unwrap();
    assert_eq!((&back.title, back.comparison.entries.len(), back.cards.len()), (&publication.title, 3, 3));
    let page = |of: &Publication| of.cards[0].map.as_ref().and_then(|map| map.body.measured.page_bytes.value);
    assert_eq!((page(&back), &back.cards[1].events), (page(&publication), &publication.cards[1].events));
}

#[test]
fn format_is_found_by_name_and_file_ending() {
    assert_eq!(format_by_file("cards.PNG").map(|f| f.name), Some("png"));
    assert_eq!(format_by_file("post.plotly.md").map(|f| f.name), Some("plotly"));
    assert_eq!(format_by_file("post.md").map(|f| f.name), Some("markdown"));
    assert_eq!((format_by_file("cards.doc").is_some(), format_by_name("csv").is_some()), (false, true));
}

#[test]
fn picture_without_figures_is_refused_with_alternatives() {
    let error = draw_main_chart(&sample::publication(0, 0, 0), PictureFormat::Svg).unwrap_err().to_string();
    assert!(error.contains("no card in it has a speed") && error.contains(".html"), "{error}");
}

#[test]
fn formulas_in_names_are_escaped_in_csv() {
    let mut publication = small_publication();
    publication.comparison.entries[0].name = "=HYPERLINK(\"x\")".into();
    publication.comparison.entries[1].sources = vec!["@SUM(A1)".into()];
    let text = String::from_utf8(to_csv(&publication).unwrap()).unwrap();
    assert!(text.contains("\"'=HYPERLINK(\"\"x\"\")\"") && text.contains("'@SUM(A1)"), "{text}");
}

#[test]
fn markup_in_names_is_escaped() {
    let mut publication = small_publication();
    let name = "a | b {{< /plotly >}} +++\n# <script>";
    publication.title = name.into();
    publication.comparison.entries[0].name = name.into();
    for page in [plotly_page(&publication), render_markdown(&publication_page(&publication))] {
        assert!(!page.contains("<script") && !page.contains("a | b {{<"), "{page}");
        assert_eq!(page.matches("{{< /plotly >}}").count(), page.matches("{{< plotly >}}").count());
        assert!(!page.lines().any(|line| line.starts_with("# <")), "{page}");
    }
}

/// Rows of the CSV, each cell by its heading.
pub(super) fn rows(publication: &Publication) -> Vec<BTreeMap<String, String>> {
    let mut rows = ::csv::Reader::from_reader(to_csv(publication).map(std::io::Cursor::new).unwrap());
    let heads = rows.headers().unwrap().clone();
    let row = |row: ::csv::StringRecord| {
        heads.iter().zip(&row).map(|(head, cell)| (head.to_owned(), cell.to_owned())).collect()
    };
    rows.records().map(Result::unwrap).map(row).collect()
}

/// MB/s and IOPS in a line of either tool.
fn figures(line: &str) -> Option<(f64, f64)> {
    let (_, rest) = line.split_once("): ")?;
    let (mb_s, rest) = rest.split_once(" MB/s [")?;
    let (iops, _) = rest.split_once(" IOPS]")?;
    Some((mb_s.trim().parse().ok()?, iops.trim().parse().ok()?))
}

#[test]
fn speeds_agree_with_iops_in_all_layouts() {
    let publication = sample::publication(4, 5, 12);
    let blocks = publication.comparison.tests.iter().map(|t| (t.test.pattern.block as f64, t.test.op));
    let reads_first: Vec<f64> = blocks
        .clone()
        .filter(|b| !b.1.writes())
        .chain(blocks.filter(|b| b.1.writes()))
        .map(|b| b.0)
        .collect();
    for (text, unit) in [(crystaldiskmark(&publication), 1e6), (kdiskmark(&publication), 1_024_000.0)] {
        let lines: Vec<(f64, f64)> = text.lines().filter_map(figures).collect();
        assert_eq!(lines.len(), 4 * 12 - 1);
        for ((mb_s, iops), block) in lines.iter().zip(reads_first.iter().cycle()) {
            // The speed has three printed decimals, the rate one.
            let rounding = 0.0005 * unit + 0.05 * block;
            assert!((mb_s * unit - iops * block).abs() <= rounding * 1.01, "{mb_s} {iops} {block}");
        }
    }
    for row in rows(&publication).into_iter().filter(|row| !row["mb_s"].is_empty()) {
        let cell = |name: &str| row[name].parse::<f64>().unwrap();
        let (bytes, by_ios) = (cell("mb_s") * 1e6, cell("iops") * cell("block_bytes"));
        // Both columns have ten digits.
        assert!((bytes - by_ios).abs() <= bytes.abs() * 1e-9, "{bytes} {by_ios}");
    }
}
