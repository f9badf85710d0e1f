//! Tables of `archive export --parquet` in real engines: DuckDB, and in the long tests Apache Spark with two workers.
//! The query of docs/tables.md gives the order of `cardscope rank`.

use crate::common::binary::Home;
use crate::common::logs::{archive, told, write};
use crate::common::machine::names_in;
use crate::common::python::{done, programs};
use crate::common::{list, number, text, until};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Test that the documented query ranks.
const TEST: &str = "SEQ1M Q8T1 read";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Query of the documentation.
fn ranking_query() -> PathBuf {
    root().join("docs/rank-by-test.sql")
}

/// Python with the packages of requirement lists.
fn python(lists: &[&str]) -> PathBuf {
    let lists: Vec<PathBuf> = lists.iter().map(|list| root().join("tests/engines").join(list)).collect();
    programs(&lists.iter().map(PathBuf::as_path).collect::<Vec<_>>()).join("python")
}

fn duckdb(folder: &Path, query: &str) -> Vec<Value> {
    let mut command = Command::new(python(&["duckdb.txt"]));
    command.arg(root().join("tests/engines/duckdb_query.py")).arg(folder).arg(query);
    serde_json::from_str(&done(&mut command, "DuckDB reads the tables")).unwrap()
}

/// Archive with difficult cases for an order: several settings and sizes a card, equal speeds, steps of a cache, cards
/// in use, fakes, unnamed cards, runs over many years, and own sessions.
fn filled() -> Home {
    let home = Home::new();
    let mut tables = vec![String::new(); 6];
    for card in 0..120_u32 {
        for (file, rows) in tables.iter_mut().enumerate() {
            let at = card * 7919 + file as u32 * 104_729;
            // A third of the cards is missing in each file, and a quarter of the speeds is shared.
            if at.is_multiple_of(3) && file > 0 {
                continue;
            }
            let speed = if card % 4 == 0 { 90.0 } else { f64::from(20 + at % 977) / 7.0 };
            for run in 1..=1 + (card + file as u32) % 4 {
                let mb_s = speed + f64::from((run * card) % 5) / 3.0;
                let year = 2009 + (card + file as u32 * 3) % 17;
                for test in [TEST, "RND4K Q1T1 write"] {
                    let _ = writeln!(
                        rows,
                        "Brand {} Model {card} 64GB,{test},{run},{mb_s},{year}-03-0{run}",
                        card % 7
                    );
                }
            }
        }
    }
    for (number, rows) in tables.iter().enumerate() {
        let file = write(&home, &format!("table {number}.csv"), format!("card,test,run,mb_s,date\n{rows}"));
        let condition =
            ["cooling=active", "state=used", "state=fresh", "reader=A, B", "state=overwritten", "board=x"];
        home.run(&["import", &file, "--condition", condition[number], "-q"]).expect(0);
    }
    for card in ["Model 3 64GB", "Model 50 64GB"] {
        let title = list(&told(&home, &["cards"]), "/cards")
            .iter()
            .map(|c| text(c, "/title").to_owned())
            .find(|title| title.ends_with(card))
            .unwrap();
        let price = ["--event", "bought", "--date", "2024-05", "--price", "9.99EUR", "--marks", "U3,A2"];
        archive(&home, &[&["edit", &title], &price[..]].concat()).expect(0);
    }
    for arguments in [
        &["bench", "sim:constant", "--only", TEST, "--runs", "3", "--seed", "4", "-q"][..],
        &["bench", "sim:lexar-1tb-express", "--only", TEST, "--runs", "2", "--seed", "4", "-q"],
        &["check", "sim:constant", "--seed", "4", "-q"],
        &["sustain", "sim:constant", "--seed", "4", "-q"],
    ] {
        home.run(arguments).expect(0);
    }
    home
}

fn exported(home: &Home) -> PathBuf {
    let folder = home.path("tables");
    archive(home, &["export", "--parquet", folder.to_str().unwrap()]).expect(0);
    folder
}

/// Cards in the order of `rank`, with their speeds.
fn ranked(home: &Home) -> Vec<(String, f64)> {
    let document = home.run(&["rank", "--own", "--test", TEST, "--json"]).expect(0).json();
    list(&document, "/places")
        .iter()
        .map(|place| (text(place, "/entry/card_id").to_owned(), number(place, "/value")))
        .collect()
}

