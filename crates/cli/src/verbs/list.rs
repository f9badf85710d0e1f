//! Page of `list`.

use cardscope_model::device::DeviceInfo;
use cardscope_model::units::DecimalSize;
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock};

pub(super) fn devices_page(devices: &[DeviceInfo], all: bool) -> Page {
    let safe: Vec<&DeviceInfo> = devices.iter().filter(|device| device.safe).collect();
    let mut page = Page::from_answer(answer(devices, &safe));
    let table = Table::from_items(
        devices,
        &[
            ("device", &|d| d.path.clone()),
            ("size", &size_text),
            ("model", &|d| d.model.clone().unwrap_or_default()),
            ("safe to test", &safety_text),
            ("bus", &|d| d.bus.to_string()),
        ],
    );
    let table = table.left_aligned(["model", "safe to test", "bus"]);
    page.add_section("", [PageBlock::Table(table.never_dropped(["size", "safe to test"]))]);
    let advice = |d: &DeviceInfo| Some(format!("{}: {}.", d.path, d.advice.as_deref()?));
    page.add_section("To test one of them", [PageBlock::Lines(devices.iter().filter_map(advice).collect())]);
    let held = devices.iter().map(|d| (d.path.clone(), file_systems_text(d)));
    let held = held.filter(|(_, held)| !held.is_empty());
    page.add_detail("Partitions and file systems", [PageBlock::Facts(held.collect())]);
    match safe.first() {
        Some(device) => page.add_step("Test it:", Some(format!("cardscope check {}", device.path))),
        None if devices.is_empty() && !all => {
            page.add_step("Show fixed disks and loop devices, too:", Some("cardscope list --all".to_owned()));
            page.add_step("Or try a simulated card:", Some("cardscope sim list".to_owned()));
        }
        None => {}
    }
    page
}

fn answer(devices: &[DeviceInfo], safe: &[&DeviceInfo]) -> String {
    match (devices.len(), safe) {
        (0, _) => "No card, stick or reader found.".to_owned(),
        (1, []) => "1 device, not safe to test.".to_owned(),
        (n, []) => format!("{n} devices, none of them safe to test."),
        (n, [one]) => format!("{n} device{}, 1 safe to test: {}.", if n == 1 { "" } else { "s" }, one.path),
        (n, several) => format!("{n} devices, {} safe to test.", several.len()),
    }
}

fn safety_text(d: &DeviceInfo) -> String {
    d.cause.as_ref().map_or_else(|| "yes".to_owned(), |cause| format!("no: {cause}"))
}

fn size_text(d: &DeviceInfo) -> String {
    match d.bytes {
        _ if d.empty => "empty slot".to_owned(),
        Some(bytes) => DecimalSize(bytes).in_table(),
        None => "unknown".to_owned(),
    }
}

/// File systems and their mount points in one line.
fn file_systems_text(d: &DeviceInfo) -> String {
    let (whole, parts) = volume_lines(d);
    parts.into_iter().chain(whole).collect::<Vec<_>>().join("; ")
}

/// File systems of a device and of its partitions, with their mount points.
pub(super) fn volume_lines(d: &DeviceInfo) -> (Option<String>, Vec<String>) {
    let line = |name: &str, system: &Option<String>, mounted: &[String]| {
        let system = system.as_deref().unwrap_or("unknown");
        let at = if mounted.is_empty() { String::new() } else { format!(" at {}", mounted.join(", ")) };
        format!("{name}: {system}{at}")
    };
    let used = d.filesystem.is_some() || !d.mounted_at.is_empty();
    let parts = d.partitions.iter().map(|p| line(&p.name, &p.filesystem, &p.mounted_at));
    (used.then(|| line(&d.name, &d.filesystem, &d.mounted_at)), parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_device::guard::GuardRefusal;

    #[test]
    fn cell_has_cause_and_advice_is_below_table() {
        let busy = serde_json::json!({
            "name": "sdb", "path": "/dev/sdb", "bus": "usb", "removable": true, "bytes": 64_000_000_000_u64,
            "empty": false, "read_only": false, "model": null, "filesystem": null, "mounted_at": [], "mounted": false, "partitions": [],
            "safe": false, "reason": null,
        });
        let mut busy: DeviceInfo = serde_json::from_value(busy).unwrap();
        let refusal = GuardRefusal::Mounted {
            device: "sdb".to_owned(),
            used: "sdb1".to_owned(),
            mount_point: "/a".to_owned(),
            through: String::new(),
        };
        (busy.cause, busy.advice) = (Some(refusal.cause()), Some(refusal.advice()));
        assert_eq!(safety_text(&busy), "no: in use: sdb1 is mounted at /a");
        let text = devices_page(&[busy], true).to_text();
        assert!(
            text.contains("To test one of them\n  /dev/sdb: unmount it (umount /a) and start again.\n"),
            "{text}"
        );
    }
}
