//! Remarks on the bus: slower than its mode, narrower than the card, or a reader in between.

use super::hint::note;
use crate::finding::Finding;
use crate::identity::Identity;

/// Hosts round a mode's clock down (200 for 208 MHz); below this share it is another speed.
const SAME_CLOCK: f64 = 0.9;

/// Looks at the bus.
pub(super) fn judge(identity: &Identity, findings: &mut Vec<Finding>) {
    findings.extend(
        [slow_clock(identity), narrow_link(identity), reader(identity), emmc(identity)].into_iter().flatten(),
    );
}

fn slow_clock(identity: &Identity) -> Option<Finding> {
    let mmc = identity.mmc.as_ref()?;
    let (nominal, running) = (mmc.timing_row()?.nominal_hz?, mmc.running_hz()?);
    let (nominal_mhz, running_mhz) = (nominal as f64 / 1e6, running as f64 / 1e6);
    (running_mhz < nominal_mhz * SAME_CLOCK).then(|| {
        let ceiling = mmc.ceiling_mb_s.unwrap_or(0.0);
        note("clock-below-timing", format!("the bus is in {} and runs at {running_mhz} MHz, not at {nominal_mhz} MHz: it carries {ceiling} MB/s at most", mmc.mode.as_deref().unwrap_or("a mode")))
            .because("timing", mmc.timing_text.as_deref().unwrap_or("unknown"))
            .because("clock", format!("{running} Hz"))
            .because("ceiling", format!("{ceiling} MB/s"))
            .advise("read every speed against this ceiling: the host is the limit, not the card")
    })
}

fn narrow_link(identity: &Identity) -> Option<Finding> {
    let pcie = identity.pcie.as_ref().filter(|pcie| pcie.limited)?;
    let link = |speed: Option<f64>, width: Option<u8>| {
        let part = |known: Option<String>| known.unwrap_or_else(|| "?".to_owned());
        format!("{} GT/s x{}", part(speed.map(|s| s.to_string())), part(width.map(|w| w.to_string())))
    };
    let now = link(pcie.current_speed_gt_s, pcie.current_width);
    let most = link(pcie.max_speed_gt_s, pcie.max_width);
    Some(
        note(
            "pcie-link-below-card",
            format!("the PCIe link runs at {now}, the card could do {most}: speeds are those of the slot"),
        )
        .because("link now", now)
        .because("link of the card", most)
        .because("ceiling", format!("{:.0} MB/s", pcie.ceiling_mb_s.unwrap_or(0.0))),
    )
}

fn reader(identity: &Identity) -> Option<Finding> {
    let usb = identity.usb.as_ref()?;
    let product = usb.product.as_deref().or(usb.inquiry_model.as_deref()).unwrap_or("a USB reader");
    Some(
        note("reader-hides-registers", "the card sits behind a USB reader, which hides its registers, its bus mode and its voltage; a slow result may be the reader's")
            .because("reader", product)
            .because("link", usb.mode().unwrap_or_else(|| "unknown".to_owned()))
            .advise("for its identity, put the card in a built-in slot or a reader on PCIe, where it appears as mmcblk"),
    )
}

fn emmc(identity: &Identity) -> Option<Finding> {
    let emmc = identity.emmc.as_ref()?;
    Some(
        note(
            "emmc",
            "this is an eMMC, not an SD card: its registers have another layout and are not decoded further",
        )
        .because("pnm", &emmc.pnm)
        .because("cid", emmc.raw),
    )
}
