//! What `list` prints.

use cardscope_model::units::Capacity;
use cardscope_report::table::Table;
use cardscope_session::identify::Entry;

pub(super) fn text(devices: &[Entry], all: bool) -> String {
    if devices.is_empty() {
        let more = if all { "" } else { " (--all shows fixed disks and loop devices too)" };
        return format!("No card, stick or reader is here{more}. Simulated cards: cardscope sim list");
    }
    let mut table = Table::new(["device", "size", "bus", "model", "holds", "safe to test"]);
    for d in devices {
        table.row([
            d.path.clone(),
            size(d),
            d.bus.to_string(),
            d.model.clone().unwrap_or_default(),
            holds(d),
            if d.safe {
                "yes".to_owned()
            } else {
                format!("no: {}", d.reason.as_deref().unwrap_or("unknown"))
            },
        ]);
    }
    table.to_string()
}

fn size(d: &Entry) -> String {
    match d.bytes {
        _ if d.empty => "empty slot".to_owned(),
        Some(bytes) => Capacity(bytes).to_string(),
        None => "unknown".to_owned(),
    }
}

/// File systems and where they are mounted, in a few words.
fn holds(d: &Entry) -> String {
    let of = |name: &str, system: &Option<String>, mounted: &[String]| {
        let system = system.as_deref().unwrap_or("unknown");
        let at = if mounted.is_empty() { String::new() } else { format!(" at {}", mounted.join(", ")) };
        format!("{name}: {system}{at}")
    };
    let mut parts: Vec<String> =
        d.partitions.iter().map(|p| of(&p.name, &p.filesystem, &p.mounted_at)).collect();
    if d.filesystem.is_some() || !d.mounted_at.is_empty() {
        parts.push(of(&d.name, &d.filesystem, &d.mounted_at));
    }
    parts.join("; ")
}
