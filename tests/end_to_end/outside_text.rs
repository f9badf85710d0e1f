//! External text: no name, label, path, log or register may control the terminal, reverse a line, start a line of its
//! own, or get unescaped into a generated file.
//!
//! Verbs are those of the published command line (`docs/cli.md`), so a new verb without a case here fails the test.

use crate::common::binary::{Home, Outcome};
use crate::common::{list, text};
use cardscope_model::untrusted_text::is_hidden;
use rustix::process::Signal;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Colours, title, C1 sequence, delete, bidirectional marks, three kinds of line ends, a column separator, and a
/// forged line.
const EVIL: &str = "x\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{7f}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}\u{feff}\r\tcol\nFORGED: genuine\ny";

/// Same without line ends, for formats in which they have a meaning.
const EVIL_LINE: &str = "x\u{9b}2J\u{7f}\u{85}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}\u{e0041}y";

/// Health page in SanDisk's layout, as hex, with the beginning of this text as product name.
fn health_page_named(text: &str) -> String {
    let mut page = [0; 512];
    page[..2].copy_from_slice(b"DS");
    page[49..49 + 32].copy_from_slice(&text.as_bytes()[..32]);
    page.map(|byte| format!("{byte:02x}")).concat()
}

const CARD: &str = "sim:constant?announced_bytes=64MiB";

/// Home full of hostile names.
struct World {
    home: Home,
    /// Folder with a hostile name.
    folder: PathBuf,
    sessions: Vec<String>,
    cards: Vec<String>,
}

