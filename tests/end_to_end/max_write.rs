//! Write limits of tests in a directory: stated before the start, and small on the disk of the running system unless
//! `--max-write` allows more. Needs the temporary directory on the system disk.

use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::machine::{MIB, TestMount, names_in};
use crate::common::{list, number, text};
use std::path::Path;

/// Bytes that archive and file system write themselves.
const BESIDES: u64 = 24 * MIB;

/// Runs a program and prints how much it wrote to disks (getrusage(2), `ru_oublock`).
const COUNTING: &str = "import resource, subprocess, sys\n\
    status = subprocess.run(sys.argv[1:]).returncode\n\
    written = resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock * 512\n\
    print(f'wrote {written} bytes', file=sys.stderr)\n\
    sys.exit(status)";

/// Directory on the system disk, and a user.
struct Here {
    home: Home,
    dir: tempfile::TempDir,
}

impl Here {
    fn new() -> Here {
        Here { home: Home::new(), dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }

    /// Runs `cardscope` and also returns the bytes it wrote.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> (Outcome, u64) {
        let mut command = self.home.command("python3");
        command.args(["-c", COUNTING, CARDSCOPE]).args(arguments);
        let outcome = Running::of(command).finish();
        let line = outcome.stderr.lines().rev().find_map(|line| line.strip_prefix("wrote "));
        let written = line.and_then(|line| line.split(' ').next()).unwrap().parse().unwrap();
        assert!(names_in(Path::new(self.path())).is_empty(), "{outcome}");
        (outcome, written)
    }
}

const LIMIT: &str = "limited to 256 MiB, since the running system is on this disk";

#[test]
fn check_limits_writes_on_the_system_disk() {
    let here = Here::new();
    // Enough time for a busy computer to reach the write limit.
    let (outcome, written) = here.run(&["check", here.path(), "--budget", "2m", "--json"]);
    let document = outcome.expect(4).says(&[LIMIT]).json();
    assert!(written <= 256 * MIB + BESIDES, "{written} bytes");
    assert!(written > 100 * MIB, "{written} bytes: something was tested");
    let left_out = list(&document, "/parts").iter().filter(|part| part["state"] == "left-out");
    let mut reasons = left_out.filter_map(|part| part["reason"].as_str());
    assert!(reasons.any(|reason| reason.contains("--max-write")), "{document:#}");
    assert!(list(&document, "/bench").len() >= 4, "{document:#}");
}

#[test]
fn timed_recipe_shrinks_to_the_write_limit() {
    let here = Here::new();
    let (outcome, written) = here.run(&["bench", here.path(), "--json"]);
    let document = outcome.expect(0).says(&[LIMIT, "over 64 MiB", "as much as possible in"]).json();
    assert!(written <= 256 * MIB + BESIDES, "{written} bytes");
    let results = list(&document, "/runs/0/results");
    assert_eq!(results.len(), 8, "{document:#}");
    let cut = |result: &&serde_json::Value| result["caveats"].to_string().contains("--max-write");
    assert!(results.iter().any(|result| cut(&result)), "{document:#}");
}

#[test]
fn fixed_recipe_beyond_the_write_limit_is_refused() {
    let here = Here::new();
    let tests = "[defaults]\npasses = 1\nloops = 20\n[[test]]\ntest = \"SEQ1M Q1T1 write\"\n";
    let recipe = here.home.recipe("", tests);
    let bench =
        |more: &[&str]| here.run(&[&["bench", here.path(), "--recipe", &recipe, "--json"], more].concat());
    let (outcome, written) = bench(&[]);
    outcome.expect(2).says(&["writes up to 336 MiB", "--max-write 336M"]);
    assert!(written < BESIDES, "{written} bytes");
    let (outcome, written) = bench(&["--max-write", "336M"]);
    outcome.expect(0).says(&["limited to 336 MiB"]);
    assert!((330 * MIB..336 * MIB + BESIDES).contains(&written), "{written} bytes");
    let (outcome, _) = bench(&["--max-write", "100M"]);
    outcome.expect(2).says(&["the limit is 100 MiB", "--max-write 336M"]);
}

#[test]
fn files_keep_to_the_write_limit() {
    let here = Here::new();
    let (outcome, written) = here.run(&["verify", here.path(), "--files", "--json"]);
    let document = outcome.expect(4).says(&[LIMIT]).json();
    assert_eq!(number(&document, "/bytes_written") as u64, 256 * MIB);
    assert_eq!(text(&document, "/verdict"), "inconclusive");
    assert!(written <= 256 * MIB + BESIDES, "{written} bytes");
}

#[test]
fn a_map_uses_a_file_of_half_of_what_may_be_written() {
    let here = Here::new();
    let (outcome, written) = here.run(&["map", here.path(), "--budget", "20s", "--json"]);
    let document = outcome.expect(0).says(&[LIMIT, "a file of its own of 128 MiB"]).json();
    assert!(number(&document, "/bytes_written") as u64 <= 256 * MIB, "{document:#}");
    assert!(written <= 256 * MIB + BESIDES, "{written} bytes");
}

#[test]
fn writing_sustain_needs_a_higher_limit() {
    let here = Here::new();
    let (outcome, written) = here.run(&["sustain", here.path(), "--duration", "5s"]);
    outcome.expect(2).says(&["a long run writes up to", "--max-write"]);
    assert!(written < BESIDES, "{written} bytes");
    let (outcome, written) = here.run(&["sustain", here.path(), "--read", "--duration", "5s"]);
    outcome.expect(0).says(&[LIMIT]);
    assert!(written <= 256 * MIB + BESIDES, "{written} bytes");
    let (outcome, written) =
        here.run(&["sustain", here.path(), "--duration", "30s", "--max-write", "300M", "--json"]);
    let document = outcome.json();
    // On a fast disk the limit may be reached in the first second, and only then may the series be empty.
    let told = !list(&document, "/series").is_empty();
    assert!(told || number(&document, "/seconds") < 1.0, "{document:#}");
    let status = if told { 0 } else { 4 };
    outcome.expect(status).says(&["limited to 300 MiB"]);
    assert_eq!(text(&document, "/ended_by"), "--max-write", "{document:#}");
    assert!(written <= 300 * MIB + BESIDES, "{written} bytes");
}

/// One read a second is timed among the writes, and the limit may be reached there, too.
#[test]
fn write_limit_ends_sustain_without_error() {
    let (home, card) = (Home::new(), "sim:lexar-16g-c10");
    for megabytes in 40..=70 {
        let limit = format!("{megabytes}M");
        let arguments =
            ["sustain", card, "--yes-destroy", card, "--duration", "30s", "--max-write", &limit, "--json"];
        let document = home.run(&arguments).expect(0).json();
        assert_eq!(text(&document, "/ended_by"), "--max-write", "{limit}: {document:#}");
        assert!(number(&document, "/bytes_written") as u64 <= megabytes * MIB, "{limit}: {document:#}");
    }
}

#[test]
fn other_disks_have_no_default_write_limit() {
    let home = Home::new();
    let memory = TestMount::new(&["-t", "tmpfs", "-o", "size=700M"], "tmpfs");
    let outcome = home.run(&["verify", memory.path(), "--files", "--json", "--max-write", "400M"]);
    let document = outcome.expect(4).json();
    assert_eq!(number(&document, "/bytes_written") as u64, 400 * MIB);
}
