//! Findings about the SSR, the card's health, and the bus: slower than its mode, narrower than the card, or behind a
//! USB reader.

use super::finding_kinds::certain_note;
use crate::finding::{Finding, FindingWeight};
use crate::identity::Identity;
use crate::units::SpeedMbS;
use cardscope_sd::health::CardHealth;
use cardscope_sd::mark::Mark;
use cardscope_sd::nvme::SmartLog;

pub(super) fn judge_status(identity: &Identity, findings: &mut Vec<Finding>) {
    findings.extend(uhs_grade_zero_note(identity));
    findings.extend(a2_on_linux_note(identity));
    findings.extend(identity.health.as_ref().and_then(health_page_worn_finding));
    if let Some(smart) = identity.nvme.as_ref().and_then(|nvme| nvme.smart.as_ref()) {
        let smart = [smart_warning_finding(smart), smart_worn_finding(smart), throttled_note(smart)];
        findings.extend(smart.into_iter().flatten());
    }
}

/// Notes a UHS card with grade 0, which was most likely read at 3.3 V.
fn uhs_grade_zero_note(identity: &Identity) -> Option<Finding> {
    let ssr = identity.ssr.as_ref()?;
    let uhs_card = ssr.uhs_au_size > 0 || ssr.video_speed_class >= 30 || ssr.app_perf_class > 0;
    let voltage = identity.mmc.as_ref().and_then(|mmc| mmc.signal_voltage_v);
    // At 1.8 V the grade is reliable, so a 0 is real.
    if ssr.uhs_speed_grade > 0 || !uhs_card || voltage.is_some_and(|v| v < 3.0) {
        return None;
    }
    let volts = voltage.map_or_else(|| "unknown".to_owned(), |v| format!("{v:.1} V"));
    let text = "The UHS speed grade reads 0; some cards show it only with 1.8 V signalling.";
    let note = certain_note("uhs-grade-zero", text).because("uhs_speed_grade", 0);
    let note = note.because("uhs_au_size_bytes", ssr.uhs_au_size_bytes.unwrap_or(0));
    Some(note.because("signal voltage", volts))
}

/// Notes A2 cards, because mainline Linux sends one command at a time to an SD card.
fn a2_on_linux_note(identity: &Identity) -> Option<Finding> {
    let ssr = identity.ssr.as_ref()?;
    let a2 = Mark::claimed_in_ssr(ssr).iter().any(|mark| (mark.letter(), mark.number()) == ('A', 2));
    let text = "The card claims A2, which needs a command queue that mainline Linux does not use.";
    let note = certain_note("a2-on-linux", text)
        .because("app_perf_class", ssr.app_perf_class)
        .because("command_queue_depth", ssr.command_queue_depth);
    let rates = "1500 random reads and 500 random writes of 4 KiB per second";
    a2.then(|| note.with_advice(format!("Compare the card with A1 instead: {rates}.")))
}

fn smart_warning_finding(smart: &SmartLog) -> Option<Finding> {
    let text = format!("The card warns: {}.", smart.critical_warnings.join(", "));
    let found = Finding::new("nvme-critical-warning", FindingWeight::Hint, 0.9, text)
        .because("critical_warning", format!("0x{:02x}", smart.critical_warning))
        .because("available_spare", format!("{} %", smart.available_spare));
    (smart.critical_warning != 0).then(|| found.with_advice("Copy your data before testing."))
}

const WORN: &str = "The card reports that its rated life is used up.";

fn smart_worn_finding(smart: &SmartLog) -> Option<Finding> {
    let found = Finding::new("nvme-worn", FindingWeight::Hint, 0.9, WORN);
    let used = smart.percentage_used;
    (used >= 100).then(|| found.because("percentage_used", format!("{used} %")))
}

/// Reports used-up life according to the health page of an SD card.
fn health_page_worn_finding(health: &CardHealth) -> Option<Finding> {
    let used = health.fields.life_used_percent.filter(|used| *used >= 100.0)?;
    let hint = Finding::new("card-worn", FindingWeight::Hint, 0.9, WORN);
    let hint = hint.because("life used", format!("{used} %")).because("layout", health.layout);
    Some(hint.with_advice("Copy your data to another card."))
}

