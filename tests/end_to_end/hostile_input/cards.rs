//! Files that are no cards, named as cards.

use super::ended;
use crate::common::binary::Home;
use crate::common::logs::write;
use crate::common::machine::{MIB, data};
use std::fs;
use std::path::PathBuf;

#[test]
fn kernel_files_are_refused_as_cards() {
    let home = Home::new();
    let verbs: [&[&str]; 13] = [
        &["info"],
        &["fit"],
        &["observe"],
        &["bench"],
        &["check"],
        &["map"],
        &["sustain"],
        &["verify"],
        &["verify", "--full", "--read-only"],
        &["verify", "--full"],
        &["verify", "--files"],
        &["format"],
        &["endure"],
    ];
    for (target, file_system) in [
        ("/sys/kernel/uevent_seqnum", "sysfs"),
        ("/sys/kernel/notes", "sysfs"),
        ("/proc/self/mountinfo", "proc"),
        ("/proc/sys/vm/swappiness", "proc"),
        ("/sys", "sysfs"),
        ("/proc", "proc"),
    ] {
        for verb in verbs {
            let consent: &[&str] = match verb {
                ["verify", "--full", ..] | ["format"] | ["endure"] => &["--yes-destroy", target],
                _ => &[],
            };
            let refused = home.run(&[verb, &[target], consent].concat()).expect(2);
            let asks_for_a_file =
                verb == ["verify", "--files"] || ["fit", "info", "observe"].contains(&verb[0]);
            // These refusals name the wrong kind of object.
            if !asks_for_a_file {
                refused.says(&[target, file_system, "kernel"]);
            }
        }
    }
    home.run(&["info", "/sys/kernel/notes"]).expect(2).says(&["sysfs"]);
    home.run(&["fit", "/proc/self/mountinfo"]).expect(2).says(&["proc"]);
    home.run(&["verify", "--files", "/sys"]).expect(2).says(&["sysfs"]);
}

/// Files that are no cards, with the expected message.
fn other_files(home: &Home) -> Vec<(PathBuf, &'static str)> {
    let begins = |head: &[u8]| [head, &data(2 * MIB as usize - head.len())].concat();
    [
        ("short.img", vec![0; 1 << 19], "at least 1 MiB"),
        ("odd.img", vec![0; (2 << 20) + 1], "not a multiple of 512"),
        ("passwd", b"root:x:0:0:root:/root:/bin/bash\n".repeat(1 << 16), "text"),
        ("photo.jpg", begins(b"\xff\xd8\xff\xe0\0\x10JFIF\0"), "JPEG"),
        ("photos.zip", begins(b"PK\x03\x04\x14\0\0\0"), "ZIP"),
        ("disk.qcow2", begins(b"QFI\xfb\0\0\0\x03"), "QEMU"),
        ("program", begins(b"\x7fELF\x02\x01\x01\0"), "Executable"),
    ]
    .map(|(name, content, words)| {
        let path = home.path(name);
        fs::write(&path, content).unwrap();
        (path, words)
    })
    .into()
}

#[test]
fn other_files_need_consent_by_name() {
    let home = Home::new();
    let recipe = home.recipe("size = \"512KiB\"", "[[test]]\ntest = \"SEQ128K Q1T1 write\"\npasses = 1\n");
    for (path, words) in other_files(&home) {
        let (name, before) = (path.to_str().unwrap(), fs::read(&path).unwrap());
        // Verbs that preserve data ask no question, so the name is no consent.
        for verb in [&["verify"] as &[&str], &["map"], &["check"], &["check", "--yes-destroy", name]] {
            let outcome = home.run(&[verb, &[name]].concat()).expect(2);
            outcome.says(&[name, "not the image of a card", words, "nothing was written", "truncate -s"]);
        }
        for verb in [&["verify", "--full"] as &[&str], &["bench", "--recipe", &recipe], &["format"]] {
            let outcome = home.run(&[verb, &[name]].concat()).expect(2).says(&[name]);
            // A file too short for a file system is refused without a question.
            if verb != ["format"] || !name.ends_with("short.img") {
                outcome.says(&[words, "--yes-destroy"]);
            }
        }
        assert!(fs::read(&path).unwrap() == before, "{name} was written to");
        home.run(&["fit", name]);
        assert!(home.run(&["info", name]).expect(0).stderr.is_empty());
        ended(home.run(&["bench", name, "--recipe", &recipe, "--yes-destroy", name]));
    }
    // With consent by name it is tested like any card.
    let (path, _) = &other_files(&home)[3];
    let name = path.to_str().unwrap();
    let before = fs::read(path).unwrap();
    home.run(&["bench", name, "--recipe", &recipe, "--yes-destroy", name]).expect(0);
    assert!(fs::read(path).unwrap() != before, "{name} was agreed to");
}

#[test]
fn plain_images_are_cards() {
    let home = Home::new();
    let mut disk = data(4 * MIB as usize);
    disk[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
    disk[1024 + 56..1024 + 58].copy_from_slice(b"\x53\xef");
    for (name, content) in [("zeros", vec![0; 4 << 20]), ("noise", data(4 << 20)), ("ext", disk)] {
        let path = write(&home, name, &content);
        home.run(&["verify", &path, "-q"]).expect(0);
        assert!(fs::read(&path).unwrap() == content, "{name} is preserved");
    }
}
