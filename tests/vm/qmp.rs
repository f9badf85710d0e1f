//! QEMU's machine protocol: one response a command, with events in between.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Connection to the monitor of a machine.
pub(super) struct Qmp {
    to: UnixStream,
    from: BufReader<UnixStream>,
    /// Devices that QEMU has deleted.
    gone: Vec<String>,
    /// File of QEMU's errors.
    errors: PathBuf,
}

impl Qmp {
    /// Connects to a machine that writes errors to a file; fails if it does not answer in time.
    pub(super) fn over(stream: UnixStream, errors: PathBuf, patience: Duration) -> Qmp {
        stream.set_read_timeout(Some(patience)).unwrap();
        let from = BufReader::new(stream.try_clone().unwrap());
        let mut qmp = Qmp { to: stream, from, gone: Vec::new(), errors };
        assert!(qmp.next().get("QMP").is_some());
        qmp.ask("qmp_capabilities", json!({}));
        qmp
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        match self.from.read_line(&mut line) {
            Ok(1..) => {}
            said => {
                panic!("QEMU ended or hangs ({said:?}): {}", std::fs::read_to_string(&self.errors).unwrap())
            }
        }
        serde_json::from_str(&line).unwrap()
    }

    /// Runs a command that must succeed, and returns its result.
    #[track_caller]
    pub(super) fn ask(&mut self, command: &str, arguments: Value) -> Value {
        self.to
            .write_all(format!("{}\n", json!({ "execute": command, "arguments": arguments })).as_bytes())
            .unwrap();
        loop {
            let mut said = self.next();
            if said.get("event").is_some() {
                self.note(&said);
                continue;
            }
            assert!(said.get("error").is_none(), "{command} {arguments}: {said}");
            return said["return"].take();
        }
    }

    fn note(&mut self, event: &Value) {
        if event["event"] == "DEVICE_DELETED" {
            self.gone.extend(event["data"]["device"].as_str().map(str::to_owned));
        }
    }

    /// Waits until QEMU has deleted a device, because the guest's driver released it.
    #[track_caller]
    pub(super) fn wait_until_gone(&mut self, device: &str) {
        while !self.gone.iter().any(|gone| gone == device) {
            let said = self.next();
            self.note(&said);
        }
        self.gone.retain(|gone| gone != device);
    }
}
