//! Password prompt on a terminal: polkit's own agent, as systemctl(1) starts it. The agent of a desktop takes
//! precedence.

use super::bus::CHECK_INTERVAL;
use crate::system::read_text;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpgrp, getuid, set_parent_process_death_signal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A daemon started for the agent takes some seconds.
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Running agent; ended on drop.
pub(super) struct PolkitAgent {
    process: Child,
    terminal: File,
    /// Terminal settings before the agent, which switches the echo off.
    was: Termios,
}

impl PolkitAgent {
    /// Starts the agent and waits until it is registered. `None` without a terminal or without the program.
    pub(super) fn start(given_up: impl Fn() -> bool) -> Option<PolkitAgent> {
        // The agent uses the terminal, wherever stdin and stdout lead; a background job must not.
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
        if tcgetpgrp(&terminal).ok()? != getpgrp() {
            return None;
        }
        let was = tcgetattr(&terminal).ok()?;
        let mut command = Command::new("pkttyagent");
        command.args(["--process", &std::process::id().to_string(), "--notify-fd", "1"]);
        // Without a session, polkit never calls a fallback agent.
        command.args(in_session().then_some("--fallback"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: between fork and exec this makes one system call and accesses no memory.
        unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?)) };
        let mut process = command.spawn().ok()?;
        let known = process.stdout.take()?;
        let agent = PolkitAgent { process, terminal, was };
        // The agent closes the descriptor once it is registered, or at its end if polkit rejects it.
        let began = Instant::now();
        let moment = Timespec { tv_sec: 0, tv_nsec: CHECK_INTERVAL.as_nanos() as i64 };
        let is_ready = || poll(&mut [PollFd::new(&known, PollFlags::IN)], Some(&moment)).is_ok_and(|n| n > 0);
        while began.elapsed() < REGISTRATION_TIMEOUT && !given_up() && !is_ready() {}
        Some(agent)
    }
}

impl Drop for PolkitAgent {
    fn drop(&mut self) {
        // It inherited our blocked signals, so nothing milder than SIGKILL ends it.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let changed = |now: Termios| now.local_modes != self.was.local_modes;
        if tcgetattr(&self.terminal).is_ok_and(changed) {
            let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &self.was);
            // The agent was killed with the cursor after its prompt.
            let _ = writeln!(self.terminal);
        }
    }
}

/// True if polkit finds a session for this process, as sd_pid_get_session(3) and sd_uid_get_display(3) do.
fn in_session() -> bool {
    let own = read_text("/proc/self/cgroup").is_some_and(|groups| groups.contains("/session-"));
    let user = read_text(format!("/run/systemd/users/{}", getuid().as_raw()));
    let shown = |line: &str| line.strip_prefix("DISPLAY=").is_some_and(|session| !session.is_empty());
    own || user.is_some_and(|user| user.lines().any(shown))
}
