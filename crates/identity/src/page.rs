//! Page of a card's identity: one paragraph a part, one fact a line, hints at the end.

use cardscope_model::finding::FindingWeight;
use cardscope_model::identity::Identity;
use cardscope_model::report::NewsTone;
use cardscope_model::units::{BinarySize, DecimalSize, ExactCapacity, SpeedMbS, TemperatureUnit};
use cardscope_model::usb::UsbReader;
use cardscope_page::figure::{answer_line, join_names, to_sentence};
use cardscope_page::properties::present_facts;
use cardscope_page::tree::{Page, PageBlock, PageFact, fact, findings};
use cardscope_sd::bus::MmcBus;
use cardscope_sd::health::CardHealth;
use cardscope_sd::maker::UNREGISTERED;
use cardscope_sd::mark::SpeedDemand;
use cardscope_sd::nvme::NvmeIdentity;
use cardscope_sd::registers::{Cid, CrcStatus, Csd, Ocr, Scr, Ssr};
use std::fmt::Display;

/// Page of an identity, with temperatures in `degrees`.
pub fn page(identity: &Identity, degrees: TemperatureUnit) -> Page {
    let heavy = identity.findings.iter().filter(|finding| finding.weight > FindingWeight::Note);
    let reasons: Vec<String> = heavy.map(|finding| finding.verdict.clone()).collect();
    let tone = if reasons.is_empty() { NewsTone::Plain } else { NewsTone::Warning };
    let mut page = Page::new("", tone, identity_line(identity));
    page.add_reasons(NewsTone::Warning, reasons);
    // Registers are folded, unless there is nothing else to show, as after `decode`.
    let named = identity.cid.is_some() || identity.nvme.is_some();
    let fold = named || identity.health.is_some() || identity.capacity.is_some();
    let mut part = |head: &str, fill: &dyn Fn(&mut KnownFacts)| {
        let mut facts = KnownFacts::default();
        fill(&mut facts);
        match fold && REGISTERS.contains(&head) {
            true => page.add_detail(head, [PageBlock::Facts(facts.0)]),
            false => page.add_section(head, [PageBlock::Facts(facts.0)]),
        }
    };
    part("Card (CID)", &|p| identity.cid.iter().for_each(|cid| cid_lines(p, cid)));
    let emmc_name = identity.emmc.as_ref().map(|emmc| &emmc.pnm);
    part("eMMC: soldered flash, not a card", &|p| p.add_known("name", emmc_name));
    part("Capacity", &|p| capacity_lines(p, identity));
    part(CSD, &|p| identity.csd.iter().for_each(|csd| csd_lines(p, csd)));
    part(SCR, &|p| identity.scr.iter().for_each(|scr| scr_lines(p, scr)));
    part(SSR, &|p| identity.ssr.iter().for_each(|ssr| ssr_lines(p, ssr)));
    part(OCR, &|p| identity.ocr.iter().for_each(|ocr| ocr_lines(p, ocr)));
    part("Marks it claims", &|p| identity.mark_demands.iter().for_each(|d| mark_line(p, d)));
    part("Health", &|p| identity.health.iter().for_each(|health| health_lines(p, health)));
    part("NVMe", &|p| identity.nvme.iter().for_each(|nvme| nvme_lines(p, nvme, degrees)));
    part("Bus", &|p| bus_lines(p, identity));
    part("Layout", &|p| p.0.extend(identity.layout.iter().flat_map(present_facts)));
    page.add_detail("Findings", [PageBlock::Remarks(findings::merge_findings(&identity.findings))]);
    page
}

/// Parts that are folded.
const REGISTERS: [&str; 4] = [CSD, SCR, SSR, OCR];
const CSD: &str = "Card-specific data (CSD)";
const SCR: &str = "Configuration (SCR)";
const SSR: &str = "SD status (SSR)";
const OCR: &str = "Operating conditions (OCR)";

/// Maker, name, size and marks in a line, or else facts from the registers.
fn identity_line(identity: &Identity) -> String {
    let size = identity.capacity.as_ref().map(|capacity| DecimalSize(capacity.bytes).to_string());
    let marks: Vec<String> = identity.mark_demands.iter().map(|demand| demand.mark.to_string()).collect();
    let marks = (!marks.is_empty()).then(|| format!("claims {}", marks.join(" ")));
    let family = || identity.csd.as_ref()?.family.as_ref().map(|family| format!("{family} card"));
    let name = card_name(identity).or_else(family);
    let mut parts: Vec<String> = [name, size, marks].into_iter().flatten().collect();
    if parts.is_empty() {
        parts.extend(register_words(identity));
    }
    parts.extend(identity.health.iter().filter_map(|health| {
        health.fields.life_used_percent.map(|used| format!("{used} % of its rated life used"))
    }));
    match parts.is_empty() {
        true => "The card's registers are not readable here.".to_owned(),
        false => answer_line(&to_sentence(&parts.join(", "))),
    }
}

