//! Invalid registers, recipes and options: exit status 2, a message with the cause and advice, and nothing done.

use crate::common::binary::Home;
use crate::common::{list, text};
use serde_json::Value;

/// CID of the first card in docs/reference/reports.md#sd-card-round-up.
const CID: &str = "035344535530344780811ea6ab00b37f";

#[test]
fn invalid_registers_are_refused_by_name() {
    let home = Home::new();
    for (register, hex, words) in [
        ("cid", &CID[1..], &["CID", "odd number", "31"][..]),
        ("csd", "400e00325b5900001d8a7f800a4040b", &["CSD", "odd number"]),
        ("cid", &CID[2..], &["CID", "30 hex digits", "32"]),
        ("cid", "035344535530344780811ea6ab00b37f00", &["CID", "34 hex digits"]),
        ("cid", "0353445355303447808z1ea6ab00b37f", &["CID", "'z'"]),
        ("scr", "02358000", &["SCR", "16"]),
        ("ssr", "00", &["SSR", "128"]),
        ("ocr", "c0ff80zz", &["OCR", "'z'"]),
        ("ocr", "", &["OCR"]),
        ("health", "4453", &["health page", "4 hex digits", "1024"]),
        ("health", &"00".repeat(512), &["all zeros", "no health page"]),
        ("health", &"fa b8 00 10".repeat(128), &["fa b8", "Swissbit"]),
    ] {
        let outcome = home.run(&["decode", &format!("--{register}"), hex, "--json"]).expect(2).says(words);
        assert!(text(&outcome.json(), "/error").contains(words[0]), "{outcome}");
    }
    home.run(&["decode", "--json"]).expect(2);
}

#[test]
fn wrong_checksum_is_a_hint() {
    // With a flipped bit in the serial number the CRC7 does not match.
    let wrong = CID.replace("811ea6ab", "811ea6aa");
    let outcome = Home::new().run(&["decode", "--cid", &wrong, "--json"]).expect(0);
    let document = outcome.json();
    assert_eq!((text(&document, "/cid/crc"), text(&document, "/cid/pnm")), ("mismatch", "SU04G"));
    let finding = list(&document, "/findings").iter().find(|f| f["claim"] == "cid-crc").expect("it is told");
    assert_eq!(text(finding, "/weight"), "hint", "never a verdict: many hosts do not deliver it\n{outcome}");
    // Values that hosts put in place of the checksum (docs/reference/sd.md#checksum).
    for ending in ["00", "01", "08"] {
        let absent = format!("{}{ending}", &CID[..30]);
        let document = Home::new().run(&["decode", "--cid", &absent, "--json"]).expect(0).json();
        assert_eq!(text(&document, "/cid/crc"), "absent", "{ending}");
    }
}

#[test]
fn blank_registers_prove_nothing() {
    let home = Home::new();
    for (register, digits) in [("cid", 32), ("csd", 32), ("scr", 16), ("ssr", 128), ("ocr", 8)] {
        for digit in ["0", "f"] {
            let outcome =
                home.run(&["decode", &format!("--{register}"), &digit.repeat(digits), "--json"]).expect(0);
            let document = outcome.json();
            let blank = |f: &&Value| f["claim"] == format!("{register}-blank");
            let finding = list(&document, "/findings").iter().find(blank);
            assert!(finding.is_some(), "{register} of {digit}\n{outcome}");
            assert!(!list(&document, "/findings").iter().any(|f| f["weight"] == "bad"), "{outcome}");
            assert_eq!(list(&document, "/marks").len(), 0, "a blank register claims no mark\n{outcome}");
        }
    }
}

#[test]
fn pasted_hex_formats_are_accepted() {
    let home = Home::new();
    let plain = home.run(&["decode", "--cid", CID, "--json"]).expect(0).json();
    for pasted in [
        "0x035344535530344780811EA6AB00B37F",
        "03 53 44 53 55 30 34 47 80 81 1e a6 ab 00 b3 7f",
        "03:53:44:53:55:30:34:47:80:81:1e:a6:ab:00:b3:7f",
    ] {
        assert_eq!(home.run(&["decode", "--cid", pasted, "--json"]).expect(0).json(), plain, "{pasted}");
    }
}

