//! Exported tables, read back and compared with the archive.

use crate::engines::on_both;
use crate::logs::{card, import, log};
use crate::sessions::{record, report, results_of, run, sample, start};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::report::{Report, ReportHeader};
use cardscope_store::{Archive, SessionEnd, TableFile, TablesError};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::json;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Files of an export.
struct Written {
    folder: tempfile::TempDir,
    files: Vec<TableFile>,
}

impl Written {
    fn of(archive: &mut Archive, excluded: &HashMap<String, String>) -> Written {
        let folder = tempfile::tempdir().unwrap();
        let files = archive.write_tables(excluded, |name| create(folder.path(), name), || false).unwrap();
        Written { folder, files }
    }

    fn files(&self, table: &str) -> Vec<PathBuf> {
        self.files.iter().filter(|f| f.table == table).map(|f| self.folder.path().join(&f.name)).collect()
    }

    fn rows(&self, table: &str) -> Vec<Row> {
        let rows = |file: PathBuf| {
            let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
            reader.get_row_iter(None).unwrap().map(Result::unwrap).collect::<Vec<_>>()
        };
        self.files(table).into_iter().flat_map(rows).collect()
    }
}

fn create(folder: &Path, name: &str) -> std::io::Result<File> {
    let place = folder.join(name);
    fs::create_dir_all(place.parent().unwrap())?;
    File::create_new(place)
}

fn field<'a>(row: &'a Row, name: &str) -> &'a Field {
    let mut columns = row.get_column_iter();
    columns.find(|(column, _)| *column == name).unwrap_or_else(|| panic!("no column {name}")).1
}

