//! Whose links and files are believed: root's and those of the user that the process runs as.
//!
//! `SUDO_UID` is not asked. It stands in the environment, which proves nothing, and where sudo allows a user nothing but
//! Cardscope with fixed arguments, a link of that user would turn these arguments into any others.

use rustix::process::geteuid;
use std::sync::LazyLock;

/// True for root and for the user of this process.
#[must_use]
pub fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == geteuid().as_raw() || *UNMAPPED == Some(uid)
}

/// The number as which root of the host is seen, where it has none of its own: in the user namespace of a rootless
/// container `/` and `/home` belong to it. Other users without a number look the same, and none of them is in there.
static UNMAPPED: LazyLock<Option<u32>> = LazyLock::new(|| {
    let map = std::fs::read_to_string("/proc/self/uid_map").ok()?;
    let whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let overflow = std::fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?;
    overflow.trim().parse().ok().filter(|_| !whole)
});
