//! Remarks on what the status register claims, and on what NVMe says of a card's health.

use super::hint::note;
use crate::finding::{Finding, Weight};
use crate::identity::Identity;
use cardscope_sd::mark::Mark;
use cardscope_sd::nvme::SmartLog;

/// Looks at SSR and SMART.
pub(super) fn judge(identity: &Identity, findings: &mut Vec<Finding>) {
    findings.extend(grade_zero(identity));
    findings.extend(a2_on_linux(identity));
    if let Some(smart) = identity.nvme.as_ref().and_then(|nvme| nvme.smart.as_ref()) {
        findings.extend([warning(smart), worn(smart), throttled(smart)].into_iter().flatten());
    }
}

/// A card whose UHS allocation unit is set and whose grade is 0 was most likely asked at 3.3 V.
fn grade_zero(identity: &Identity) -> Option<Finding> {
    let ssr = identity.ssr.as_ref()?;
    let uhs_card = ssr.uhs_au_size > 0 || ssr.video_speed_class >= 30 || ssr.app_perf_class > 0;
    let voltage = identity.mmc.as_ref().and_then(|mmc| mmc.signal_voltage_v);
    if ssr.uhs_speed_grade > 0 || !uhs_card || voltage.is_some_and(|v| v < 3.0) {
        return None;
    }
    let volts = voltage.map_or_else(|| "unknown".to_owned(), |v| format!("{v:.1} V"));
    Some(
        note("uhs-grade-zero", "the UHS speed grade reads 0: cards were seen that show their grade only in 1.8 V signalling, so this is no missing U mark")
            .because("uhs_speed_grade", 0)
            .because("uhs_au_size_bytes", ssr.uhs_au_size_bytes.unwrap_or(0))
            .because("signal voltage", volts),
    )
}

/// Mainline Linux sends one command at a time to an SD card.
fn a2_on_linux(identity: &Identity) -> Option<Finding> {
    let ssr = identity.ssr.as_ref()?;
    let a2 = Mark::claimed_by(ssr).iter().any(|mark| (mark.letter(), mark.number()) == ('A', 2));
    a2.then(|| {
        note("a2-on-linux", "the card claims A2, whose figures need its command queue; mainline Linux does not queue on SD (the Raspberry Pi kernel does, on Pi 5 for listed cards), so it can confirm A2 and not refute it")
            .because("app_perf_class", ssr.app_perf_class)
            .because("command_queue_depth", ssr.command_queue_depth)
            .advise("without a queue, hold the card to A1: 1500 random reads and 500 random writes of 4 KiB a second")
    })
}

fn warning(smart: &SmartLog) -> Option<Finding> {
    (smart.critical_warning != 0).then(|| {
        Finding::new(
            "nvme-critical-warning",
            Weight::Hint,
            0.9,
            format!("the card itself warns: {}", smart.critical_warnings.join(", ")),
        )
        .because("critical_warning", format!("0x{:02x}", smart.critical_warning))
        .because("available_spare", format!("{} %", smart.available_spare))
        .advise("copy what is on it before testing")
    })
}

fn worn(smart: &SmartLog) -> Option<Finding> {
    (smart.percentage_used >= 100).then(|| {
        Finding::new(
            "nvme-worn",
            Weight::Hint,
            0.9,
            "the card counts its rated life as used up; it may go on working",
        )
        .because("percentage_used", format!("{} %", smart.percentage_used))
    })
}

fn throttled(smart: &SmartLog) -> Option<Finding> {
    let (t1, t2) = (smart.thermal_management_t1_transitions, smart.thermal_management_t2_transitions);
    (t1 > 0 || t2 > 0).then(|| {
        note("nvme-throttled", "the card has slowed down for heat before")
            .because("light throttling", format!("{t1} times, {} s", smart.thermal_management_t1_seconds))
            .because("heavy throttling", format!("{t2} times, {} s", smart.thermal_management_t2_seconds))
    })
}