/// Facts from registers that do not name the card.
fn register_words(identity: &Identity) -> Vec<String> {
    let scr = identity.scr.iter().flat_map(|scr| {
        let version = scr.version.as_ref().map(|version| format!("SD specification {version}"));
        version.into_iter().chain([format!("bus of {}", widths(scr))])
    });
    let ssr = identity.ssr.iter().map(|ssr| match ssr.au_size_bytes {
        Some(bytes) => format!("no speed marks, allocation unit {}", BinarySize(bytes)),
        None => "no speed marks".to_owned(),
    });
    let ocr = identity.ocr.iter().flat_map(|ocr| {
        let capacity = if ocr.ccs { "high capacity (SDHC and up)" } else { "standard capacity" };
        supply(ocr).map(|volts| format!("supply {volts}")).into_iter().chain([capacity.to_owned()])
    });
    scr.chain(ssr).chain(ocr).collect()
}

/// Name of a card, with its maker if the number is registered; the reader's name if the reader hides the registers.
pub fn card_name(identity: &Identity) -> Option<String> {
    let cid = identity.cid.as_ref();
    let registered = cid.filter(|cid| !UNREGISTERED.contains(&cid.mid));
    let maker = registered.and_then(|cid| cid.maker.as_deref());
    let own = cid.map(|cid| cid.pnm.as_str());
    let model = identity.nvme.as_ref().and_then(|nvme| Some(nvme.identify.as_ref()?.mn.as_str()));
    let reader = identity.usb.as_ref().filter(|_| cid.is_none());
    let reader = reader.map(|usb| [usb.vendor.as_deref(), usb.product.as_deref()]);
    let words = [maker, own, model].into_iter().chain(reader.into_iter().flatten()).flatten().map(str::trim);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// List of facts that skips unknown values.
#[derive(Default)]
struct KnownFacts(Vec<PageFact>);

impl KnownFacts {
    fn add_known(&mut self, label: &str, value: Option<impl Display>) {
        let value = value.map(|v| v.to_string()).filter(|v| !v.is_empty());
        self.0.extend(value.map(|value| fact(label, value)));
    }

    fn add_value(&mut self, label: &str, value: impl Display) {
        self.add_known(label, Some(value));
    }

    fn add_flags(&mut self, label: &str, flags: &[(&str, bool)]) {
        let set: Vec<&str> = flags.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
        self.add_known(label, Some(set.join(", ")));
    }
}

fn cid_lines(p: &mut KnownFacts, cid: &Cid) {
    p.add_value("raw", cid.raw);
    let note = cid.maker_note.as_deref().map(|n| format!(" ({n})")).unwrap_or_default();
    let maker = cid.maker.as_deref().unwrap_or("unknown maker");
    p.add_value("maker (MID)", format!("0x{:02x}: {maker}{note}", cid.mid));
    p.add_value("OEM (OID)", format!("\"{}\" ({})", cid.oid, cid.oid_hex));
    p.add_value("name (PNM)", format!("\"{}\"", cid.pnm));
    p.add_value("revision (PRV)", &cid.prv);
    p.add_value("serial (PSN)", format!("{} ({})", cid.psn, cid.psn_hex));
    p.add_value("made (MDT)", &cid.mdt);
    p.add_value("checksum (CRC7)", crc_words(cid.crc));
}

fn crc_words(crc: CrcStatus) -> &'static str {
    match crc {
        CrcStatus::Ok => "correct",
        CrcStatus::Absent => "not reported by the host",
        CrcStatus::Mismatch => "wrong: probably a copying or transfer error",
    }
}

fn capacity_lines(p: &mut KnownFacts, identity: &Identity) {
    if let Some(c) = &identity.capacity {
        let nominal = c.nominal.as_deref().map(|n| format!(", sold as {n}")).unwrap_or_default();
        p.add_value("size", format!("{}{nominal}", ExactCapacity(c.bytes)));
    }
    p.add_known("factors", identity.factors.as_ref().map(|factors| &factors.says));
}

