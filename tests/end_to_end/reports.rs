//! `report`: every format of one archive has the same figures, pages load nothing, and layouts of other tools can be
//! imported again.

use crate::common::binary::Home;
use crate::common::logs::taken_in;
use crate::common::machine::run_tool;
use crate::common::pages::{
    browsed, document, drawer, figures, letters, markdown_tables, only_script, page, published, read_again,
    records, report,
};
use crate::common::{list, text};
use cardscope_model::units::round_measured;
use serde_json::Value;

#[test]
fn all_formats_have_the_same_figures() {
    let home = drawer();
    let document = document(&home, &[]);
    let all = figures(&document);
    assert_eq!(list(&document, "/comparison/entries").len(), 4);
    assert_eq!(all.len(), 4 * (3 * 12 + 12), "{document:#}");

    let rows = records(&home, &published(&home, "csv", &[]));
    let names: Vec<&str> = list(&document, "/comparison/entries").iter().map(|e| text(e, "/name")).collect();
    for (test, entry, kind, mb_s) in &all {
        let of = |row: &&Value| {
            format!("{} {}", text(row, "/test"), text(row, "/op")) == *test
                && text(row, "/card") == names[*entry]
                && text(row, "/figure") == *kind
        };
        let found: Vec<f64> = rows.iter().filter(of).map(|row| text(row, "/mb_s").parse().unwrap()).collect();
        // CSV has ten digits, the resolution of the clock.
        assert_eq!(found, [round_measured(*mb_s)], "{kind} of {test} of {}", names[*entry]);
    }
    let runs: usize = list(&document, "/comparison/tests")
        .iter()
        .flat_map(|test| list(test, "/spreads"))
        .filter_map(|spread| spread["runs"].as_array())
        .map(Vec::len)
        .sum();
    assert_eq!(rows.iter().filter(|row| text(row, "/figure") == "run").count(), runs);

    let markdown = markdown_tables(&page(&home, "md", &[]));
    let kinds = ["Average", "Worst", "Best", "Median"].map(|kind| format!("{kind}, MB/s"));
    let tables: Vec<&Vec<Vec<String>>> =
        kinds.iter().map(|kind| &markdown.iter().find(|(heading, _)| heading == kind).unwrap().1).collect();
    for (test, entry, kind, mb_s) in &all {
        let table = tables[["average", "worst", "best", "median"].iter().position(|k| k == kind).unwrap()];
        let row = table.iter().find(|row| row[0] == *test).unwrap();
        let shown: f64 = row[entry + 1].split(' ').next().unwrap().parse().unwrap();
        // Three digits, whole numbers from 100 MB/s.
        assert!((shown - mb_s).abs() <= (mb_s * 5.1e-3).min(0.51), "{kind} of {test}: {shown} for {mb_s}");
    }
    let found = browsed(&home, &page(&home, "html", &[]));
    let rows: Vec<Vec<String>> = list(&found, "/rows")
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().to_owned()).collect())
        .collect();
    let without_heads =
        |rows: &Vec<Vec<String>>| rows.iter().filter(|row| row[0] != "test").cloned().collect::<Vec<_>>();
    let expected: Vec<Vec<String>> = tables.iter().flat_map(|table| without_heads(table)).collect();
    assert_eq!(without_heads(&rows), expected, "the page has the tables of Markdown");

    let picture = letters(&home, &published(&home, "svg", &[]));
    for row in &tables[0][1..] {
        for cell in row[1..].iter().filter(|cell| *cell != "–") {
            assert!(picture.contains(cell), "{cell} of {row:?} in the picture");
        }
    }
}

