//! Start and end of serving: unusable mount points, servers that are killed or asked to end with I/O in flight, and
//! several cards. Single cards are tested in `faults.rs`.

use crate::common::binary::{CARDSCOPE, Home, Running, copy_to};
use crate::common::machine::{names_in, run_tool};
use crate::common::served::{Served, is_mounted, mounts_in};
use crate::common::until;
use rustix::process::Signal;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CARDS: [&str; 3] = ["constant", "lexar-16g-c10", "constant"];
const SLOW: &str = "constant?command_s=5";

/// Process that reads a block of a card until it succeeds.
fn reader(served: &Served) -> Child {
    let file = format!("if={}", served.card().display());
    let arguments = [file.as_str(), "of=/dev/null", "bs=4k", "count=1", "iflag=direct"];
    Command::new("dd").args(arguments).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_until_in_flight(served: &Served) {
    until("a request in flight", || served.document("counters.json")["in_flight"] == 1);
}

#[test]
fn served_cards_are_unmounted_after_signals_and_kills() {
    let home = Home::new();
    let mut served = Served::several(&home, &CARDS, &["--no-timing"]);
    let all = ["constant", "lexar-16g-c10", "constant-2"].map(|name| served.directory().join(name));
    until("the last card", || all[2].join("card").exists());
    served.kill();
    assert!(all.iter().all(|own| std::fs::read_dir(own).is_err()), "dead mounts, or this tests nothing");
    served.serve_all(&home, &CARDS, &["--no-timing"]);
    until("the last card", || all[2].join("card").exists());
    let outcome = served.stop(Signal::INT).expect(0);
    assert_eq!(mounts_in(served.directory()), Vec::<std::path::PathBuf>::new(), "{outcome}");
}

#[test]
fn unmounting_one_card_leaves_the_others_served() {
    let home = Home::new();
    let mut served = Served::several(&home, &CARDS[..2], &["--no-timing"]);
    let [first, second] = ["constant", "lexar-16g-c10"].map(|name| served.directory().join(name));
    until("the second card", || second.join("card").exists());
    run_tool("umount", &[first.to_str().unwrap()]);
    std::thread::sleep(Duration::from_millis(200));
    assert!(second.join("card").exists());
    run_tool("umount", &[second.to_str().unwrap()]);
    served.finish().expect(0);
    assert!(names_in(served.directory()).is_empty());
}

#[test]
fn a_server_that_is_asked_to_end_with_a_request_in_flight_ends() {
    let home = Home::new();
    let mut served = Served::start(&home, SLOW, &[]);
    let mut client = reader(&served);
    wait_until_in_flight(&served);
    let asked = Instant::now();
    served.stop(Signal::TERM).expect(0);
    assert!(asked.elapsed() < Duration::from_secs(4), "before the card's five seconds are over");
    assert!(!client.wait().unwrap().success() && !is_mounted(served.directory()));
}

#[test]
fn killed_client_does_not_disturb_others() {
    let home = Home::new();
    let mut served = Served::start(&home, "constant?command_s=0.5", &[]);
    let mut client = reader(&served);
    wait_until_in_flight(&served);
    client.kill().unwrap();
    client.wait().unwrap();
    assert!(reader(&served).wait().unwrap().success());
    assert_eq!(served.document("counters.json")["reads"], 2);
    served.stop(Signal::TERM).expect(0);
}

#[test]
fn hung_client_does_not_block_the_end() {
    let home = Home::new();
    let mut served = Served::start(&home, "constant", &["--no-timing"]);
    let script = format!("exec 3<{}; echo open >&2; exec sleep 100", served.card().display());
    let mut shell = home.command("sh");
    shell.args(["-c", &script]);
    let mut client = Running::of(shell);
    client.wait_for("open");
    client.signal(Signal::STOP);
    served.stop(Signal::TERM).expect(0);
    assert!(!is_mounted(served.directory()));
    client.signal(Signal::CONT);
    client.signal(Signal::KILL);
    client.finish();
}

#[test]
fn a_directory_whose_server_hangs_or_that_is_not_empty_is_refused() {
    let home = Home::new();
    let served = Served::start(&home, "constant", &["--no-timing"]);
    let place = served.directory().to_str().unwrap();
    let frozen = served.freeze();
    home.run(&["sim", "serve", "constant", "--mount", place]).expect(2).says(&["does not answer"]);
    drop(frozen);
    home.run(&["sim", "serve", "constant", "constant", "--mount", place])
        .expect(2)
        .says(&["give an empty directory"]);
    let full = tempfile::tempdir().unwrap();
    std::fs::write(full.path().join("film"), "kept").unwrap();
    let place = full.path().to_str().unwrap();
    home.run(&["sim", "serve", "constant", "--mount", place]).expect(2).says(&["not empty"]);
    assert_eq!(names_in(full.path()), ["film"]);
}

/// Output of a server in its own mount namespace, with `/dev/fuse` changed by `setup`.
fn without_fuse(home: &Home, setup: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let script = format!("{setup} && exec {CARDSCOPE} sim serve constant --mount {}", dir.path().display());
    let mut command = home.command("unshare");
    command.args(["--mount", "sh", "-c", &script]);
    let outcome = Running::of(command).finish().expect(3);
    assert!(names_in(dir.path()).is_empty());
    outcome.stderr
}

#[test]
fn missing_fuse_gets_advice() {
    let home = Home::new();
    // An empty /dev has no /dev/fuse.
    let told = without_fuse(&home, "mount -t tmpfs none /dev");
    assert!(told.contains("/dev/fuse is missing") && told.contains("modprobe fuse"), "{told}");
    // A user who may not open it, with a fusermount3 that may not either.
    let told = without_fuse(&home, "chmod 755 \"$HOME\" && mount --bind /dev/null /dev/fuse");
    assert!(told.contains("--nbd"), "{told}");
}

#[test]
fn forbidden_fuse_gets_advice() {
    let home = Home::new();
    let dir = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .tempdir()
        .unwrap();
    let binary = dir.path().join("cardscope");
    copy_to(&binary);
    let place = dir.path().join("place");
    std::fs::create_dir(&place).unwrap();
    rustix::fs::chown(&place, Some(rustix::fs::Uid::from_raw(65_534)), None).unwrap();
    let mut command = home.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", binary.to_str().unwrap()]);
    command.args(["sim", "serve", "constant", "--mount", place.to_str().unwrap()]);
    command.env("HOME", dir.path());
    let usable = std::fs::metadata("/dev/fuse")
        .is_ok_and(|m| std::os::unix::fs::PermissionsExt::mode(&m.permissions()) & 0o6 == 0o6);
    let mut running = Running::of(command);
    if usable {
        // Debian allows everybody to mount with fusermount3, so serving must work.
        running.wait_for("/card");
        running.signal(Signal::TERM);
        running.finish().expect(0);
    } else {
        running.finish().expect(3).says(&["no permission for /dev/fuse", "run as root"]);
    }
}