fn throttled_note(smart: &SmartLog) -> Option<Finding> {
    let (t1, t2) = (smart.thermal_management_t1_transitions, smart.thermal_management_t2_transitions);
    let (t1_s, t2_s) = (smart.thermal_management_t1_seconds, smart.thermal_management_t2_seconds);
    let note = certain_note("nvme-throttled", "The card has throttled from heat before.");
    let note = note.because("light throttling", format!("{t1} times, {t1_s} s"));
    (t1 > 0 || t2 > 0).then(|| note.because("heavy throttling", format!("{t2} times, {t2_s} s")))
}

/// Smallest share of the nominal clock that counts as the same; hosts round it down (200 for 208 MHz).
const SAME_CLOCK: f64 = 0.9;

pub(super) fn judge_link(identity: &Identity, findings: &mut Vec<Finding>) {
    findings.extend(slow_clock_note(identity).into_iter().chain(narrow_link_note(identity)));
    findings.extend(reader_note(identity).into_iter().chain(emmc_note(identity)));
}

fn slow_clock_note(identity: &Identity) -> Option<Finding> {
    let mmc = identity.mmc.as_ref()?;
    let (nominal, running) = (mmc.timing_row()?.nominal_hz?, mmc.running_hz()?);
    let (nominal_mhz, running_mhz) = (nominal as f64 / 1e6, running as f64 / 1e6);
    let (ceiling, mode) = (mmc.ceiling_mb_s.unwrap_or(0.0), mmc.mode.as_deref().unwrap_or("a mode"));
    let runs = format!("The {mode} bus runs at {running_mhz} of {nominal_mhz} MHz");
    let note = certain_note("clock-below-timing", format!("{runs} and carries at most {ceiling} MB/s."))
        .because("timing", mmc.timing_text.as_deref().unwrap_or("unknown"))
        .because("clock", format!("{running} Hz"))
        .because("ceiling", format!("{ceiling} MB/s"));
    let slow = running_mhz < nominal_mhz * SAME_CLOCK;
    slow.then(|| note.with_advice("Compare speeds with this limit, or use a faster slot."))
}

fn narrow_link_note(identity: &Identity) -> Option<Finding> {
    let pcie = identity.pcie.as_ref().filter(|pcie| pcie.limited)?;
    let link = |speed: Option<f64>, width: Option<u8>| {
        let part = |known: Option<String>| known.unwrap_or_else(|| "?".to_owned());
        format!("{} GT/s x{}", part(speed.map(|s| s.to_string())), part(width.map(|w| w.to_string())))
    };
    let now = link(pcie.current_speed_gt_s, pcie.current_width);
    let most = link(pcie.max_speed_gt_s, pcie.max_width);
    let runs = format!("The PCIe link runs at {now}, but the card supports {most}");
    let note = certain_note("pcie-link-below-card", format!("{runs}: the slot limits the speed."));
    let note = note.because("link now", now).because("link of the card", most);
    Some(note.because("ceiling", SpeedMbS(pcie.ceiling_mb_s.unwrap_or(0.0))))
}

fn reader_note(identity: &Identity) -> Option<Finding> {
    let usb = identity.usb.as_ref()?;
    let product = usb.product.as_deref().or(usb.inquiry_model.as_deref()).unwrap_or("a USB reader");
    let text = "The USB reader hides the card's registers, bus mode and voltage, and may limit its speed.";
    let note = certain_note("reader-hides-registers", text).because("reader", product);
    let note = note.because("link", usb.mode().unwrap_or_else(|| "unknown".to_owned()));
    Some(note.with_advice("Put the card in a built-in or PCIe slot (mmcblk) to identify it."))
}

fn emmc_note(identity: &Identity) -> Option<Finding> {
    let emmc = identity.emmc.as_ref()?;
    let text = "The device is an eMMC, not an SD card, so its registers are not decoded further.";
    Some(certain_note("emmc", text).because("pnm", &emmc.pnm).because("cid", emmc.raw))
}