fn csd_lines(p: &mut KnownFacts, csd: &Csd) {
    p.add_value("raw", csd.raw);
    p.add_known("structure", csd.csd_version.as_deref());
    p.add_known("family", csd.family.as_ref());
    p.add_value("command classes (CCC)", csd.ccc_names.join(", "));
    p.add_known("clock after reset", csd.tran_speed_mbit_s.map(|s| format!("{s} Mbit/s a line")));
    let (blocks, bytes) = (csd.sector_size_blocks, csd.write_bl_len_bytes);
    p.add_value("erase unit", format!("{blocks} blocks of {bytes} bytes"));
    let protected = [
        ("copy", csd.copy),
        ("permanently write protected", csd.perm_write_protect),
        ("write protected", csd.tmp_write_protect),
        ("write protected until power cycle", csd.wp_upc),
    ];
    p.add_flags("flags", &protected);
    p.add_value("checksum (CRC7)", crc_words(csd.crc));
}

fn scr_lines(p: &mut KnownFacts, scr: &Scr) {
    p.add_value("raw", scr.raw);
    p.add_known("specification", scr.version.as_deref());
    p.add_known("security", scr.sd_security_text.as_deref());
    p.add_value("bus widths", widths(scr));
    p.add_value("commands", scr.cmd_support_list.join(", "));
}

fn widths(scr: &Scr) -> String {
    format!("{} bits", join_names(&scr.bus_widths.iter().map(u8::to_string).collect::<Vec<_>>()))
}

fn supply(ocr: &Ocr) -> Option<String> {
    ocr.vdd_min_v.zip(ocr.vdd_max_v).map(|(low, high)| format!("{low} to {high} V"))
}

fn ssr_lines(p: &mut KnownFacts, ssr: &Ssr) {
    let size = |bytes: Option<u64>| bytes.map(BinarySize);
    p.add_known("speed class", ssr.speed_class.map(|c| format!("C{c}")));
    p.add_value("UHS speed grade", format!("U{}", ssr.uhs_speed_grade));
    p.add_value("video speed class", format!("V{}", ssr.video_speed_class));
    p.add_value("application class", format!("A{}", ssr.app_perf_class));
    p.add_value("performance move", &ssr.performance_move_text);
    p.add_known("allocation unit (AU)", size(ssr.au_size_bytes));
    p.add_known("UHS AU", size(ssr.uhs_au_size_bytes));
    p.add_known("video AU", size(ssr.vsc_au_size_bytes));
    p.add_known("video unit (SU)", size(ssr.su_size_bytes));
    let depth = ssr.command_queue_depth;
    p.add_known("command queue", (depth > 0).then(|| format!("{depth} deep")));
    let functions =
        [("cache", ssr.cache), ("discard", ssr.discard_support), ("full erase", ssr.fule_support)];
    p.add_flags("supports", &functions);
    p.add_value("protected area", format!("{} bytes", ssr.size_of_protected_area));
}

fn ocr_lines(p: &mut KnownFacts, ocr: &Ocr) {
    p.add_value("raw", ocr.raw);
    p.add_known("supply", supply(ocr));
    let flags = [
        ("1.8 V signalling accepted", ocr.s18a),
        ("over 2 TB", ocr.co2t),
        ("UHS-II", ocr.uhs_ii),
        ("high capacity", ocr.ccs),
        ("powered up", ocr.power_up_status),
    ];
    p.add_flags("flags", &flags);
}

fn mark_line(p: &mut KnownFacts, demand: &SpeedDemand) {
    let mut wants = vec![format!("writes at {} MB/s", demand.write_mb_s)];
    wants.extend(demand.read_mb_s.map(|r| format!("reads at {r} MB/s")));
    wants.extend(demand.random_read_iops.map(|r| format!("{r} random 4 KiB reads a second")));
    wants.extend(demand.random_write_iops.map(|w| format!("{w} random 4 KiB writes a second")));
    p.add_known(&demand.mark.to_string(), Some(format!("{}; {}", wants.join(", "), demand.bus)));
}

