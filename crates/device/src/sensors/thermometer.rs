//! Thermometers of the user: a command run by `sh` once a second with a time limit, or a CSV file that a data logger
//! appends to. The text is meant for people: `temp=48.3'C`, `21,5 °C`, `probe1 -3.25`.

use super::external::SensorError;
use crate::hwmon::PLAUSIBLE_C;
use cardscope_engine::cause::ErrorCause;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time limit of a command; the next one starts after it.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(5);

const MAX_OUTPUT: usize = 16 << 10;

const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Runs a command. Returns the first number that it prints, or the error as a sentence.
pub(super) fn run_command(line: &str, stopped: &dyn Fn() -> bool) -> Result<f64, String> {
    command_output(line, stopped)
        .and_then(|text| parse_celsius(&text))
        .map_err(|what| format!("the thermometer command {line:?} gave no temperature: {what}"))
}

fn command_output(line: &str, stopped: &dyn Fn() -> bool) -> Result<String, String> {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A separate process group, so that its children are killed with it and Ctrl-C does not reach it.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("sh could not be started: {error}"))?;
    let deadline = Instant::now() + COMMAND_TIMEOUT;
    let pipe = child.stdout.take();
    let output = pipe.map_or(Ok(String::new()), |pipe| read_output(&pipe, deadline, stopped));
    let ended = wait_or_kill(&mut child, deadline, output.is_ok(), stopped);
    let output = output?;
    match ended {
        Some(status) if !status.success() => Err(format!("it ended with {status}")),
        Some(_) => Ok(output),
        None => Err(timeout_text()),
    }
}

fn timeout_text() -> String {
    format!("it took more than {} s", COMMAND_TIMEOUT.as_secs())
}

