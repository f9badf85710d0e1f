//! Room for what Cardscope keeps: the journal that saves a card's data, and the archive.

use cardscope_device::filesystem;
use cardscope_device::system::System;
use cardscope_model::doctor::{Point, State, Topic};
use cardscope_store::Archive;
use std::path::Path;

const MIB: u64 = 1 << 20;

/// A quick verify saves up to some hundred MiB, a thorough one 2 GiB.
const WANTED: u64 = 3072 * MIB;
const LEAST: u64 = 128 * MIB;

pub(super) fn points(system: &System, device: Option<&str>) -> Vec<Point> {
    if !system.is_live() {
        return Vec::new();
    }
    let journal = cardscope_journal::folder::folder().map_err(|e| e.to_string());
    let archive = Archive::default_path().map_err(|e| e.to_string());
    vec![
        place(
            "journal-place",
            journal,
            device,
            "what a test overwrites is saved there first, and put back from there after a crash",
        ),
        place("archive-place", archive, device, "results are kept there as soon as they are measured"),
    ]
}

fn place(name: &str, path: Result<std::path::PathBuf, String>, device: Option<&str>, why: &str) -> Point {
    let new = |state, seen: String| Point::new(name, Topic::Storage, state, seen, why);
    let path = match path {
        Ok(path) => path,
        Err(reason) => {
            return new(State::Fail, reason).advise("export HOME, or XDG_STATE_HOME and XDG_DATA_HOME");
        }
    };
    let elsewhere = "export XDG_STATE_HOME and XDG_DATA_HOME to folders on another disk";
    if let Some(device) = device
        && filesystem::lies_on(&path, device)
    {
        let seen = format!("{} lies on {device} itself", path.display());
        let state = if name == "journal-place" { State::Fail } else { State::Warn };
        return new(state, seen).advise(elsewhere);
    }
    let Some((free, read_only)) = room(&path) else {
        return new(State::Unknown, format!("{} cannot be looked at", path.display()));
    };
    let below = filesystem::of_path(&path).ok();
    let kind = below.as_ref().map_or("an unknown file system", |found| found.name.as_str());
    let seen = format!("{} on {kind}, {} MiB free", path.display(), free / MIB);
    match free {
        _ if read_only => new(State::Fail, format!("{seen}, read-only")).advise(elsewhere),
        free if free < LEAST => new(State::Fail, seen).advise(elsewhere),
        _ if matches!(kind, "tmpfs" | "ramfs") => {
            new(State::Warn, format!("{seen}: in memory, so that it does not survive a crash"))
                .advise(elsewhere)
        }
        free if free < WANTED => new(State::Warn, seen).advise(elsewhere),
        _ => new(State::Ok, seen),
    }
}

/// Free bytes, and whether it is read-only, of the nearest folder that is there.
fn room(path: &Path) -> Option<(u64, bool)> {
    let there = path.ancestors().find(|p| p.is_dir())?;
    filesystem::room(there).ok().map(|room| (room.free, room.read_only))
}
