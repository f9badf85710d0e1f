//! A thermometer that is a command: run by `sh`, once a second, and ended when it takes too long.

use super::number;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A command that has not answered by then is ended; the next one is tried after that.
const TIME_OUT: Duration = Duration::from_secs(5);

/// More than this is no thermometer's answer.
const MOST_BYTES: usize = 16 << 10;

/// How often a running command asks whether it is still wanted.
const SLICE: Duration = Duration::from_millis(100);

/// Runs the command; the first number it prints, or what went wrong as a sentence.
pub(super) fn celsius(line: &str, stopped: &dyn Fn() -> bool) -> Result<f64, String> {
    answer(line, stopped)
        .and_then(|text| number::celsius(&text))
        .map_err(|what| format!("the thermometer command {line:?} gave no temperature: {what}"))
}

fn answer(line: &str, stopped: &dyn Fn() -> bool) -> Result<String, String> {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A group of its own, so that what it starts ends with it, and Ctrl-C reaches it only through us.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("sh could not be started: {error}"))?;
    let deadline = Instant::now() + TIME_OUT;
    let said = match child.stdout.take() {
        Some(pipe) => collect(&pipe, deadline, stopped),
        None => Ok(String::new()),
    };
    let ended = finish(&mut child, deadline, said.is_ok(), stopped);
    let said = said?;
    match ended {
        Some(status) if !status.success() => Err(format!("it ended with {status}")),
        Some(_) => Ok(said),
        None => Err(late()),
    }
}

fn late() -> String {
    format!("it did not end within {} s", TIME_OUT.as_secs())
}

/// What it prints until it closes its output.
fn collect(pipe: &ChildStdout, deadline: Instant, stopped: &dyn Fn() -> bool) -> Result<String, String> {
    let mut said = Vec::new();
    let mut piece = [0; 1024];
    while said.len() < MOST_BYTES {
        if Instant::now() >= deadline || stopped() {
            return Err(late());
        }
        let mut fds = [PollFd::new(pipe, PollFlags::IN)];
        let slice = Timespec { tv_sec: 0, tv_nsec: SLICE.as_nanos() as i64 };
        match poll(&mut fds, Some(&slice)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => match rustix::io::read(pipe, &mut piece) {
                Ok(0) => break,
                Ok(bytes) => said.extend_from_slice(&piece[..bytes]),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(format!("its output could not be read: {error}")),
            },
            Err(error) => return Err(format!("its output could not be waited for: {error}")),
        }
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// Waits for its end while that may still come, then ends it by force.
fn finish(
    child: &mut Child,
    deadline: Instant,
    patient: bool,
    stopped: &dyn Fn() -> bool,
) -> Option<std::process::ExitStatus> {
    while patient && Instant::now() < deadline && !stopped() {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> Result<f64, String> {
        celsius(line, &|| false)
    }

    #[test]
    fn a_command_s_first_number_is_the_temperature() {
        assert_eq!(run("echo \"temp=48.3'C\""), Ok(48.3));
        assert_eq!(run("printf '21.5 C, humidity 40 %%'"), Ok(21.5));
    }

    #[test]
    fn a_command_that_fails_says_why() {
        assert!(run("exit 3").unwrap_err().contains("exit status: 3"));
        assert!(run("true").unwrap_err().contains("holds no number"));
        assert!(run("no-such-thermometer").unwrap_err().contains("127"));
        assert!(run("echo 23125").unwrap_err().contains("23125 is no temperature"));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_all_that_it_started() {
        let start = Instant::now();
        let mark = "sleep 987.125";
        assert!(run(&format!("({mark}) & echo 20; {mark}")).unwrap_err().contains("did not end"));
        assert!(start.elapsed() < TIME_OUT + Duration::from_secs(2));
        let left = std::process::Command::new("ps").args(["-eo", "args"]).output().unwrap();
        assert!(!String::from_utf8_lossy(&left.stdout).lines().any(|line| line == mark));
    }

    #[test]
    fn a_command_that_prints_for_ever_is_cut_off() {
        assert!(run("yes 42").is_err());
    }

    #[test]
    fn a_command_ends_soon_when_nobody_wants_it_any_more() {
        let start = Instant::now();
        let _ = celsius("sleep 60", &|| start.elapsed() > Duration::from_millis(200));
        assert!(start.elapsed() < Duration::from_secs(2));
    }
}
