//! What leads a user from the first word on: help, lists of what there is, completions and manual pages.

use crate::common::binary::Home;
use crate::common::{list, text};
use serde_json::Value;

#[test]
fn without_a_word_the_program_says_where_to_begin() {
    let bare = Home::new().run(&[]).expect(2).says(&["Start with `cardscope check DEVICE`.", "\nCompare:\n"]);
    assert_eq!(bare.stdout, "");
    let asked = Home::new().run(&["--help"]).expect(0);
    assert_eq!(asked.stdout, bare.stderr, "the short help either way");
}

#[test]
fn recipes_and_jobs_are_listed_and_explained() {
    let home = Home::new();
    for (verb, name, inside) in [("recipes", "kdiskmark", "/tests"), ("jobs", "pi-boot", "/work")] {
        let all = home.run(&[verb, "--json"]).expect(0).json();
        let names: Vec<&str> = list(&all, &format!("/{verb}")).iter().map(|one| text(one, "/name")).collect();
        let one = home.run(&[verb, name, "--json"]).expect(0).json();
        assert!(names.contains(&name) && text(&one, "/name") == name, "{names:?}");
        assert!(!list(&one, inside).is_empty(), "{one:#}");
        let shown = home.run(&[verb]).expect(0).stdout;
        assert!(names.iter().all(|name| shown.contains(&format!("  {name} "))), "{shown}");
        assert!(home.run(&[verb, name]).expect(0).stdout.contains(text(&one, "/title")));
        home.run(&[verb, "nonesuch"]).expect(2).says(&["nonesuch", &format!("see `cardscope {verb}`")]);
    }
    let kdiskmark = home.run(&["recipes", "kdiskmark", "--json"]).expect(0).json();
    let reads = list(&kdiskmark, "/tests").iter().find(|t| t["test"] == "RND4K Q1T1 read").unwrap();
    assert_eq!((&reads["loops"], &reads["size_bytes"]), (&Value::from(5), &Value::from(1u64 << 30)));
}
