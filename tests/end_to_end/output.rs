//! Output of `decode`, `info`, `list` and `sim` for scripts, and rules of stdout and stderr for every verb.

use crate::common::binary::{CARDSCOPE, Home, Running};
use crate::common::{list, text};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const LEXAR: &str = "sim:lexar-16g-c10";

#[test]
fn first_round_up_card_decodes_as_published() {
    let cid = "035344535530344780811ea6ab00b37f";
    let csd = "400e00325b5900001d8a7f800a4040b9";
    let document = Home::new().run(&["decode", "--json", "--cid", cid, "--csd", csd]).expect(0).json();
    assert_eq!((&document["cid"]["mid"], text(&document, "/cid/oid")), (&json!(3), "SD"));
    assert_eq!((text(&document, "/cid/pnm"), text(&document, "/cid/prv")), ("SU04G", "8.0"));
    assert_eq!((&document["cid"]["psn"], text(&document, "/cid/mdt")), (&json!(0x811e_a6ab_u32), "2011-03"));
    assert!(text(&document, "/cid/maker").contains("SanDisk"));
    // C_SIZE 1D8Ah: (7562 + 1) × 512 KiB.
    assert_eq!(document["csd"]["capacity_bytes"], 7563u64 * 512 * 1024);
    assert_eq!(document["capacity_bytes"], 3_965_190_144u64);
    assert_eq!((text(&document, "/cid/raw"), text(&document, "/csd/raw")), (cid, csd));
    assert_eq!((text(&document, "/cid/crc"), text(&document, "/csd/crc")), ("ok", "ok"));
    for absent in ["scr", "ssr", "ocr", "mmc", "usb", "pcie", "nvme"] {
        assert!(document.get(absent).is_some_and(Value::is_null), "{absent} is there, and null");
    }
    assert!(document["findings"].is_array());
}

#[test]
fn second_round_up_card_decodes_as_published() {
    let cid = "0353445355303147800008fe40006cfd";
    let csd = "002600325f5983c8befbcfff924040d7";
    let document = Home::new().run(&["decode", "--json", "--cid", cid, "--csd", csd]).expect(0).json();
    assert_eq!((text(&document, "/cid/pnm"), text(&document, "/cid/mdt")), ("SU01G", "2006-12"));
    assert_eq!(document["cid"]["psn"], 0x0008_fe40);
    // C_SIZE F22h, C_SIZE_MULT 7, READ_BL_LEN 9: (3874 + 1) × 2^9 × 2^9.
    assert_eq!(document["csd"]["capacity_bytes"], 3875u64 << 18);
    assert_eq!(text(&document, "/csd/family"), "SDSC");
    assert_eq!(
        (&document["factors"]["power_of_two"], &document["factors"]["odd"]),
        (&json!(18), &json!(3875))
    );
}

#[test]
fn info_uses_the_terms_of_the_specification() {
    let home = Home::new();
    let sd = home.run(&["info", LEXAR, "--json"]).expect(0).json();
    assert_eq!(text(&sd, "/cid/pnm"), "SD16G");
    assert_eq!((&sd["ssr"]["au_size_bytes"], &sd["ssr"]["app_perf_class"]), (&json!(4 << 20), &json!(0)));
    // docs/reference/reports.md#lexar-review: 16012804096 bytes, factored there into 2^20 × 15271.
    assert_eq!((&sd["capacity_bytes"], &sd["factors"]["odd"]), (&json!(16_012_804_096u64), &json!(15271)));
    assert_eq!(sd["marks"], json!(["C10"]));
    let express = home.run(&["info", "sim:lexar-1tb-express", "--json"]).expect(0).json();
    // docs/reference/reports.md#microsd-express-benchmarks: TMT1 81 °C, TMT2 85 °C; docs/reference/linux.md#nvme:
    // limits 356 and 358 K.
    assert_eq!(
        (&express["nvme"]["tmt1_celsius"], &express["nvme"]["tmt2_celsius"]),
        (&json!(81), &json!(85))
    );
    assert_eq!(express["nvme"]["tmpth_celsius"], 83);
    assert_eq!((&express["pcie"]["current_width"], &express["cid"]), (&json!(1), &Value::Null));
    let a1 = home.run(&["info", "sim:sandisk-extremepro-32g-a1", "--json"]).expect(0).json();
    assert_eq!(a1["ssr"]["app_perf_class"], 1);
    assert!(
        list(&a1, "/marks").contains(&json!("A1")) && list(&a1, "/marks").contains(&json!("U3")),
        "{a1:#}"
    );
}

#[test]
fn pasted_health_page_is_decoded() {
    // SanDisk's layout: signature, day of manufacture, percent of life, power cycles.
    let page =
        |used: u8| format!("4453 323130333135 {used:02x} {} 000102 {}", "00".repeat(15), "00".repeat(485));
    let home = Home::new();
    let document = home.run(&["decode", "--health", &page(3), "--json"]).expect(0).json();
    assert_eq!(
        (text(&document, "/health/layout"), text(&document, "/health/made")),
        ("sandisk", "2021-03-15")
    );
    assert_eq!(
        (&document["health"]["life_used_percent"], &document["health"]["power_cycles"]),
        (&json!(2.0), &json!(258))
    );
    assert!(list(&document, "/findings").is_empty(), "{document:#}");
    let worn = home.run(&["decode", "--health", &page(101)]).expect(0).one_line();
    assert!(
        worn.contains("100 % of its rated life used") && worn.contains("rated life is used up"),
        "{worn}"
    );
    // A simulated card has no slot for the command.
    let asked = home.run(&["info", LEXAR, "--health", "--json"]).expect(0).json();
    let unread =
        list(&asked, "/findings").iter().find(|f| f["claim"] == "health-unread").expect("it is told");
    assert!(text(unread, "/verdict").contains("SD slot"), "{unread}");
}

