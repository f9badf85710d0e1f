use super::*;

const HEAD: &str = "                                                              random    random     bkwd    record    stride\n              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread\n";

fn log(text: &str) -> Log {
    read(&Text::decode(text.as_bytes())).unwrap().remove(0)
}

fn printed(log: &Log) -> Vec<(String, Option<String>, f64)> {
    let results = log.runs.iter().flat_map(|run| &run.results);
    results.map(|f| (f.name().to_string(), f.step.clone(), f.as_printed.value)).collect()
}

fn row(file: u64, record: u64, speeds: &[Option<u64>]) -> String {
    let cells: String = speeds.iter().map(|s| s.map_or(" ".repeat(9), |s| format!(" {s:>8}"))).collect();
    format!("{file:>16}{record:>8}{cells}\n")
}

#[test]
fn a_card_with_all_tests_of_the_usual_command() {
    let text = format!(
        "\tVersion $Revision: 3.506 $\n\n\tRun began: Tue Feb  6 08:09:10 2024\n\n\tCommand line used: ./iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2\n{HEAD}{}\niozone test complete.\n",
        row(102_400, 4, &[Some(2111), Some(2345), Some(8123), Some(8099), Some(7777), Some(1901)])
    );
    let log = log(&text);
    assert_eq!(
        (log.tool.unwrap().version.as_deref(), log.date.as_deref()),
        (Some("3.506"), Some("2024-02-06T08:09:10"))
    );
    assert_eq!((log.runs.len(), log.runs[0].size_bytes), (1, Some(104_857_600)));
    let found: Vec<String> =
        log.runs[0].results.iter().map(|f| format!("{} {:?} {:.6} MB/s", f.name(), f.step, f.mb_s)).collect();
    insta::assert_snapshot!(found.join("\n"), @r#"
    SEQ4K Q1T1 write None 2.161664 MB/s
    SEQ4K Q1T1 write Some("rewrite") 2.401280 MB/s
    SEQ4K Q1T1 read None 8.317952 MB/s
    SEQ4K Q1T1 read Some("reread") 8.293376 MB/s
    RND4K Q1T1 read None 7.963648 MB/s
    RND4K Q1T1 write None 1.946624 MB/s
    "#);
    assert!(log.doubts.is_empty());
}

#[test]
fn a_card_whose_reads_were_not_asked_for_has_blank_columns() {
    let text = format!(
        "{HEAD}{}",
        row(102_400, 1024, &[Some(30_123), Some(31_456), None, None, Some(70_111), Some(28_222)])
    );
    let found = printed(&log(&text));
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["SEQ1M Q1T1 write", "SEQ1M Q1T1 write", "RND1M Q1T1 read", "RND1M Q1T1 write"]);
    assert_eq!(found[2].2, 70_111.0);
}

#[test]
fn an_old_table_is_a_character_narrower() {
    let head = "                                                            random  random    bkwd   record   stride\n              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread\n";
    let text = format!(
        "{head}{:>16}{:>8}{:>8}{:>8}{:>8}{:>9}{:>8}{:>8}\n",
        102_400, 4, 1011, 1022, 6033, 6044, 5055, 466
    );
    let values: Vec<f64> = printed(&log(&text)).iter().map(|(.., value)| *value).collect();
    assert_eq!(values, [1011.0, 1022.0, 6033.0, 6044.0, 5055.0, 466.0]);
}

#[test]
fn a_table_that_lost_its_blanks_is_read_by_the_command() {
    let text = "Command line used: iozone -e -I -a -s 100M -r 4k -i 0 -i 2\nkB reclen write rewrite read reread read write read rewrite read fwrite frewrite fread freread\n102400 4 2001 2002 7003 1204\n";
    let names: Vec<String> = printed(&log(text)).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names[2..], ["RND4K Q1T1 read", "RND4K Q1T1 write"]);
    assert!(log(&text[text.find("kB").unwrap()..]).runs.is_empty());
}

#[test]
fn five_record_sizes_are_one_run_and_the_same_size_again_is_the_next() {
    let speeds = [Some(1000), Some(1001), Some(1002), Some(1003), Some(1004), Some(1005)];
    let rows: String = [4, 16, 512, 1024, 16_384].iter().map(|r| row(102_400, *r, &speeds)).collect();
    let log = log(&format!("{HEAD}{rows}{HEAD}{}", row(102_400, 4, &speeds)));
    assert_eq!((log.runs.len(), log.runs[0].results.len(), log.runs[1].results.len()), (2, 30, 6));
    assert_eq!(log.runs[0].results[29].name().to_string(), "RND16M Q1T1 write");
}

#[test]
fn strides_and_backward_reads_are_kept_beside_the_figures() {
    let mut speeds = vec![None; 13];
    (speeds[0], speeds[6], speeds[8]) = (Some(500), Some(600), Some(700));
    let log = log(&format!("iozone -a -i 0 -i 3 -i 5\n{HEAD}{}", row(1024, 64, &speeds)));
    assert_eq!(log.runs[0].results.len(), 1);
    assert_eq!(log.other["iozone"][1]["test"], "stride read");
    assert!(log.doubts[0].contains("-I"));
}

#[test]
fn a_table_of_operations_is_refused_by_name() {
    let error =
        read(&Text::of(&format!("\tOPS Mode. Output is in operations per second.\n{HEAD}"))).unwrap_err();
    assert!(error.to_string().contains("OPS Mode"), "{error}");
}

#[test]
fn a_table_cut_off_after_its_heading_has_no_runs() {
    assert!(log(HEAD).runs.is_empty());
    assert!(log(&format!("{HEAD}          102400")).runs.is_empty());
}

proptest::proptest! {
    #[test]
    fn any_speeds_come_back_under_their_columns(speeds in proptest::collection::vec(proptest::option::of(1u64..99_999_999), 13)) {
        let log = log(&format!("{HEAD}{}", row(102_400, 4, &speeds)));
        let values: Vec<f64> = printed(&log).iter().map(|(.., value)| *value).collect();
        let expected: Vec<f64> = speeds[..6].iter().flatten().map(|s| *s as f64).collect();
        proptest::prop_assert_eq!(values, expected);
        let others = log.other.get("iozone").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
        proptest::prop_assert_eq!(others, speeds[6..].iter().flatten().count());
    }
}
