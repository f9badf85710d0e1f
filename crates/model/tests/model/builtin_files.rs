//! Build-time list of recipes, cards, jobs and hosts: a new file in the folder needs no other change.

#[path = "../../build/embed.rs"]
mod embed;

use std::fs;
use std::path::Path;

/// Names that a copy of a project folder lists after files were added.
fn names_with(folder: &str, extension: &str, added: &[(&str, &str)]) -> std::io::Result<Vec<String>> {
    let copy = tempfile::tempdir()?;
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    fs::create_dir(copy.path().join(folder))?;
    for entry in fs::read_dir(original)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), copy.path().join(folder).join(entry.file_name()))?;
        }
    }
    for (name, text) in added {
        fs::write(copy.path().join(folder).join(name), text)?;
    }
    embed::embed_folder(copy.path(), copy.path(), folder, extension)?;
    let list = fs::read_to_string(copy.path().join(format!("{folder}.rs")))?;
    let rows = list.lines().filter(|line| line.contains("include_str!"));
    Ok(rows.map(|row| row.split('"').nth(1).unwrap().to_owned()).collect())
}

#[test]
fn new_file_is_listed_after_ordered_ones() {
    for folder in ["recipes", "jobs", "hosts", "cards"] {
        let before = names_with(folder, "toml", &[]).unwrap();
        let added = [("aaa.toml", ""), ("notes.md", ""), ("aaa.toml~", ""), (".aab.toml", "")];
        let after = names_with(folder, "toml", &added).unwrap();
        let mut expected = before.clone();
        // Cards are sorted by name only, so the new file follows `a2-label-only`.
        expected.insert(if folder == "cards" { 2 } else { before.len() }, "aaa".to_owned());
        assert_eq!(after, expected);
    }
}

#[test]
fn order_of_a_missing_file_is_refused() {
    let refused = names_with("jobs", "toml", &[("order", "pi-boot\nno-such-job\n")]).unwrap_err();
    assert_eq!(refused.to_string(), "jobs/order lists \"no-such-job\", which is not there");
}

#[test]
fn folders_are_listed_in_their_order_and_files_by_name() {
    let root = tempfile::tempdir().unwrap();
    for file in ["data/old/1.json", "data/new/2.json", "data/new/1.json", "data/newer/1.json"] {
        let file = root.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    fs::write(root.path().join("data/order"), "new\n").unwrap();
    embed::embed_folder(root.path(), root.path(), "data", "json").unwrap();
    let list = fs::read_to_string(root.path().join("data.rs")).unwrap();
    let names: Vec<&str> =
        list.lines().filter_map(|row| row.trim().strip_prefix("(\"")?.split('"').next()).collect();
    assert_eq!(names, ["new/1", "new/2", "newer/1", "old/1"]);
}
