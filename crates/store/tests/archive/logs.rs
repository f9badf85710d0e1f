//! Fixtures: logs as importers make them.

use cardscope_model::card::CardFacts;
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::log::{CardLog, LogTool};
use cardscope_model::result::ToolPrints;
use cardscope_model::run::{Run, TestFigure};
use cardscope_store::{Archive, ImportedSource, NewSource, SessionId};

pub(crate) fn card(brand: &str, name: &str, size: &str) -> CardFacts {
    CardFacts {
        brand: Some(brand.into()),
        name: Some(name.into()),
        capacity_label: Some(size.into()),
        ..CardFacts::default()
    }
}

/// Value of a tool that prints MiB/s as "MB/s".
pub(crate) fn figure(test: &str, printed: f64) -> TestFigure {
    let name: cardscope_model::test_name::TestName = test.parse().unwrap();
    let mb_s = printed * 1.048576;
    TestFigure {
        iops: Some(mb_s * 1e6 / name.pattern.block as f64),
        max_latency_us: Some(1e6 / (printed + 1.0)),
        as_printed: Some(ToolPrints { value: printed, unit: "MB/s".into() }),
        ..TestFigure::from_speed(name, mb_s)
    }
}

/// Run with this sequential read speed, and a tenth of it for random reads.
pub(crate) fn run(number: u32, printed: f64) -> Run {
    Run {
        run: number,
        size_bytes: Some(1 << 30),
        loops: Some(5),
        results: vec![figure("SEQ1M Q8T1 read", printed), figure("RND4K Q1T1 read", printed / 10.0)],
        ..Run::default()
    }
}

pub(crate) fn log(card: CardFacts, speeds: &[f64]) -> CardLog {
    let mut log = CardLog::new("cdm_fio");
    log.tool = Some(LogTool { name: "cdm_fio.sh".into(), version: None });
    log.card = card;
    log.date = Some("2024-05-17".into());
    log.condition.set("reader", "slot of a laptop", ConditionOrigin::Stated);
    log.runs = (1..).zip(speeds).map(|(number, speed)| run(number, *speed)).collect();
    log
}

pub(crate) fn cooled() -> Condition {
    let mut condition = Condition::default();
    condition.set("cooling", "active", ConditionOrigin::Stated);
    condition
}

/// File with one log; its bytes are its name.
pub(crate) fn source<'a>(name: &'a str, log: &'a CardLog) -> NewSource<'a> {
    NewSource {
        name,
        title: None,
        shares_card_of: None,
        format: "cdm_fio",
        bytes: name.as_bytes().into(),
        logs: std::slice::from_ref(log),
    }
}

/// Imports one file and returns its sessions.
pub(crate) fn import(archive: &mut Archive, name: &str, log: &CardLog) -> Vec<SessionId> {
    match archive.import([source(name, log)]).unwrap().remove(0) {
        ImportedSource::New { sessions, .. } => sessions,
        known => panic!("{name} is not new: {known:?}"),
    }
}

pub(crate) fn card_of(archive: &mut Archive, session: SessionId) -> String {
    archive.session(session).unwrap().summary.card_id.unwrap()
}