#[test]
fn invalid_recipe_is_refused_by_key_or_test() {
    const TEST: &str = "[[test]]\ntest = \"RND4K Q1T1 read\"\npasses = 1\n";
    let home = Home::new();
    for (area, tests, words) in [
        ("sise = 3", TEST, &["sise", "did you mean `size`"][..]),
        ("", &format!("{TEST}pases = 2\n"), &["pases", "did you mean `passes`"]),
        ("", "[[tests]]\ntest = \"RND4K Q1T1 read\"\n", &["tests"]),
        ("", &TEST.replace("RND4K", "RND1000"), &["1000", "512-byte sector"]),
        ("", &TEST.replace("Q1T1", "Q0T1"), &["Q0T1", "queue depth 0"]),
        ("", &TEST.replace("Q1T1", "Q1T0"), &["Q1T0", "thread count 0"]),
        ("", &TEST.replace("Q1T1", "Q5000T1"), &["queue depth 5000"]),
        ("", &TEST.replace("read", "raed"), &["raed"]),
        ("", &TEST.replace("passes = 1", "passes = 0"), &["RND4K Q1T1 read", "passes"]),
        ("", &TEST.replace("passes = 1", "seconds = -1"), &["seconds"]),
        ("", "[[test]]\ntest = \"RND4K Q1T1 read\"\n", &["RND4K Q1T1 read", "nothing ends it"]),
        ("", &format!("{TEST}{TEST}"), &["RND4K Q1T1 read", "twice", "step"]),
        ("", "", &["no test"]),
        ("size = 1000", TEST, &["1000", "512-byte sector"]),
        ("size = \"2KiB\"", TEST, &["RND4K Q1T1 read", "2"]),
        ("size = \"many\"", TEST, &["many"]),
        ("size = \"16GiB\"", TEST, &["17179869184", "8000634880"]),
    ] {
        let recipe = home.recipe(area, tests);
        home.run(&["bench", "sim:constant", "--recipe", &recipe, "-q"]).expect(2).says(words);
    }
    assert!(home.sessions().is_empty(), "what was refused is not in the archive");
}

#[test]
fn missing_or_binary_recipe_is_refused() {
    let home = Home::new();
    home.run(&["bench", "sim:constant", "--recipe", "/no/such.toml"]).expect(2).says(&["/no/such.toml"]);
    home.run(&["bench", "sim:constant", "--recipe", "kdiskmrk"])
        .expect(2)
        .says(&["kdiskmrk", "did you mean \"kdiskmark\""]);
    let recipe = home.path("binary.toml");
    std::fs::write(&recipe, [0xff, 0xfe, 0, 1]).unwrap();
    home.run(&["bench", "sim:constant", "--recipe", recipe.to_str().unwrap()])
        .expect(2)
        .says(&["binary.toml"]);
    std::fs::write(&recipe, "[area\n").unwrap();
    home.run(&["bench", "sim:constant", "--recipe", recipe.to_str().unwrap()]).expect(2).says(&["line 1"]);
}

#[test]
fn contradictory_options_are_refused() {
    let home = Home::new();
    for (more, words) in [
        (&["--runs", "0"][..], &["--runs"][..]),
        (&["--runs=-1"], &["--runs"]),
        (&["--runs", "1001"], &["--runs 1001", "1000"]),
        (&["--runs", "4294967295"], &["--runs 4294967295", "1000"]),
        (&["--size", "0"], &["0"]),
        (&["--size", "1000"], &["512-byte sector"]),
        (&["--size", "9G"], &["8000634880", "--size"]),
        (&["--size", "big"], &["big"]),
        (&["--budget", "soon"], &["soon", "90s"]),
        (&["--only", "RND4K Q33T1 read"], &["RND4K Q33T1 read", "RND4K Q32T1 read"]),
        (&["--seed", "x"], &["x"]),
        (&["--recipes", "quick"], &["--recipe"]),
    ] {
        home.run(&[&["bench", "sim:constant", "-q"], more].concat()).expect(2).says(words);
    }
    home.run(&["bnech", "sim:constant"]).expect(2).says(&["bench"]);
    home.run(&[]).expect(2);
}

#[test]
fn invalid_targets_are_refused() {
    let home = Home::new();
    let empty = home.path("empty.img");
    std::fs::write(&empty, "").unwrap();
    for (target, words) in [
        ("/dev/no-such-card", &["/dev/no-such-card", "cardscope list"][..]),
        ("/dev/null", &["/dev/null", "not a block device"]),
        ("sim:nonesuch", &["nonesuch", "`cardscope sim list`"]),
        ("sim:constant?mbs=3", &["mbs"]),
        ("sim:constant?mb_s=fast", &["mb_s=fast"]),
        ("", &["cannot be tested"]),
        (empty.to_str().unwrap(), &["empty.img", "empty"]),
    ] {
        home.run(&["bench", target, "--recipe", "quick", "--yes-destroy", target]).expect(2).says(words);
    }
}

#[test]
fn recipe_with_required_state_needs_that_condition() {
    let home = Home::new();
    let path = home.recipe("", "[[test]]\ntest = \"SEQ1M Q1T1 read\"\npasses = 1");
    let recipe = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("requires_state = \"overwritten\"\n{recipe}")).unwrap();
    let run =
        |more: &[&str]| home.run(&[&["bench", "sim:constant", "--recipe", &path, "--json"], more].concat());
    run(&[]).expect(2).says(&["overwritten", "--condition state=overwritten"]);
    run(&["--condition", "state=fresh"]).expect(2).says(&["overwritten", "fresh"]);
    run(&["--condition", "state=overwritten"]).expect(0);
}

#[test]
fn missing_target_error_has_advice() {
    let home = Home::new();
    for target in ["/nowhere/at/all", "/dev/no-such-card", "/etc/passwd/card"] {
        for verb in ["bench", "check", "verify", "map"] {
            home.run(&[verb, target]).expect(2).says(&[target, "check the name"]);
        }
    }
    assert!(!home.archive().exists());
}