#[test]
fn a_page_for_hugo_has_the_averages_worsts_and_bests_in_its_charts() {
    let home = drawer();
    let document = document(&home, &[]);
    let page = page(&home, "plotly.md", &[]);
    let front = page.split("+++").nth(1).unwrap();
    let toml = "import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.argv[1])['title']))";
    let title: Value = serde_json::from_str(&run_tool("python3", &["-c", toml, front])).unwrap();
    assert_eq!(title, document["title"]);
    for (heading, kind) in [("averages", "average"), ("worsts", "worst"), ("bests", "best")] {
        let part = page.split(&format!("## Comparison of {heading}\n")).nth(1).unwrap();
        let block = part.split("{{< plotly >}}").nth(1).unwrap().split("{{< /plotly >}}").next().unwrap();
        let chart: Value = serde_json::from_str(block).unwrap();
        let of = figures(&document).into_iter().filter(|(_, _, k, _)| *k == kind);
        let mut compared = 0;
        for (test, entry, _, mb_s) in of {
            let traces = list(&chart, "/data");
            // Plotly draws upwards, so the last entry comes first.
            let trace = &traces[traces.len() - 1 - entry];
            let at = list(&chart, "/common_data/y").iter().position(|name| *name == test.as_str()).unwrap();
            let shown = trace["x"][at].as_f64().unwrap();
            assert!((shown - mb_s).abs() <= 0.0501, "{kind} of {test}: {shown} for {mb_s}");
            compared += 1;
        }
        assert_eq!(compared, 3 * 12 + 12);
    }
}

