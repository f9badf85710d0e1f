//! Archive in PostgreSQL: its output equals that of SQLite to the byte; a server that dies, is missing or denies
//! access is reported, and no message contains a password.

use crate::common::binary::{Home, Outcome};
use crate::common::logs::{CONSTANT, log, taken_in, write};
use crate::common::server::Server;
use crate::common::{list, text, until};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Password that appears nowhere else.
const PASSWORD: &str = "hunter2-zq";

/// Fills an archive with logs of several cards, an event, sessions, and a simulated card.
fn fill(home: &Home, place: &str) {
    let at = |more: &[&str]| -> Vec<String> {
        more.iter().chain(&["--archive", place]).map(ToString::to_string).collect()
    };
    let swift = ["--brand", "Acme", "--card", "Swift", "--capacity", "64GB", "--archive", place];
    taken_in(home, "a.log", &[700, 690, 711], &[&swift[..], &["--condition", "cooling=active"]].concat());
    taken_in(home, "b.log", &[601, 640], &[&swift[..], &["--condition", "cooling=passive"]].concat());
    taken_in(home, "c \u{1f4be}.log", &[300, 480, 310], &["--archive", place]);
    for arguments in [
        &[
            "archive", "edit", "Swift", "--event", "bought", "--date", "2024", "--price", "12.99EUR",
            "--marks", "U3",
        ][..],
        &["bench", CONSTANT, "--only", "SEQ1M Q8T1 read", "--runs", "3", "--seed", "4", "-q"],
        &["map", CONSTANT, "--only", "read-curve", "--seed", "4", "-q"],
    ] {
        let arguments = at(arguments);
        home.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).expect(0);
    }
}

/// All output about an archive, without names of sessions and times.
fn said(home: &Home, place: &str) -> Vec<String> {
    let asked: [&[&str]; 8] = [
        &["compare", "--own", "--json"],
        &["compare", "--own"],
        &["compare", "--own", "--pool", "--as-printed", "--every-run"],
        &["rank", "--own", "--for", "game-load", "--json"],
        &["rank", "--test", "SEQ1G Q1T1 read", "--json"],
        &["report", "--own", "-o", "-", "--format", "csv"],
        &["archive", "cards", "--json"],
        &["archive", "list", "--json"],
    ];
    let run = |arguments: &&[&str]| home.run(&[*arguments, &["--archive", place]].concat()).expect(0).stdout;
    asked.iter().map(run).map(|text| without_clock(&text)).collect()
}

