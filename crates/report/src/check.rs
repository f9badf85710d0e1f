//! `check` as one page: identity, capacity, speeds, jobs, marks, flash, a long run, and what to do next.

use crate::bench::precision;
use crate::chart::inside::{PICTURE, addresses};
use crate::chart::visit;
use crate::evidence;
use crate::figure::{count, duration, in_a_line, listing, sentence, speed, test_of, time_us, trimmed};
use crate::page::table::Table;
use crate::page::{Block, Fact, Page, Reason, Tone, fact, moved};
use crate::{card_map, identity, ranking, sustain, verdict};
use cardscope_model::check::{CheckReport, PartState};
use cardscope_model::finding::Weight;
use cardscope_model::identity::Identity;
use cardscope_model::job::{Fit, JobScore};
use cardscope_model::judged_mark::{ClaimedBy, JudgedMark, MarksMeasured, MarksReport, Outcome, Part};
use cardscope_model::result::TestResult;
use cardscope_model::statistics::distinct;
use cardscope_model::sustain::Measured;
use cardscope_model::units::Size;
use cardscope_model::verify::{Method, Verification};
use cardscope_sd::mark::Mark;
use std::borrow::Cow;

/// Charts of the map that the page has room for.
const CHARTS: usize = 3;

/// The judgement of marks, which is a document of its own in the archive.
pub fn marks(report: &MarksReport) -> Page {
    let claimed = || report.body.marks.judged.iter().filter(|judged| !judged.claimed_by.is_empty());
    let missed = claimed().filter(|judged| judged.outcome == Outcome::Missed).count();
    let (tone, answer) = match (missed, claimed().count()) {
        (_, 0) => (Tone::Plain, "No mark is claimed.".to_owned()),
        (0, _) => (Tone::Good, format!("{}.", outcomes(&report.body.marks).join("; "))),
        (missed, of) => (Tone::Bad, format!("{missed} of {of} marks missed.")),
    };
    let mut page = Page::new(&report.header.target, tone, answer);
    page.add("Marks", marks_of(&report.body.marks));
    page.framed(&report.header)
}

/// The page of a visit.
pub fn page(report: &CheckReport) -> Page {
    let (header, body) = (&report.header, &report.body);
    let found = verification(report);
    let (tone, answer) = verdict::headline(&found, &header.findings, missed(report));
    let mut page = Page::new(&header.target, tone, answer);
    page.figures = figures(report);
    add_reasons(&mut page, report, &found);
    page.add("Capacity", visit::capacity(&found).map(Block::chart));
    let chart = visit::speeds(&body.bench, &claimed(report), &header.condition).map(Block::chart);
    page.add("Speed", chart.into_iter().chain([Block::Table(speeds(&body.bench))]));
    let chart = visit::jobs(&best_first(&body.jobs)).map(Block::chart);
    page.add("Suitable for", chart.into_iter().chain([Block::Table(jobs(&body.jobs))]));
    page.add("Marks", body.marks.iter().flat_map(marks_of));
    if let Some(identity) = &body.identity {
        page.fold("Identity", [Block::Facts(what_it_is(identity, report))]);
    }
    page.fold("Marks in detail", [Block::Facts(mark_details(body.marks.as_ref()))]);
    page.fold("What each job takes", [Block::Facts(job_details(&body.jobs))]);
    let map = found.map.as_ref().and_then(|map| addresses(map, &header.condition, PICTURE));
    page.add("Speed over the addresses", map.map(Block::chart));
    page.fold("Flash geometry", flash(report));
    page.fold("Sustained use", body.sustain.iter().flat_map(long_run));
    page.add_findings(header, body.bench.iter());
    page.fold("How it was tested", [Block::Facts(time(report))]);
    if body.verify.is_some() {
        evidence::add(&mut page, header, &found, body.identity.as_ref());
    }
    page.print(&["Capacity", "Speed", "Marks"]);
    page.add_end(header);
    page
}

