//! Page of `format`: the result, the layout of the card, and the command that undoes it.

use cardscope_model::answer::Answer;
use cardscope_model::format::{FormatMode, FormatReport};
use cardscope_model::report::NewsTone;
use cardscope_model::shell::shell_quote;
use cardscope_model::units::{BinarySize, DecimalSize, ExactCapacity, group_digits};
use cardscope_page::tree::{Page, PageBlock, PageFact, fact, failed_io_reason, io_summary};
use cardscope_sd::layout::{CardLayout, PartitionScheme, SECTOR};

pub fn page(report: &FormatReport) -> Page {
    let body = &report.body;
    let (tone, answer) = answer(report);
    let mut page = Page::new(&report.header.target, tone, answer);
    page.reasons.extend(failed_io_reason(&body.moved));
    let pressing = |claim: &str| matches!(claim, "known-verdict" | "discard-not-taken");
    let known = report.header.findings.iter().filter(|finding| pressing(&finding.claim));
    page.add_reasons(NewsTone::Warning, known.map(|finding| finding.verdict.clone()));
    let mut facts = layout_facts(&body.layout);
    let mode = match body.mode {
        FormatMode::Quick => "quick: only partition table and file system",
        FormatMode::Overwrite => "every byte was overwritten first",
        FormatMode::Discard => "discard first",
    };
    facts.extend([fact("mode", mode), fact("made by", &body.tool), fact("I/O", io_summary(&body.moved))]);
    let adjusted = body.size_adjustment.then_some("on: the partition ends on a whole cylinder");
    facts.extend(adjusted.map(|words| fact("size adjustment", words)));
    let state = body.state.as_ref();
    let state = state.map(|s| format!("{s}; later runs on this card name it as their condition"));
    facts.extend(state.map(|words| fact("state", words)));
    page.add_section("", [PageBlock::Facts(facts)]);
    page.add_detail("Exact layout", [PageBlock::Facts(exact_layout(&body.layout))]);
    if let Some(file) = &body.backup {
        let target = shell_quote(&report.header.target);
        let command = format!("cardscope restore {} {target}", shell_quote(file));
        page.add_step("The card's old content is saved; put it back with:", Some(command));
    }
    page.with_frame(&report.header)
}

fn answer(report: &FormatReport) -> (NewsTone, Answer) {
    let body = &report.body;
    let name = body.label.as_ref().map(|label| format!(" {label:?}")).unwrap_or_default();
    let system = &body.layout.file_system;
    let suspect = report.header.findings.iter().any(|finding| finding.claim == "known-verdict");
    match (&report.header.error, &body.limited) {
        (Some(_), _) => (NewsTone::Bad, "NOT FORMATTED.".into()),
        _ if !body.checked => {
            let rest = format!(": {system}{name} was written but does not read back.");
            (NewsTone::Bad, Answer::with_verdict("DAMAGED", &rest))
        }
        (None, Some(limited)) => {
            let (real, all) = (DecimalSize(limited.real_bytes), DecimalSize(limited.announced_bytes));
            let text = format!("Formatted {real} of {all} as {system}{name}; the rest does not exist.");
            (NewsTone::Warning, text.into())
        }
        _ if suspect => {
            let text = format!("Formatted as {system}{name}, but the card failed its capacity test.");
            (NewsTone::Warning, text.into())
        }
        _ => (NewsTone::Good, format!("Formatted as {system}{name}; it reads back as written.").into()),
    }
}

fn layout_facts(layout: &CardLayout) -> Vec<PageFact> {
    let table = match layout.scheme {
        PartitionScheme::Mbr => format!("MBR, type {:02X}", layout.partition_type),
        PartitionScheme::Gpt => "GPT".to_owned(),
    };
    let boundary = BinarySize(layout.boundary_sectors * SECTOR);
    vec![
        fact("partition table", table),
        fact("partition", DecimalSize(layout.partition_sectors * SECTOR)),
        fact("data area aligned to", boundary),
        fact("clusters", BinarySize(layout.cluster_sectors * SECTOR)),
    ]
}

fn exact_layout(layout: &CardLayout) -> Vec<PageFact> {
    let sectors = |n: u64| format!("sector {} ({})", group_digits(n), BinarySize(n * SECTOR));
    vec![
        fact("partition", sectors(layout.partition_start)),
        fact("its size", ExactCapacity(layout.partition_sectors * SECTOR)),
        fact("files", sectors(layout.data_start)),
        fact("clusters", group_digits(layout.clusters)),
    ]
}
