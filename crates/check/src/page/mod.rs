//! Page of `check`: identity, capacity, speed, jobs, marks, flash geometry, sustained use, and next steps.

mod jobs;

pub use cardscope_marks::page::page as marks;

use cardscope_bench::page::precision_text;
use cardscope_capacity::page::{add_evidence, verdict};
use cardscope_endurance::page::sustain;
use cardscope_flash::page as card_map;
use cardscope_identity::page as identity;
use cardscope_marks::page as marks_page;
use cardscope_model::check::{CheckPart, CheckReport, PartState};
use cardscope_model::finding::FindingWeight;
use cardscope_model::identity::Identity;
use cardscope_model::report::NewsTone;
use cardscope_model::result::TestResult;
use cardscope_model::suspect_reader;
use cardscope_model::sustain::MeasuredRun;
use cardscope_model::units::{DecimalSize, three_digits as speed};
use cardscope_model::verify::{TestMethod, Verification};
use cardscope_page::chart::card_map::{PICTURE_COLUMNS, address_chart};
use cardscope_page::chart::{Chart, card_bars};
use cardscope_page::figure::{duration, test_with_step, time_us};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{
    AnswerReason, Page, PageBlock, PageFact, fact, failed_io_reason, io_error_list, io_summary,
    may_have_changed,
};
use cardscope_sd::mark::Mark;
use std::borrow::Cow;

/// Most charts of the flash geometry on the page.
const CHARTS: usize = 3;

pub fn page(report: &CheckReport) -> Page {
    let (header, body) = (&report.header, &report.body);
    let found = verify_result(report);
    let (tone, answer) = verdict::headline(&found, &header.findings, marks_page::missed_answer(report));
    let mut page = Page::new(&header.target, tone, answer);
    page.figures = summary_figures(report);
    add_reasons(&mut page, report, &found);
    page.add_section("Capacity", card_bars::capacity_chart(&found).map(PageBlock::from_chart));
    let chart = card_bars::speed_chart(&body.bench, &claimed_marks(report), &header.condition);
    page.add_section("Speed", with_table(chart, speed_table(&body.bench)));
    let chart = card_bars::job_chart(&jobs::best_first(&body.jobs));
    page.add_section("Suitable for", with_table(chart, jobs::job_table(&body.jobs)));
    page.add_section("Marks", marks_page::mark_blocks(body.marks.as_ref(), &body.printed_speeds));
    if let Some(identity) = &body.identity {
        page.add_detail("Identity", [PageBlock::Facts(identity_facts(identity, report))]);
    }
    let details = PageBlock::Facts(marks_page::mark_details(body.marks.as_ref()));
    page.add_detail("Marks in detail", [details]);
    page.add_detail("What each job takes", [PageBlock::Facts(jobs::job_details(&body.jobs))]);
    let map = found.map.as_ref().and_then(|map| address_chart(map, &header.condition, PICTURE_COLUMNS));
    page.add_section("Speed over the addresses", map.map(PageBlock::from_chart));
    page.add_detail("Flash geometry", geometry_blocks(report));
    page.add_detail("Sustained use", body.sustain.iter().flat_map(sustain_blocks));
    page.add_findings(header, body.bench.iter());
    page.add_detail("Failed I/Os", [io_error_list(&body.moved.io_errors)]);
    page.add_detail("How it was tested", [PageBlock::Facts(part_times(report))]);
    if body.verify.is_some() {
        add_evidence(&mut page, header, &found, body.identity.as_ref());
    }
    // The print version has the figures of the marks, which prove a complaint.
    page.mark_printed(&["Capacity", "Marks"]);
    page.add_end(header);
    page
}

fn with_table(chart: Option<Chart>, table: Table) -> impl Iterator<Item = PageBlock> {
    chart.map(PageBlock::from_chart).into_iter().chain([PageBlock::Table(table)])
}

