//! Files of `report`: written completely or not at all, never over foreign files, valid with any name, and without
//! serial numbers by default.

use crate::common::binary::Home;
use crate::common::logs::{CONSTANT, taken_in};
use crate::common::machine::{TestMount, names_in, run_tool};
use crate::common::pages::{
    ENDINGS, browsed, document, drawer, letters, markdown_tables, only_script, page, published, read_again,
    records, report,
};
use crate::common::{list, text};
use serde_json::{Value, json};
use std::fs;

#[test]
fn report_replaces_only_its_own_files() {
    let home = drawer();
    for ending in ENDINGS {
        let file = home.path(&format!("cards.{ending}"));
        for theirs in [
            "my notes\n",
            "my notes on Cardscope\n",
            "{\"cards\": \"Cardscope\"}",
            "card,price\nCardscope,1\n",
        ] {
            fs::write(&file, theirs).unwrap();
            let outcome = report(&home, &file, &[]).expect(2).says(&["is not a Cardscope file"]);
            assert!(outcome.stderr.contains(file.to_str().unwrap()), "{outcome}");
            assert_eq!(fs::read_to_string(&file).unwrap(), theirs, "{ending}");
        }
        report(&home, &file, &["--overwrite", "--title", "First"]).expect(0);
        let first = fs::read(&file).unwrap();
        assert!(first.len() > 100, "{ending}");
        if ["svg", "png"].contains(&ending) {
            // A picture does not name its program, so it is not recognized as a report.
            continue;
        }
        report(&home, &file, &["--test", "SEQ1G Q1T1 read", "--title", "Second"]).expect(0);
        assert_ne!(fs::read(&file).unwrap(), first, "{ending} was made by us and is made anew");
    }
    assert!(!names_in(&home.path("")).iter().any(|name| name.ends_with(".part")));
}

#[test]
fn impossible_output_paths_are_refused_first() {
    let home = drawer();
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=4k"], "tmpfs");
    for ending in ENDINGS {
        let name = format!("cards.{ending}");
        let nowhere = home.path("nowhere").join(&name);
        report(&home, &nowhere, &[]).expect(2).says(&["does not exist"]);
        assert!(!home.path("nowhere").exists(), "a folder is not made");
    }
    for ending in ["html", "json", "csv", "png", "svg", "md"] {
        let file = disk.point.join(format!("cards.{ending}"));
        let outcome = report(&home, &file, &[]).expect(3).says(&["could not be written", "No space left"]);
        assert!(outcome.stderr.contains(file.to_str().unwrap()), "{outcome}");
        assert_eq!(names_in(&disk.point), [""; 0], "no half of a file is left");
    }
    let full = disk.point.join("cards.html");
    run_tool("mount", &["-o", "remount,ro", disk.path()]);
    report(&home, &full, &[]).expect(2).says(&["Read-only file system", "name a file in a writable folder"]);
    report(&home, &home.path("cards.doc"), &[]).expect(2).says(&["its extension selects no format", "html"]);
    report(&home, &home.path(""), &["--format", "html"]).expect(2);
    let mut command = home.command(crate::common::binary::CARDSCOPE);
    command.args(["report", "-o", "-", "--format", "html"]);
    command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    crate::common::binary::Running::of(command).finish().expect(3).says(&["stdout"]);
}

/// Root writes into the folder of another user, who plants links and root's files there.
#[test]
fn page_in_a_foreign_folder_keeps_its_owner() {
    use std::os::unix::fs::{MetadataExt, chown, lchown, symlink};
    const NOBODY: u32 = 65_534;
    let home = drawer();
    let (theirs, ours) = (home.path("theirs"), home.path("ours"));
    for folder in [&theirs, &ours] {
        fs::create_dir(folder).unwrap();
    }
    let secret = ours.join("cards.html");
    report(&home, &secret, &[]).expect(0);
    let before = (fs::read(&secret).unwrap(), secret.metadata().unwrap().ino());
    let page = theirs.join("cards.html");
    fs::copy(&secret, &page).unwrap();
    symlink(&secret, theirs.join("link.html")).unwrap();
    symlink(&ours, theirs.join("way")).unwrap();
    for path in [&theirs, &page, &theirs.join("link.html"), &theirs.join("way")] {
        lchown(path, Some(NOBODY), Some(NOBODY)).expect("this test needs root");
    }
    report(&home, &theirs.join("link.html"), &["--overwrite"]).expect(2).says(&["that is a link"]);
    report(&home, &theirs.join("way/new.html"), &[]).expect(2).says(&["owned by user 65534"]);
    report(&home, &page, &["--title", "Anew"]).expect(0);
    let about = page.metadata().unwrap();
    assert_eq!((about.uid(), about.gid()), (NOBODY, NOBODY), "it is the user's own page as before");
    assert!(fs::read_to_string(&page).unwrap().contains("Anew"));
    // With a hard link to root's page, that page keeps its content and owner.
    fs::remove_file(&page).unwrap();
    fs::hard_link(&secret, &page).unwrap();
    report(&home, &page, &["--title", "Anew"]).expect(0);
    chown(&page, Some(NOBODY), None).unwrap();
    assert_eq!((fs::read(&secret).unwrap(), secret.metadata().unwrap().ino()), before);
    assert_eq!(secret.metadata().unwrap().uid(), 0);
    assert_eq!(names_in(&ours), ["cards.html"]);
    assert_eq!(names_in(&theirs), ["cards.html", "link.html", "way"]);
}

