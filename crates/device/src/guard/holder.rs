//! What stands on a disk or partition, by what its directory in sysfs says of it, and how to let go.
//!
//! `dm/uuid` begins with the name of who made the volume (dmsetup(8)); RAID and bcache are known by their names.

use crate::system::{System, text};

/// Names a holder and says how to let go of it.
pub(super) fn describe(system: &System, holder: &str) -> (String, String) {
    let dir = system.sys().join("block").join(holder);
    let name = text(dir.join("dm/name")).unwrap_or_else(|| holder.to_owned());
    let uuid = text(dir.join("dm/uuid")).unwrap_or_default();
    if uuid.starts_with("LVM-") {
        (
            format!("the LVM volume {name}"),
            format!("deactivate it (lvchange -an {name}, or vgchange -an its group)"),
        )
    } else if uuid.starts_with("CRYPT-") {
        (format!("the encrypted volume {name} (LUKS)"), format!("close it (cryptsetup close {name})"))
    } else if uuid.starts_with("mpath-") {
        (format!("the multipath device {name}"), format!("flush it (multipath -f {name})"))
    } else if holder.starts_with("dm-") || dir.join("dm").is_dir() {
        (format!("the device-mapper volume {name}"), format!("remove it (dmsetup remove {name})"))
    } else if holder.starts_with("md") || dir.join("md").is_dir() {
        let level = text(dir.join("md/level")).map(|level| format!(" ({level})")).unwrap_or_default();
        (format!("the RAID array {holder}{level}"), format!("stop it (mdadm --stop /dev/{holder})"))
    } else if holder.starts_with("bcache") {
        (format!("the cached device {holder} (bcache)"), "stop it".to_owned())
    } else {
        (format!("the device {holder}"), format!("release /dev/{holder}"))
    }
}