#[track_caller]
fn the_same_order(ranked: &[(String, f64)], rows: &[Value]) {
    assert!(ranked.len() > 100, "{} cards", ranked.len());
    let order = |of: &[(String, f64)]| of.iter().map(|(card, _)| card.clone()).collect::<Vec<_>>();
    let found: Vec<(String, f64)> =
        rows.iter().map(|row| (text(row, "/card_id").to_owned(), number(row, "/mb_s"))).collect();
    assert_eq!(order(ranked), order(&found));
    for ((card, value), (_, mb_s)) in ranked.iter().zip(&found) {
        assert!((value - mb_s).abs() < 1e-6, "{card}: {value} and {mb_s}");
    }
}

#[test]
fn duckdb_query_matches_rank() {
    let home = filled();
    let folder = exported(&home);
    the_same_order(&ranked(&home), &duckdb(&folder, ranking_query().to_str().unwrap()));

    // Everything in the archive is in the tables, with its types.
    let sessions = list(&told(&home, &["list"]), "/sessions").len();
    let cards = list(&told(&home, &["cards"]), "/cards").len();
    let one = |query: &str| duckdb(&folder, query).remove(0);
    let counted = one(
        "SELECT (SELECT COUNT(*) FROM sessions) AS sessions, (SELECT COUNT(*) FROM cards) AS cards, \
         (SELECT COUNT(DISTINCT (session, run)) FROM figures) AS runs, (SELECT SUM(runs) FROM cards) AS of_cards, \
         (SELECT COUNT(DISTINCT year) FROM figures) AS years",
    );
    assert_eq!(number(&counted, "/sessions"), sessions as f64);
    assert_eq!(number(&counted, "/cards"), cards as f64);
    assert_eq!(number(&counted, "/runs"), number(&counted, "/of_cards"));
    assert!(number(&counted, "/years") > 10.0, "{counted}");
    let typed = one(
        "SELECT typeof(measured_at) AS at, typeof(mb_s) AS mb_s, typeof(block_bytes) AS block, typeof(counted) AS counted \
         FROM figures LIMIT 1",
    );
    let types = ["at", "mb_s", "block", "counted"].map(|column| typed[column].as_str().unwrap());
    assert_eq!(types, ["TIMESTAMP WITH TIME ZONE", "DOUBLE", "BIGINT", "BOOLEAN"]);
    let marked = one(
        "SELECT COUNT(*) AS n, MAX(price) AS price, MAX(priced) AS day FROM cards WHERE list_contains(marks, 'A2')",
    );
    assert_eq!(
        (number(&marked, "/n"), number(&marked, "/price"), text(&marked, "/day")),
        (2.0, 9.99, "2024-05")
    );
    let moved = one(
        "SELECT SUM(s.bytes) AS over_time, (SELECT SUM(bytes) FROM figures WHERE kind = 'bench') AS in_all FROM series s \
         WHERE s.kind = 'bench' AND s.counted",
    );
    assert_eq!(number(&moved, "/over_time"), number(&moved, "/in_all"));
    let found = one("SELECT COUNT(*) AS n FROM findings WHERE kind = 'check' AND claim = 'capacity'");
    assert_eq!(number(&found, "/n"), 1.0);
}

#[test]
fn export_replaces_only_an_earlier_export() {
    let home = Home::new();
    let table = write(&home, "table.csv", format!("card,test,run,mb_s\nA 64GB,{TEST},1,90\n"));
    home.run(&["import", &table, "-q"]).expect(0);
    let folder = exported(&home);
    let figures = |folder: &Path| number(&duckdb(folder, "SELECT COUNT(*) AS n FROM figures")[0], "/n");
    assert_eq!(figures(&folder), 1.0);
    let more =
        write(&home, "more.csv", format!("card,test,run,mb_s\nB 64GB,{TEST},1,80\nB 64GB,{TEST},2,81\n"));
    home.run(&["import", &more, "-q"]).expect(0);
    exported(&home);
    assert_eq!(figures(&folder), 3.0);

    // Foreign files and existing files stay.
    fs::write(folder.join("figures/notes.txt"), "mine").unwrap();
    let out = folder.to_str().unwrap();
    archive(&home, &["export", "--parquet", out]).expect(2).says(&["name a new folder"]);
    assert_eq!(fs::read_to_string(folder.join("figures/notes.txt")).unwrap(), "mine");
    assert_eq!(figures(&folder), 3.0);
    archive(&home, &["export", "--parquet", &table]).expect(2).says(&["--parquet"]);
    archive(&home, &["export", "--parquet", "/"]).expect(2).says(&["does not end in a name"]);
    archive(&home, &["export"]).expect(2).says(&["--output", "--parquet"]);
    archive(&home, &["export", "--parquet", out, "-o", out]).expect(2).says(&["cannot be used with"]);
    archive(&home, &["export", "A 64GB", "--parquet", out]).expect(2).says(&["cannot be used with"]);
    let hidden: Vec<_> =
        names_in(&home.path("")).into_iter().filter(|name| name.ends_with("-part")).collect();
    assert_eq!(hidden, [""; 0], "nothing half done lies beside it");
}