#[test]
fn full_disk_keeps_the_older_page() {
    let home = drawer();
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=256k"], "tmpfs");
    let file = disk.point.join("cards.html");
    report(&home, &file, &[]).expect(0);
    let before = fs::read(&file).unwrap();
    let room = 256 * 1024 - before.len().next_multiple_of(4096);
    fs::write(disk.point.join("other"), vec![1; room.min(before.len()).max(room - before.len() / 2)])
        .unwrap();
    report(&home, &file, &["--title", "Anew"]).expect(3).says(&["No space left"]);
    assert!(fs::read(&file).unwrap() == before);
    assert_eq!(names_in(&disk.point), ["cards.html", "other"]);
}

#[test]
fn serial_numbers_need_an_option() {
    let home = drawer();
    home.run(&["verify", "sim:constant?announced_bytes=64MiB", "--json", "-q"]).expect(0);
    home.run(&["map", CONSTANT, "--only", "read-curve", "--json", "-q"]).expect(0);
    let info = home.run(&["info", CONSTANT, "--json"]).expect(0).json();
    let cid = text(&info, "/cid/raw").to_lowercase();
    for ending in ENDINGS.into_iter().filter(|ending| *ending != "png") {
        let page = page(&home, ending, &["--for", "game-load"]).to_lowercase();
        // As hex, as a decimal number, and inside the CID.
        for name in ["c0ffee", "12648430", cid.as_str()] {
            assert!(!page.contains(name), "{name} in {ending}");
        }
    }
    let hashes = |home: &Home| -> Vec<String> {
        let document = document(home, &[]);
        let cards = list(&document, "/cards").iter().filter_map(|card| card["pieces"].as_array());
        cards.flatten().map(|piece| piece.as_str().unwrap().to_owned()).collect()
    };
    let first = hashes(&home);
    assert!(first.len() == 1 && first[0].starts_with('#') && first[0].len() > 6, "{first:?}");
    assert_eq!(hashes(&home), first, "the same piece in the next report");
    assert!(page(&home, "html", &[]).contains(&first[0]));
    for ending in ["html", "json"] {
        assert!(page(&home, ending, &["--serials"]).to_lowercase().contains("c0ffee"), "{ending}");
    }
    // Another archive uses the same hash for this unit, and another one for others.
    let other = Home::new();
    for card in [CONSTANT, "sim:lexar-1tb-express"] {
        other.run(&["bench", card, "--only", "SEQ1M Q8T1 read", "--seed", "9", "-q"]).expect(0);
    }
    let theirs = hashes(&other);
    assert!(theirs.len() == 2 && theirs.contains(&first[0]) && theirs[0] != theirs[1], "{theirs:?}");
}

/// Names that are special in one of the formats.
const ODD: [&str; 6] = [
    "</script><script>alert(1)</script>",
    "a|b {{< plotly >}} +++",
    "\"x\",\"y\" & 'z'",
    "\u{1f4be} карта 卡",
    "one\ntwo\r\u{1b}[31m",
    "=1+1",
];

/// Name with visible escapes for control characters.
fn visible(name: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_unicode().to_string() } else { c.to_string() };
    name.chars().map(shown).collect()
}

fn odd_cards() -> Home {
    let home = Home::new();
    for (number, name) in (0..).zip(ODD) {
        taken_in(&home, &format!("{number}.log"), &[300 + 40 * number, 310 + 40 * number], &["--card", name]);
    }
    home
}