impl World {
    fn new() -> World {
        let home = Home::new();
        let folder = home.path(EVIL);
        for name in ["", "logs", "made", "made/charts", "taken"] {
            std::fs::create_dir(folder.join(name)).unwrap();
        }
        let mut world = World { home, folder, sessions: Vec::new(), cards: Vec::new() };
        world.files();
        world.logs();
        world.archive();
        world
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Hostile and broken recipes, jobs, hosts and archetypes, an image, and a machine's `/sys`.
    fn files(&self) {
        let evil = toml(EVIL);
        self.write("card.img", vec![0; 1 << 20]);
        let test = "[[test]]\ntest = \"SEQ1M Q1T1 read\"\npasses = 1\n";
        let recipe = format!(
            "name = {evil}\ntitle = {evil}\nversion = 1\nsource = {evil}\n[area]\nsize = \"4MiB\"\n{test}"
        );
        self.write("recipe.toml", &recipe);
        self.write("broken.toml", format!("name = {evil}\n{evil} = {evil}\n\"a\" = \n{EVIL}"));
        let job = std::fs::read_to_string(root().join("jobs/all-round.toml")).unwrap();
        self.write("job.toml", renamed(&job));
        let host = std::fs::read_to_string(root().join("hosts/usb2.toml")).unwrap();
        self.write("host.toml", renamed(&host));
        let card = std::fs::read_to_string(root().join("cards/constant.toml")).unwrap();
        self.write(
            "card.toml",
            card.replacen("title = \"", &format!("title = \"{}", toml(EVIL_LINE).trim_matches('"')), 1),
        );
        self.write("session.json", format!("{{\"format\": \"cardscope-session\", \"version\": 1, {EVIL}"));
        let other = serde_json::to_string(EVIL).unwrap();
        self.write(
            "other.json",
            format!("{{\"format\": \"cardscope-session\", \"version\": 1, {other}: {other}}}"),
        );
        for (name, content) in [
            ("size", "62333952"),
            ("dev", "8:0"),
            ("removable", "1"),
            ("device/vendor", EVIL),
            ("device/model", EVIL),
            ("device/rev", EVIL_LINE),
            ("sda1/partition", "1"),
            ("sda1/size", "1000000"),
        ] {
            self.write(&format!("machine/sys/block/sda/{name}"), format!("{content}\n"));
        }
        let usb = "machine/sys/bus/usb/devices/1-2";
        self.write(&format!("{usb}/idVendor"), "05e3\n");
        self.write(&format!("{usb}/product"), EVIL);
        self.write(&format!("{usb}/serial"), EVIL_LINE);
        self.write(&format!("{usb}/1-2:1.0/host1/target1:0:0/1:0:0:0/block/sda/size"), "62333952\n");
        for (name, content) in [("size", "1954816000\n"), ("device/model", EVIL), ("device/serial", EVIL)] {
            self.write(&format!("machine/sys/block/nvme0n1/{name}"), content);
        }
        let mounts = format!("1 0 8:1 / /media/{} rw - ext4 /dev/{} rw\n", octal(EVIL), octal(EVIL_LINE));
        self.write("machine/proc/self/mountinfo", mounts);
    }

    /// Sample logs of all formats, unchanged and with hostile text in every line.
    fn logs(&self) {
        for folder in std::fs::read_dir(root().join("fuzz/corpus")).unwrap() {
            let folder = folder.unwrap().path();
            let format = folder.file_name().unwrap().to_str().unwrap().to_owned();
            for (number, log) in std::fs::read_dir(&folder).unwrap().take(2).enumerate() {
                let log = String::from_utf8_lossy(&std::fs::read(log.unwrap().path()).unwrap()).into_owned();
                self.write(&format!("logs/{format}-{number}{EVIL}"), hostile(&log));
                self.write(&format!("logs/{format}-{number}-as-it-is"), log);
            }
        }
        let name = OsStr::from_bytes(b"not\xff\x1butf8\x9b\n.log");
        std::fs::write(self.folder.join("logs").join(name), format!("Timing {EVIL}")).unwrap();
    }

    /// Archives all of it, and a measurement.
    fn archive(&mut self) {
        let logs = self.path("logs");
        let named = ["--brand", EVIL, "--card", EVIL, "--condition", &format!("cooling={EVIL}")];
        let more = ["--condition", &format!("note={EVIL}"), "--condition", &format!("reader={EVIL_LINE}")];
        self.tame(&[&["import", &logs][..], &named, &more].concat());
        self.tame(&["import", "--dry-run", &logs]);
        let reader = format!("reader={EVIL}");
        let measured =
            self.tame(&["bench", CARD, "--recipe", &self.path("recipe.toml"), "--condition", &reader]);
        assert_eq!(measured.status.code(), Some(0), "{measured}");
        let ids = |what: &str, name: &str, id: &str| -> Vec<String> {
            let all = self.home.run(&["archive", what, "--json"]).expect(0).json();
            list(&all, name).iter().map(|one| text(one, id).to_owned()).collect()
        };
        (self.sessions, self.cards) = (ids("list", "/sessions", "/session"), ids("cards", "/cards", "/id"));
        assert!(self.sessions.len() > 10 && self.cards.len() > 1, "or this tests little");
    }

    /// Runs a verb with and without --json and asserts harmless output.
    #[track_caller]
    fn tame(&self, arguments: &[&str]) -> Outcome {
        let json = self.home.run(&[arguments, &["--json"]].concat());
        is_tame(&json);
        let plain = self.home.run(arguments);
        is_tame(&plain);
        assert!(plain.status.code().is_some_and(|code| code <= 4), "{plain}");
        plain
    }
}

/// Asserts that output has no control characters and no forged line.
#[track_caller]
fn is_tame(outcome: &Outcome) {
    for said in [&outcome.stdout, &outcome.stderr] {
        let hidden = said.chars().find(|c| is_hidden(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(hidden, None, "{outcome:#?}", outcome = outcome.to_string());
        assert!(
            !said.lines().any(|line| line.trim_start().starts_with("FORGED")),
            "a line is forged\n{outcome}"
        );
        assert!(!said.contains("\tcol"), "a column is forged\n{outcome}");
    }
}

/// Asserts that all text files below a folder are harmless; returns their number.
#[track_caller]
fn are_tame(folder: &Path) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            seen += are_tame(&path);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        if bytes.starts_with(b"\x89PNG") {
            continue;
        }
        let content = String::from_utf8(bytes).unwrap();
        let page = path.extension().is_some_and(|ending| ending == "html" || ending == "svg");
        let layout = |c: char| c == '\n' || (page && c == '\t');
        let hidden = content.replace("\r\n", "\n").chars().find(|c| is_hidden(*c) && !layout(*c));
        assert_eq!(hidden, None, "{path:?}");
        let forged = |line: &str| line.trim_start().starts_with("FORGED");
        // In tags of a page a line end is white space.
        assert!(page || !content.lines().any(forged), "{path:?}");
        seen += 1;
    }
    seen
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Text as a TOML string.
fn toml(text: &str) -> String {
    let letter = |c: char| {
        if c.is_ascii_graphic() || c == ' ' { c.to_string() } else { format!("\\U{:08X}", u32::from(c)) }
    };
    format!("\"{}\"", text.chars().map(letter).collect::<String>())
}

/// TOML file with a hostile name.
fn renamed(file: &str) -> String {
    let line = |line: &str| match line.split_once(" = ") {
        Some((key @ ("name" | "title" | "what"), _)) => format!("{key} = {}\n", toml(EVIL)),
        _ => format!("{line}\n"),
    };
    file.lines().map(line).collect()
}

/// Name as in the kernel's list of mounts.
fn octal(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_graphic() { char::from(byte).to_string() } else { format!("\\{byte:03o}") }
            },
        )
        .collect()
}

