//! What `format` did, as text; and how what stands on a card is laid out, for `info` too.

use cardscope_model::answer::Answer;
use cardscope_model::format::{FormatReport, Mode};
use cardscope_model::report::Tone;
use cardscope_model::shell::quoted;
use cardscope_model::units::{BinarySize, Capacity, Size, grouped};
use cardscope_page::tree::{Block, Fact, Page, fact, failed_ios, moved};
use cardscope_sd::layout::{Layout, SECTOR, Scheme};

/// The page.
pub fn page(report: &FormatReport) -> Page {
    let body = &report.body;
    let (tone, answer) = answer(report);
    let mut page = Page::new(&report.header.target, tone, answer);
    page.reasons.extend(failed_ios(&body.moved));
    let pressing = |claim: &str| matches!(claim, "known-verdict" | "discard-not-taken");
    let known = report.header.findings.iter().filter(|finding| pressing(&finding.claim));
    page.because_all(Tone::Warning, known.map(|finding| finding.verdict.clone()));
    let mut facts = layout_facts(&body.layout);
    let mode = match body.mode {
        Mode::Quick => "quick: only partition table and file system",
        Mode::Overwrite => "every byte was overwritten first",
        Mode::Discard => "discard first",
    };
    facts.extend([fact("mode", mode), fact("made by", &body.tool), fact("I/O", moved(&body.moved))]);
    let adjusted = body.size_adjustment.then_some("on: the partition ends on a whole cylinder");
    facts.extend(adjusted.map(|words| fact("size adjustment", words)));
    let state = body.state.iter();
    facts.extend(
        state.map(|s| fact("state", format!("{s}; later runs on this card name it as their condition"))),
    );
    page.add("", [Block::Facts(facts)]);
    page.fold("Exact layout", [Block::Facts(exact_layout(&body.layout))]);
    if let Some(file) = &body.backup {
        let command = format!("cardscope restore {} {}", quoted(file), quoted(&report.header.target));
        page.step("The card's old content is saved; put it back with:", Some(command));
    }
    page.framed(&report.header)
}

fn answer(report: &FormatReport) -> (Tone, Answer) {
    let body = &report.body;
    let name = body.label.as_ref().map(|label| format!(" {label:?}")).unwrap_or_default();
    let system = &body.layout.file_system;
    let suspect = report.header.findings.iter().any(|finding| finding.claim == "known-verdict");
    match (&report.header.error, &body.limited) {
        (Some(_), _) => (Tone::Bad, "NOT FORMATTED.".into()),
        _ if !body.checked => {
            let rest = format!(": {system}{name} was written but does not read back.");
            (Tone::Bad, Answer::with_verdict("DAMAGED", &rest))
        }
        (None, Some(limited)) => {
            let (real, all) = (Size(limited.real_bytes), Size(limited.announced_bytes));
            (
                Tone::Warning,
                format!("Formatted {real} of {all} as {system}{name}; the rest does not exist.").into(),
            )
        }
        _ if suspect => (
            Tone::Warning,
            format!("Formatted as {system}{name}, but the card failed its capacity test.").into(),
        ),
        _ => (Tone::Good, format!("Formatted as {system}{name}; it reads back as written.").into()),
    }
}

fn layout_facts(layout: &Layout) -> Vec<Fact> {
    let table = match layout.scheme {
        Scheme::Mbr => format!("MBR, type {:02X}", layout.partition_type),
        Scheme::Gpt => "GPT".to_owned(),
    };
    let boundary = BinarySize(layout.boundary_sectors * SECTOR);
    vec![
        fact("partition table", table),
        fact("partition", Size(layout.partition_sectors * SECTOR)),
        fact("data area aligned to", boundary),
        fact("clusters", BinarySize(layout.cluster_sectors * SECTOR)),
    ]
}

/// The same to the byte.
fn exact_layout(layout: &Layout) -> Vec<Fact> {
    let sectors = |n: u64| format!("sector {} ({})", grouped(n), BinarySize(n * SECTOR));
    vec![
        fact("partition", sectors(layout.partition_start)),
        fact("its size", Capacity(layout.partition_sectors * SECTOR)),
        fact("files", sectors(layout.data_start)),
        fact("clusters", grouped(layout.clusters)),
    ]
}
