//! Python environments with their own packages, created once below the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Folder of programs, including `python`, with the packages of requirement lists, each pinned by hash. A later list
/// may need packages of an earlier one to be built.
#[track_caller]
pub(crate) fn programs(lists: &[&Path]) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock();
    let name = lists.last().unwrap().file_stem().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python").join(name);
    let wanted: String = lists.iter().map(|list| fs::read_to_string(list).unwrap()).collect();
    let (stamp, programs) = (folder.join("installed"), folder.join("bin"));
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return programs;
    }
    let _ = fs::remove_dir_all(&folder);
    done(Command::new("python3").args(["-m", "venv"]).arg(&folder), "./check installs python3-venv");
    for list in lists {
        let mut pip = Command::new(programs.join("python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
        pip.args(["--require-hashes", "--no-deps", "--no-build-isolation", "-r"]).arg(list);
        done(&mut pip, "pip needs the network once");
    }
    fs::write(stamp, wanted).unwrap();
    programs
}

/// Output of a program; `hint` says what it needs.
#[track_caller]
pub(crate) fn done(command: &mut Command, hint: &str) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|e| panic!("{command:?}: {e}; {hint}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {hint}\n{said}");
    String::from_utf8(output.stdout).unwrap()
}
