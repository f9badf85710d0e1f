//! Reports written by the binary and parsed as browsers, spreadsheets and Markdown readers do.

use super::binary::{Home, Outcome};
use super::logs::{CONSTANT, taken_in, write};
use super::machine::run_tool;
use super::{list, number, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// File extensions of all formats.
pub(crate) const ENDINGS: [&str; 9] =
    ["html", "md", "csv", "json", "svg", "png", "plotly.md", "cdm.txt", "kdm.txt"];

#[track_caller]
pub(crate) fn report(home: &Home, file: &Path, more: &[&str]) -> Outcome {
    home.run(&[&["report", "-o", file.to_str().unwrap()], more].concat())
}

/// Content of a report in a format.
#[track_caller]
pub(crate) fn published(home: &Home, ending: &str, more: &[&str]) -> Vec<u8> {
    let file = home.path(&format!("published.{ending}"));
    let _ = fs::remove_file(&file);
    report(home, &file, more).expect(0);
    fs::read(file).unwrap()
}

#[track_caller]
pub(crate) fn page(home: &Home, ending: &str, more: &[&str]) -> String {
    String::from_utf8(published(home, ending, more)).unwrap()
}

#[track_caller]
pub(crate) fn document(home: &Home, more: &[&str]) -> Value {
    serde_json::from_slice(&published(home, "json", more)).unwrap()
}

/// Archive with two cards from logs, one of them with two kinds of cooling, and a measured one with mixed tests.
pub(crate) fn drawer() -> Home {
    let home = Home::new();
    let swift = ["--brand", "Acme", "--card", "Swift", "--capacity", "64GB", "--mark", "U3"];
    taken_in(&home, "a.log", &[700, 690, 710], &[&swift[..], &["--condition", "cooling=active"]].concat());
    taken_in(&home, "b.log", &[601, 640], &[&swift[..], &["--condition", "cooling=passive"]].concat());
    taken_in(&home, "c.log", &[300, 480, 310], &["--brand", "Birch", "--card", "Slow"]);
    let bench = [
        "bench",
        CONSTANT,
        "--recipe",
        "cdm8-default-mix",
        "--size",
        "16M",
        "--runs",
        "2",
        "--seed",
        "1",
        "-q",
    ];
    home.run(&bench).expect(0);
    home
}

/// Figures of a report by kind: test, entry, kind, MB/s.
pub(crate) fn figures(document: &Value) -> Vec<(String, usize, &'static str, f64)> {
    let mut all = Vec::new();
    for test in list(document, "/comparison/tests") {
        for (entry, spread) in list(test, "/spreads").iter().enumerate().filter(|(_, s)| !s.is_null()) {
            for (field, kind) in
                [("mean", "average"), ("worst", "worst"), ("best", "best"), ("median", "median")]
            {
                all.push((text(test, "/test").to_owned(), entry, kind, number(spread, &format!("/{field}"))));
            }
        }
    }
    all
}

/// Markdown tables: heading above, and rows without the rule.
pub(crate) fn markdown_tables(page: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let mut tables: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    let (mut heading, mut inside) = (String::new(), false);
    for line in page.lines() {
        if let Some(title) = line.strip_prefix('#') {
            heading = title.trim_start_matches('#').trim().to_owned();
        }
        if !line.starts_with('|') {
            inside = false;
        } else if !std::mem::replace(&mut inside, true) {
            tables.push((heading.clone(), vec![cells(line)]));
        } else if !line.starts_with("| ---") {
            tables.last_mut().unwrap().1.push(cells(line));
        }
    }
    tables
}

/// Cells of a line of a Markdown table.
pub(crate) fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut letters = line.trim_matches('|').chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => cells.last_mut().unwrap().extend(letters.next()),
            '|' => cells.push(String::new()),
            other => cells.last_mut().unwrap().push(other),
        }
    }
    let plain = |cell: &String| cell.trim().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    cells.iter().map(plain).collect()
}