/// Result of `verify`, or one made of the report if the test ended before it.
fn verify_result(report: &CheckReport) -> Cow<'_, Verification> {
    let body = &report.body;
    let base = match &body.verify {
        Some(verify) if verify.body.verdict == body.verdict => return Cow::Borrowed(&verify.body),
        // Failed I/Os of other parts can have changed the verdict.
        Some(verify) => verify.body.clone(),
        None => Verification {
            announced_bytes: body.announced_bytes,
            proven_bytes: body.proven_bytes,
            reason: body.parts.iter().find(|part| part.part == "verify").and_then(|part| part.reason.clone()),
            ..Verification::default()
        },
    };
    let (verdict, usable_bytes, confidence) = (body.verdict, body.usable_bytes, body.confidence);
    Cow::Owned(Verification { verdict, usable_bytes, confidence, ..base })
}

/// Claimed marks that were judged, or those in the registers if none was.
fn claimed_marks(report: &CheckReport) -> Vec<Mark> {
    let judged = report.body.marks.iter().flat_map(|marks| &marks.judged);
    let claimed: Vec<Mark> = judged.filter(|j| j.is_claimed()).map(|j| j.mark).collect();
    let own = report.body.identity.iter().flat_map(|identity| &identity.marks).copied();
    if claimed.is_empty() { own.collect() } else { claimed }
}

fn add_reasons(page: &mut Page, report: &CheckReport, found: &Verification) {
    let body = &report.body;
    page.reasons.extend(failed_io_reason(&body.moved));
    page.reasons.extend(verdict::verdict_reason(found).map(|(tone, text)| AnswerReason { tone, text }));
    if body.moved.may_have_changed.is_some() || !body.moved.data_kept && body.moved.bytes_written > 0 {
        page.add_reason(NewsTone::Warning, format!("The card's data: {}.", data_state(report)));
    }
    let outcomes = body.marks.as_ref().map(marks_page::outcome_lists).unwrap_or_default();
    if !outcomes.is_empty() {
        let missed = marks_page::missed_answer(report).is_some();
        let tone = if missed { NewsTone::Bad } else { NewsTone::Plain };
        page.add_reason(tone, format!("{}.", outcomes.join("; ")));
    }
    page.add_reasons(NewsTone::Warning, measured_hints(report));
    page.add_reasons(NewsTone::Plain, jobs::suitable_text(&body.jobs));
    let sustained = body.sustain.as_ref().filter(|_| !found.verdict.is_bad());
    page.add_reasons(NewsTone::Plain, sustained.map(sustain::run_summary));
}

/// Hints from measurements. Hints from registers appear with the identity.
fn measured_hints(report: &CheckReport) -> impl Iterator<Item = String> {
    let registers = report.body.identity.as_ref().map_or(&[][..], |identity| &identity.findings);
    let hints = report.header.findings.iter().filter(|finding| finding.weight == FindingWeight::Hint);
    hints
        // A suspect reader is already the first reason, from the end of the page.
        .filter(|finding| finding.claim != suspect_reader::SUSPECT_READER_CLAIM)
        .filter(|finding| !registers.iter().any(|known| known.claim == finding.claim))
        .map(|finding| finding.verdict.clone())
}

/// Figures as a shop lists them, shown as tiles.
fn summary_figures(report: &CheckReport) -> Vec<PageFact> {
    let body = &report.body;
    let by_files = body.verify.as_ref().is_some_and(|verify| verify.body.method == TestMethod::Files);
    let announced = DecimalSize(verdict::tested_capacity(&verify_result(report)));
    let usable = body.usable_bytes.map_or_else(
        || format!("{announced}, usable unknown"),
        |bytes| format!("{} of {announced} usable", DecimalSize(bytes)),
    );
    let name = body.identity.as_ref().and_then(identity::card_name);
    let claims = body.identity.as_ref().map(claims_text);
    let bus = body.identity.as_ref().and_then(|identity| {
        let ceiling = identity.ceiling_mb_s().map(|mb_s| format!("{} MB/s", speed(mb_s)));
        let parts: Vec<String> = identity.bus_mode().into_iter().chain(ceiling).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    });
    let all = [
        ("card", name),
        (if by_files { "free space" } else { "capacity" }, Some(usable)),
        ("verified", Some(DecimalSize(body.proven_bytes).to_string())),
        ("claims", claims.filter(|claims| !claims.is_empty())),
        ("bus", bus),
    ];
    all.into_iter().filter_map(|(name, value)| Some(fact(name, value?))).collect()
}