/// What `verify` found, also where a visit ended before it.
fn verification(report: &CheckReport) -> Cow<'_, Verification> {
    match &report.body.verify {
        Some(verify) => Cow::Borrowed(&verify.body),
        None => Cow::Owned(Verification {
            verdict: report.body.verdict,
            announced_bytes: report.body.announced_bytes,
            usable_bytes: report.body.usable_bytes,
            proven_bytes: report.body.proven_bytes,
            confidence: report.body.confidence,
            ..Verification::default()
        }),
    }
}

/// The marks that are missed, and by how much where that is one figure: `U3 and V30 missed (19.5 of 30 MB/s)`.
fn missed(report: &CheckReport) -> Option<String> {
    let missed: Vec<&JudgedMark> = judged(report, Outcome::Missed).collect();
    let first = missed.first()?;
    // One figure is of all of them only where they demand the same.
    let demanded = |judged: &JudgedMark| deciding(judged).map(|part| (part.demanded, part.unit.clone()));
    let alike = missed.iter().all(|judged| demanded(judged) == demanded(first));
    let short = deciding(first).filter(|_| alike).and_then(short_of);
    let short = short.map(|short| format!(" ({short})")).unwrap_or_default();
    let names: Vec<String> = missed.iter().map(|judged| judged.mark.to_string()).collect();
    let names = if names.len() > MOST_NAMED { count(names.len() as u64, "mark") } else { listing(&names) };
    Some(format!("{names} missed{short}"))
}

/// Marks that an answer has room for.
const MOST_NAMED: usize = 4;

/// How far a demand is missed: `19.5 of 30 MB/s`.
fn short_of(part: &Part) -> Option<String> {
    Some(format!("{} of {} {}", speed(part.measured?), trimmed(part.demanded, 1), part.unit))
}

/// The marks that the card or its label claims; where none was judged, those of its registers.
fn claimed(report: &CheckReport) -> Vec<Mark> {
    let judged = report.body.marks.iter().flat_map(|marks| &marks.judged);
    let claimed: Vec<Mark> = judged.filter(|j| !j.claimed_by.is_empty()).map(|j| j.mark).collect();
    let own = report.body.identity.iter().flat_map(|identity| &identity.marks).copied();
    if claimed.is_empty() { own.collect() } else { claimed }
}

fn judged(report: &CheckReport, outcome: Outcome) -> impl Iterator<Item = &JudgedMark> {
    let all = report.body.marks.iter().flat_map(|marks| &marks.judged);
    all.filter(move |judged| !judged.claimed_by.is_empty() && judged.outcome == outcome)
}

fn add_reasons(page: &mut Page, report: &CheckReport, found: &Verification) {
    let body = &report.body;
    page.reasons.extend(verdict::reason(found).map(|(tone, text)| Reason { tone, text }));
    if !body.moved.data_kept && body.moved.bytes_written > 0 {
        page.because(Tone::Warning, format!("The card's data: {}.", content(report)));
    }
    if let Some(marks) = &body.marks {
        let missed = judged(report, Outcome::Missed).next().is_some();
        let tone = if missed { Tone::Bad } else { Tone::Plain };
        page.because_all(tone, outcomes(marks).first().map(|_| format!("{}.", outcomes(marks).join("; "))));
    }
    page.because_all(Tone::Warning, measured_hints(report));
    page.because_all(Tone::Plain, suitable(&body.jobs));
    let worth_using = !found.verdict.is_bad();
    page.because_all(Tone::Plain, body.sustain.as_ref().filter(|_| worth_using).map(sustain::summary));
}

/// Hints from what was measured; those of registers are for who looks into the identity.
fn measured_hints(report: &CheckReport) -> impl Iterator<Item = String> {
    let registers = report.body.identity.as_ref().map_or(&[][..], |identity| &identity.findings);
    let hints = report.header.findings.iter().filter(|finding| finding.weight == Weight::Hint);
    hints
        .filter(|finding| !registers.iter().any(|known| known.claim == finding.claim))
        .map(|finding| finding.verdict.clone())
}

