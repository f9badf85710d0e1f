//! PostgreSQL server for these tests: a cluster in a temporary folder, reached through a socket, run by an unprivileged
//! user, and removed with the last test that uses it.
//!
//! Without PostgreSQL these tests fail, since half of the archive would be untested.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Running server.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
    databases: AtomicU32,
}

impl Server {
    /// Server shared by the tests while any of them runs.
    pub(crate) fn shared() -> Arc<Server> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap();
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Server::new());
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Server for one test, which may stop it.
    pub(crate) fn new() -> Server {
        let folder = tempfile::tempdir().unwrap();
        if let Some((user, group)) = unprivileged() {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let server = Server { folder, programs: programs(), databases: AtomicU32::new(0) };
        let cluster = server.cluster();
        let made = server
            .program("initdb")
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"])
            .arg(&cluster)
            .output();
        let made = made.expect("initdb of PostgreSQL: ./check installs it");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        server.start();
        server
    }

    pub(crate) fn start(&self) {
        let options = format!("-k {} -c listen_addresses= -c fsync=off", self.folder().display());
        let started = self
            .program("pg_ctl")
            .args(["start", "--wait", "--silent", "-o", &options, "-l"])
            .arg(self.folder().join("log"))
            .arg("-D")
            .arg(self.cluster())
            .stdout(Stdio::null())
            .status();
        let log = || fs::read_to_string(self.folder().join("log")).unwrap_or_default();
        assert!(started.unwrap().success(), "{}", log());
    }

    /// Stops the server as a crash would.
    pub(crate) fn kill(&self) {
        let stopped = self
            .program("pg_ctl")
            .args(["stop", "-m", "immediate", "--silent", "-D"])
            .arg(self.cluster())
            .status();
        assert!(stopped.unwrap().success());
    }

    /// Creates an empty database and returns its address.
    pub(crate) fn database(&self) -> String {
        let name = format!("archive_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address(&name)
    }

    pub(crate) fn address(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user=postgres", self.folder().display())
    }

    /// Runs SQL as the owner and returns the output.
    pub(crate) fn sql(&self, database: &str, text: &str) -> String {
        let said = self
            .program("psql")
            .args([
                "-X",
                "-q",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "postgres",
                "-d",
                database,
                "-c",
                text,
            ])
            .arg("-h")
            .arg(self.folder())
            .output()
            .unwrap();
        assert!(said.status.success(), "{text}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn cluster(&self) -> PathBuf {
        self.folder().join("cluster")
    }

    /// Command for a program of PostgreSQL, as an unprivileged user, since it refuses root.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(self.folder());
        if let Some((user, group)) = unprivileged() {
            command.uid(user).gid(group);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        let _ = stop.args(["stop", "-m", "immediate", "--silent", "-D"]).arg(self.cluster()).status();
        let small = self.folder().join("small");
        if small.exists() {
            let _ = Command::new("umount").arg("-l").arg(small).status();
        }
    }
}

/// Folder of PostgreSQL's programs: Debian installs them by version outside of PATH.
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort_by_key(|folder| folder.parent().and_then(Path::file_name).map(|v| (v.len(), v.to_owned())));
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let has_all = |folder: &&PathBuf| ["initdb", "pg_ctl", "psql"].iter().all(|p| folder.join(p).exists());
    folders
        .iter()
        .rfind(has_all)
        .cloned()
        .expect("PostgreSQL: ./check installs it (Debian: apt install postgresql)")
}

/// Unprivileged user, if these tests run as root.
fn unprivileged() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let of = |name: &str| {
        let fields: Vec<&str> =
            users.lines().find(|line| line.starts_with(&format!("{name}:")))?.split(':').collect();
        Some((fields[2].parse().ok()?, fields[3].parse().ok()?))
    };
    Some(of("postgres").or_else(|| of("nobody")).expect("a user postgres or nobody"))
}
