//! Input that is made to break things: damaged archives, files of the kernel, files that somebody would miss, endless
//! texts, bombs, dates that do not exist; and a shell that leaves little room for files and for the stack. Nothing panics,
//! nothing is lost, and each says what is wrong.
//!
//! The verbs and their options are those of the published command line (`docs/cli.md`).

use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::logs::{log, taken_in, write};
use crate::common::machine::{MIB, data};
use crate::common::{list, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A simulated card that a test is through with in a moment.
const CARD: &str = "sim:constant?announced_bytes=64MiB";

/// Demands that a program ended by itself, with a status of ours.
#[track_caller]
fn ended(outcome: Outcome) -> Outcome {
    let status = outcome.status.code();
    // 124 is that of `timeout`, for one that a busy machine had not ended by then: it was interrupted, and ended.
    assert!(status.is_some_and(|status| [0, 1, 2, 3, 4, 124, 130].contains(&status)), "{outcome}");
    assert!(!outcome.stderr.contains("panicked"), "{outcome}");
    outcome
}

/// Numbers that look random and are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// A small archive in a folder of its own.
fn archive(home: &Home) -> PathBuf {
    let place = home.path("kept/archive.sqlite");
    for (name, first) in [("a.log", 700), ("b.log", 650)] {
        taken_in(home, name, &[first, first + 1], &["--archive", place.to_str().unwrap()]);
    }
    place
}

/// All that reads an archive.
fn read_all(home: &Home, place: &str) -> Vec<Outcome> {
    let out = home.path("out");
    let _ = fs::remove_dir_all(&out);
    [
        &["archive", "list"] as &[&str],
        &["archive", "show", "a"],
        &["archive", "export", "-o", out.to_str().unwrap()],
        &["compare", "a", "b"],
        &["rank", "--for", "game-load"],
    ]
    .map(|verb| ended(home.run(&[verb, &["--archive", place]].concat())))
    .into()
}

#[test]
fn a_schema_that_is_not_utf_8_is_a_damaged_archive() {
    let home = Home::new();
    let place = archive(&home);
    let whole = fs::read(&place).unwrap();
    for (name, is) in [
        ("TEXT", "T\u{ff}XT"),
        ("started_at", "st\u{ff}rted_at"),
        ("CREATE TABLE card", "CREATE TABLE c\u{ff}rd"),
    ] {
        let bytes: Vec<u8> = is.chars().map(|c| c as u8).collect();
        let mut broken = whole.clone();
        let places: Vec<usize> =
            (0..whole.len() - name.len()).filter(|at| whole[*at..].starts_with(name.as_bytes())).collect();
        assert!(!places.is_empty(), "{name} stands in the schema");
        places.into_iter().for_each(|at| broken[at..at + bytes.len()].copy_from_slice(&bytes));
        fs::write(&place, broken).unwrap();
        for outcome in read_all(&home, place.to_str().unwrap()) {
            outcome.expect(3).says(&["is damaged", place.to_str().unwrap(), "restore a copy"]);
        }
    }
}

#[test]
fn an_archive_with_random_bytes_in_it_is_read_or_refused_and_panics_nowhere() {
    let home = Home::new();
    let place = archive(&home);
    let whole = fs::read(&place).unwrap();
    let (began, mut draw) = (Instant::now(), Draw(0x9e37_79b9_7f4a_7c15));
    let rounds = (0..40).take_while(|_| began.elapsed() < Duration::from_secs(40));
    let mut refused = 0;
    for round in rounds {
        let mut broken = whole.clone();
        for _ in 0..=draw.below(60) {
            // Half of them in the schema and the heads of the pages, where most depends on each byte.
            let at = if round % 2 == 0 { draw.below(whole.len()) } else { 100 + draw.below(16_000) };
            broken[at] = draw.below(256) as u8;
        }
        for name in ["archive.sqlite-wal", "archive.sqlite-shm"] {
            let _ = fs::remove_file(place.with_file_name(name));
        }
        fs::write(&place, broken).unwrap();
        let outcomes = read_all(&home, place.to_str().unwrap());
        refused += usize::from(outcomes.iter().any(|outcome| outcome.status.code() == Some(3)));
    }
    assert!(refused > 0, "none of the archives was damaged enough");
}

#[test]
fn files_of_the_kernel_are_refused_as_cards_by_every_verb() {
    let home = Home::new();
    let verbs: [&[&str]; 13] = [
        &["info"],
        &["fit"],
        &["observe"],
        &["bench"],
        &["check"],
        &["map"],
        &["sustain"],
        &["verify"],
        &["verify", "--full", "--read-only"],
        &["verify", "--full"],
        &["verify", "--files"],
        &["format"],
        &["endure"],
    ];
    for (target, file_system) in [
        ("/sys/kernel/uevent_seqnum", "sysfs"),
        ("/sys/kernel/notes", "sysfs"),
        ("/proc/self/mountinfo", "proc"),
        ("/proc/sys/vm/swappiness", "proc"),
        ("/sys", "sysfs"),
        ("/proc", "proc"),
    ] {
        for verb in verbs {
            let consent: &[&str] = match verb {
                ["verify", "--full", ..] | ["format"] | ["endure"] => &["--yes-destroy", target],
                _ => &[],
            };
            let refused = home.run(&[verb, &[target], consent].concat()).expect(2);
            let asks_for_a_file =
                verb == ["verify", "--files"] || ["fit", "info", "observe"].contains(&verb[0]);
            // These say that it is the wrong kind of object.
            if !asks_for_a_file {
                refused.says(&[target, file_system, "kernel"]);
            }
        }
    }
    home.run(&["info", "/sys/kernel/notes"]).expect(2).says(&["sysfs"]);
    home.run(&["fit", "/proc/self/mountinfo"]).expect(2).says(&["proc"]);
    home.run(&["verify", "--files", "/sys"]).expect(2).says(&["sysfs"]);
}

/// A file that is no card, and what is said of it.
fn other_files(home: &Home) -> Vec<(PathBuf, &'static str)> {
    let begins = |head: &[u8]| [head, &data(2 * MIB as usize - head.len())].concat();
    [
        ("short.img", vec![0; 1 << 19], "at least 1 MiB"),
        ("odd.img", vec![0; (2 << 20) + 1], "not a multiple of 512"),
        ("passwd", b"root:x:0:0:root:/root:/bin/bash\n".repeat(1 << 16), "text"),
        ("photo.jpg", begins(b"\xff\xd8\xff\xe0\0\x10JFIF\0"), "JPEG"),
        ("photos.zip", begins(b"PK\x03\x04\x14\0\0\0"), "ZIP"),
        ("disk.qcow2", begins(b"QFI\xfb\0\0\0\x03"), "QEMU"),
        ("program", begins(b"\x7fELF\x02\x01\x01\0"), "Executable"),
    ]
    .map(|(name, content, words)| {
        let path = home.path(name);
        fs::write(&path, content).unwrap();
        (path, words)
    })
    .into()
}

#[test]
fn a_file_that_is_not_a_card_is_written_only_by_its_name() {
    let home = Home::new();
    let recipe = home.recipe("size = \"512KiB\"", "[[test]]\ntest = \"SEQ128K Q1T1 write\"\npasses = 1\n");
    for (path, words) in other_files(&home) {
        let (name, before) = (path.to_str().unwrap(), fs::read(&path).unwrap());
        // Where data is preserved nobody is asked, so the name agrees to nothing.
        for verb in [&["verify"] as &[&str], &["map"], &["check"], &["check", "--yes-destroy", name]] {
            let outcome = home.run(&[verb, &[name]].concat()).expect(2);
            outcome.says(&[name, "not the image of a card", words, "nothing was written", "truncate -s"]);
        }
        for verb in [&["verify", "--full"] as &[&str], &["bench", "--recipe", &recipe], &["format"]] {
            let outcome = home.run(&[verb, &[name]].concat()).expect(2).says(&[name]);
            // What is too short for a file system is not asked about.
            if verb != ["format"] || !name.ends_with("short.img") {
                outcome.says(&[words, "--yes-destroy"]);
            }
        }
        assert!(fs::read(&path).unwrap() == before, "{name} was written to");
        home.run(&["fit", name]);
        assert!(home.run(&["info", name]).expect(0).stderr.is_empty());
        ended(home.run(&["bench", name, "--recipe", &recipe, "--yes-destroy", name]));
    }
    // The name agrees, and then it is a card as any other.
    let (path, _) = &other_files(&home)[3];
    let name = path.to_str().unwrap();
    let before = fs::read(path).unwrap();
    home.run(&["bench", name, "--recipe", &recipe, "--yes-destroy", name]).expect(0);
    assert!(fs::read(path).unwrap() != before, "{name} was agreed to");
}

#[test]
fn images_of_zeros_noise_and_file_systems_are_cards() {
    let home = Home::new();
    let mut disk = data(4 * MIB as usize);
    disk[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
    disk[1024 + 56..1024 + 58].copy_from_slice(b"\x53\xef");
    for (name, content) in [("zeros", vec![0; 4 << 20]), ("noise", data(4 << 20)), ("ext", disk)] {
        let path = write(&home, name, &content);
        home.run(&["verify", &path, "-q"]).expect(0);
        assert!(fs::read(&path).unwrap() == content, "{name} is preserved");
    }
}

/// Says which of many cases are run: each of so many from a drawn one on, all of them in `./check --long`.
fn drawn(every: usize) -> impl FnMut() -> bool {
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty() && value != "0");
    let every = if long { 1 } else { every };
    let mut at = RandomState::new().hash_one(every) as usize % every;
    move || {
        at += 1;
        at.is_multiple_of(every)
    }
}

/// Verbs of the published command line, with the options that take a value, and their positional arguments.
fn published() -> BTreeMap<String, (Vec<String>, usize)> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md")).unwrap();
    let mut verbs = BTreeMap::new();
    for section in page.split("\n## cardscope ").skip(1) {
        let verb = section.lines().next().unwrap().to_owned();
        let words = section.split_whitespace();
        let is_name = |word: &&str| word.starts_with("--") && word[2..].starts_with(char::is_alphabetic);
        let mut options = Vec::new();
        for line in section.lines().map(str::trim).filter(|line| line.starts_with('-')) {
            let name = line.split([' ', ',', '=', '[']).find(is_name).map(str::to_owned);
            options.extend(name.filter(|_| line.contains('<')));
        }
        let usage = section.lines().find(|line| line.starts_with("Usage:")).unwrap_or_default();
        let positional = usage.matches('<').count().max(usize::from(usage.contains("...")));
        assert!(words.count() > 3, "{verb}");
        verbs.insert(verb, (options, positional));
    }
    assert!(verbs.len() > 30, "{verbs:?}");
    verbs
}