/// Log with hostile text after every other word without digits.
fn hostile(log: &str) -> String {
    let word = |(number, word): (usize, &str)| {
        let plain = number % 7 == 3 && word.chars().all(|c| c.is_ascii_alphabetic()) && word.len() > 2;
        if plain { format!("{word}\u{9b}\u{202e}\u{7f}\u{2028}\u{1b}") } else { word.to_owned() }
    };
    log.split(' ').enumerate().map(word).collect::<Vec<_>>().join(" ")
}

/// Verbs in the published reference.
fn verbs() -> Vec<String> {
    let reference = std::fs::read_to_string(root().join("docs/cli.md")).unwrap();
    let all: Vec<&str> = reference.lines().filter_map(|line| line.strip_prefix("## cardscope ")).collect();
    let leaf = |verb: &&&str| !all.iter().any(|other| other.starts_with(&format!("{verb} ")));
    let verbs: Vec<String> = all.iter().filter(leaf).map(|verb| (*verb).to_owned()).collect();
    assert!(verbs.len() > 25, "{verbs:?}");
    verbs
}

/// Arguments of each verb.
fn fed(verb: &str, world: &World) -> Vec<Vec<String>> {
    let own = |all: &[&[&str]]| -> Vec<Vec<String>> {
        all.iter().map(|one| one.iter().map(|text| (*text).to_owned()).collect()).collect()
    };
    let simulated = format!("sim:{}?announced_bytes=64MiB", world.path("card.toml"));
    let simulated = simulated.as_str();
    let evil_key = format!("{simulated}&{EVIL}={EVIL}");
    let nowhere = world.path("nowhere");
    let [machine, recipe, broken, job, host, card, log] =
        ["machine", "recipe.toml", "broken.toml", "job.toml", "host.toml", "card.img", "logs"]
            .map(|name| world.path(name));
    let [machine, recipe, broken, job, host, image, logs, nowhere] =
        [&machine, &recipe, &broken, &job, &host, &card, &log, &nowhere].map(String::as_str);
    let note = format!("note={EVIL}");
    let odd = format!("{EVIL}={EVIL}");
    let made = |name: &str| world.path(&format!("made/{name}"));
    match verb {
        "list" => own(&[&["--sysfs", machine], &["--all", "--sysfs", machine], &["--sysfs", nowhere]]),
        "info" => own(&[
            &["sda", "--sysfs", machine],
            &["nvme0n1", "--sysfs", machine],
            &[nowhere],
            &[image],
            &[EVIL],
            &[simulated],
            &[&evil_key],
        ]),
        "decode" => own(&[&["--cid", EVIL], &["--ocr", EVIL_LINE], &["--health", &health_page_named(EVIL)]]),
        "bench" => own(&[
            &[simulated, "--recipe", recipe, "--condition", &note],
            &[CARD, "--recipe", broken],
            &[CARD, "--recipe", nowhere],
            &[CARD, "--condition", &odd],
            &[CARD, "--only", EVIL],
            &[EVIL],
            &[&evil_key],
            &[image, "--recipe", recipe],
        ]),
        "check" => {
            let page = made("check.html");
            let page = page.as_str();
            own(&[
                &[simulated, "--budget", "20s", "--label", EVIL, "--html", page, "--condition", &note],
                &[EVIL],
                &[nowhere, "--label", EVIL],
                &[simulated, "--html", nowhere, "--budget", EVIL],
                &[image, "--html", image],
            ])
        }
        "verify" => own(&[
            &[simulated, "--label", EVIL, "--condition", &note],
            &[simulated, "--full", "--h2testw"],
            &[nowhere],
            &[EVIL],
            &[image, "--full"],
            &[nowhere, "--files"],
        ]),
        "map" => own(&[
            &[simulated, "--only", "fat-region", "--budget", "5s", "--condition", &note],
            &[EVIL],
            &[nowhere],
            &[simulated, "--only", EVIL],
        ]),
        "sustain" => own(&[
            &[simulated, "--read", "--duration", "2s", "--condition", &note, "--cooling", EVIL],
            &[simulated, "--read", "--duration", "2s", "--against", nowhere],
            &[simulated, "--thermometer", &odd],
            &[EVIL],
            &[nowhere],
        ]),
        "endure" => own(&[
            &[simulated, "--rounds", "1", "--span", "1M", "--yes-destroy", simulated, "--condition", &note],
            &[EVIL],
            &[image, "--yes-destroy", EVIL],
            &[simulated, "--until", EVIL],
        ]),
        "observe" => own(&[
            &[EVIL],
            &[nowhere],
            &["sda", "--sysfs", machine, "--for", "1s"],
            &[image, "--save", image],
        ]),
        "format" => own(&[
            &[simulated, "--label", EVIL],
            &[image, "--yes-destroy", image, "--label", "X"],
            &[EVIL],
            &[nowhere, "--yes-destroy", EVIL],
            &[simulated, "--boundary", EVIL],
        ]),
        "fit" => {
            own(&[&[image], &[image, "--card", EVIL], &[nowhere], &[EVIL], &[image, "--target", nowhere]])
        }
        "recipes" => own(&[&[], &[recipe], &[nowhere], &[EVIL], &[EVIL_LINE]]),
        "jobs" => own(&[&[], &[job], &[broken], &[nowhere], &[EVIL], &[EVIL_LINE]]),
        "completions" => own(&[&["bash"], &["zsh"], &["fish"], &[EVIL]]),
        "manual" => own(&[&[&made("")], &[nowhere], &[EVIL]]),
        "import" => own(&[
            &[nowhere],
            &[EVIL],
            &["--dry-run", logs],
            &[recipe],
            &[logs, "--capacity", EVIL],
            &[logs, "--condition", &odd],
            &["--formats"],
        ]),
        "compare" => own(&[
            &["--own"],
            &[EVIL, EVIL_LINE],
            &[nowhere],
            &["--own", "--condition", &odd],
            &["--own", "--condition", &note],
            &["--own", "--test", EVIL],
            &["--own", "--every-run", "--as-printed", &world.cards[0], &world.cards[1]],
            &[logs],
        ]),
        "rank" => own(&[
            &["--own", "--for", "all-round"],
            &["--own", "--for", job],
            &["--for", "all-round", "--on", host, "--own"],
            &["--for", broken],
            &["--for", "all-round", "--on", broken],
            &["--for", nowhere],
            &["--for", EVIL],
            &["--test", EVIL],
        ]),
        "report" => {
            let kinds = ["html", "md", "csv", "json", "svg", "png", "plotly.md", "cdm.txt", "kdm.txt"];
            let mut all: Vec<Vec<String>> = Vec::new();
            for (number, kind) in kinds.iter().enumerate() {
                let two = &world.cards[..2];
                let place = made(&format!("report{number}{EVIL}.{kind}"));
                let place = place.as_str();
                all.extend(own(&[&[
                    &two[0],
                    &two[1],
                    "--own",
                    "-o",
                    place,
                    "--title",
                    EVIL,
                    "--overwrite",
                    "--for",
                    job,
                    "--serials",
                ]]));
            }
            let charts = made("charts");
            all.extend(own(&[
                &["--own", "-o", &charts, "--charts", "svg", "--title", EVIL, "--overwrite"],
                &["--own", "-o", nowhere],
                &["--own", "-o", "x.html", "--title", EVIL, EVIL],
                &["--own", "-o", &format!("{nowhere}/x.html")],
                &["--own", "-o", "-", "--format", EVIL],
            ]));
            all
        }
        "restore" => own(&[&[], &[nowhere], &[image], &[EVIL, EVIL], &[broken, image]]),
        "sim list" => own(&[&[]]),
        "sim show" => own(&[
            &[simulated],
            &[&evil_key],
            &[EVIL],
            &[&format!("sim:{broken}")],
            &[&format!("sim:{nowhere}.toml")],
        ]),
        "sim random" => own(&[&["1", "--toml"], &[EVIL]]),
        "sim serve" => own(&[
            &[EVIL, "--nbd", EVIL],
            &[simulated, "--nbd", &format!("{nowhere}/x")],
            &[simulated, "--mount", image],
            &[simulated, "--nbd", &format!("{EVIL_LINE}:1")],
        ]),
        "archive list" | "archive cards" => own(&[&[], &["--archive", image], &["--archive", nowhere]]),
        "archive show" => {
            let all = world.sessions.iter().take(12).chain(&world.cards).take(16);
            all.map(|name| vec![name.clone()]).chain(own(&[&[EVIL]])).collect()
        }
        "archive edit" => own(&[
            &[
                &world.cards[0],
                "--set",
                &format!("note={EVIL}"),
                "--set",
                &format!("firmware={EVIL}"),
                "--marks",
                EVIL,
            ],
            &[&world.cards[0], "--event", "bought", "--about", EVIL, "--source", EVIL, "--attach", image],
            &[&world.cards[0], "--event", EVIL],
            &[&world.cards[0], "--set", EVIL],
            &[&world.cards[0], "--set", &odd],
            &[EVIL, "--set", "note=x"],
            &[&world.cards[0], "--attach", nowhere],
        ]),
        "archive merge" => own(&[&[EVIL, EVIL_LINE], &[&world.cards[0], EVIL]]),
        "archive remove" => {
            own(&[&[EVIL, "--yes-remove", EVIL], &[&world.sessions[0], "--yes-remove", EVIL]])
        }
        "archive export" => own(&[&["-o", &made("")], &[EVIL, "-o", &made("")], &["-o", nowhere]]),
        "archive import" => own(&[
            &[nowhere],
            &[&world.path("session.json")],
            &[&world.path("other.json")],
            &[&made("")],
            &[EVIL],
        ]),
        "doctor" => own(&[&[], &["sda", "--sysfs", machine], &["sda", "--sysfs", nowhere], &[EVIL]]),
        // Covered by server/names.rs and by the tests of top.
        "serve" => {
            own(&[&["--listen", EVIL], &["--port", EVIL], &["--until-idle", EVIL], &["--archive", image]])
        }
        "top" => own(&[&["--url", EVIL], &["--port", EVIL], &["--json", "--url", "http://127.0.0.1:1"]]),
        other => panic!(
            "{other} is new: think of the doors by which text from outside comes into it, and feed it here"
        ),
    }
}