fn identity_facts(identity: &Identity, report: &CheckReport) -> Vec<PageFact> {
    let model = identity.nvme.as_ref().and_then(|nvme| nvme.identify.as_ref());
    let claims = Some(claims_text(identity)).filter(|claims| !claims.is_empty());
    let name = identity.cid.iter().map(|cid| fact("name", &cid.pnm));
    let model = model.map(|controller| fact("model", &controller.mn));
    let condition = report.header.condition.iter();
    let condition = condition.map(|(word, value)| fact(&word.replace('_', " "), value));
    name.chain(model).chain(claims.map(|claims| fact("marks it claims", claims))).chain(condition).collect()
}

fn claims_text(identity: &Identity) -> String {
    identity.mark_demands.iter().map(|demand| demand.mark.to_string()).collect::<Vec<_>>().join(" ")
}

/// State of the card's data.
fn data_state(report: &CheckReport) -> String {
    let moved = &report.body.moved;
    match &moved.may_have_changed {
        Some(changed) => may_have_changed(changed),
        None if moved.data_kept => "preserved".to_owned(),
        None => "not preserved, as agreed".to_owned(),
    }
}

fn speed_table(results: &[TestResult]) -> Table {
    Table::from_items(
        results,
        &[
            ("test", &|r| test_with_step(r.name(), r.step.as_deref())),
            ("MB/s", &|r| speed(r.mb_s)),
            ("±", &precision_text),
            ("IOPS", &|r| speed(r.iops)),
            ("median", &|r| time_us(r.latency_us.p50)),
            ("longest", &|r| time_us(r.latency_us.max)),
        ],
    )
}

fn geometry_blocks(report: &CheckReport) -> Vec<PageBlock> {
    let Some(map) = &report.body.map else { return Vec::new() };
    let charts = card_map::charts(&map.body.measured).into_iter().take(CHARTS).map(PageBlock::from_chart);
    let advice = &map.body.advice;
    let facts = PageBlock::Facts(card_map::tested_properties(&map.body.measured));
    let words = advice.words.iter().map(|words| PageBlock::Words(words.clone()));
    let commands = PageBlock::Commands(advice.commands.iter().map(|c| c.command.clone()).collect());
    [facts].into_iter().chain(charts).chain(words).chain([commands]).collect()
}

fn sustain_blocks(found: &MeasuredRun) -> Vec<PageBlock> {
    let levels = found.levels.iter().map(|level| {
        let span = format!("{} to {}", duration(level.from_s), duration(level.to_s));
        fact(&level.op, format!("{} MB/s, {} ({span})", speed(level.mb_s), level.state))
    });
    let warmest = found.max_celsius.map(|celsius| fact("warmest", format!("{celsius:.0} °C")));
    let events = found.events.iter();
    let events = events.map(|event| fact(event.kind.words(), format!("after {}", duration(event.at_s))));
    let charts = sustain::separate_charts(found).into_iter().take(1).map(PageBlock::from_chart);
    [PageBlock::Facts(levels.chain(warmest).chain(events).collect())].into_iter().chain(charts).collect()
}

fn part_times(report: &CheckReport) -> Vec<PageFact> {
    let body = &report.body;
    let part = |part: &CheckPart| {
        let reason = part.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default();
        let what = match part.state {
            PartState::Done => duration(part.seconds),
            PartState::Partly => format!("{}, in part{reason}", duration(part.seconds)),
            PartState::LeftOut => format!("left out{reason}"),
        };
        fact(&part.part, what)
    };
    let spent = duration(body.moved.seconds);
    let all = if body.budget_s > 0.0 { format!("{spent} of {}", duration(body.budget_s)) } else { spent };
    body.parts.iter().map(part).chain([fact("total", all), fact("I/O", io_summary(&body.moved))]).collect()
}
