//! Who asks for the password where there is no desktop: polkit's own agent for terminals, as systemctl(1) starts it. A desktop's
//! agent goes before it.

use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The agent, while a device is being opened; it ends with this value.
pub(super) struct Agent(Child);

impl Agent {
    /// Starts the agent and waits until polkit knows it. `None` without a terminal, or where polkit has no such program.
    pub(super) fn start() -> Option<Agent> {
        // The agent asks at the terminal itself, whatever stdin and stdout are.
        std::fs::File::options().read(true).write(true).open("/dev/tty").ok()?;
        let me = std::process::id().to_string();
        let mut command = Command::new("pkttyagent");
        command.args(["--process", &me, "--notify-fd", "1", "--fallback"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: between fork and exec this makes one system call and touches no memory.
        unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?)) };
        let mut agent = Agent(command.spawn().ok()?);
        // It closes the descriptor once it is known, or at its end where polkit does not take it.
        let mut nothing = Vec::new();
        agent.0.stdout.take()?.read_to_end(&mut nothing).ok()?;
        Some(agent)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Asked to end, it puts the terminal's echo back.
        let process = Pid::from_child(&self.0);
        let _ = kill_process(process, Signal::TERM);
        let _ = kill_process(process, Signal::CONT);
        let _ = self.0.wait();
    }
}