#[test]
fn every_verb_with_json_prints_one_document_and_nothing_else() {
    let home = Home::new();
    for arguments in [
        &["list", "--json"][..],
        &["list", "--all", "--json"],
        &["info", LEXAR, "--json"],
        &["decode", "--ocr", "c0ff8000", "--json"],
        &["sim", "list", "--json"],
        &["sim", "show", "lexar-16g-c10", "--json"],
        &["--json", "bench", LEXAR, "--only", "SEQ1M Q1T1 read"],
    ] {
        let document = home.run(arguments).expect(0).json();
        assert!(document.is_object(), "{arguments:?}: {document}");
    }
    for arguments in [
        &["info", "sim:nonesuch", "--json"][..],
        &["info", "/dev/no-such-card", "--json"],
        &["decode", "--cid", "zz", "--json"],
        &["bench", "sim:nonesuch", "--json"],
        &["bench", LEXAR, "--recipe", "nonesuch", "--json"],
        &["sim", "show", "nonesuch", "--json"],
    ] {
        let document = home.run(arguments).expect(2).json();
        assert!(!text(&document, "/error").is_empty(), "{arguments:?}: {document}");
    }
}

#[test]
fn list_marks_the_system_disk_as_unsafe() {
    let document = Home::new().run(&["list", "--all", "--json"]).expect(0).json();
    let system = |d: &&Value| d["reason"].as_str().is_some_and(|r| r.contains("running system"));
    let disk = list(&document, "/devices").iter().find(system).expect("/ lies on a disk here");
    assert_eq!((&disk["safe"], disk["bytes"].is_u64()), (&json!(false), true));
    for field in ["name", "path", "object", "bus", "removable", "mounted", "can_unmount"] {
        assert!(disk.get(field).is_some(), "{field} of {disk:#}");
    }
}

#[test]
fn sim_list_names_the_cards_of_the_reports() {
    let document = Home::new().run(&["sim", "list", "--json"]).expect(0).json();
    let names: Vec<&str> = list(&document, "/cards").iter().map(|c| text(c, "/name")).collect();
    for name in ["lexar-16g-c10", "sandisk-extremepro-32g-a1", "sandian-1tb-52g", "lexar-1tb-express"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

#[test]
fn progress_goes_to_stderr_only_and_quiet_silences_it() {
    let home = Home::new();
    let loud = home.run(&["bench", LEXAR, "--recipe", "quick", "--seed", "5"]).expect(0);
    let loud = loud.says(&["writing the test area", "RND4K Q32T1 read"]);
    assert!(!loud.stdout.contains("writing the test area"), "{loud}");
    assert!(loud.stdout.contains("SEQ1M Q8T1 read") && loud.stdout.contains("MB/s"), "{loud}");
    let quiet = home.run(&["bench", LEXAR, "--recipe", "quick", "--seed", "5", "--quiet"]).expect(0);
    assert_eq!(quiet.stderr, "");
    // Equal except for the session's name in the last line.
    let table =
        |text: &str| text.lines().filter(|l| !l.contains("session")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(table(&quiet.stdout), table(&loud.stdout));
    assert!(
        !loud.stderr.contains('\x1b') && !loud.stdout.contains('\x1b'),
        "no terminal, no colours\n{loud}"
    );
}

#[test]
fn no_help_shows_the_password_of_an_archive_s_address() {
    let home = Home::new();
    let help = home.run(&["--help"]).expect(0).stdout;
    // Verbs and short options are indented by two spaces.
    let verbs: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with([' ', '-']))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() > 15, "{help}");
    for verb in verbs {
        let mut command = home.command(CARDSCOPE);
        command.args([verb, "--help"]).env("CARDSCOPE_ARCHIVE", "postgres://me:s3cr3t@h/db");
        let page = Running::of(command).finish().expect(0).stdout;
        assert!(!page.contains("s3cr3t"), "{verb}: {page}");
    }
}

#[test]
fn closed_stdout_pipe_is_no_error() {
    let home = Home::new();
    for arguments in [
        &["info", "sim:lexar-1tb-express", "--json"][..],
        &["bench", LEXAR, "--recipe", "cdm3", "--json", "-q"],
    ] {
        let mut child = home.command(CARDSCOPE).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "{\n");
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn full_disk_on_stdout_is_an_error() {
    let home = Home::new();
    let mut command = home.command(CARDSCOPE);
    command.args(["info", LEXAR]).stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    Running::of(command).finish().expect(3).says(&["stdout"]);
}

#[test]
fn tables_name_their_units() {
    let home = Home::new();
    let quick = ["bench", LEXAR, "--recipe", "quick", "-q", "--only", "RND4K Q32T1 read"];
    for (more, words) in
        [(&[][..], &["MB/s", "IOPS", " ms"][..]), (&["--runs", "2"], &["MB/s", "95 % interval", "median"])]
    {
        let told = home.run(&[&quick[..], more].concat()).expect(0);
        words.iter().for_each(|word| assert!(told.stdout.contains(word), "{word}\n{told}"));
    }
    let told = home.run(&["info", LEXAR]).expect(0);
    assert!(told.one_line().contains("16 012 804 096 bytes (16.0 GB)"), "{told}");
}
