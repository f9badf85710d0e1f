//! Way to one card: its bus, hubs and readers in between, and what slows down a test there.
//!
//! Ceilings of the buses: docs/reference/sd.md#bus-modes, from `cardscope_sd::bus_point`.

use cardscope_device::inspect;
use cardscope_device::system::SystemRoots;
use cardscope_device::usb::{self, UsbTopology};
use cardscope_model::device::Bus;
use cardscope_model::device::DeviceInfo;
use cardscope_model::doctor::{DoctorPoint, DoctorQuestion, DoctorTopic, PointState};
use cardscope_model::identity::Identity;
use cardscope_model::usb::{UsbProtocol, UsbReader};

/// SD bus modes that every card supports.
const SLOW_MODES: &[&str] = &["Default Speed", "High Speed", "SDR12", "SDR25"];

/// Slowest USB link in Mbit/s that does not limit a UHS-I card.
const USB_3: u32 = 5_000;

pub(super) fn points(system: &SystemRoots, card: &DeviceInfo) -> Vec<DoctorPoint> {
    let identity = cardscope_session::card_identity::with_findings(
        inspect::inspect_card(system, &card.name).unwrap_or_default(),
    );
    let mut points = vec![bus_point(card, &identity)];
    if card.bus == Bus::Usb {
        points.extend(usb_points(system, card, &identity));
    }
    points.push(in_use_point(card));
    points.into_iter().map(|point| point.for_device(&card.path)).collect()
}

const BUS: DoctorQuestion<'static> =
    DoctorTopic::Reader.define_point("reader-bus", "no card is faster than its bus");

/// Mode and ceiling of the bus: `PCIe 3.0 x1, 985 MB/s at most`.
fn bus_text(identity: &Identity) -> String {
    let mode = identity.bus_mode().unwrap_or_else(|| "mode unknown".to_owned());
    let ceiling = identity.ceiling_mb_s().map(|mb_s| format!(", {mb_s:.0} MB/s at most"));
    format!("{mode}{}", ceiling.unwrap_or_default())
}

fn bus_point(card: &DeviceInfo, identity: &Identity) -> DoctorPoint {
    match card.bus {
        Bus::Mmc => slot_point(identity),
        Bus::Usb => usb_link_point(identity),
        Bus::Nvme => pcie_point(identity),
        Bus::Loop | Bus::Nbd => BUS.warn(
            format!("{} is a {} device, which is measured as well", card.path, card.bus),
            "test the card's own device",
        ),
        Bus::Ata | Bus::Virtio | Bus::Other => BUS.unknown(format!("the bus is {}", card.bus)),
    }
}

fn slot_point(identity: &Identity) -> DoctorPoint {
    let mmc = identity.mmc.clone().unwrap_or_default();
    let Some(mode) = &mmc.mode else {
        return BUS
            .unknown(bus_text(identity))
            .with_advice("run `sudo cardscope doctor`: only root can read the bus mode");
    };
    if let Some(slow) = identity.findings.iter().find(|f| f.claim == "clock-below-timing") {
        return BUS
            .warn(slow.verdict.clone(), "try another slot or reader, or raise the board's SD clock limit");
    }
    // U, V and A marks require UHS-I (Physical Layer Specification 4.13), so these cards support SDR50 and faster.
    let fast = identity.marks.iter().find(|mark| matches!(mark.letter(), 'U' | 'V' | 'A'));
    match fast {
        Some(mark) if SLOW_MODES.contains(&mode.as_str()) => {
            let advice = "use a slot or reader with UHS-I, clean the contacts, and look for tuning errors: \
                          dmesg | grep mmc";
            BUS.warn(
                format!("{}, although the card has {mark} and supports UHS-I", bus_text(identity)),
                advice,
            )
        }
        _ => BUS.ok(bus_text(identity)),
    }
}

fn usb_link_point(identity: &Identity) -> DoctorPoint {
    let usb = identity.usb.clone().unwrap_or_default();
    match usb.speed_mbit_s {
        None => BUS.unknown(bus_text(identity)),
        Some(mbit_s) if mbit_s >= USB_3 => BUS.ok(bus_text(identity)),
        Some(mbit_s) if mbit_s < 480 => BUS
            .fail(bus_text(identity), "plug the reader into another port, without a hub or extension cable"),
        Some(_) => BUS.warn(
            format!("{}: too slow for a UHS card", bus_text(identity)),
            "plug the reader into a USB 3 port, or use a USB 3 reader",
        ),
    }
}