/// Text without the values that differ between archives: names and times of sessions.
fn without_clock(text: &str) -> String {
    let own = |line: &&str| line.contains("\"session\":") || (line.contains('T') && line.contains("Z\""));
    text.lines().filter(|line| !own(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn postgresql_and_sqlite_give_identical_output() {
    let server = Server::shared();
    let home = Home::new();
    let (file, address) = (home.archive(), server.database());
    fill(&home, file.to_str().unwrap());
    fill(&home, &address);
    let (theirs, ours) = (said(&home, &address), said(&home, file.to_str().unwrap()));
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert_eq!(theirs, ours);
    }
    assert!(ours.iter().all(|text| text.len() > 100), "each says something: {ours:#?}");

    // Through files into SQLite, with names and times.
    let out = home.path("out");
    home.run(&["archive", "export", "-o", out.to_str().unwrap(), "--archive", &address]).expect(0);
    let copy = home.path("copy.sqlite");
    home.run(&["archive", "import", out.to_str().unwrap(), "--archive", copy.to_str().unwrap()]).expect(0);
    for asked in [["archive", "list"], ["archive", "cards"], ["compare", "--own"]] {
        let of =
            |place: &str| home.run(&[&asked[..], &["--json", "--archive", place]].concat()).expect(0).stdout;
        assert_eq!(of(copy.to_str().unwrap()), of(&address));
    }
}

/// Asserts status and words of a command, no panic, and no password.
#[track_caller]
fn kept_quiet(outcome: Outcome, status: i32, words: &[&str]) {
    let outcome = outcome.expect(status).says(words);
    let all = format!("{}{}", outcome.stdout, outcome.stderr);
    for secret in [PASSWORD, "hunter2", "zq@", "%2Dzq"] {
        assert!(!all.contains(secret), "{secret}\n{}{}", outcome.stdout, outcome.stderr);
    }
    assert!(!all.contains("panicked"), "{all}");
}

/// Runs every verb that opens an archive with an unreachable address.
#[track_caller]
fn unreachable(home: &Home, address: &str, words: &[&str]) {
    let log = write(home, "new.log", log(&[400]));
    let page = home.path("page.html");
    let asked: [&[&str]; 8] = [
        &["archive", "list"],
        &["archive", "cards", "--json"],
        &["compare", "ADATA"],
        &["rank", "--for", "game-load", "--json"],
        &["report", "ADATA", "-o", page.to_str().unwrap()],
        &["import", &log],
        &["import", "--json", &log],
        &["bench", CONSTANT, "--only", "SEQ1M Q8T1 read", "-q"],
    ];
    for arguments in asked {
        kept_quiet(home.run(&[arguments, &["--archive", address]].concat()), 3, words);
    }
    assert!(!page.exists());
}

#[test]
fn unreachable_server_error_hides_the_password() {
    let home = Home::new();
    let down = format!("postgres://me:{PASSWORD}@127.0.0.1:1/cards");
    unreachable(&home, &down, &["cannot be reached", "postgres://me@127.0.0.1:1/cards", "try again"]);
    unreachable(&home, "postgres:///cards?host=/nowhere&user=me&password=hunter2-zq", &["cannot be reached"]);
    // Also with the address in the environment variable.
    let mut command = home.command(crate::common::binary::CARDSCOPE);
    command.args(["archive", "list"]).env("CARDSCOPE_ARCHIVE", &down);
    kept_quiet(crate::common::binary::Running::of(command).finish(), 3, &["cannot be reached"]);
    for help in [&["archive", "--help"][..], &["import", "--help"], &["archive", "edit"]] {
        let mut command = home.command(crate::common::binary::CARDSCOPE);
        command.args(help).env("CARDSCOPE_ARCHIVE", &down);
        let outcome = crate::common::binary::Running::of(command).finish();
        let all = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(!all.contains("hunter2"), "{all}");
    }
}

#[test]
fn invalid_address_error_hides_the_password() {
    let home = Home::new();
    // Characters that should have been escaped as %2F and so on.
    for address in [
        format!("postgres://me:{PASSWORD}@host:port/cards"),
        format!("postgres://me:a/{PASSWORD}@127.0.0.1:1/cards"),
        format!("postgres://me:a?{PASSWORD}@127.0.0.1:1/cards"),
        format!("postgres://me:a#{PASSWORD}@127.0.0.1:1/cards"),
        format!("postgres://me:a@{PASSWORD}@127.0.0.1:1/cards"),
        format!("postgresql://me:{PASSWORD}@[::1/cards"),
        format!("POSTGRES://me:{PASSWORD}@127.0.0.1:1/cards"),
        format!("mysql://me:{PASSWORD}@127.0.0.1:1/cards"),
    ] {
        let mut command = home.command(crate::common::binary::CARDSCOPE);
        command.args(["archive", "list", "--archive", &address]).current_dir(home.path(""));
        kept_quiet(crate::common::binary::Running::of(command).finish(), 3, &[]);
    }
    assert_eq!(home.names(), [""; 0], "no address is taken for a file");
}

/// Folder of a server's socket and cluster.
fn folder(server: &Server) -> PathBuf {
    let address = server.address("postgres");
    PathBuf::from(address.split("host=").nth(1).unwrap().split('&').next().unwrap())
}

#[test]
fn denied_access_error_hides_the_password() {
    let server = Server::new();
    let home = Home::new();
    let address = server.database();
    taken_in(&home, "a.log", &[700], &["--archive", &address]);
    server.sql("postgres", &format!("CREATE ROLE careful LOGIN PASSWORD '{PASSWORD}x'"));
    let rules = folder(&server).join("cluster/pg_hba.conf");
    let before = fs::read_to_string(&rules).unwrap();
    fs::write(&rules, format!("local all careful scram-sha-256\n{before}")).unwrap();
    server.sql("postgres", "SELECT pg_reload_conf()");
    let of = |user: &str, password: &str| {
        address.replace("user=postgres", &format!("user={user}&password={password}"))
    };
    until("the server asks for passwords", || {
        home.run(&["archive", "list", "--archive", &of("careful", "wrong")]).status.code() == Some(3)
    });
    unreachable(&home, &of("careful", PASSWORD), &["password authentication failed"]);
    unreachable(&home, &of("stranger", PASSWORD), &["\"stranger\" does not exist"]);
    let missing = of("postgres", PASSWORD).replace("archive_0", "nowhere");
    unreachable(&home, &missing, &["\"nowhere\" does not exist"]);
    // With the right password access is granted, but foreign tables are not changed.
    kept_quiet(
        home.run(&["archive", "list", "--archive", &of("careful", &format!("{PASSWORD}x"))]),
        3,
        &["permission denied"],
    );
    let known = home.run(&["archive", "list", "--json", "--archive", &of("postgres", PASSWORD)]).expect(0);
    assert_eq!(list(&known.json(), "/sessions").len(), 1);
    assert!(!known.stdout.contains(PASSWORD));
    let imported = home.run(&[
        "import",
        "--json",
        &write(&home, "b.log", log(&[500])),
        "--archive",
        &of("postgres", PASSWORD),
    ]);
    let imported = imported.expect(0);
    assert!(
        !imported.stdout.contains(PASSWORD) && imported.stdout.contains("postgres:///archive_0"),
        "{imported}"
    );
}

/// Logs of different cards in a folder.
fn many(home: &Home, folder: &str, count: u32) -> String {
    for number in 0..count {
        write(
            home,
            &format!("{folder}/card {number:04}.log"),
            log(&[200 + number % 700, 210 + number % 650]),
        );
    }
    home.path(folder).to_str().unwrap().to_owned()
}

fn totals(document: &Value) -> [u64; 4] {
    ["new", "known", "not_understood", "failed"].map(|name| document["totals"][name].as_u64().unwrap())
}

/// Cards in an archive.
fn cards(home: &Home, place: &Path) -> Vec<Value> {
    let document =
        home.run(&["archive", "cards", "--json", "--archive", place.to_str().unwrap()]).expect(0).json();
    list(&document, "/cards").clone()
}

#[test]
fn import_resumes_after_the_server_died() {
    const LOGS: u32 = 2000;
    let server = Server::new();
    let home = Home::new();
    let address = server.database();
    let logs = many(&home, "logs", LOGS);
    let arguments = ["import", "--json", &logs, "--archive", &address];
    let running = home.start(&arguments);
    let stored = || server.sql("archive_0", "SELECT COUNT(*) FROM source").parse::<u64>().unwrap();
    until("a batch is stored", || {
        server.sql("archive_0", "SELECT COUNT(*) FROM pg_tables WHERE tablename = 'source'") == "1"
            && stored() > 0
    });
    server.kill();
    let document =
        running.finish().expect(3).says(&["cannot be reached", "earlier results are stored"]).json();
    let [new, ..] = totals(&document);
    assert!(text(&document, "/error").contains("cannot be reached") && new < u64::from(LOGS), "{new}");

    server.start();
    let there = stored();
    assert!(there >= new && there < u64::from(LOGS), "{new} were said to be kept, {there} are there");
    // Each log is complete: a session with two runs of twelve results.
    let odd =
        "SELECT COUNT(*) FROM source s WHERE 1 <> (SELECT COUNT(*) FROM session WHERE source_hash = s.hash)";
    assert_eq!(server.sql("archive_0", odd), "0");
    let halves =
        "SELECT COUNT(*) FROM session s WHERE 2 <> (SELECT COUNT(*) FROM run WHERE session_id = s.id)";
    assert_eq!(server.sql("archive_0", halves), "0");
    let cards_there = cards(&home, Path::new(&address));
    assert_eq!(cards_there.len() as u64, there);
    assert!(cards_there.iter().all(|card| card["runs"] == 2 && card["sessions"] == 1));

    let document = home.run(&arguments).expect(0).json();
    assert_eq!(totals(&document), [u64::from(LOGS) - there, there, 0, 0]);
    home.run(&["import", &logs]).expect(0);
    assert!(
        cards(&home, Path::new(&address)) == cards(&home, &home.archive()),
        "it equals one that nothing disturbed"
    );
    for asked in [
        &["rank", "--own", "--test", "SEQ1G Q1T1 read", "--json"][..],
        &["rank", "--own", "--for", "game-load"],
    ] {
        let of = |place: &str| home.run(&[asked, &["--archive", place]].concat()).expect(0).stdout;
        assert!(of(&address) == of(home.archive().to_str().unwrap()), "{asked:?}");
    }
}

#[test]
fn concurrent_server_imports_lose_nothing_and_deduplicate() {
    let server = Server::shared();
    let home = Home::new();
    let address = server.database();
    // Ten logs are in all folders, thirty in only one each.
    let folders: Vec<String> = (0..4)
        .map(|n| {
            for number in 0..30 {
                let own = log(&[300 + 30 * n + number]);
                write(&home, &format!("several/{n}/own {n} {number}.log"), own);
            }
            many(&home, &format!("several/{n}"), 10)
        })
        .collect();
    // The database is empty: the first process creates its tables while the others wait.
    let running: Vec<_> = folders
        .iter()
        .map(|folder| home.start(&["import", "--json", folder, "--archive", &address]))
        .collect();
    let kept: Vec<[u64; 4]> = running.into_iter().map(|r| totals(&r.finish().expect(0).json())).collect();
    let sum = |what: usize| kept.iter().map(|totals| totals[what]).sum::<u64>();
    assert_eq!([sum(0), sum(1), sum(2), sum(3)], [130, 30, 0, 0], "{kept:?}");
    let cards = cards(&home, Path::new(&address));
    let runs: Vec<u64> = cards.iter().map(|card| card["runs"].as_u64().unwrap()).collect();
    assert_eq!((runs.len(), runs.iter().sum::<u64>()), (130, 120 + 20));
}
