//! Way to one card: its bus, hubs and readers in between, and what slows down a test there.
//!
//! Ceilings of the buses: docs/reference/sd.md#bus-modes, from `cardscope_sd::bus_point`.

use cardscope_device::inspect;
use cardscope_device::system::SystemRoots;
use cardscope_device::usb::{self, UsbTopology};
use cardscope_model::device::{Bus, DeviceInfo};
use cardscope_model::doctor::{DoctorPoint, DoctorQuestion, DoctorTopic, PointState};
use cardscope_model::identity::Identity;
use cardscope_model::usb::{UsbProtocol, UsbReader};
use cardscope_session::card_identity::with_findings;

/// SD bus modes that every card supports.
const SLOW_MODES: &[&str] = &["Default Speed", "High Speed", "SDR12", "SDR25"];

/// Slowest USB link in Mbit/s that does not limit a UHS-I card.
const USB_3: u32 = 5_000;

pub(super) fn points(system: &SystemRoots, card: &DeviceInfo) -> Vec<DoctorPoint> {
    let identity = with_findings(inspect::inspect_card(system, &card.name).unwrap_or_default());
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
        Bus::Loop | Bus::Nbd => {
            let seen = format!("{} is a {} device, which is measured as well", card.path, card.bus);
            BUS.warn(seen, "test the card's own device")
        }
        Bus::Ata | Bus::Virtio | Bus::Other => BUS.unknown(format!("the bus is {}", card.bus)),
    }
}

fn slot_point(identity: &Identity) -> DoctorPoint {
    let mmc = identity.mmc.clone().unwrap_or_default();
    let seen = bus_text(identity);
    let Some(mode) = &mmc.mode else {
        let advice = "run `sudo cardscope doctor`: only root can read the bus mode";
        return BUS.unknown(seen).with_advice(advice);
    };
    if let Some(slow) = identity.findings.iter().find(|f| f.claim == "clock-below-timing") {
        let advice = "try another slot or reader, or raise the board's SD clock limit";
        return BUS.warn(slow.verdict.clone(), advice);
    }
    // U, V and A marks require UHS-I (Physical Layer Specification 4.13), so these cards support SDR50 and faster.
    let fast = identity.marks.iter().find(|mark| matches!(mark.letter(), 'U' | 'V' | 'A'));
    match fast {
        Some(mark) if SLOW_MODES.contains(&mode.as_str()) => {
            let advice = "use a slot or reader with UHS-I, clean the contacts, and look for tuning errors: \
                          dmesg | grep mmc";
            BUS.warn(format!("{seen}, although the card has {mark} and supports UHS-I"), advice)
        }
        _ => BUS.ok(seen),
    }
}

fn usb_link_point(identity: &Identity) -> DoctorPoint {
    let seen = bus_text(identity);
    match identity.usb.as_ref().and_then(|usb| usb.speed_mbit_s) {
        None => BUS.unknown(seen),
        Some(USB_3..) => BUS.ok(seen),
        Some(480..) => BUS.warn(
            format!("{seen}: too slow for a UHS card"),
            "plug the reader into a USB 3 port, or use a USB 3 reader",
        ),
        Some(_) => BUS.fail(seen, "plug the reader into another port, without a hub or extension cable"),
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
    let why = "bulk-only transport handles one command at a time, so tests with a queue have no effect";
    let point = DoctorTopic::Reader.define_point("reader-protocol", why);
    let advice = "for tests at Q8 and Q32 use a UAS reader or a built-in slot";
    match reader.protocol {
        Some(UsbProtocol::Uas) => point.ok("USB Attached SCSI, with a queue"),
        Some(UsbProtocol::Bot) => point.warn("bulk-only transport, without a queue", advice),
        None => point.unknown("not reported by the driver"),
    }
}

fn wrong_port_point(reader: &UsbReader, topology: &UsbTopology) -> Option<DoctorPoint> {
    let slow = reader.speed_mbit_s.is_some_and(|mbit_s| mbit_s < USB_3);
    let built_for = topology.built_for.filter(|version| *version >= 3.0 && slow)?;
    let (name, mbit_s) = (&topology.reader, reader.speed_mbit_s?);
    let seen = format!("{name} supports USB {built_for} and is linked at {mbit_s} Mbit/s");
    let why = "a USB 3 reader in a USB 2 port, on a bad cable or not fully plugged in runs at a tenth of \
               its speed";
    let advice = "plug it fully and quickly into a blue or SS port, without cables or hubs";
    Some(DoctorTopic::Reader.define_point("reader-port", why).warn(seen, advice))
}

fn shared_bus_point(topology: &UsbTopology) -> Option<DoctorPoint> {
    let others = topology.neighbours;
    let others = (others > 0).then(|| format!("{others} other storage devices on the bus"));
    let hubs = (!topology.hubs.is_empty()).then(|| format!("behind {}", topology.hubs.join(", ")));
    let seen: Vec<String> = [hubs, others].into_iter().flatten().collect();
    if seen.is_empty() {
        return None;
    }
    let why = "other devices share the bandwidth of hub and host controller, and each hub adds latency";
    let advice = "plug the reader directly into the computer, and unplug other storage";
    Some(DoctorTopic::Reader.define_point("reader-shared", why).warn(seen.join("; "), advice))
}

fn autosuspend_point(topology: &UsbTopology) -> DoctorPoint {
    let why = "a suspended reader needs long for its first I/O, and may lose its card";
    let point = DoctorTopic::Reader.define_point("reader-autosuspend", why);
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
