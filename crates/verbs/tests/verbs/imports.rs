use cardscope_archive as archive;
use cardscope_archive::{AnswerCache, FoundItem};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_import::verb::{ImportRequest, read_logs, run_import};
use cardscope_model::import_report::ImportReport;
use cardscope_session::frame::VerbOutcome;
use cardscope_session::options::ArchiveAt;
use cardscope_store::Archive;
use cardscope_testkit::cards::dd_output;
use std::fs;
use std::path::PathBuf;

const PNG: [u8; 8] = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];

/// Typed table of figures.
const TYPED: &str = "card,size,tool,cooling,test,value,unit,source\n\
    Example Swift 64GB,1GiB,CrystalDiskMark,passive,SEQ1M Q8T1 read,88.1,MB/s,screen.png\n\
    Example Swift 64GB,1GiB,CrystalDiskMark,passive,RND4K Q1T1 write,612,IOPS,screen.png\n";

/// Temporary folder with an archive.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn archive(&self) -> PathBuf {
        self.0.path().join("archive.sqlite")
    }

    fn import(&self, files: &[PathBuf]) -> ImportReport {
        self.import_as(files, ImportRequest::default())
    }

    fn import_as(&self, files: &[PathBuf], card: ImportRequest) -> ImportReport {
        let archive = ArchiveAt { archive: Some(self.archive()) };
        let request = ImportRequest { files: files.to_vec(), detailed: true, archive, ..card };
        let VerbOutcome { report, failure } =
            run_import(&request, &InterruptFlag::default(), &mut Silent).unwrap();
        assert_eq!(failure, None);
        report
    }

    fn titles(&self) -> Vec<String> {
        Archive::open(self.archive()).unwrap().cards().unwrap().into_iter().map(|card| card.title).collect()
    }
}

fn counted(report: &ImportReport) -> [u64; 3] {
    [report.totals.new, report.totals.known, report.totals.failed]
}

#[test]
fn typed_figures_are_imported_with_adjacent_photograph() {
    let place = Place::new();
    place.write("screen.png", PNG);
    let report = place.import(&[place.write("typed.csv", TYPED)]);
    assert_eq!(counted(&report), [1, 0, 0], "{report:#?}");
    let FoundItem::Card(card) = archive::find_session_or_card(
        Some(&place.archive()),
        "Example Swift",
        &AnswerCache::new(|_, _| None),
    )
    .unwrap() else {
        panic!()
    };
    assert_eq!((card.card.runs, card.attachments.len()), (1, 1), "{card:#?}");
    assert_eq!(
        (card.attachments[0].name.as_str(), card.attachments[0].media_type.as_str()),
        ("screen.png", "image/png")
    );
}

#[test]
fn result_file_round_trips_and_damaged_file_stops_no_other() {
    let from = Place::new();
    from.import(&[from.write("typed.csv", TYPED)]);
    let out = from.0.path().join("out");
    let written = archive::export_sessions(Some(&from.archive()), &[], &out).unwrap();
    let result = PathBuf::from(&written[0].file);

    let place = Place::new();
    let text = fs::read_to_string(&result).unwrap();
    let cut = place.write("cut.json", &text[..text.len() / 2]);
    let report = place.import(&[cut, result.clone(), place.write("dd.txt", dd_output(20, "\n"))]);
    assert_eq!(counted(&report), [2, 0, 1], "{report:#?}");
    assert_eq!(report.files[1].sessions, [written[0].session.clone()]);
    assert_eq!(place.titles(), ["dd", "Example Swift 64GB"]);
    assert_eq!(counted(&place.import(&[result])), [0, 1, 0]);
    // The export must have the same bytes.
    let again = archive::export_sessions(
        Some(&place.archive()),
        std::slice::from_ref(&written[0].session),
        &place.0.path().join("out"),
    );
    assert_eq!(fs::read_to_string(&again.unwrap()[0].file).unwrap(), text);
}