fn nvme_lines(p: &mut KnownFacts, nvme: &NvmeIdentity, degrees: TemperatureUnit) {
    let written = |t: Option<i32>| t.map(|celsius| degrees.format_celsius(f64::from(celsius)));
    if let Some(i) = &nvme.identify {
        p.add_value("model", i.mn.trim());
        p.add_value("serial", i.sn.trim());
        p.add_value("firmware", i.fr.trim());
        p.add_known("NVMe version", i.ver.as_deref());
        p.add_known("warning temperature", written(i.wctemp_celsius));
        p.add_known("critical temperature", written(i.cctemp_celsius));
    }
    p.add_known("threshold (TMPTH)", written(nvme.features.tmpth_celsius));
    p.add_known("throttles from (TMT1)", written(nvme.features.tmt1_celsius));
    p.add_known("throttles hard (TMT2)", written(nvme.features.tmt2_celsius));
    p.add_known("temperature now", nvme.temperature_celsius.map(|celsius| degrees.format_celsius(celsius)));
    if let Some(s) = &nvme.smart {
        p.add_value("used up", format!("{} %, spare {} %", s.percentage_used, s.available_spare));
        let [read, written] = [s.data_read_bytes, s.data_written_bytes].map(DecimalSize);
        p.add_value("read, written", format!("{read}, {written}"));
        p.add_value("power cycles", format!("{}, {} unsafe", s.power_cycles, s.unsafe_shutdowns));
        p.add_value("media errors", s.media_errors);
        let t1 = (s.thermal_management_t1_transitions, s.thermal_management_t1_seconds);
        let t2 = (s.thermal_management_t2_transitions, s.thermal_management_t2_seconds);
        p.add_value("throttled", format!("{} times to T1, {} s in all", t1.0, t1.1));
        p.add_value("throttled hard", format!("{} times to T2, {} s in all", t2.0, t2.1));
        p.add_value("warnings", s.critical_warnings.join(", "));
    }
}

fn health_lines(p: &mut KnownFacts, health: &CardHealth) {
    let fields = &health.fields;
    p.add_value("layout", health.layout);
    p.add_known("product", fields.product.as_deref());
    p.add_known("firmware", fields.firmware.as_deref());
    p.add_known("made", fields.made.as_deref());
    p.add_known("life used", fields.life_used_percent.map(|used| format!("{used} %")));
    let [rated, most] = [("rated", fields.erase_cycles_rated), ("at most", fields.erase_cycles_most)]
        .map(|(what, cycles)| cycles.map(|cycles| format!(", {what} {cycles}")).unwrap_or_default());
    p.add_known(
        "erase cycles",
        fields.erase_cycles.map(|cycles| format!("{cycles} on average{most}{rated}")),
    );
    p.add_known("written", fields.written_bytes.map(DecimalSize));
    p.add_known("bad blocks at first", fields.bad_blocks_at_first);
    p.add_known("bad blocks since", fields.bad_blocks_since);
    p.add_known("spare blocks", fields.spare_blocks);
    let unsafe_ones = fields.unsafe_shutdowns.map(|times| format!(", {times} unsafe")).unwrap_or_default();
    p.add_known("power cycles", fields.power_cycles.map(|times| format!("{times}{unsafe_ones}")));
    p.add_known("refreshes", fields.refreshes);
    p.add_known("checksum errors on the bus", fields.bus_crc_errors);
}

fn bus_lines(p: &mut KnownFacts, identity: &Identity) {
    p.add_known("mode", identity.bus_mode());
    p.add_known("carries at most", identity.ceiling_mb_s().map(|c| SpeedMbS(c).to_string()));
    identity.mmc.iter().for_each(|mmc| mmc_lines(p, mmc));
    identity.usb.iter().for_each(|usb| usb_lines(p, usb));
    let limited = identity.pcie.as_ref().is_some_and(|pcie| pcie.limited);
    p.add_known("link", limited.then_some("slower than the card supports"));
}

fn mmc_lines(p: &mut KnownFacts, mmc: &MmcBus) {
    p.add_known("timing", mmc.timing_text.as_deref());
    p.add_known("clock", mmc.running_hz().map(|hz| format!("{} MHz", hz as f64 / 1e6)));
    p.add_known("width", mmc.bus_width.map(|w| format!("{w} bit")));
    p.add_known("signalling", mmc.signal_voltage_v.map(|v| format!("{v:.2} V")));
}

fn usb_lines(p: &mut KnownFacts, usb: &UsbReader) {
    let joined = |both: [&Option<String>; 2], by: &str| {
        both.into_iter().flatten().map(|s| s.trim()).collect::<Vec<_>>().join(by)
    };
    let ids = joined([&usb.vendor_id, &usb.product_id], ":");
    p.add_value("reader", format!("{} ({ids})", joined([&usb.vendor, &usb.product], " ")));
    p.add_known("driver", usb.driver.as_deref());
    if usb.hides_cid {
        p.add_value("registers", "hidden by the reader: no CID, CSD, SCR or SSR, no bus mode");
    }
}