#[test]
fn external_text_cannot_control_the_terminal() {
    let world = World::new();
    for verb in verbs() {
        let words: Vec<&str> = verb.split(' ').collect();
        for arguments in fed(&verb, &world) {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            world.tame(&[words.as_slice(), &arguments].concat());
        }
        // An unknown option, and one argument too many.
        world.tame(&[words.as_slice(), &[&format!("--{EVIL}"), EVIL]].concat());
        world.tame(&[words.as_slice(), &[EVIL; 5]].concat());
    }
    world.tame(&[EVIL]);
    let files = are_tame(&world.folder.join("made"));
    assert!(files > 15, "reports in every format, charts and sessions were made: {files}");
}

#[test]
fn only_the_output_module_prints() {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let (name, source) =
                (path.to_str().unwrap(), path.extension().is_some_and(|ending| ending == "rs"));
            if path.is_dir()
                && !["tests", "benches", "examples", "build"].iter().any(|other| path.ends_with(other))
            {
                folders.push(path);
            } else if source
                && !name.contains("tests")
                && !["cli/src/output.rs", "build.rs"].iter().any(|other| path.ends_with(other))
            {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap();
                let prints = |line: &&str| {
                    let words = ["print!(", "println!(", "stdout().lock()", "io::stdout()", "io::stderr()"];
                    words.iter().any(|word| line.contains(word))
                        && !line.contains("is_terminal()")
                        && !line.contains("untrusted_text::")
                };
                found.extend(code.lines().filter(prints).map(|line| format!("{name}: {}", line.trim())));
            }
        }
    }
    assert!(
        found.is_empty(),
        "print through cli::output, which shows text from outside as it may be shown: {found:#?}"
    );
}

