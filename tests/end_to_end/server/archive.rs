//! Archive that becomes read-only or disappears while it is served; and a card without results.

use super::{Server, escaped, verify};
use crate::common::binary::Home;
use crate::common::logs::taken_in;
use crate::common::machine::{TestMount, run_tool};
use crate::common::text;
use serde_json::json;
use std::fs;

const READ: [&str; 7] =
    ["/api/host", "/api/cards", "/api/cards?q=a", "/api/sessions", "/api/tasks", "/api/jobs", "/api/recipes"];

/// Asserts that a server answers with data or a reason.
#[track_caller]
fn answers(server: &Server, path: &str) {
    let answer = server.get(path);
    match answer.status {
        200 => drop(answer.expect(200)),
        status => {
            assert!([404, 422, 503].contains(&status), "{path}: {answer:?}");
            answer.refused(status);
        }
    }
}

#[test]
fn card_without_results_is_shown() {
    let home = Home::new();
    home.run(&["bench", "sim:toshiba-16g-c10", "--recipe", "quick", "--budget", "1s"]).expect(4);
    let server = Server::start(&home, &[]);
    let cards = server.document("/api/cards?own=true");
    let card = server.document(&format!("/api/cards/{}", text(&cards, "/cards/0/id")));
    assert_eq!(text(&card, "/html"), "", "nothing is published of it: {card:#}");
    assert!(text(&card, "/sessions/0/answer").starts_with("NOT TESTED: "), "{card:#}");
    assert!(text(&card, "/identity_html").contains("MID"), "{card:#}");
    // Among others it is left out.
    let published = server.document("/api/cards?own=false");
    let others = ["/cards/0/id", "/cards/1/id", "/cards/2/id"].map(|at| text(&published, at));
    let compared =
        others.into_iter().chain([text(&card, "/card/id")]).map(|id| format!("card={}", escaped(id)));
    server.document(&format!("/api/compare?{}", compared.collect::<Vec<_>>().join("&")));
}

#[test]
fn read_only_archive_serves_reads_and_refuses_changes() {
    let home = Home::new();
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=64m"], "tmpfs");
    let archive = format!("{}/archive.sqlite", disk.path());
    taken_in(&home, "a.log", &[700, 690], &["--brand", "Acme", "--card", "Swift", "--archive", &archive]);
    let server = Server::start(&home, &["--archive", &archive]);
    let cards = server.document("/api/cards?own=true");
    let card = format!("/api/cards/{}", text(&cards, "/cards/0/id"));
    let change = json!({ "set": { "model": "X1" } }).to_string();
    server.say("PATCH", &card, change.as_bytes()).expect(200);
    // Its log stays writable: SQLite kills processes that have shared memory of a log mapped that becomes read-only.
    run_tool("chattr", &["+i", &archive]);
    READ.iter().for_each(|path| answers(&server, path));
    answers(&server, &card);
    let problem = text(&server.document("/api/host"), "/archive_problem").to_owned();
    assert!(problem.contains("archive.sqlite"), "{problem}");
    let changed = server.say("PATCH", &card, change.as_bytes());
    assert!([200, 422, 503].contains(&changed.status), "{changed:?}");
    if changed.status != 200 {
        let error = changed.refused(changed.status);
        assert!(error.contains("archive.sqlite"), "{error}");
    }
    let task = server.ended(&server.order(&verify("sim:constant")));
    assert!(["failed", "complete"].contains(&text(&task, "/state")), "{task:#}");
    run_tool("chattr", &["-i", &archive]);
    server.say("PATCH", &card, change.as_bytes()).expect(200);
    drop(server);
}

#[test]
fn lost_archive_is_no_server_error() {
    let home = Home::new();
    taken_in(&home, "a.log", &[700, 690], &["--brand", "Acme", "--card", "Swift"]);
    let server = Server::start(&home, &[]);
    let cards = server.document("/api/cards?own=true");
    let card = format!("/api/cards/{}", text(&cards, "/cards/0/id"));
    let session = text(&server.document("/api/sessions"), "/sessions/0/session").to_owned();
    let folder = home.archive().parent().unwrap().to_owned();
    let all = |server: &Server| {
        for path in READ.iter().copied().chain([&*card, &format!("/api/sessions/{session}"), "/api/doctor"]) {
            answers(server, path);
        }
        let change = server.say("PATCH", &card, br#"{"set":{"model":"X1"}}"#);
        assert!(change.status == 200 || [404, 422, 503].contains(&change.status), "{change:?}");
    };
    fs::write(home.archive(), "this is no database, whatever its name says").unwrap();
    all(&server);
    fs::remove_dir_all(&folder).unwrap();
    all(&server);
    let task = server.ended(&server.order(&verify("sim:constant")));
    assert_eq!(text(&task, "/state"), "complete", "{task:#}");
    let sessions = server.document("/api/sessions");
    assert_eq!(text(&sessions, "/sessions/0/session"), text(&task, "/session"), "a new one was begun");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "in the way").unwrap();
    all(&server);
}