/// Script that lists what a browser finds in a page: rows of tables, attributes, scripts and styles.
pub(crate) const BROWSER: &str = "
import html.parser, json, sys
FIGURES = ['average-mb-s', 'worst-mb-s', 'best-mb-s', 'median-mb-s']
class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = {'rows': [], 'attributes': [], 'tags': [], 'code': [], 'data': [], 'text': ''}
        self.section, self.open, self.kind = '', [], ''
    def handle_starttag(self, tag, attributes):
        self.found['tags'].append(tag)
        self.found['attributes'] += [[tag, name, value or ''] for name, value in attributes]
        self.open.append(tag)
        if tag == 'script': self.kind = dict(attributes).get('type', '')
        if tag in ('section', 'details'): self.section = dict(attributes).get('data-part', '')
        if tag == 'tr' and self.section in FIGURES: self.found['rows'].append([])
        if tag in ('td', 'th') and self.section in FIGURES: self.found['rows'][-1].append('')
    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag: pass
    def handle_data(self, data):
        if 'script' in self.open and self.kind == 'application/json': self.found['data'].append(data)
        elif 'script' in self.open or 'style' in self.open: self.found['code'].append([self.open[-1], data])
        else: self.found['text'] += data
        if self.section in FIGURES and self.open and self.open[-1] in ('td', 'th'): self.found['rows'][-1][-1] += data
reader = Reader()
reader.feed(open(sys.argv[1], encoding='utf-8').read())
json.dump(reader.found, sys.stdout)
";

/// Style and script of a page, which must have only one executable script.
#[track_caller]
pub(crate) fn only_script(found: &Value) -> String {
    let code = list(found, "/code");
    let kinds: Vec<&Value> = code.iter().map(|part| &part[0]).collect();
    assert_eq!(kinds, ["style", "script"]);
    for data in list(found, "/data") {
        assert!(serde_json::from_str::<Value>(data.as_str().unwrap()).is_ok(), "{data}");
    }
    code.iter().map(|part| part[1].as_str().unwrap()).collect()
}

pub(crate) fn browsed(home: &Home, page: &str) -> Value {
    let file = write(home, "browsed.html", page);
    serde_json::from_str(&run_tool("python3", &["-c", BROWSER, &file])).unwrap()
}

/// Records of a CSV file, parsed as by a spreadsheet.
pub(crate) fn records(home: &Home, csv: &[u8]) -> Vec<Value> {
    let file = write(home, "records.csv", csv);
    let read = "import csv, json, sys; json.dump(list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True)), sys.stdout)";
    serde_json::from_str(&run_tool("python3", &["-c", read, &file])).unwrap()
}

/// Texts of a picture, which must be valid XML.
pub(crate) fn letters(home: &Home, picture: &[u8]) -> String {
    let file = write(home, "read.svg", picture);
    let read = "import sys, xml.etree.ElementTree as t; print(' '.join(''.join(e.itertext()) for e in t.parse(sys.argv[1]).iter('{http://www.w3.org/2000/svg}text')))";
    run_tool("python3", &["-c", read, &file]).replace('\u{a0}', " ")
}

/// Figures of each log in a file: pattern, direction, MB/s.
pub(crate) fn read_again(home: &Home, ending: &str) -> Vec<Vec<(String, f64)>> {
    let file = home.path(&format!("back.{ending}"));
    report(home, &file, &[]).expect(0);
    let document = home.run(&["import", "--dry-run", "--json", file.to_str().unwrap()]).expect(0).json();
    let name = |r: &Value| format!("{} {}", text(r, "/test"), text(r, "/op"));
    let of_run =
        |run: &Value| list(run, "/results").iter().map(|r| (name(r), number(r, "/mb_s"))).collect::<Vec<_>>();
    let of_file = |file: &Value| list(file, "/runs").iter().flat_map(of_run).collect();
    list(&document, "/files").iter().map(of_file).collect()
}