#[test]
fn json_round_trips_hostile_text() {
    let (home, other) = (Home::new(), Home::new());
    let log = home.path("a.log");
    std::fs::write(
        &log,
        "Configuration:\n  Size = 1024m\n  Loops = 5\n\nResults:\n\nSequential Read: 80MB/s IOPS=7\n",
    )
    .unwrap();
    home.run(&["import", log.to_str().unwrap(), "--card", EVIL, "--condition", &format!("reader={EVIL}")])
        .expect(0);
    let named = |home: &Home| {
        let cards = home.run(&["archive", "cards", "--json"]).expect(0).json();
        text(&cards, "/cards/0/facts/name").to_owned()
    };
    assert_eq!(named(&home), EVIL);
    home.run(&["archive", "export", "-o", home.path("").to_str().unwrap()]).expect(0);
    let mut files = std::fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|ending| ending == "json")).unwrap();
    assert!(!std::fs::read_to_string(&file).unwrap().contains(|c| c != '\n' && is_hidden(c)));
    other.run(&["archive", "import", file.to_str().unwrap()]).expect(0);
    assert_eq!(named(&other), EVIL, "the text comes back as it was");
}

#[test]
fn server_paths_are_escaped() {
    let home = Home::new();
    let folder = home.path(EVIL);
    std::fs::create_dir(&folder).unwrap();
    let socket = folder.join("card.sock");
    let mut running = home.start(&["sim", "serve", CARD, "--no-timing", "--nbd", socket.to_str().unwrap()]);
    running.wait_for("is nbd");
    running.signal(Signal::TERM);
    is_tame(&running.finish_within(Duration::from_secs(20)).expect(0));
}