fn read_output(pipe: &ChildStdout, deadline: Instant, stopped: &dyn Fn() -> bool) -> Result<String, String> {
    let mut said = Vec::new();
    let mut part = [0; 1024];
    while said.len() < MAX_OUTPUT {
        if Instant::now() >= deadline || stopped() {
            return Err(timeout_text());
        }
        let mut fds = [PollFd::new(pipe, PollFlags::IN)];
        let slice = Timespec { tv_sec: 0, tv_nsec: CHECK_INTERVAL.as_nanos() as i64 };
        match poll(&mut fds, Some(&slice)) {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(format!("its output could not be waited for: {error}")),
        }
        match rustix::io::read(pipe, &mut part) {
            Ok(0) => break,
            Ok(bytes) => said.extend_from_slice(&part[..bytes]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(format!("its output could not be read: {error}")),
        }
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// Waits for the end of a command, and kills it after the deadline.
fn wait_or_kill(
    child: &mut Child,
    end: Instant,
    waits: bool,
    stopped: &dyn Fn() -> bool,
) -> Option<ExitStatus> {
    while waits && Instant::now() < end && !stopped() {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // The whole group is killed, since the shell may have started children.
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    None
}

/// Bytes read from the end of the file; lines of data loggers are short.
const TAIL_BYTES: u64 = 4096;

/// A file not written for this long is out of date.
const STALE_AFTER: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct GrowingCsv {
    path: PathBuf,
    column: CsvColumn,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CsvColumn {
    Last,
    /// Counted from 0.
    Number(usize),
    Named(String),
}

impl GrowingCsv {
    pub(super) fn open(path: &Path, column: Option<&str>) -> Result<Self, SensorError> {
        let column = match column.map(|text| (text, text.parse::<usize>())) {
            None => CsvColumn::Last,
            Some((_, Ok(number @ 1..))) => CsvColumn::Number(number - 1),
            Some((name, _)) => CsvColumn::Named(name.to_owned()),
        };
        let no_file = |reason: ErrorCause| SensorError::NoFile { path: path.to_owned(), reason };
        let about = std::fs::metadata(path).map_err(|error| no_file(error.into()))?;
        if !about.is_file() {
            return Err(no_file("it is not a plain file".into()));
        }
        Ok(GrowingCsv { path: path.to_owned(), column })
    }

    /// Temperature in the last complete line, or the error as a sentence.
    pub(super) fn read_celsius(&mut self) -> Result<f64, String> {
        let path = self.path.display();
        self.read_last_line()
            .map_err(|what| format!("the thermometer file {path} gave no temperature: {what}"))
    }

    fn read_last_line(&self) -> Result<f64, String> {
        let file = File::open(&self.path).map_err(|error| error.to_string())?;
        let about = file.metadata().map_err(|error| error.to_string())?;
        let silent = about.modified().ok().and_then(|at| at.elapsed().ok());
        if silent.is_some_and(|silent| silent > STALE_AFTER) {
            return Err(format!("it was not updated for {} s", STALE_AFTER.as_secs()));
        }
        let tail = read_tail(&file, about.len()).map_err(|error| error.to_string())?;
        let line = last_line(&tail).ok_or("it is empty")?;
        let place = self.field_index(&file)?;
        let fields = split_fields(line);
        let field = place.map_or(fields.last(), |place| fields.get(place));
        parse_celsius(field.ok_or("its last line has too few columns")?)
    }

    /// Index of the wanted field; `None` for the last one.
    fn field_index(&self, file: &File) -> Result<Option<usize>, String> {
        match &self.column {
            CsvColumn::Last => Ok(None),
            CsvColumn::Number(number) => Ok(Some(*number)),
            CsvColumn::Named(name) => {
                let mut head = vec![0; TAIL_BYTES as usize];
                let read = file.read_at(&mut head, 0).map_err(|error| error.to_string())?;
                let head = String::from_utf8_lossy(&head[..read]).into_owned();
                let names = split_fields(head.lines().next().unwrap_or_default());
                let found = names.iter().position(|field| field.eq_ignore_ascii_case(name)).map(Some);
                let others = || names.join(", ");
                found.ok_or_else(|| format!("its first line has no column {name:?}, but {}", others()))
            }
        }
    }
}

fn read_tail(file: &File, bytes: u64) -> std::io::Result<String> {
    let start = bytes.saturating_sub(TAIL_BYTES);
    let mut tail = vec![0; (bytes - start) as usize];
    let read = file.read_at(&mut tail, start)?;
    Ok(String::from_utf8_lossy(&tail[..read]).into_owned())
}

/// The text after the last newline may be half written, unless it is the only line.
fn last_line(text: &str) -> Option<&str> {
    let whole = text.rfind('\n').map_or(text, |end| &text[..end]);
    whole.lines().rev().map(str::trim).find(|line| !line.is_empty())
}

/// Splits at semicolons or tabs if there are any, or else at commas, and strips quotes.
fn split_fields(line: &str) -> Vec<&str> {
    let between = [';', '\t'].into_iter().find(|c| line.contains(*c)).unwrap_or(',');
    line.split(between).map(|field| field.trim().trim_matches('"').trim()).collect()
}

/// First number that is not part of a word such as `probe1`. A comma between digits is a decimal one.
fn first_number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let in_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    let begins =
        |at: &usize| bytes[*at].is_ascii_digit() && !at.checked_sub(1).is_some_and(|at| in_word(bytes[at]));
    let starts = (0..bytes.len()).find(begins)?;
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = starts + digits(starts);
    if matches!(bytes.get(end), Some(b'.' | b',')) && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let value: f64 = text.get(starts..end)?.replace(',', ".").parse().ok()?;
    let negative = starts > 0 && bytes[starts - 1] == b'-';
    Some(if negative { -value } else { value })
}

/// Temperature in a text; the error names the text instead.
fn parse_celsius(text: &str) -> Result<f64, String> {
    match first_number(text) {
        Some(celsius) if PLAUSIBLE_C.contains(&celsius) => Ok(celsius),
        Some(other) => Err(format!("{other} is not a temperature in °C")),
        None => Err(format!("{:?} is not a number", text.chars().take(40).collect::<String>())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn run(line: &str) -> Result<f64, String> {
        run_command(line, &|| false)
    }

    #[test]
    fn first_number_of_command_is_temperature() {
        assert_eq!(run("echo \"temp=48.3'C\""), Ok(48.3));
        assert_eq!(run("printf '21.5 C, humidity 40 %%'"), Ok(21.5));
    }

    #[test]
    fn failing_command_reports_reason() {
        assert!(run("exit 3").unwrap_err().contains("exit status: 3"));
        assert!(run("true").unwrap_err().contains("is not a number"));
        assert!(run("no-such-thermometer").unwrap_err().contains("127"));
        assert!(run("echo 23125").unwrap_err().contains("23125 is not a temperature"));
    }

    #[test]
    fn hanging_command_is_killed_with_children() {
        let start = Instant::now();
        let mark = "sleep 987.125";
        assert!(run(&format!("({mark}) & echo 20; {mark}")).unwrap_err().contains("it took more than"));
        assert!(start.elapsed() < COMMAND_TIMEOUT + Duration::from_secs(2));
        let runs = || {
            let all = std::process::Command::new("ps").args(["-eo", "args"]).output().unwrap();
            String::from_utf8_lossy(&all.stdout).lines().any(|line| line == mark)
        };
        // The killed processes need a while to disappear on a busy computer.
        let killed = Instant::now();
        while runs() {
            assert!(killed.elapsed() < Duration::from_secs(20), "{mark} still runs");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn endless_output_is_cut_off() {
        assert!(run("yes 42").is_err());
    }

    #[test]
    fn command_ends_on_stop_signal() {
        let start = Instant::now();
        let _ = run_command("sleep 60", &|| start.elapsed() > Duration::from_millis(200));
        assert!(start.elapsed() < Duration::from_secs(2));
    }

    fn file(content: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file
    }

    fn read(content: &str, column: Option<&str>) -> Result<f64, String> {
        GrowingCsv::open(file(content).path(), column).map(drop).unwrap();
        let file = file(content);
        GrowingCsv::open(file.path(), column).unwrap().read_celsius()
    }

    #[test]
    fn last_column_of_last_complete_line_counts() {
        assert_eq!(read("time,probe\n1,20.5\n2,21.25\n", None), Ok(21.25));
        assert_eq!(read("1,20.5\n2,21.25\n3,2", None), Ok(21.25), "the third line is half written");
        assert_eq!(read("22.5", None), Ok(22.5));
    }

    #[test]
    fn column_is_selected_by_name_or_number() {
        let log = "time;reader;room\n10:00;41,5;22,0\n";
        assert_eq!(read(log, Some("reader")), Ok(41.5));
        assert_eq!(read(log, Some("3")), Ok(22.0));
        assert!(read(log, Some("soc")).unwrap_err().contains("time, reader, room"));
        assert!(read(log, Some("9")).unwrap_err().contains("too few columns"));
    }

    #[test]
    fn file_without_temperature_is_an_error() {
        assert!(read("", None).unwrap_err().contains("it is empty"));
        assert!(read("time,probe\n", None).unwrap_err().contains("is not a number"));
        let missing = GrowingCsv::open(Path::new("/no/such.csv"), None).unwrap_err();
        assert!(missing.to_string().contains("/no/such.csv"));
        assert!(GrowingCsv::open(Path::new("/dev/zero"), None).is_err());
    }

    #[test]
    fn stale_file_is_an_error() {
        let file = file("1,20\n");
        let past = std::time::SystemTime::now() - Duration::from_secs(120);
        file.as_file().set_modified(past).unwrap();
        let error = GrowingCsv::open(file.path(), None).unwrap().read_celsius().unwrap_err();
        assert!(error.contains("60 s"), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn no_file_panics(text in "\\PC{0,80}[\n;,\t]{0,4}\\PC{0,20}") {
            let _ = last_line(&text).map(split_fields);
        }
    }

    #[test]
    fn first_standalone_number_is_parsed() {
        for (text, value) in [
            ("temp=48.3'C", 48.3),
            ("21,5 °C\n", 21.5),
            ("probe1 -3.25", -3.25),
            ("45", 45.0),
            ("a_1: 30.5 31.5", 30.5),
            ("50.", 50.0),
        ] {
            assert_eq!(first_number(text), Some(value), "{text}");
        }
        for text in ["", "warm", "T1", "nan"] {
            assert_eq!(first_number(text), None, "{text}");
        }
    }

    #[test]
    fn implausible_number_is_an_error() {
        assert!(parse_celsius("23125").unwrap_err().contains("23125"));
        assert!(parse_celsius("off").unwrap_err().contains("off"));
    }

    proptest::proptest! {
        #[test]
        fn every_temperature_is_parsed_without_panic(text in "\\PC{0,40}", celsius in -55i32..190) {
            let _ = first_number(&text);
            proptest::prop_assert_eq!(first_number(&format!("t={celsius}.5 C")).map(f64::abs), Some(f64::from(celsius.abs()) + 0.5));
        }
    }
}