/// The marks by their outcome: `met: C10 U3`, `missed: V30`.
fn outcomes(found: &MarksMeasured) -> Vec<String> {
    let of = |outcome: Outcome, word: &str| {
        let claimed = found.judged.iter().filter(|j| !j.claimed_by.is_empty() && j.outcome == outcome);
        let names: Vec<String> = claimed.map(|judged| judged.mark.to_string()).collect();
        (!names.is_empty()).then(|| format!("{word} {}", names.join(" ")))
    };
    [
        of(Outcome::Missed, "marks missed:"),
        of(Outcome::Met, "marks met:"),
        of(Outcome::Borderline, "borderline:"),
        of(Outcome::NotTestable, "not tested:"),
    ]
    .into_iter()
    .flatten()
    .enumerate()
    .map(|(number, said)| if number == 0 { sentence(&said).trim_end_matches('.').to_owned() } else { said })
    .collect()
}

/// The best job of those for which all was measured, and those that the card is not fit for.
fn suitable(jobs: &[JobScore]) -> Option<String> {
    let is_bad = |job: &&JobScore| match job.fit {
        Fit::Unfit => true,
        Fit::Poor => job.missing.is_empty(),
        _ => false,
    };
    let bad: Vec<&str> = jobs.iter().filter(is_bad).map(|job| job.job.as_str()).collect();
    let whole = best_first(jobs).into_iter().filter(|job| job.missing.is_empty());
    let best = whole.filter_map(|job| Some((job, job.score?))).next();
    let missing = distinct(jobs.iter().flat_map(|job| job.missing.iter().cloned()));
    let missing = match missing.iter().all(|figure| figure.contains("write")) {
        true => "write tests did not run".to_owned(),
        false => format!("not measured: {}", missing.join(", ")),
    };
    Some(match (best, bad.as_slice()) {
        (Some((best, points)), []) => format!("Best for {} ({points:.0} of 100).", best.job),
        (Some((best, points)), bad) if !is_bad(&best) => {
            format!("Best for {} ({points:.0} of 100); not for {}.", best.job, listing(bad))
        }
        (Some((best, points)), bad) if bad.len() == jobs.len() => {
            let all = count(jobs.len() as u64, "job");
            format!("Suits none of {all}; the best is {} ({points:.0} of 100).", best.job)
        }
        _ if jobs.is_empty() => return None,
        (_, []) => in_a_line(&format!("Jobs: not judged; {missing}")),
        (_, bad) => in_a_line(&format!("Not for {}; other jobs not judged: {missing}", listing(bad))),
    })
}

/// What a shop's page says of a card, as found: the tiles of the page.
fn figures(report: &CheckReport) -> Vec<Fact> {
    let body = &report.body;
    let by_files = body.verify.as_ref().is_some_and(|verify| verify.body.method == Method::Files);
    let announced = Size(verdict::announced_bytes(&verification(report)));
    let usable = body.usable_bytes.map_or_else(
        || format!("{announced}, usable unknown"),
        |bytes| format!("{} of {announced} usable", Size(bytes)),
    );
    let name = body.identity.as_ref().and_then(identity::name);
    let claims = body.identity.as_ref().map(|identity| {
        identity.mark_demands.iter().map(|demand| demand.mark.to_string()).collect::<Vec<_>>().join(" ")
    });
    let bus = body.identity.as_ref().and_then(|identity| {
        let ceiling = identity.ceiling_mb_s().map(|mb_s| format!("{} MB/s", speed(mb_s)));
        let parts: Vec<String> = identity.bus_mode().into_iter().chain(ceiling).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    });
    let all = [
        ("card", name),
        (if by_files { "free space" } else { "capacity" }, Some(usable)),
        ("verified", Some(Size(body.proven_bytes).to_string())),
        ("claims", claims.filter(|claims| !claims.is_empty())),
        ("bus", bus),
    ];
    all.into_iter().filter_map(|(name, value)| Some(fact(name, value?))).collect()
}

fn what_it_is(identity: &Identity, report: &CheckReport) -> Vec<Fact> {
    let model = identity.nvme.as_ref().and_then(|nvme| nvme.identify.as_ref());
    let marks: Vec<String> = identity.mark_demands.iter().map(|d| d.mark.to_string()).collect();
    let marks = (!marks.is_empty()).then(|| fact("marks it claims", marks.join(" ")));
    let name = identity.cid.iter().map(|cid| fact("name", &cid.pnm));
    let known = name.chain(model.map(|controller| fact("model", &controller.mn))).chain(marks);
    known
        .chain(report.header.condition.iter().map(|(word, value)| fact(&word.replace('_', " "), value)))
        .collect()
}