#[test]
fn png_is_valid() {
    let home = drawer();
    let file = home.path("cards.png");
    report(&home, &file, &[]).expect(0);
    // Checks the checksum of every chunk and the number of pixels.
    let read = "
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
assert data[:8] == b'\\x89PNG\\r\\n\\x1a\\n'
at, pixels, last = 8, b'', b''
while at < len(data):
    size, kind = struct.unpack('>I4s', data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    assert zlib.crc32(kind + body) == struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0]
    if kind == b'IHDR': width, height, depth, colour = struct.unpack('>IIBB', body[:10])
    if kind == b'IDAT': pixels += body
    at, last = at + 12 + size, kind
channels = {2: 3, 6: 4}[colour]
rows = zlib.decompress(pixels)
print(last.decode(), width, len(rows) == height * (1 + width * channels * depth // 8), len(set(rows)) > 20)
";
    assert_eq!(run_tool("python3", &["-c", read, file.to_str().unwrap()]), "IEND 1520 True True");
}

#[test]
fn html_loads_nothing_and_runs_only_its_script() {
    let home = drawer();
    told_of_a_purchase(&home);
    let page = page(&home, "html", &["--for", "game-load"]);
    let found = browsed(&home, &page);
    let loads =
        ["src", "href", "srcset", "data", "action", "poster", "background", "xlink:href", "formaction"];
    for attribute in list(&found, "/attributes") {
        let [tag, name, value] = [0, 1, 2].map(|n| attribute[n].as_str().unwrap());
        assert!(!name.starts_with("on"), "{tag} {name}={value}");
        assert!(!loads.contains(&name), "{tag} {name}={value}");
        assert!(name != "style" || !value.contains("url("), "{tag} {name}={value}");
    }
    for tag in ["link", "iframe", "img", "object", "embed", "base", "audio", "video", "source"] {
        assert!(!list(&found, "/tags").iter().any(|t| t == tag), "{tag}");
    }
    // The name of the SVG namespace is not loaded.
    let code = only_script(&found).replace("http://www.w3.org/2000/svg", "");
    for word in [
        "@import",
        "url(",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "EventSource",
        "sendBeacon",
        "import(",
        "://",
        "eval(",
    ] {
        assert!(!code.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"));
    // An address in an event is plain text.
    assert!(text(&found, "/text").contains("https://shop.example/receipt"));
}

/// Adds an event with an address.
fn told_of_a_purchase(home: &Home) {
    let bought = ["--event", "bought", "--date", "2024-03", "--price", "12.99EUR"];
    let source = ["--source", "https://shop.example/receipt"];
    home.run(&[&["archive", "edit", "Swift"], &bought[..], &source].concat()).expect(0);
}

/// Compares an exported text with the document; `rounding` is half of its last digit in MB/s.
#[track_caller]
fn same_figures(ending: &str, kind: &str, rounding: f64) {
    let home = drawer();
    let (document, logs) = (document(&home, &[]), read_again(&home, ending));
    assert_eq!(logs.len(), 4, "a report for each column");
    let mut compared = 0;
    for (test, entry, _, mb_s) in figures(&document).into_iter().filter(|(_, _, k, _)| *k == kind) {
        let found: Vec<f64> = logs[entry].iter().filter(|(name, _)| *name == test).map(|(_, v)| *v).collect();
        assert_eq!(found.len(), 1, "{test} of column {entry} in {ending}: {found:?}");
        assert!((found[0] - mb_s).abs() <= rounding, "{test} in {ending}: {found:?} for {mb_s}");
        compared += 1;
    }
    assert_eq!(compared, logs.iter().map(Vec::len).sum::<usize>(), "and nothing else");
}

#[test]
fn crystaldiskmark_export_round_trips() {
    same_figures("cdm.txt", "best", 0.000_501);
}

#[test]
fn crystaldiskmark_3_layout_is_kept() {
    let home = Home::new();
    let lines = [
        "           Sequential Read :    91.250 MB/s",
        "          Sequential Write :    31.500 MB/s",
        "         Random Read 512KB :    88.125 MB/s",
        "        Random Write 512KB :     1.875 MB/s",
        "    Random Read 4KB (QD=1) :     4.096 MB/s [  1000.0 IOPS]",
        "   Random Write 4KB (QD=1) :     1.024 MB/s [   250.0 IOPS]",
        "   Random Read 4KB (QD=32) :     4.608 MB/s [  1125.0 IOPS]",
        "  Random Write 4KB (QD=32) :     1.024 MB/s [   250.0 IOPS]",
    ];
    let log = home.path("swift.txt");
    std::fs::write(&log, format!("{}\n\n  Test : 1000 MB [F: 0.0% (0.1/29.7 GB)] (x5)\n", lines.join("\n")))
        .unwrap();
    home.run(&["import", log.to_str().unwrap(), "--brand", "Acme", "--card", "Swift"]).expect(0);
    let page = page(&home, "cdm.txt", &[]);
    assert!(page.contains(&lines.join("\n")) && page.contains("Test : 1000 MB ["), "{page}");
    assert_eq!(read_again(&home, "cdm.txt").iter().map(Vec::len).collect::<Vec<_>>(), [8]);
}

/// MB in this layout are 1 024 000 bytes.
#[test]
fn kdiskmark_export_round_trips() {
    same_figures("kdm.txt", "average", 0.000_513);
}

#[test]
fn hugo_export_round_trips() {
    let home = Home::new();
    taken_in(&home, "a.log", &[700, 690, 710], &["--brand", "Acme", "--card", "Swift", "--capacity", "64GB"]);
    let document = document(&home, &[]);
    let logs = read_again(&home, "plotly.md");
    let runs =
        list(&document, "/comparison/tests").iter().map(|t| list(t, "/spreads/0/runs").len()).sum::<usize>();
    assert_eq!(logs.iter().map(Vec::len).sum::<usize>(), runs);
    for (name, mb_s) in &logs[0] {
        let test = list(&document, "/comparison/tests").iter().find(|t| text(t, "/test") == name).unwrap();
        let runs = list(test, "/spreads/0/runs");
        assert!(
            runs.iter().any(|run| (run.as_f64().unwrap() - mb_s).abs() < 0.051),
            "{name}: {mb_s} of {runs:?}"
        );
    }
}

#[test]
fn latencies_stay_with_their_card() {
    let home = drawer();
    let page = page(&home, "cdm.txt", &[]);
    // Only the measured card, in the last column, has latencies.
    let reports: Vec<&str> = page.split("[Read]").skip(1).collect();
    let timed: Vec<usize> = reports.iter().map(|report| report.matches(" us>").count()).collect();
    assert_eq!(timed[..3], [0, 0, 0], "{page}");
    assert_eq!(timed[3], 12, "{page}");
}

#[test]
fn report_counts_cards_not_settings() {
    let home = Home::new();
    let file = home.path("all.html");
    // The shipped cards: seven, two of them with two kinds of cooling, three with several sizes.
    let said = home.run(&["report", "-o", file.to_str().unwrap()]).expect(0).stdout;
    assert!(said.contains("all.html: 7 cards, html"), "{said}");
    let page = std::fs::read_to_string(file).unwrap();
    assert!(
        page.contains("<dt>cards</dt><dd>7</dd>") && page.contains("<dt>tests</dt><dd>26</dd>"),
        "the head of the page"
    );
}