/// As many letters as one argument can have (`MAX_ARG_STRLEN` of Linux is 128 KiB), of which few stand in any word of ours.
fn long_texts() -> [String; 2] {
    ["q".repeat(100_000), "qj ".repeat(30_000)]
}

/// Demands that a message repeats at most 200 bytes of a text of these.
#[track_caller]
fn repeats_little(outcome: &Outcome, arguments: &str) {
    let said = |text: &str| text.matches('q').count();
    let repeated = said(&outcome.stderr);
    assert!(repeated <= 210, "{arguments}: {repeated} letters: {:.3000}", outcome.stderr);
    if let Ok(document) = serde_json::from_str::<Value>(&outcome.stdout)
        && let Some(error) = document.get("error").and_then(Value::as_str)
    {
        assert!(said(error) <= 210, "{arguments}: {error:.3000}");
    }
}

/// Runs what may go on for ever when it is not refused.
fn for_a_moment(home: &Home, arguments: &[&str]) -> Outcome {
    let mut command = home.command("timeout");
    command.args(["--signal=INT", "--kill-after=30", "4", CARDSCOPE]).args(arguments);
    Running::of(command).finish()
}

#[test]
fn a_message_repeats_at_most_200_bytes_of_any_argument() {
    let home = Home::new();
    let verbs = published();
    let mut is_drawn = drawn(12);
    for long in long_texts() {
        for (verb, (options, positional)) in &verbs {
            let words: Vec<&str> = verb.split(' ').collect();
            let simulated = format!("sim:{long}");
            let key = format!("sim:constant?{long}=1");
            let value = format!("sim:constant?announced_bytes={long}");
            for target in [&long, &simulated, &key, &value].into_iter().filter(|_| is_drawn()) {
                let arguments =
                    [&words[..], &vec![target.as_str(); (*positional).max(1)], &["--json"]].concat();
                repeats_little(&ended(for_a_moment(&home, &arguments)), &format!("{verb} {target:.40}"));
            }
            for option in options.iter().filter(|_| is_drawn()) {
                let both = format!("{option}={long}");
                let arguments =
                    [&words[..], &[both.as_str()], &vec![CARD; *positional], &["--json"]].concat();
                let outcome = for_a_moment(&home, &arguments);
                repeats_little(&outcome, &format!("{verb} {option}"));
                assert!(!outcome.stderr.contains("panicked"), "{verb} {option}");
            }
        }
        repeats_little(&home.run(&[&long]).expect(2), "a verb");
        repeats_little(&home.run(&["list", &format!("--{long}")]).expect(2), "an option");
    }
}