fn pcie_point(identity: &Identity) -> DoctorPoint {
    match &identity.pcie {
        Some(link) if link.limited => {
            let most = match (link.max_speed_gt_s, link.max_width) {
                (Some(speed), Some(width)) => format!("{speed} GT/s x{width}"),
                _ => "more".to_owned(),
            };
            let advice = "use a slot or adapter with more lanes or newer PCIe, or raise its link speed in \
                          the firmware setup";
            BUS.warn(format!("{}, although the card supports {most}", bus_text(identity)), advice)
        }
        Some(link) if link.ceiling_mb_s.is_some() => BUS.ok(bus_text(identity)),
        _ => BUS.unknown(bus_text(identity)),
    }
}

fn usb_points(system: &SystemRoots, card: &DeviceInfo, identity: &Identity) -> Vec<DoctorPoint> {
    let reader = identity.usb.clone().unwrap_or_default();
    let mut points = vec![protocol_point(&reader)];
    if let Some(topology) = usb::usb_topology(system, &card.name) {
        points.extend(wrong_port_point(&reader, &topology));
        points.extend(shared_bus_point(&topology));
        points.push(autosuspend_point(&topology));
    }
    points
}

fn protocol_point(reader: &UsbReader) -> DoctorPoint {
    let point = DoctorTopic::Reader.define_point(
        "reader-protocol",
        "bulk-only transport handles one command at a time, so tests with a queue have no effect",
    );
    match reader.protocol {
        Some(UsbProtocol::Uas) => point.ok("USB Attached SCSI, with a queue"),
        Some(UsbProtocol::Bot) => point.warn(
            "bulk-only transport, without a queue",
            "for tests at Q8 and Q32 use a UAS reader or a built-in slot",
        ),
        None => point.unknown("not reported by the driver"),
    }
}

fn wrong_port_point(reader: &UsbReader, topology: &UsbTopology) -> Option<DoctorPoint> {
    let slow = reader.speed_mbit_s.is_some_and(|mbit_s| mbit_s < USB_3);
    let built_for = topology.built_for.filter(|version| *version >= 3.0 && slow)?;
    let seen = format!(
        "{} supports USB {built_for} and is linked at {} Mbit/s",
        topology.reader, reader.speed_mbit_s?
    );
    let why = "a USB 3 reader in a USB 2 port, on a bad cable or not fully plugged in runs at a tenth of \
               its speed";
    Some(
        DoctorTopic::Reader
            .define_point("reader-port", why)
            .warn(seen, "plug it fully and quickly into a blue or SS port, without cables or hubs"),
    )
}

fn shared_bus_point(topology: &UsbTopology) -> Option<DoctorPoint> {
    let others = (topology.neighbours > 0)
        .then(|| format!("{} other storage devices on the bus", topology.neighbours));
    let hubs = (!topology.hubs.is_empty()).then(|| format!("behind {}", topology.hubs.join(", ")));
    let seen: Vec<String> = [hubs, others].into_iter().flatten().collect();
    if seen.is_empty() {
        return None;
    }
    let why = "other devices share the bandwidth of hub and host controller, and each hub adds latency";
    let point =
        DoctorTopic::Reader.define_point("reader-shared", why).with_state(PointState::Warn, seen.join("; "));
    Some(point.with_advice("plug the reader directly into the computer, and unplug other storage"))
}

fn autosuspend_point(topology: &UsbTopology) -> DoctorPoint {
    let point = DoctorTopic::Reader.define_point(
        "reader-autosuspend",
        "a suspended reader needs long for its first I/O, and may lose its card",
    );
    match topology.autosuspend_ms {
        None => point.ok("off"),
        Some(ms) => point.warn(
            format!("on, after {:.1} s without I/O", ms as f64 / 1e3),
            format!("echo on | sudo tee {}", topology.power_control.display()),
        ),
    }
}

fn in_use_point(card: &DeviceInfo) -> DoctorPoint {
    let why = "a card in use cannot be tested by writing, and disturbs read tests";
    let point = DoctorTopic::Reader.define_point("reader-card", why);
    match &card.reason {
        None => point.ok("not in use"),
        Some(_) if card.empty => point.warn("no card inserted", "insert the card"),
        Some(reason) => point.with_state(PointState::Warn, reason.clone()),
    }
}
