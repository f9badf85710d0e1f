//! What a real target can be asked beside I/O: a command without flash, and the card's own counters.

#![allow(clippy::unwrap_used, reason = "a helper that fails ends its test, as an assertion does")]

use cardscope_engine::real::{RealOptions, RealTarget};
use cardscope_engine::target::{Target, TargetError};
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Duration;

fn asked(options: RealOptions) -> RealTarget {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("card.img");
    std::fs::write(&path, vec![0; 1 << 20]).unwrap();
    let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    RealTarget::open_file(file.into(), &path, options).unwrap()
}

#[test]
fn plain_file_has_no_ping() {
    let mut target = asked(RealOptions::default());
    assert_eq!(target.ping(), Ok(None));
    assert_eq!(target.health(), None);
}

#[test]
fn ping_returns_measured_time() {
    let ping = Arc::new(|| Ok(Duration::from_micros(250)));
    let mut target = asked(RealOptions { ping: Some(ping), ..RealOptions::default() });
    assert_eq!(target.ping(), Ok(Some(250_000)));
    let mut lane = target.lane().unwrap().unwrap();
    assert_eq!(lane.ping(), Ok(Some(250_000)), "every lane may ask");
}

#[test]
fn failed_ping_distinguishes_error_from_removed_card() {
    let failing = |errno: Errno| {
        asked(RealOptions { ping: Some(Arc::new(move || Err(errno))), ..RealOptions::default() }).ping()
    };
    assert!(matches!(failing(Errno::IO), Err(TargetError::Io { operation: "ping", .. })));
    for errno in [Errno::NXIO, Errno::NODEV, Errno::NOMEDIUM] {
        assert!(matches!(failing(errno), Err(TargetError::Gone { operation: "ping", .. })), "{errno}");
    }
}
