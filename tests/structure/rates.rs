//! The error rate in the text of a method's chapter equals that of the tables in `docs/accuracy.md`.

fn page(name: &str) -> String {
    let path = format!("{}/../../docs/{name}.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a page can be read");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Rows of the table behind a mark or heading.
fn rows(behind: &str) -> Vec<Vec<String>> {
    let text = include_str!("../../docs/accuracy.md");
    let (_, rest) = text.split_once(behind).unwrap_or_else(|| panic!("docs/accuracy.md has no {behind}"));
    let lines =
        rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    lines
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

fn sum(rows: &[Vec<String>], column: usize) -> u32 {
    rows.iter().map(|row| row[column].parse::<u32>().expect("a number of cards")).sum()
}

#[test]
fn capacity_chapter_matches_the_measured_error_rate() {
    let rows = rows("<!-- fakes -->");
    let cards = sum(&rows, 1);
    for row in rows.iter().filter(|row| row[1] != row[2]) {
        assert_eq!(row[3], "100.0 %", "{}: reword docs/verify.md", row[0]);
        assert_eq!((row[5].as_str(), row[6].as_str()), ("0", "0"), "{}: reword docs/verify.md", row[0]);
    }
    let said = format!("On {} {:03} random fakes the quick test named the kind", cards / 1000, cards % 1000);
    assert!(page("verify").contains(&said), "docs/verify.md does not say {said:?}");
}

#[test]
fn geometry_chapter_matches_the_measured_error_rate() {
    let rows = rows("<!-- map -->");
    for property in ["page, where it shows", "erase block, where it shows"] {
        let row = rows.iter().find(|row| row[0] == property).expect("the property is in the table");
        assert_eq!(row[1], "100.0 %", "{property}: reword docs/map.md");
    }
    let said = "On 300 random cards it named the page and the erase block right wherever they show";
    assert!(
        page("map").contains(said) && page("accuracy").contains(" 300 cards. "),
        "docs/map.md does not say {said:?}"
    );
}

#[test]
fn sustain_chapter_matches_the_measured_error_rate() {
    let rows = rows("<!-- causes: cards -->");
    for row in &rows {
        assert_eq!(row[2], "100.0 %", "{}: reword docs/sustain.md", row[0]);
    }
    let said = format!("On {} simulated cards it named the cause right in every case", sum(&rows, 1));
    assert!(page("sustain").contains(&said), "docs/sustain.md does not say {said:?}");
}

#[test]
fn speed_chapter_matches_the_difference_to_fio() {
    let rows = rows("### Speed on a target of fixed time");
    let off = |row: &Vec<String>| {
        row[3].trim_end_matches(" %").trim_start_matches('+').parse::<f64>().unwrap().abs()
    };
    let most = rows.iter().map(off).fold(0.0, f64::max);
    let said = format!("within {:.1} % of fio on a target of fixed time", (most * 10.0).ceil() / 10.0);
    assert!(page("bench").contains(&said), "docs/bench.md does not say {said:?}");
}