/// The state of the card's content. A journal that waits is named among the findings.
fn content(report: &CheckReport) -> &'static str {
    let waits = report.header.findings.iter().any(|finding| finding.claim == "journal-waits");
    match report.body.moved.data_kept {
        true => "preserved",
        false if waits => "not all restored yet",
        false => "not preserved, as agreed",
    }
}

fn speeds(results: &[TestResult]) -> Table {
    Table::of(
        results,
        &[
            ("test", &|r| test_of(r.name(), r.step.as_deref())),
            ("MB/s", &|r| speed(r.mb_s)),
            ("±", &precision),
            ("IOPS", &|r| speed(r.iops)),
            ("median", &|r| time_us(r.latency_us.p50)),
            ("longest", &|r| time_us(r.latency_us.max)),
        ],
    )
}

fn best_first(jobs: &[JobScore]) -> Vec<&JobScore> {
    let mut jobs: Vec<&JobScore> = jobs.iter().collect();
    let points = |job: &JobScore| job.score.unwrap_or(-1.0);
    jobs.sort_by(|a, b| points(b).total_cmp(&points(a)));
    // What a card is unfit for comes last, however many points it has.
    jobs.sort_by_key(|job| job.fit == Fit::Unfit);
    jobs
}

fn jobs(jobs: &[JobScore]) -> Table {
    let why = |job: &&JobScore| match (job.missed.first(), job.missing.is_empty()) {
        (Some(missed), _) => missed.clone(),
        (None, false) => format!("not measured: {}", job.missing.join(", ")),
        (None, true) => job.meaning.first().cloned().unwrap_or_default(),
    };
    Table::of(
        &best_first(jobs),
        &[
            ("job", &|job| job.job.clone()),
            ("of 100", &|job| job.score.map(|score| format!("{score:.0}")).unwrap_or_default()),
            ("fit", &|job| ranking::fit(job.fit).to_owned()),
            ("why", &why),
        ],
    )
    .left_aligned(["fit", "why"])
}

/// What the works of each job take.
fn job_details(jobs: &[JobScore]) -> Vec<Fact> {
    best_first(jobs).into_iter().map(|job| fact(&job.job, job.meaning.join("; "))).collect()
}

/// The claimed marks, each with the figure that decides it, and the class that was measured.
fn marks_of(found: &MarksMeasured) -> [Block; 2] {
    let claimed = found.judged.iter().filter(|judged| !judged.claimed_by.is_empty());
    let table = Table::of(
        claimed,
        &[
            ("mark", &|judged| judged.mark.to_string()),
            ("result", &|judged| result(judged).to_owned()),
            ("measured", &|judged| shown(judged, |part| part.measured)),
            ("demanded", &|judged| shown(judged, |part| Some(part.demanded))),
            ("by", &|judged| deciding(judged).map_or_else(|| untested(judged), |part| part.what.clone())),
            ("claimed by", &|judged| by(judged).to_owned()),
        ],
    )
    .left_aligned(["result", "by", "claimed by"])
    .always(["result"])
    .least(["claimed by"]);
    let highest: Vec<String> = found.highest.iter().filter_map(|h| h.mark).map(|m| m.to_string()).collect();
    let class = (!highest.is_empty()).then(|| fact("measured class", highest.join(" ")));
    [Block::Table(table), Block::Facts(class.into_iter().collect())]
}

/// Why a mark was not tested; the figures of what was measured all the same stand among the details.
fn untested(judged: &JudgedMark) -> String {
    let why =
        |part: &Part| part.because.as_ref().filter(|why| judged.because.starts_with(why.as_str())).cloned();
    judged.parts.iter().find_map(why).unwrap_or_else(|| judged.because.clone())
}

/// Every figure of each claimed mark.
fn mark_details(found: Option<&MarksMeasured>) -> Vec<Fact> {
    let claimed = found.into_iter().flat_map(|found| &found.judged).filter(|j| !j.claimed_by.is_empty());
    claimed.map(|judged| fact(&judged.mark.to_string(), figures_of(judged))).collect()
}