#[test]
fn a_message_repeats_at_most_200_bytes_of_any_file() {
    let home = Home::new();
    let mut is_drawn = drawn(8);
    for long in long_texts().map(|long| long.repeat(9)) {
        let quoted = serde_json::to_string(&long).unwrap();
        let recipe = "name = \"own\"\ntitle = \"t\"\nversion = 1\nsource = \"s\"\n";
        let test = "[[test]]\npasses = 1\ntest = ";
        for content in [
            long.clone(),
            format!("{quoted} = 1\n"),
            format!("name = {long}\n"),
            format!("name = {quoted}\nversion = {quoted}\n"),
            format!("{recipe}[area]\nsize = {quoted}\n"),
            format!("{recipe}[area]\nsize = \"4MiB\"\n{test}{quoted}\n"),
            format!("{recipe}[area]\nsize = \"4MiB\"\n{test}\"RND4K Q1T1 {long}\"\n"),
            format!("{recipe}[area]\n{quoted} = 1\n"),
            format!("{{\"format\": \"cardscope-session\", \"version\": 1, {quoted}: {quoted}}}"),
            format!("{{\"format\": \"cardscope-session\", \"version\": {quoted}}}"),
            format!("{{\"fio version\": {quoted}, \"jobs\": {quoted}}}"),
            format!("Configuration:\n  Size = {long}\n\nResults:\n\n{long} Read: {long}MB/s IOPS=7\n"),
        ] {
            let file = write(&home, "long.toml", &content);
            let card = format!("sim:{file}");
            for arguments in [
                &["bench", CARD, "--recipe", &file, "--json"] as &[&str],
                &["bench", &card, "--json"],
                &["rank", "--for", &file, "--json"],
                &["rank", "--for", "pi-boot", "--on", &file, "--json"],
                &["recipes", &file, "--json"],
                &["jobs", &file, "--json"],
                &["sustain", CARD, "--against", &file, "--json"],
                &["compare", &file, "a", "--json"],
                &["import", &file],
                &["archive", "import", &file],
                &["restore", &file, "--json"],
            ]
            .into_iter()
            .filter(|_| is_drawn())
            {
                let outcome = ended(for_a_moment(&home, arguments));
                repeats_little(&outcome, &format!("{arguments:?} of {content:.80}"));
                if arguments.contains(&"import") {
                    let shown = outcome.stdout.matches('q').count();
                    assert!(shown <= 1000, "{shown} letters on the page: {:.2000}", outcome.stdout);
                }
            }
        }
        for register in ["cid", "csd", "scr", "ssr", "ocr", "health"] {
            let outcome =
                home.run(&["decode", &format!("--{register}={}", &long[..100_000]), "--json"]).expect(2);
            repeats_little(&outcome, register);
        }
    }
}

