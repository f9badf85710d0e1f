//! Files of the packages: the udev rule gives devices only to its group, the policy asks each time, control files name
//! existing files. `scripts/packages-test` installs the packages.

use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Lines that udev reads.
fn rules(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn udev_rule_grants_unused_cards_to_its_group_only() {
    let text = read("packaging/debian/60-cardscope.rules");
    let rules = rules(&text);
    let giving: Vec<&&str> = rules
        .iter()
        .filter(|rule| {
            ["GROUP=", "MODE=", "OWNER=", "TAG", "RUN"]
                .iter()
                .any(|key| rule.match_indices(key).any(|(at, _)| !rule[at + key.len()..].starts_with('=')))
        })
        .collect();
    let [rule] = giving[..] else { panic!("one rule gives rights: {giving:?}") };
    assert!(rule.ends_with(r#"GROUP="cardscope", MODE="0660""#), "{rule}");
    // If the question fails, no access is given.
    assert!(
        rule.starts_with("PROGRAM==") && rule.contains("lsblk -nro MOUNTPOINTS $devnode) && test -z"),
        "{rule}"
    );
    // Every path to it asks for a card.
    let ways: Vec<&&str> = rules.iter().filter(|rule| rule.contains("GOTO=\"cardscope_card\"")).collect();
    assert_eq!(ways.len(), 2);
    for (way, asks) in ways.into_iter().zip([r#"ATTR{removable}=="1""#, r#"ATTRS{type}=="SD""#]) {
        assert!(way.contains(asks), "{way}");
    }
    let before = rules.iter().position(|rule| *rule == r#"LABEL="cardscope_card""#).unwrap();
    assert_eq!(rules[before - 1], r#"GOTO="cardscope_end""#, "nothing else comes to it");
    for label in rules.iter().flat_map(|rule| rule.split("GOTO=\"").skip(1)) {
        let label = label.split('"').next().unwrap();
        assert!(rules.contains(&format!("LABEL=\"{label}\"").as_str()), "{label}");
    }
}

#[test]
fn polkit_policy_asks_an_administrator_each_time() {
    let policy = read("packaging/debian/org.cardscope.policy");
    for who in ["allow_any", "allow_inactive", "allow_active"] {
        assert!(policy.contains(&format!("<{who}>auth_admin</{who}>")), "{who}");
    }
    let path = r#"<annotate key="org.freedesktop.policykit.exec.path">/usr/bin/cardscope</annotate>"#;
    assert!(policy.contains(path));
}

#[test]
fn packaged_files_are_documented() {
    let (script, chapter) = (read("scripts/release"), read("docs/installing.md"));
    let mut seen = 0;
    for line in script.lines().filter(|line| line.contains("\"$root/usr/")) {
        let path = line.split("\"$root").nth(1).unwrap().split('"').next().unwrap();
        // Overrides concern lintian only.
        if path.starts_with("/usr/share/lintian") {
            continue;
        }
        let named = |path: &str| chapter.contains(&format!("`{path}"));
        assert!(Path::new(path).ancestors().take(3).any(|part| named(part.to_str().unwrap())), "{path}");
        seen += 1;
    }
    assert!(seen >= 6, "{seen} files");
}

#[test]
fn package_placeholders_are_filled_in() {
    let script = read("scripts/release");
    for template in ["packaging/debian/control", "packaging/debian/copyright"] {
        let text = read(template);
        let mut names = text.split('@').skip(1).step_by(2).filter(|name| !name.contains(char::is_whitespace));
        assert!(names.clone().count() > 0, "{template}");
        assert!(names.all(|name| script.contains(&format!("@{name}@"))), "{template}");
    }
    let toolchain = read("rust-toolchain.toml");
    assert!(toolchain.contains("channel = \"1."), "a release is built by a pinned compiler");
    let zig = read("packaging/zig.txt");
    assert!(zig.contains("==") && zig.matches("--hash=sha256:").count() == 2, "{zig}");
}
