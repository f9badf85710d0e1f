//! Who asks for the password where there is no desktop: polkit's own agent for terminals, as systemctl(1) starts it. A desktop's
//! agent goes before it.

use super::waiting::LOOK;
use crate::system::text;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpgrp, getuid, set_parent_process_death_signal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A daemon that is started for the agent takes some seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The agent, while a device is being opened; it ends with this value.
pub(super) struct PolkitAgent {
    process: Child,
    terminal: File,
    /// The terminal as it was: the agent switches its echo off.
    was: Termios,
}

impl PolkitAgent {
    /// Starts the agent and waits until polkit knows it. `None` without a terminal, or where polkit has no such program.
    pub(super) fn start(given_up: impl Fn() -> bool) -> Option<PolkitAgent> {
        // The agent asks at the terminal itself, whatever stdin and stdout are; a job in the background must not.
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
        if tcgetpgrp(&terminal).ok()? != getpgrp() {
            return None;
        }
        let was = tcgetattr(&terminal).ok()?;
        let mut command = Command::new("pkttyagent");
        command.args(["--process", &std::process::id().to_string(), "--notify-fd", "1"]);
        // Polkit asks no such agent where there is no session whose own goes before it.
        command.args(in_session().then_some("--fallback"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: between fork and exec this makes one system call and touches no memory.
        unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?)) };
        let mut process = command.spawn().ok()?;
        let known = process.stdout.take()?;
        let agent = PolkitAgent { process, terminal, was };
        // It closes the descriptor once it is known, or at its end where polkit does not take it.
        let began = Instant::now();
        let moment = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as i64 };
        while began.elapsed() < PATIENCE && !given_up() {
            if poll(&mut [PollFd::new(&known, PollFlags::IN)], Some(&moment)).is_ok_and(|ready| ready > 0) {
                break;
            }
        }
        Some(agent)
    }
}

impl Drop for PolkitAgent {
    fn drop(&mut self) {
        // It was born with our signals kept from it, so nothing milder ends it.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let changed = |now: Termios| now.local_modes != self.was.local_modes;
        if tcgetattr(&self.terminal).is_ok_and(changed) {
            let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &self.was);
            // It was stopped behind its question.
            let _ = writeln!(self.terminal);
        }
    }
}

/// Whether polkit finds a session for this process, as sd_pid_get_session(3) and sd_uid_get_display(3) do.
fn in_session() -> bool {
    let own = text("/proc/self/cgroup").is_some_and(|groups| groups.contains("/session-"));
    let user = text(format!("/run/systemd/users/{}", getuid().as_raw()));
    let shown = |line: &str| line.strip_prefix("DISPLAY=").is_some_and(|session| !session.is_empty());
    own || user.is_some_and(|user| user.lines().any(shown))
}
