//! QEMU process with its connections, and the saved state that all machines start from.

use super::qmp::Qmp;
use crate::common::binary::CARDSCOPE;
use crate::common::machine::run_tool;
use crate::common::until;
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Limit of a command. Emulated processors are slow, and other tests run concurrently.
pub(super) const PATIENCE: Duration = Duration::from_secs(240);

/// Folder of kernel, root file system and saved state, shared by all tests.
pub(super) fn made() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("vm")
}

/// Size in MiB of the system disk, for machines with one.
pub(super) const DISK_MIB: u64 = 512;

/// QEMU with its three connections.
pub(super) struct Qemu {
    child: Child,
    processor: usize,
    pub(super) qmp: Qmp,
    pub(super) agent: UnixStream,
    pub(super) folder: PathBuf,
}

impl Qemu {
    /// Starts QEMU in a folder, from a saved state or by booting, on one processor of the host.
    pub(super) fn start(folder: &Path, from: Option<&Path>, disk: Option<&Path>, processor: usize) -> Qemu {
        let made = made();
        let at = |name: &str| folder.join(name);
        std::fs::create_dir_all(at("share")).unwrap();
        let sockets = [at("qmp"), at("agent")];
        sockets.iter().for_each(|socket| drop(std::fs::remove_file(socket)));
        let program = Path::new(CARDSCOPE).parent().unwrap();
        let mut line =
            "-machine pc,accel=tcg -cpu max -smp 1 -m 1500 -display none -nodefaults -no-reboot".to_owned();
        let mut add = |words: std::fmt::Arguments<'_>| write!(line, " {words}").unwrap();
        add(format_args!(
            "-kernel {} -initrd {}",
            made.join("vmlinuz").display(),
            made.join("initramfs").display()
        ));
        add(format_args!("-serial file:{}", at("console").display()));
        add(format_args!("-qmp unix:{},server=on,wait=off", at("qmp").display()));
        add(format_args!("-chardev socket,id=agent,path={},server=on,wait=off", at("agent").display()));
        add(format_args!("-device virtio-serial-pci -device virtconsole,chardev=agent"));
        for (tag, path, more) in [("share", at("share").as_path(), ""), ("program", program, ",readonly=on")]
        {
            add(format_args!("-fsdev local,id={tag},path={},security_model=none{more}", path.display()));
            add(format_args!("-device virtio-9p-pci,fsdev={tag},mount_tag={tag}"));
        }
        add(format_args!("-drive if=none,id=sd -device sdhci-pci -device sd-card,id=card,drive=sd"));
        add(format_args!("-device qemu-xhci,id=usb-ports"));
        // The empty slots of a USB card reader.
        add(format_args!("-drive if=none,id=slot-0 -drive if=none,id=slot-1"));
        match disk {
            Some(path) => add(format_args!(
                "-blockdev driver=raw,node-name=system,file.driver=file,file.filename={}",
                path.display()
            )),
            None => add(format_args!("-blockdev driver=null-co,node-name=system,size={}", DISK_MIB << 20)),
        }
        add(format_args!("-device virtio-blk-pci,drive=system"));
        // Before release 8.1 QEMU omits memory barriers of a guest with one processor, so its devices miss requests
        // that use no register ("tcg: Do not elide memory barriers for !CF_PARALLEL in system mode"): in about one of
        // thirty runs of all tests the NVMe disk never saw a command. On one processor of the host all threads see
        // memory in one order.
        let processor = nth_processor(processor);
        let mut command = on(processor, "qemu-system-x86_64");
        command.args(line.split(' ')).args(["-append", "console=ttyS0 panic=-1"]);
        if let Some(state) = from {
            command.arg("-incoming").arg(format!("exec:cat '{}'", state.display()));
        }
        let errors = std::fs::File::create(at("errors")).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        let mut child = command.spawn().unwrap_or_else(|e| panic!("taskset is needed for this test: {e}"));
        let [qmp, agent] = sockets.map(|socket| {
            loop {
                if let Ok(stream) = UnixStream::connect(&socket) {
                    break stream;
                }
                if let Some(status) = child.try_wait().unwrap() {
                    panic!("QEMU ended with {status}: {}", std::fs::read_to_string(at("errors")).unwrap());
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        agent.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        Qemu {
            child,
            processor,
            qmp: Qmp::over(qmp, at("errors"), PATIENCE),
            agent,
            folder: folder.to_owned(),
        }
    }

    /// Wakes a guest whose timer is overdue. Every wait for the guest calls this repeatedly.
    ///
    /// QEMU waits for each block of the SD card on the guest's thread, which can consume the event that should tell
    /// the main loop of a new timer. The main loop then sleeps on, and so does a guest that waits for nothing else
    /// (rare; reproduced with the main loop at the lowest priority beside a busy program). Any command wakes the main
    /// loop.
    pub(super) fn look_at_the_clock(&mut self) {
        self.status();
    }

    /// Gives the main loop, QEMU's first thread, the lowest priority, and starts a busy program on its processor.
    pub(super) fn hold_up_main_loop(&mut self) -> Busy {
        let first = Pid::from_child(&self.child);
        setpriority_process(Some(first), 19).unwrap();
        Busy(on(self.processor, "sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
    }

    pub(super) fn status(&mut self) -> String {
        self.qmp.ask("query-status", json!({}))["status"].as_str().unwrap().to_owned()
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Busy program, killed when dropped.
pub(super) struct Busy(Child);

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Command on one processor of the host.
fn on(processor: usize, program: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &processor.to_string(), program]);
    command
}

/// Processor that this process may use, by index modulo their number.
fn nth_processor(n: usize) -> usize {
    let allowed = sched_getaffinity(None).unwrap();
    let processors: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    processors[n % processors.len()]
}

/// Saved state that all machines start from.
pub(super) fn state() -> &'static Path {
    static STATE: OnceLock<PathBuf> = OnceLock::new();
    STATE.get_or_init(make_state)
}

/// Creates the state once for all test programs.
fn make_state() -> PathBuf {
    let made = made();
    std::fs::create_dir_all(&made).unwrap();
    let lock = std::fs::File::create(made.join("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    run_tool(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vm/guest/build"), &[made.to_str().unwrap()]);
    let state = made.join("state");
    if !state.exists() {
        let mut qemu = Qemu::start(&made, None, None, 0);
        let mut heard = String::new();
        let started = Instant::now();
        while !heard.contains("ready") {
            assert!(
                started.elapsed() < PATIENCE,
                "no boot within {PATIENCE:?}, see {}",
                made.join("console").display()
            );
            hear(&mut qemu.agent, &mut heard);
        }
        qemu.qmp.ask("stop", json!({}));
        let half = made.join("state.half");
        qemu.qmp.ask("migrate", json!({ "uri": format!("exec:cat >'{}'", half.display()) }));
        until("the state of the machine", || {
            qemu.qmp.ask("query-migrate", json!({}))["status"] == "completed"
        });
        std::fs::rename(half, &state).unwrap();
    }
    state
}

/// Reads output of the agent, with a short timeout.
pub(super) fn hear(agent: &mut UnixStream, heard: &mut String) {
    let mut piece = [0; 256];
    match agent.read(&mut piece) {
        Ok(0) => panic!("the machine ended"),
        Ok(n) => heard.push_str(&String::from_utf8_lossy(&piece[..n])),
        Err(e)
            if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
        Err(e) => panic!("the machine is not heard: {e}"),
    }
}
