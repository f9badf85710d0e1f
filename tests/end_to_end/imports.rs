//! `import`: logs of other tools in any state are stored once and completely.

use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::logs::taken_in;
use crate::common::machine::TestMount;
use crate::common::{list, text};
use serde_json::Value;
use std::path::PathBuf;

/// Address space of the program itself in MiB: code, stacks, cache of the database.
const PROGRAM_MIB: u64 = 160;

/// Log of cdm_fio with made-up numbers; `fast` is the first result.
fn log(fast: u32, size: &str) -> String {
    let rows = ["Sequential", "512KB", "Sequential Q32T1", "4KB", "4KB Q32T1", "4KB Q8T8"];
    let mut out =
        format!("Configuration:\n  Size = {size}\n  Loops = 5\n  Write Only Zeroes = 0\n\nResults:\n\n");
    for (number, row) in (0..).zip(rows) {
        out += &format!(
            "{row} Read: {}MB/s IOPS={}\n{row} Write: {}MB/s IOPS=7\n\n",
            fast - number,
            number,
            90 - number
        );
    }
    out
}

fn write(home: &Home, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = home.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn import(home: &Home, arguments: &[&str]) -> Outcome {
    home.run(&[&["import", "--json"], arguments].concat())
}

fn kept(document: &Value) -> Vec<&str> {
    list(document, "/files").iter().map(|file| text(file, "/kept")).collect()
}

fn totals(document: &Value) -> (u64, u64, u64, u64) {
    let of = |name: &str| document["totals"][name].as_u64().unwrap();
    (of("new"), of("known"), of("not_understood"), of("failed"))
}

#[test]
fn dry_run_shows_units_and_stores_nothing() {
    let home = Home::new();
    let file = write(&home, "acme-one-active-cooling.log", log(750, "1024m"));
    let document = import(&home, &["--dry-run", &file]).expect(0).json();
    let first = &document["files"][0];
    assert_eq!((text(first, "/format"), text(first, "/kept")), ("cdm_fio", "dry-run"));
    assert_eq!(text(first, "/condition/cooling"), "active");
    let result = &first["runs"][0]["results"][0];
    assert_eq!((text(result, "/test"), text(result, "/op")), ("SEQ1G Q1T1", "read"));
    assert_eq!(result["mb_s"], 786.432);
    assert_eq!(result["as_printed"], serde_json::json!({"value": 750.0, "unit": "MB/s"}));
    assert!(result["iops"].is_null(), "0 printed is less than one, not none");
    assert!(!home.archive().exists());
}

#[test]
fn log_is_stored_once_in_any_encoding() {
    let home = Home::new();
    let plain = log(700, "1024m");
    let file = write(&home, "a.log", &plain);
    assert_eq!(totals(&import(&home, &[&file]).expect(0).json()), (1, 0, 0, 0));
    let windows = write(&home, "b/a.log", plain.replace('\n', "\r\n"));
    let wide: Vec<u8> = plain.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = write(&home, "c/a.log", wide);
    let document = import(&home, &[&file, &windows, &wide]).expect(0).json();
    assert_eq!(kept(&document), ["known"; 3], "{document:#}");
    let other = write(&home, "a2.log", log(701, "1024m"));
    assert_eq!(totals(&import(&home, &[&other]).expect(0).json()), (1, 0, 0, 0));
}

#[test]
fn damaged_file_does_not_stop_an_import() {
    let home = Home::new();
    write(&home, "logs/good.log", log(700, "1024m"));
    write(&home, "logs/cut.log", &log(650, "1024m")[..150]);
    write(&home, "logs/notes.txt", "bought in May\n");
    write(&home, "logs/photo.jpg", [0xff, 0xd8, 0xff, 0xe0, 0, 1, 2]);
    write(&home, "logs/empty.log", "");
    let folder = home.path("logs");
    let document = import(&home, &[folder.to_str().unwrap()]).expect(0).json();
    assert_eq!(totals(&document), (2, 0, 3, 0), "{document:#}");
    // Named directly, the same file is an error.
    let notes = folder.join("notes.txt");
    let missing = folder.join("nowhere.log");
    import(&home, &[notes.to_str().unwrap()]).expect(1);
    let document = import(&home, &[missing.to_str().unwrap(), folder.to_str().unwrap()]).expect(1).json();
    assert!(text(&document, "/files/0/error").contains("does not exist"), "{document:#}");
    assert_eq!(totals(&document), (0, 2, 3, 1));
}

#[test]
fn import_unpacks_archives_but_no_bombs() {
    let home = Home::new();
    write(&home, "in/one.log", log(500, "1024m"));
    write(&home, "in/two.log", log(501, "1024m"));
    let zip = home.path("logs.zip");
    let made = std::process::Command::new("python3")
        .args([
            "-c",
            PACK,
            zip.to_str().unwrap(),
            home.path("in").to_str().unwrap(),
            home.path("bomb.gz").to_str().unwrap(),
        ])
        .status();
    assert!(made.unwrap().success());
    let document = import(&home, &[zip.to_str().unwrap()]).expect(0).json();
    assert_eq!(kept(&document), ["new", "new"]);
    assert!(text(&document, "/files/0/file").ends_with("logs.zip/one.log"), "{document:#}");
    let bomb = home.path("bomb.gz");
    let document = import(&home, &[bomb.to_str().unwrap()]).expect(1).json();
    assert!(text(&document, "/files/0/error").contains("too long"), "{document:#}");
}

/// Packs a folder, and some hundred MiB of zeros into some hundred KiB.
const PACK: &str = "
import gzip, os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:
    for name in sorted(os.listdir(sys.argv[2])):
        z.write(os.path.join(sys.argv[2], name), name)
with gzip.open(sys.argv[3], 'wb') as g:
    for _ in range(100):
        g.write(bytes(1 << 20))
";

#[test]
fn odd_names_and_standard_input_are_read_too() {
    let home = Home::new();
    let odd = write(&home, "a \u{1f4be} \u{1b}[31m\n.log", log(400, "256m"));
    let outcome = home.run(&["import", "--dry-run", &odd]).expect(0);
    assert!(!outcome.stdout.contains('\u{1b}'), "a name moves no cursor: {:?}", outcome.stdout);
    let mut command = home.command("sh");
    command.args(["-c", &format!("{} import --json - < \"$0\"", crate::common::binary::CARDSCOPE), &odd]);
    let done = command.output().unwrap();
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(kept(&document), ["new"], "{document:#}");
}

/// Imports a file in a process with this much memory, its own address space included.
fn within(home: &Home, file: &str, mib: u64) -> Outcome {
    let mut command = home.command("sh");
    let limited = format!("ulimit -v {} && exec \"$0\" \"$@\"", mib << 10);
    command.args(["-c", &limited, CARDSCOPE, "import", "--dry-run", "--json", file]);
    Running::of(command).finish()
}

#[test]
fn json_import_memory_is_bounded() {
    let home = Home::new();
    let length = 30 << 20;
    let of = |start: &str, one: &str, end: &str| [start, &one.repeat(length / one.len()), end].concat();
    let bins: String = (0..40_000).map(|n| format!("\"{}\":{},", n * 64, n % 9)).collect();
    let job = "{\"jobname\":\"j\",\"read\":{\"io_bytes\":9,\"bw\":2000,\"iops\":500,\"clat_ns\":{\"mean\":7000,\"bins\":{";
    let histograms = of(&format!("{{\"fio version\":\"fio-3.36\",\"jobs\":[{job}"), &bins, "\"1\":0}}}}]}");
    for (name, content, status) in [
        ("histograms.json", histograms, 0),
        ("jobs.json", of("{\"fio version\":\"3\",\"jobs\":[", "[],", "0]}"), 1),
        ("lists.json", of("[", "[],", "0]"), 1),
        ("cards.json", of("{\"source\":1,\"cards\":[", "{\"source\":1},", "{}]}"), 1),
        ("deep.json", of("\"fio version\"", "{\"jobs\":[", ""), 1),
    ] {
        let file = write(&home, name, content);
        let document = within(&home, &file, 4 * 30 + PROGRAM_MIB).expect(status).json();
        assert_eq!(list(&document, "/files").len(), 1, "{name}: it is read or refused, and says so");
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn import_resumes_after_a_full_disk() {
    let home = Home::new();
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=1m"], "tmpfs");
    for number in 0..2000 {
        write(&home, &format!("logs/{number:04}.log"), log(200 + number, "1024m"));
    }
    let archive = PathBuf::from(disk.path()).join("archive.sqlite");
    let (archive, logs) = (archive.to_str().unwrap(), home.path("logs"));
    let logs = logs.to_str().unwrap();
    let document = import(&home, &["--archive", archive, logs]).expect(3).says(&["is full"]).json();
    let there = totals(&document).0;
    assert!(there < 2000 && document["error"].is_string(), "{there}");
    // On a larger disk the import resumes.
    let moved = home.path("moved.sqlite");
    std::fs::copy(archive, &moved).unwrap();
    let wal = format!("{archive}-wal");
    if std::path::Path::new(&wal).exists() {
        std::fs::copy(&wal, home.path("moved.sqlite-wal")).unwrap();
    }
    let document = import(&home, &["--archive", moved.to_str().unwrap(), logs]).expect(0).json();
    assert_eq!(totals(&document), (2000 - there, there, 0, 0));
}

#[test]
fn an_archive_of_a_newer_cardscope_is_refused_untouched() {
    let home = Home::new();
    let file = write(&home, "a.log", log(700, "1024m"));
    import(&home, &[&file]).expect(0);
    let newer = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA user_version = 99'); c.commit()";
    let archive = home.archive();
    let made = std::process::Command::new("python3").args(["-c", newer, archive.to_str().unwrap()]).status();
    assert!(made.unwrap().success());
    let before = std::fs::read(&archive).unwrap();
    let other = write(&home, "b.log", log(701, "1024m"));
    import(&home, &[&other]).expect(3).says(&["newer Cardscope"]);
    assert_eq!(std::fs::read(&archive).unwrap(), before);
}

#[test]
fn all_real_logs_are_understood() {
    let data = crate::common::data();
    if !data.is_dir() {
        return println!("no real logs at {}: nothing was looked at", data.display());
    }
    let home = Home::new();
    let document = import(&home, &[data.to_str().unwrap()]).expect(0).json();
    let left: Vec<&str> = list(&document, "/files")
        .iter()
        .filter(|file| !["new", "known"].contains(&text(file, "/kept")))
        .map(|file| text(file, "/file"))
        .collect();
    // Notes about published results are no logs of a tool. Formats in `field` are not supported yet.
    let notes = |file: &&str| {
        file.ends_with("INDEX.md")
            || file.ends_with("f3/facts.json")
            || ["/cards/", "/field/", "/registers/"].iter().any(|folder| file.contains(folder))
    };
    assert!(left.iter().all(notes), "{left:#?}");
}

/// Closing a file releases all locks of the process on it, including SQLite's.
#[test]
fn import_skips_the_open_archive() {
    let home = Home::new();
    taken_in(&home, "a.log", &[700], &[]);
    let archive = home.archive();
    let outcome = home.run(&["import", archive.to_str().unwrap()]).expect(1);
    assert!(outcome.one_line().contains("this is the archive itself"), "{outcome}");
    let around = home.run(&["import", archive.parent().unwrap().to_str().unwrap(), "--json"]).json();
    let files = list(&around, "/files");
    assert!(
        files.iter().all(|file| !text(file, "/file").contains("archive.sqlite")),
        "passed over: {around:#}"
    );
}