#[test]
fn equal_file_names_stay_separate_and_equal_logs_merge() {
    let place = Place::new();
    let report = place.import(&[
        place.write("acme/dd.txt", dd_output(20, "\n")),
        place.write("zeta/dd.txt", dd_output(25, "\n")),
        place.write("other/copy.txt", dd_output(20, "\r\n")),
    ]);
    assert_eq!(counted(&report), [2, 1, 0], "{report:#?}");
    assert_eq!(place.titles(), ["dd", "dd"], "called after their files");
    let refused = archive::find_session_or_card(Some(&place.archive()), "dd", &AnswerCache::new(|_, _| None))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("name one of them"), "{refused}");
}

#[test]
fn logs_named_by_user_become_one_card() {
    let place = Place::new();
    let files: Vec<PathBuf> =
        (1..=10).map(|n| place.write(&format!("{n}.txt"), dd_output(10 + n, "\n"))).collect();
    let named =
        ImportRequest { brand: Some("Acme".into()), card: Some("Swift".into()), ..ImportRequest::default() };
    assert_eq!(counted(&place.import_as(&files, named)), [10, 0, 0]);
    assert_eq!(place.titles(), ["Acme Swift"]);
}

#[test]
fn logs_in_zip_are_named_by_their_entry() {
    let place = Place::new();
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [
        ("acme/one-no-fan.txt", dd_output(20, "\n")),
        ("two.txt", dd_output(30, "\n")),
        ("readme", "hello".into()),
    ] {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
    }
    let file = place.write("logs.zip", writer.finish().unwrap().into_inner());
    let found = read_logs(&file).unwrap();
    let seen: Vec<_> = found.iter().map(|f| (f.title.as_deref(), f.member.as_str())).collect();
    assert_eq!(seen, [(Some("one"), "acme/one-no-fan.txt"), (Some("two"), "two.txt")]);
    assert_eq!(found[0].logs[0].condition.get("cooling"), Some("passive"));
    assert!(read_logs(&place.write("readme", "hello")).is_err(), "nothing of it is understood");
}

/// Output of nvme-cli, which names no card.
const COUNTERS: &str = "Smart Log for NVME device:nvme0 namespace-id:ffffffff\n\
    critical_warning : 0\ndata_units_read : 191842\nhost_read_commands : 12869\n";

#[test]
fn logs_in_several_files_become_one_card_with_limits() {
    let place = Place::new();
    let identity = "NVME Identify Controller:\nvid       : 0x1234\nsn        : 0007\nmn        : EXAMPLE SWIFT\nfr        : 1.0\n";
    let limits = "get-feature:0x04 (Temperature Threshold), Current value:0x00000164\n\
        get-feature:0x10 (Host Controlled Thermal Management), Current value:0x01620166\n";
    place.write("logs/swift-id-ctrl.log", identity);
    place.write("logs/swift-get-feature.log", limits);
    place.write("logs/swift-smart-log.log", COUNTERS);
    place.write("logs/swift-fio.log", dd_output(20, "\n"));
    place.write("logs/other-smart-log.log", COUNTERS);
    let report = place.import(&[place.0.path().join("logs")]);
    assert_eq!(report.joined.len(), 1, "{report:#?}");
    assert_eq!((report.joined[0].card.as_str(), report.joined[0].files.len()), ("EXAMPLE SWIFT", 3));
    assert_eq!(place.titles(), ["EXAMPLE SWIFT", "other smart log"]);
    let mut archive = Archive::open(place.archive()).unwrap();
    let card = archive.cards().unwrap().remove(0);
    let details =
        cardscope_compare::card_lookup::details_from_sessions(&archive.card_statements(&card.id).unwrap());
    assert_eq!(details.limits.tmt1_celsius, Some(81.0), "{details:?}");
}

#[test]
fn similar_file_names_become_one_unnamed_card() {
    let place = Place::new();
    place.write("logs/swift-smart-log.log", COUNTERS);
    place.write("logs/swift-passive-cooling.log", dd_output(20, "\n"));
    let report = place.import(&[place.0.path().join("logs")]);
    assert_eq!(report.joined.len(), 1, "{report:#?}");
    assert_eq!(place.titles(), ["swift"]);
}