/// Spark process, killed when dropped.
struct Java(Child);

impl Drop for Java {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Standalone master with two workers of one core.
struct Cluster {
    python: PathBuf,
    master: String,
    _running: Vec<Java>,
}

impl Cluster {
    fn start(folder: &Path) -> Cluster {
        let python = python(&["spark-build.txt", "spark.txt"]);
        let home = done(
            Command::new(&python).args(["-c", "import pyspark; print(pyspark.__path__[0])"]),
            "Spark is installed",
        );
        let home = PathBuf::from(home.trim());
        let start = |name: &str, class: &str, arguments: &[&str]| {
            let log = folder.join(name);
            let file = fs::File::create(&log).unwrap();
            let mut command = Command::new(home.join("bin/spark-class"));
            command
                .arg(format!("org.apache.spark.deploy.{class}"))
                .args(["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"])
                .args(arguments)
                .env("SPARK_HOME", &home)
                .env("SPARK_LOCAL_IP", "127.0.0.1")
                .env("SPARK_MASTER_OPTS", "-Dspark.master.rest.enabled=false")
                .current_dir(folder)
                .stdin(Stdio::null())
                .stdout(file.try_clone().unwrap())
                .stderr(file);
            let running = command.spawn().expect("bash and Java: scripts/long installs default-jre-headless");
            (Java(running), log)
        };
        let (master, log) = start("master.log", "master.Master", &[]);
        let said = || fs::read_to_string(&log).unwrap_or_default();
        let address = || {
            let from = said().split("Starting Spark master at ").nth(1)?.to_owned();
            from.lines().next().map(str::to_owned)
        };
        until("the master has an address", || address().is_some());
        let address = address().unwrap();
        let mut running = vec![master];
        for number in 1..=2 {
            let folder = folder.join(format!("worker {number}"));
            let own = ["--cores", "1", "--memory", "1g", "--work-dir", folder.to_str().unwrap(), &address];
            running.push(start(&format!("worker {number}.log"), "worker.Worker", &own).0);
        }
        until("both workers are there", || said().matches("Registering worker").count() == 2);
        Cluster { python, master: address, _running: running }
    }

    fn query(&self, folder: &Path, query: &str) -> Value {
        let mut command = Command::new(&self.python);
        command.arg(root().join("tests/engines/spark_query.py")).arg(&self.master).arg(folder).arg(query);
        command.env("SPARK_LOCAL_IP", "127.0.0.1").env("PYSPARK_PYTHON", &self.python);
        serde_json::from_str(&done(&mut command, "Spark reads the tables")).unwrap()
    }
}

#[test]
#[ignore = "downloads and starts Apache Spark: scripts/long runs it"]
fn spark_query_matches_rank() {
    let home = filled();
    let folder = exported(&home);
    let work = home.path("spark");
    fs::create_dir(&work).unwrap();
    let cluster = Cluster::start(&work);
    let answer = cluster.query(&folder, ranking_query().to_str().unwrap());
    assert_eq!(number(&answer, "/executors"), 2.0, "both workers take part");
    the_same_order(&ranked(&home), list(&answer, "/rows"));
    let counts = "SELECT (SELECT COUNT(*) FROM sessions) AS sessions, (SELECT COUNT(*) FROM series) AS series, \
        (SELECT SUM(mb_s) FROM figures WHERE year >= 2009) AS mb_s, \
        (SELECT COUNT(*) FROM cards WHERE array_contains(marks, 'A2')) AS marked";
    let theirs = cluster.query(&folder, counts)["rows"][0].clone();
    let ours = duckdb(&folder, &counts.replace("array_contains", "list_contains")).remove(0);
    for column in ["/sessions", "/series", "/mb_s", "/marked"] {
        let (theirs, ours) = (number(&theirs, column), number(&ours, column));
        assert!((theirs - ours).abs() <= 1e-9 * ours.abs(), "{column}: {theirs} and {ours}");
    }
}