fn by(judged: &JudgedMark) -> &'static str {
    match judged.claimed_by[..] {
        [] => "",
        [ClaimedBy::Card] => "card",
        [ClaimedBy::Label] => "label",
        _ => "card and label",
    }
}

fn result(judged: &JudgedMark) -> &'static str {
    match (judged.outcome, judged.borderline) {
        (Outcome::Met, false) => "met",
        (Outcome::Met, true) => "met, borderline",
        (Outcome::Missed, false) => "missed",
        (Outcome::Missed, true) => "missed, borderline",
        (Outcome::Borderline, _) => "borderline",
        (Outcome::NotTestable, _) => "not tested",
    }
}

/// The demand that decides: of those that came out like the mark the one with the least margin; none where the mark was
/// not tested.
fn deciding(judged: &JudgedMark) -> Option<&Part> {
    let tested = judged.outcome != Outcome::NotTestable;
    let like = judged.parts.iter().filter(|part| part.measured.is_some() && part.outcome == judged.outcome);
    // Speeds and rates are what a mark promises; the limits of single times are so wide that nearly every card keeps them.
    let order = |part: &&Part| (part.unit == "ms", part.margin.unwrap_or(f64::INFINITY));
    like.filter(|_| tested).min_by(|a, b| {
        let (a, b) = (order(a), order(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

/// A number of the demand that decides, with its unit.
fn shown(judged: &JudgedMark, of: impl Fn(&Part) -> Option<f64>) -> String {
    let figure = |part: &Part| Some(format!("{} {}", speed(of(part)?), part.unit));
    deciding(judged).and_then(figure).unwrap_or_default()
}

/// Every figure that decides, the deciding one first.
fn figures_of(judged: &JudgedMark) -> String {
    let figures = [judged.because.clone()].into_iter().chain(others(judged)).collect::<Vec<_>>();
    figures.join("; ")
}

fn flash(report: &CheckReport) -> Vec<Block> {
    let Some(map) = &report.body.map else { return Vec::new() };
    let charts = card_map::charts(&map.body.measured).into_iter().take(CHARTS).map(Block::chart);
    let mut blocks = vec![Block::Facts(card_map::known(&map.body.measured))];
    blocks.extend(charts);
    blocks.extend(map.body.advice.words.iter().map(|words| Block::Words(words.clone())));
    blocks.push(Block::Commands(map.body.advice.commands.iter().map(|c| c.command.clone()).collect()));
    blocks
}

fn long_run(found: &Measured) -> Vec<Block> {
    let levels = found.levels.iter().map(|level| {
        let span = format!("{} to {}", duration(level.from_s), duration(level.to_s));
        fact(&level.op, format!("{} MB/s, {} ({span})", speed(level.mb_s), level.state))
    });
    let warmest = found.max_celsius.map(|celsius| fact("warmest", format!("{celsius:.0} °C")));
    let events = found.events.iter();
    let events = events.map(|event| fact(event.kind.words(), format!("after {}", duration(event.at_s))));
    let charts = sustain::charts(found).into_iter().take(1).map(Block::chart);
    [Block::Facts(levels.chain(warmest).chain(events).collect())].into_iter().chain(charts).collect()
}

fn time(report: &CheckReport) -> Vec<Fact> {
    let body = &report.body;
    let part = |part: &cardscope_model::check::Part| {
        let reason = part.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default();
        let what = match part.state {
            PartState::Done => duration(part.seconds),
            PartState::Partly => format!("{}, in part{reason}", duration(part.seconds)),
            PartState::LeftOut => format!("left out{reason}"),
        };
        fact(&part.part, what)
    };
    let all = format!("{} of {}", duration(body.moved.seconds), duration(body.budget_s));
    body.parts.iter().map(part).chain([fact("total", all), fact("I/O", moved(&body.moved))]).collect()
}

/// Speeds and rates that the reason does not name yet. Single times have limits so wide that nearly every card keeps
/// them: they are named where they are the reason.
fn others(judged: &JudgedMark) -> impl Iterator<Item = String> {
    let new = |part: &&Part| part.unit != "ms" && !judged.because.contains(&part.what);
    judged.parts.iter().filter(new).filter_map(Part::figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(what: &str, measured: f64, unit: &str, demanded: f64) -> Part {
        Part {
            what: what.to_owned(),
            demanded,
            measured: Some(measured),
            at_best: None,
            without_queue: None,
            unit: unit.to_owned(),
            outcome: Outcome::Met,
            margin: None,
            borderline: false,
            confidence: 0.9,
            because: None,
        }
    }

    fn judged(mark: &str, outcome: Outcome, because: &str, parts: Vec<Part>) -> JudgedMark {
        JudgedMark {
            mark: mark.parse().unwrap(),
            claimed_by: vec![ClaimedBy::Card],
            outcome,
            because: because.to_owned(),
            margin: None,
            borderline: false,
            confidence: 0.9,
            parts,
        }
    }

    fn job(name: &str, points: f64, fit: Fit, missing: &[&str]) -> JobScore {
        JobScore {
            job: name.to_owned(),
            title: String::new(),
            score: Some(points),
            fit,
            meaning: Vec::new(),
            seconds: Vec::new(),
            missed: Vec::new(),
            missing: missing.iter().map(|figure| (*figure).to_owned()).collect(),
        }
    }

    #[test]
    fn the_best_job_is_one_for_which_all_was_measured_and_an_unfit_one_comes_last() {
        let unsure = job("database", 83.0, Fit::Fair, &["random writes"]);
        let (good, poor) = (job("pi-boot", 70.0, Fit::Good, &[]), job("game-load", 9.0, Fit::Poor, &[]));
        let unfit = job("camera-4k", 19.0, Fit::Unfit, &[]);
        let said = |jobs: &[&JobScore]| suitable(&jobs.iter().copied().cloned().collect::<Vec<_>>());
        let said = |jobs: &[&JobScore]| said(jobs).unwrap_or_default();
        assert_eq!(said(&[&unsure, &good]), "Best for pi-boot (70 of 100).");
        assert_eq!(
            said(&[&good, &poor, &unfit]),
            "Best for pi-boot (70 of 100); not for game-load and camera-4k."
        );
        assert_eq!(said(&[&unsure]), "Jobs: not judged; write tests did not run.");
        assert_eq!(
            said(&[&unsure, &poor]),
            "Not for game-load; other jobs not judged: write tests did not run."
        );
        assert_eq!(said(&[&unfit, &poor]), "Suits none of 2 jobs; the best is game-load (9 of 100).");
        assert_eq!(said(&[]), "");
        let jobs = [unfit, poor];
        let order: Vec<&str> = best_first(&jobs).iter().map(|job| job.job.as_str()).collect();
        assert_eq!(order, ["game-load", "camera-4k"]);
    }

    #[test]
    fn a_mark_holds_every_figure_that_decides_once_and_with_its_unit() {
        let worst = part("writing 512 KiB in order, worst 4 MiB", 8.9, "MB/s", 10.0);
        let read = part("single read of 4 KiB, median", 1.2, "ms", 12.0);
        let because = worst.figure().unwrap();
        insta::assert_snapshot!(
            figures_of(&judged("C10", Outcome::Missed, &because, vec![worst, read])),
            @"writing 512 KiB in order, worst 4 MiB: 8.9 MB/s (needs 10.0)"
        );
    }

    #[test]
    fn rates_stand_with_the_queue_and_without_it() {
        let sustained = part("sustained writing over 16 MiB", 41.0, "MB/s", 10.0);
        let reads = Part {
            without_queue: Some(2130.0),
            ..part("random 4 KiB reads over 256 MiB, queue depth 32", 4510.0, "IOPS", 4000.0)
        };
        let because = reads.figure().unwrap();
        insta::assert_snapshot!(
            figures_of(&judged("A2", Outcome::Met, &because, vec![sustained, reads])),
            @"random 4 KiB reads over 256 MiB, queue depth 32: 4510 IOPS (2130 without it) (needs 4000); sustained writing over 16 MiB: 41.0 MB/s (needs 10.0)"
        );
    }
}