/// Files in which a few hundred KiB stand for a GiB: zeros, many files, archives in archives.
const BOMBS: &str = "
import gzip, io, os, sys, zipfile
to = lambda name: os.path.join(sys.argv[1], name)
zeros = bytes(64 << 20)
with zipfile.ZipFile(to('zeros.zip'), 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr('0.log', zeros)
    z.writestr('good.log', open(sys.argv[2]).read())
with zipfile.ZipFile(to('bomb.zip'), 'w', zipfile.ZIP_DEFLATED) as z:
    for n in range(16):
        z.writestr('%d.log' % n, zeros)
with zipfile.ZipFile(to('many.zip'), 'w', zipfile.ZIP_STORED) as z:
    for n in range(100000):
        z.writestr('%d.log' % n, b'')
with zipfile.ZipFile(to('nested.zip'), 'w', zipfile.ZIP_DEFLATED) as z:
    for n in range(10):
        z.write(to('bomb.zip'), '%d.zip' % n)
with gzip.open(to('zeros.gz'), 'wb') as g:
    for _ in range(32):
        g.write(zeros)
with open(to('members.gz'), 'wb') as out:
    out.write(gzip.compress(b'') * 200000)
";

#[test]
fn bombs_cost_little_time_and_memory_and_what_lies_beside_them_is_read() {
    let home = Home::new();
    let good = write(&home, "in/good.log", log(&[700]));
    let folder = home.path("in");
    let made = home.command("python3").args(["-c", BOMBS, folder.to_str().unwrap(), &good]).status().unwrap();
    assert!(made.success());
    for name in ["zeros.zip", "bomb.zip", "many.zip", "nested.zip", "zeros.gz", "members.gz"] {
        let bomb = folder.join(name);
        let mut command = home.command("sh");
        // With the program's own addresses and the file itself.
        let limited = "ulimit -v 600000 && exec \"$0\" import --json \"$@\"";
        command.args(["-c", limited, CARDSCOPE, bomb.to_str().unwrap(), &good]);
        let outcome = Running::of(command).finish();
        println!("{name}: {:.1} s", outcome.took.as_secs_f64());
        assert!(outcome.took < Duration::from_secs(15), "{name}: {:?}", outcome.took);
        let document = ended(outcome).json();
        let kept =
            |file: &&Value| text(file, "/file").ends_with("/good.log") && text(file, "/kept") != "failed";
        assert!(list(&document, "/files").iter().any(|file| kept(&file)), "{name}: {document:.3000}");
    }
}

#[test]
fn a_date_that_does_not_exist_is_refused_by_import_and_nothing_is_stored() {
    let home = Home::new();
    taken_in(&home, "a.log", &[700], &[]);
    let recipe = home.recipe("size = \"4MiB\"", "[[test]]\ntest = \"SEQ1M Q1T1 read\"\npasses = 1\n");
    home.run(&["bench", CARD, "--recipe", &recipe]).expect(0);
    home.run(&["verify", CARD]).expect(0);
    let folder = home.path("sessions");
    home.run(&["archive", "export", "-o", folder.to_str().unwrap()]).expect(0);
    let files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    let other = home.path("other/archive.sqlite");
    let other = other.to_str().unwrap();
    let mut fields = 0;
    for file in &files {
        let whole: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        for pointer in [
            "/started_at",
            "/measured_at",
            "/updated_at",
            "/ended_at",
            "/log/date",
            "/source/imported_at",
            "/runs/0/started_at",
            "/runs/0/ended_at",
            "/events/0/event/date",
        ] {
            let mut changed = whole.clone();
            if pointer == "/events/0/event/date" {
                changed["events"] = json!([{ "specimen": null, "event": { "date": "x", "kind": "bought" } }]);
            }
            for wrong in [
                "2026-02-30T10:00:00Z",
                "2026-13-01",
                "2026-01-01T25:00:00Z",
                "2016-12-31T23:59:60Z",
                "9999-01-01",
            ] {
                let Some(field) = changed.pointer_mut(pointer) else { continue };
                *field = json!(wrong);
                fields += 1;
                let wrong_file = write(&home, "wrong.json", changed.to_string());
                let outcome = home.run(&["archive", "import", &wrong_file, "--archive", other]).expect(1);
                let said = outcome.one_line();
                assert!(said.contains(wrong) && said.contains("wrong.json"), "{pointer} {wrong}: {outcome}");
                assert!(said.contains("export it again"), "{outcome}");
            }
        }
    }
    assert!(fields >= 60, "{fields}");
    let stored = home.run(&["archive", "list", "--json", "--archive", other]).expect(0).json();
    assert!(list(&stored, "/sessions").is_empty(), "{stored:#}");
    let whole: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    home.run(&[&["archive", "import", "--archive", other], &whole[..]].concat()).expect(0);
    for date in ["2026-02-30", "2026-13", "9999-01-01", "0000"] {
        home.run(&["archive", "edit", "a", "--event", "bought", "--date", date]).expect(2).says(&[date]);
    }
}

/// Runs the program with one of the shell's limits.
fn limited(home: &Home, limit: &str, arguments: &[&str]) -> Outcome {
    let mut command = home.command("sh");
    command.args(["-c", &format!("ulimit {limit} && exec \"$@\""), "sh", CARDSCOPE]).args(arguments);
    Running::of(command).finish()
}

#[test]
fn a_limit_on_the_size_of_files_ends_no_verb_and_loses_nothing() {
    let home = Home::new();
    taken_in(&home, "a.log", &[700], &[]);
    taken_in(&home, "b.log", &[600], &[]);
    let whole = home.sessions().len();
    let card = home.path("card.img");
    let content = data(64 << 20);
    fs::write(&card, &content).unwrap();
    let image = card.to_str().unwrap();
    let (out, folder) = (home.path("page.html"), home.path("exported"));
    fs::create_dir(&folder).unwrap();
    let (out, folder) = (out.to_str().unwrap(), folder.to_str().unwrap());
    let state = home.path("card.state");
    let saved = format!("sim:constant?announced_bytes=64MiB&state={}", state.display());
    let another = write(&home, "c.log", log(&[500]));
    let recipe = home.recipe("", "[[test]]\ntest = \"SEQ1M Q1T1 write\"\npasses = 1\n");
    let directory = home.path("card");
    fs::create_dir(&directory).unwrap();
    let directory = directory.to_str().unwrap();
    let backup = home.path("backup.img");
    // Blocks of 512 bytes in one shell and of 1024 in another.
    let mut is_drawn = drawn(5);
    for blocks in [0, 1, 8, 100, 2000, 20_000] {
        let limit = format!("-f {blocks}");
        for arguments in [
            &["list"] as &[&str],
            &["verify", image],
            &["verify", directory],
            &["verify", "--files", directory, "--max-write", "32M"],
            &["bench", image, "--recipe", &recipe],
            &["bench", image, "--recipe", &recipe, "--backup", backup.to_str().unwrap()],
            &["bench", directory, "--recipe", &recipe],
            &["map", image, "--budget", "5s"],
            &["verify", &saved],
            &["bench", CARD, "--recipe", &recipe],
            &["import", &another],
            &["archive", "list"],
            &["archive", "export", "-o", folder],
            &["archive", "edit", "a", "--set", "note=x"],
            &["compare", "a", "b"],
            &["report", "-o", out],
            &["manual", folder],
            &["completions", "bash"],
        ]
        .into_iter()
        .filter(|_| is_drawn())
        {
            let outcome = limited(&home, &limit, arguments);
            let name = format!("{limit}: {arguments:?}");
            let outcome = ended(outcome);
            assert!(outcome.status.code() != Some(1), "no card is at fault: {name}\n{outcome}");
            if outcome.status.code() == Some(3) {
                assert!(outcome.stderr.contains("ulimit -f"), "{name}\n{outcome}");
            }
            // What could not be put back within the limit waits for one who has more room.
            let restored = home.run(&["restore"]);
            assert!([Some(0), Some(2)].contains(&restored.status.code()), "{name}\n{restored}");
            assert!(fs::read(&card).unwrap() == content, "{name}: data of the card is lost");
            let _ = fs::remove_file(&backup);
        }
    }
    assert!(home.sessions().len() >= whole, "what was stored stays");
}

#[test]
fn a_stack_of_one_mib_is_enough_for_every_verb() {
    let home = Home::new();
    taken_in(&home, "a.log", &[700], &[]);
    taken_in(&home, "b.log", &[600], &[]);
    let small = |arguments: &[&str]| ended(limited(&home, "-s 1024", arguments));
    for verb in published().keys() {
        let words: Vec<&str> = verb.split(' ').collect();
        for help in ["--help", "-h"] {
            let asked = [&words[..], &[help]].concat();
            assert!(!small(&asked).expect(0).stdout.is_empty(), "{verb}");
        }
    }
    for shell in ["bash", "zsh", "fish"] {
        small(&["completions", shell]).expect(0);
    }
    let (manual, page) = (home.path("manual"), home.path("page.html"));
    fs::create_dir(&manual).unwrap();
    small(&["manual", manual.to_str().unwrap()]).expect(0);
    small(&["verify", CARD]).expect(0);
    let recipe = home.recipe("size = \"4MiB\"", "[[test]]\ntest = \"RND4K Q32T4 read\"\npasses = 1\n");
    small(&["bench", CARD, "--recipe", &recipe]).expect(0);
    small(&["map", CARD, "--budget", "3s"]);
    small(&["check", CARD, "--budget", "5s"]);
    small(&["archive", "list"]).expect(0);
    small(&["compare", "a", "b"]).expect(0);
    small(&["rank", "--for", "game-load"]);
    small(&["report", "-o", page.to_str().unwrap()]).expect(0);
    small(&["doctor", "--json"]);
    let mut is_drawn = drawn(4);
    for open in [
        "[",
        "{\"a\":",
        "a = [",
        "[[",
        "a.",
        "<a>",
        "{\"fio version\":[",
        "{\"format\": \"cardscope-session\", \"a\":[",
    ] {
        let repeated = open.split(' ').next_back().unwrap().repeat(100_000);
        let deep = write(&home, "deep.toml", format!("{open}{repeated}"));
        for arguments in [
            &["import", &deep] as &[&str],
            &["archive", "import", &deep],
            &["bench", CARD, "--recipe", &deep],
            &["rank", "--for", &deep],
            &["rank", "--for", "pi-boot", "--on", &deep],
            &["bench", &format!("sim:{deep}")],
            &["sustain", CARD, "--against", &deep],
            &["compare", &deep, "a"],
            &["restore", &deep],
        ]
        .into_iter()
        .filter(|_| is_drawn())
        {
            let outcome = small(arguments);
            assert!([Some(1), Some(2)].contains(&outcome.status.code()), "{outcome}");
        }
    }
}
