//! `--events`: progress as JSON lines for another program, and verbs whose reader disappears.

use crate::common::binary::{CARDSCOPE, Home};
use crate::common::machine::{LoopDevice, data, run_tool};
use crate::common::maps::journals;
use crate::common::served::Served;
use crate::common::{PATIENCE, text, until};
use cardscope_model::progress::{ProgressEvent, StagePlan};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

/// Events on stderr; every line must be one.
#[track_caller]
fn told(stderr: &str) -> Vec<ProgressEvent> {
    stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn check_emits_plan_session_speeds_and_findings() {
    let home = Home::new();
    // Both have bad findings: a missed mark, and a fake.
    for card in ["sim:sandisk-extremepro-32g-a1", "sim:sandian-1tb-52g"] {
        let outcome =
            home.run(&["check", card, "--json", "--events", "--seed", "1", "--budget", "4m"]).expect(1);
        let document = outcome.json();
        let told = told(&outcome.stderr);
        let plan = told.iter().find_map(|told| {
            if let ProgressEvent::Plan(StagePlan { stages, .. }) = told { Some(stages) } else { None }
        });
        let stages = plan.unwrap_or_else(|| panic!("no plan: {outcome}"));
        assert!(stages.len() > 1 && stages.iter().all(|stage| !stage.name.is_empty() && stage.weight > 0.0));
        let sessions: Vec<&String> = told
            .iter()
            .filter_map(
                |told| if let ProgressEvent::Stored { session } = told { Some(session) } else { None },
            )
            .collect();
        assert!(sessions.iter().any(|session| **session == text(&document, "/session")), "{sessions:?}");
        let found = told
            .iter()
            .filter(|told| matches!(told, ProgressEvent::Finding(found) if !found.verdict.is_empty()));
        assert!(found.count() > 0, "{outcome}");
        let moments: Vec<_> = told
            .iter()
            .filter_map(|told| if let ProgressEvent::Sample(moment) = told { Some(moment) } else { None })
            .collect();
        assert!(moments.iter().all(|moment| moment.stage_number <= moment.stages), "{outcome}");
        assert!(moments.windows(2).all(|pair| pair[0].at <= pair[1].at), "time goes on: {outcome}");
        assert!(!moments.is_empty());
    }
    let bench = home
        .run(&["bench", "sim:constant", "--recipe", "quick", "--json", "--events", "--seed", "1"])
        .expect(0);
    let figures = told(&bench.stderr)
        .into_iter()
        .filter(|told| matches!(told, ProgressEvent::Figure(one) if one.mb_s > 0.0));
    assert!(figures.count() > 0, "{bench}");
}

#[test]
fn closed_event_pipe_interrupts_and_restores() {
    let home = Home::new();
    let served = Served::start(&home, "constant?command_s=0.004&mb_s=100&announced_bytes=64MiB", &[]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    // Incompressible content.
    fs::write(&card.path, data(48 << 20)).unwrap();
    let content = || {
        run_tool("blockdev", &["--flushbufs", &card.path]);
        fs::read(&card.path).unwrap()
    };
    let before = content();
    let mut command = home.command(CARDSCOPE);
    command.args(["verify", &card.path, "--json", "--events"]).stdout(Stdio::null());
    let mut verify = command.spawn().unwrap();
    let mut stderr = BufReader::new(verify.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    told(line.trim_end());
    until("the journal", || {
        journals(&home).iter().any(|file| file.metadata().is_ok_and(|m| m.len() > 1 << 16))
    });
    drop(stderr);
    let gone = Instant::now();
    let status = loop {
        if let Some(status) = verify.try_wait().unwrap() {
            break status;
        }
        if gone.elapsed() > PATIENCE {
            let _ = verify.kill();
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(130));
    assert!(content() == before && journals(&home).is_empty());
    let shown = home.run(&["archive", "list", "--json"]).expect(0).json();
    assert_eq!(text(&shown, "/sessions/0/state"), "interrupted", "{shown:#}");
}