fn text(row: &Row, name: &str) -> String {
    match field(row, name) {
        Field::Str(text) => text.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

fn real(row: &Row, name: &str) -> f64 {
    match field(row, name) {
        Field::Double(number) => *number,
        other => panic!("{name} is {other:?}"),
    }
}

fn whole(row: &Row, name: &str) -> i64 {
    match field(row, name) {
        Field::Long(number) => *number,
        Field::Int(number) => i64::from(*number),
        Field::TimestampMicros(micros) => *micros,
        other => panic!("{name} is {other:?}"),
    }
}

/// Two own benchmarks, one of them crashed, records of two verbs, and logs of three years.
fn fill(place: &Path) -> Archive {
    let mut archive = Archive::open(place).unwrap();
    let own = archive.begin_session(&start()).unwrap();
    let runs: Vec<_> = [1, 2, 3].map(|n| results_of(n, &[("RND4K Q1T1 read", 8.0 + f64::from(n))])).into();
    for results in &runs {
        archive.begin_run(own, run(results.run)).unwrap();
        for loop_index in 0..3 {
            archive.add_sample(own, results.run, &sample(loop_index)).unwrap();
        }
        archive.finish_run(own, results).unwrap();
    }
    archive.finish(own, SessionEnd::Complete, &report(own, runs)).unwrap();
    let crashed = archive.begin_session(&start()).unwrap();
    archive.begin_run(crashed, run(1)).unwrap();
    archive.add_sample(crashed, 1, &sample(0)).unwrap();
    let verify = archive.begin_session(&record("verify")).unwrap();
    let finding = Finding::new("capacity", FindingWeight::Bad, 0.99, "It holds 52 GB.").because("bytes", 52);
    let header = ReportHeader { findings: vec![finding], ..ReportHeader::default() };
    let document = Report { header, body: json!({ "verdict": "limbo" }) };
    archive.finish(verify, SessionEnd::Complete, &document).unwrap();
    let sustain = archive.begin_session(&record("sustain")).unwrap();
    let series = json!([
        {"at_s": 1.0, "phase": "main", "write_mb_s": 90.0, "bytes_written": 90_000_000, "bytes_read": 0,
         "longest_gap_s": 0.1, "temperatures": [{"place": "card", "celsius": 41.5}, {"place": "SoC", "celsius": 60.0}]},
        {"at_s": 2.5, "phase": "main", "write_mb_s": 20.0, "read_mb_s": 4.0, "bytes_written": 120_000_000,
         "bytes_read": 6_000_000, "longest_gap_s": 0.1},
        {"at_s": 3.5, "phase": "pause", "bytes_written": 120_000_000, "bytes_read": 6_000_000, "longest_gap_s": 1.0},
    ]);
    let document = Report { header: ReportHeader::default(), body: json!({ "series": series }) };
    archive.finish(sustain, SessionEnd::Complete, &document).unwrap();
    for (number, date) in ["2019-05-04", "2021", "2024-12"].into_iter().enumerate() {
        let mut log = log(card("Acme", &format!("Card {number}"), "64GB"), &[80.0, 81.5]);
        log.date = Some(date.to_owned());
        import(&mut archive, &format!("{number}.log"), &log);
    }
    archive
}

#[test]
fn tables_contain_every_row_once() {
    on_both(|place| {
        let mut archive = fill(place);
        let written = Written::of(&mut archive, &HashMap::new());
        let ids = |rows: &[Row]| rows.iter().map(|row| text(row, "session")).collect::<Vec<_>>();

        let sessions = written.rows("sessions");
        let listed = archive.sessions().unwrap();
        assert_eq!(
            ids(&sessions).into_iter().collect::<BTreeSet<_>>(),
            listed.iter().map(|s| s.id.to_string()).collect()
        );
        assert_eq!(sessions.len(), listed.len());

        let cards = archive.cards().unwrap();
        let all: Vec<String> = cards.iter().map(|card| card.id.clone()).collect();
        let runs = archive.measurements(&all).unwrap();
        let figures = written.rows("figures");
        assert_eq!(figures.len(), runs.iter().map(|run| run.run.results.len()).sum::<usize>());
        let sum: f64 = figures.iter().map(|row| real(row, "mb_s")).sum();
        let expected: f64 = runs.iter().flat_map(|run| &run.run.results).map(|figure| figure.mb_s).sum();
        assert!((sum - expected).abs() < 1e-9, "{sum} {expected}");
        assert_eq!(written.rows("cards").len(), cards.len());
        for file in &written.files {
            let path = written.folder.path().join(&file.name);
            assert_eq!(file.bytes, fs::metadata(&path).unwrap().len());
            let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
            assert_eq!(reader.metadata().file_metadata().num_rows(), file.rows as i64, "{}", file.name);
        }
    });
}

#[test]
fn own_runs_have_details_and_logs_printed_values() {
    on_both(|place| {
        let mut archive = fill(place);
        let written = Written::of(&mut archive, &HashMap::new());
        let figures = written.rows("figures");
        let own: Vec<&Row> = figures.iter().filter(|row| text(row, "kind") == "bench").collect();
        assert_eq!(own.len(), 3);
        let last = own[2];
        assert_eq!((text(last, "test").as_str(), real(last, "mb_s")), ("RND4K Q1T1 read", 11.0));
        assert_eq!(
            (text(last, "access"), text(last, "op"), whole(last, "block_bytes")),
            ("RND".into(), "read".into(), 4096)
        );
        assert_eq!(
            (whole(last, "run"), whole(last, "place"), field(last, "counted")),
            (3, 1, &Field::Bool(true))
        );
        assert_eq!((text(last, "recipe"), whole(last, "size_bytes")), ("quick".into(), 1 << 30));
        assert_eq!((real(last, "latency_us_mean"), real(last, "latency_us_max")), (410.0, 900.0));
        for column in ["bytes", "seconds"] {
            assert_ne!(field(last, column), &Field::Null, "{column}");
        }
        let log: Vec<&Row> = figures.iter().filter(|row| text(row, "kind") == "import").collect();
        assert_eq!(
            (field(log[0], "bytes"), field(log[0], "temperature_c_max")),
            (&Field::Null, &Field::Null)
        );
        // 4 May 2019.
        assert_eq!(whole(log[0], "measured_at"), 1_556_928_000_000_000);
        let years: BTreeSet<String> = written
            .files
            .iter()
            .filter(|file| file.table == "figures")
            .map(|file| file.name.split('/').nth(1).unwrap().to_owned())
            .collect();
        let now = jiff::Timestamp::now().to_string()[..4].to_owned();
        assert_eq!(years, ["2019", "2021", "2024", &now].map(|year| format!("year={year}")).into());
    });
}

#[test]
fn series_and_findings_of_all_verbs_are_exported() {
    on_both(|place| {
        let mut archive = fill(place);
        let written = Written::of(&mut archive, &HashMap::new());
        let series = written.rows("series");
        let of = |kind: &str| series.iter().filter(|row| text(row, "kind") == kind).collect::<Vec<_>>();
        // Three runs of three loops, and one loop of an unfinished run, five seconds each.
        assert_eq!(of("bench").len(), (3 * 3 + 1) * 5);
        let second = of("bench")[6];
        assert_eq!((whole(second, "loop"), real(second, "at_s"), whole(second, "ios")), (1, 1.0, 2));
        assert_eq!((real(second, "latency_us_mean"), real(second, "temperature_c")), (1683.0, 41.7));
        let long = of("sustain");
        let seen: Vec<(String, f64, f64, i64)> = long
            .iter()
            .map(|row| (text(row, "op"), real(row, "at_s"), real(row, "seconds"), whole(row, "bytes")))
            .collect();
        assert_eq!(
            seen,
            [
                ("write".into(), 0.0, 1.0, 90_000_000),
                ("write".into(), 1.0, 1.5, 30_000_000),
                ("read".into(), 1.0, 1.5, 6_000_000),
            ]
        );
        assert_eq!((real(long[0], "temperature_c"), text(long[0], "phase").as_str()), (60.0, "main"));

        let findings = written.rows("findings");
        let bad = findings.iter().find(|row| text(row, "kind") == "verify").unwrap();
        assert_eq!(
            (text(bad, "claim"), text(bad, "weight"), real(bad, "confidence")),
            ("capacity".into(), "bad".into(), 0.99)
        );
        assert_eq!(text(bad, "evidence"), r#"[["bytes","52"]]"#);
        assert!(findings.iter().any(|row| text(row, "kind") == "bench"));
    });
}

#[test]
fn cards_have_marks_prices_and_exclusion_reason() {
    on_both(|place| {
        let mut archive = fill(place);
        let cards = archive.cards().unwrap();
        let marked = &cards.iter().find(|card| card.title.contains("Card 1")).unwrap().id;
        archive.edit_card(marked, |facts| facts.marks = vec!["U3".into(), "A2".into()], &[], &[]).unwrap();
        let excluded = HashMap::from([(marked.clone(), "fake".to_owned())]);
        let rows = Written::of(&mut archive, &excluded).rows("cards");
        let of = |id: &str| rows.iter().find(|row| text(row, "card_id") == *id).unwrap();
        assert!(format!("{:?}", field(of(marked), "marks")).contains(r#"Str("U3"), Str("A2")"#));
        assert_eq!(text(of(marked), "excluded"), "fake");
        let other = cards.iter().find(|card| card.id != *marked).unwrap();
        assert_eq!(field(of(&other.id), "excluded"), &Field::Null);
        assert!(!format!("{rows:?}").contains("1a2b3c4d"), "no serial number");
    });
}

#[test]
fn empty_archive_exports_all_tables_without_rows() {
    on_both(|place| {
        let written = Written::of(&mut Archive::open(place).unwrap(), &HashMap::new());
        for table in ["sessions", "figures", "series", "findings", "cards"] {
            assert_eq!((written.files(table).len(), written.rows(table).len()), (1, 0), "{table}");
        }
    });
}

#[test]
fn full_disk_and_stop_end_export() {
    on_both(|place| {
        let mut archive = fill(place);
        let folder = tempfile::tempdir().unwrap();
        let none = HashMap::new();
        let full = |_: &str| fs::OpenOptions::new().write(true).open("/dev/full");
        let error = archive.write_tables(&none, full, || false).unwrap_err();
        let TablesError::File(error) = error else { panic!("{error:?}") };
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
        let stopped = archive.write_tables(&none, |name| create(folder.path(), name), || true);
        assert!(matches!(stopped, Err(TablesError::Stopped)));
        assert!(!archive.sessions().unwrap().is_empty(), "the archive goes on");
    });
}

#[test]
fn tables_page_names_every_column_and_tested_query() {
    let folder = tempfile::tempdir().unwrap();
    let written = Written::of(&mut Archive::open(folder.path().join("a.sqlite")).unwrap(), &HashMap::new());
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = fs::read_to_string(docs.join("tables.md")).unwrap();
    for table in ["sessions", "figures", "series", "findings", "cards"] {
        let part = page.split(&format!("### {table}\n")).nth(1).unwrap().split("\n##").next().unwrap();
        let rows = part.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
        let named: Vec<&str> = rows
            .flat_map(|cell| cell.split(", "))
            .filter(|name| *name != "column" && *name != "---")
            .collect();
        let reader = SerializedFileReader::new(File::open(&written.files(table)[0]).unwrap()).unwrap();
        let schema = reader.metadata().file_metadata().schema();
        let mut columns: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
        let mut named = named;
        columns.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, columns, "{table}");
    }
    let query = fs::read_to_string(docs.join("rank-by-test.sql")).unwrap();
    assert!(page.contains(&format!("```sql\n{query}```")), "docs/rank-by-test.sql stands in docs/tables.md");
}