#[test]
fn odd_card_names_break_no_format() {
    let home = odd_cards();
    let more = ["--title", ODD[0], "--for", "game-load"];
    let document = document(&home, &more);
    let names: Vec<&str> = list(&document, "/comparison/entries").iter().map(|e| text(e, "/name")).collect();
    assert_eq!(names.len(), ODD.len());

    let html = page(&home, "html", &more);
    let found = browsed(&home, &html);
    only_script(&found);
    for name in [ODD[0], ODD[1], ODD[2], ODD[3]] {
        assert!(text(&found, "/text").contains(name), "{name} stands on the page");
    }
    assert!(
        !html.contains('\u{1b}') && !html.contains("<script>alert") && !html.contains("</script><script>a")
    );

    let markdown = page(&home, "md", &more);
    for (heading, rows) in markdown_tables(&markdown) {
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{heading}: {rows:#?}");
    }
    assert!(!markdown.contains("<script") && !markdown.contains('\u{1b}') && !markdown.contains("{{<"));

    let rows = records(&home, &published(&home, "csv", &more));
    for name in ODD.into_iter().filter(|name| *name != "=1+1") {
        let shown = |row: &Value| text(row, "/card") == visible(name);
        assert!(rows.iter().any(shown), "{name:?} in {:#?}", rows[0]);
    }
    assert!(rows.iter().all(|row| !text(row, "/card").starts_with('=')), "no formula");

    let letters = letters(&home, &published(&home, "svg", &more));
    assert!(letters.contains(ODD[2]) && letters.contains(ODD[3]), "{letters}");
    assert!(published(&home, "png", &more).ends_with(b"IEND\xaeB`\x82"));

    let hugo = page(&home, "plotly.md", &more);
    let blocks: Vec<&str> = hugo.split("{{< plotly >}}").skip(1).collect();
    assert_eq!(blocks.len(), ODD.len() + 3);
    for block in blocks {
        let chart = block.split("{{< /plotly >}}").next().unwrap();
        assert!(serde_json::from_str::<Value>(chart).is_ok(), "{chart}");
    }
    assert!(!hugo.contains("<script"));
    assert_eq!(hugo.lines().filter(|line| *line == "+++").count(), 2, "one front matter");
}

#[test]
fn odd_names_stay_on_their_lines_in_the_layouts_of_other_tools() {
    let home = odd_cards();
    // A text that contains the start of a chart is recognized as a page for Hugo.
    home.run(&["archive", "edit", "a|b", "--set", "name=a|b [x] (Q= 1, T= 1): 5 MB/s"]).expect(0);
    for ending in ["cdm.txt", "kdm.txt"] {
        let page = page(&home, ending, &[]);
        assert!(!page.contains(|c: char| c.is_control() && c != '\n'), "{page:?}");
        assert!(!page.lines().any(|line| line.starts_with("two")), "{page}");
        let logs = read_again(&home, ending);
        assert_eq!(logs.iter().map(Vec::len).collect::<Vec<_>>(), [12; ODD.len()]);
    }
}

#[test]
fn empty_report_gives_a_message_and_no_file() {
    let home = Home::new();
    for (more, status, word) in [
        (&["--own"][..], 2, "nothing to compare"),
        (&["Elephant"], 2, "no card \"Elephant\""),
        (&["ADATA", "--test", "SEQ7M Q1T1 read"], 2, "no measurements under the selected condition"),
        (&["ADATA", "--condition", "cooling=ice"], 2, "no measurements under the selected condition"),
    ] {
        for ending in ENDINGS {
            let file = home.path(&format!("empty.{ending}"));
            let outcome = report(&home, &file, more).expect(status).says(&[word]);
            assert!(outcome.stdout.is_empty() && !file.exists(), "{outcome}");
        }
    }
    assert!(!home.archive().exists(), "looking makes no archive");
    // With --json the reason is in the document.
    let file = home.path("empty.html");
    let failed = report(&home, &file, &["--own", "--json"]).expect(2).json();
    assert!(text(&failed, "/error").contains("nothing to compare"));
    assert_eq!(failed.as_object().map(serde_json::Map::len), Some(1), "{}", json!(failed));
}

#[test]
fn report_of_many_cards_is_ranked() {
    let home = Home::new();
    let table = home.path("drawer.csv");
    let mut rows = String::from("brand,name,test,mb_s\n");
    for card in 0..40 {
        rows += &format!("Brand{},Swift{card},SEQ1M Q8T1 read,{}\n", card % 3, 40 + card);
        if card % 2 == 0 {
            rows +=
                &format!("Brand{},Swift{card},RND4K Q1T1 write,{}\n", card % 3, 1.5 + f64::from(card) / 10.0);
        }
    }
    fs::write(&table, rows).unwrap();
    home.run(&["import", table.to_str().unwrap()]).expect(0);
    let page = home.path("out.html");
    let said = report(&home, &page, &["--json"]).expect(0).json();
    let orders: Vec<&str> = list(&said, "/rankings").iter().map(|r| text(r, "/by/test")).collect();
    assert_eq!(orders, ["SEQ1M Q8T1 read", "RND4K Q1T1 write"]);
    assert_eq!(list(&said, "/rankings/0/places").len(), 40);
    let words = fs::read_to_string(&page).unwrap();
    assert!(words.contains("Swift39") && words.contains("All tests together"));
    let told = report(&home, &home.path("out.md"), &[]).expect(0);
    assert!(told.one_line().contains("40 cards"), "{told}");
    // One table with cards as rows, instead of one a pair.
    let compared = home.run(&["compare", "--json"]).expect(0).json();
    assert_eq!((list(&compared, "/entries").len(), list(&compared, "/overall").len()), (40, 40));
    assert!(list(&compared, "/tests").iter().all(|test| list(test, "/pairs").is_empty()));
    let shown = home.run(&["compare"]).expect(0).stdout;
    assert!(shown.contains("Brand0 Swift39") && shown.contains("Brand0 Swift0"), "{shown}");
}
