//! Names from clients are never opened as paths and never become markup.

use super::{Server, escaped, verify};
use crate::common::binary::Home;
use crate::common::logs::{log, write};
use crate::common::pages::browsed;
use crate::common::{list, text};
use serde_json::{Value, json};

/// Recipe and card in the server's folder, to which a path could lead.
fn bait(home: &Home) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for (from, to) in [
        ("cards/constant.toml", "x.toml"),
        ("cards/constant.toml", "card"),
        ("recipes/quick.toml", "recipe.toml"),
        ("jobs/pi-boot.toml", "job.toml"),
    ] {
        write(home, to, std::fs::read(format!("{root}/{from}")).unwrap());
    }
}

#[test]
fn no_path_is_opened_as_a_target() {
    let home = Home::new();
    bait(&home);
    let server = Server::start(&home, &[]);
    let absolute = home.path("x.toml").to_str().unwrap().to_owned();
    for target in [
        "sim:./x.toml",
        "sim:x.toml",
        "sim:card",
        "sim:/etc/passwd",
        &format!("sim:{absolute}"),
        "sim:../x",
        "sim:",
        "sim:constant?state=/etc/passwd",
        "sim:constant?save=/tmp/x",
        "sim:constant?seed=1&save=saved",
        "sim:constant?state=card#",
        "sim:constant?memory_bytes=1TiB",
        "sim:constant?there-is-none=1",
        "sim:constant\n",
        "sim:constant?seed=1\0",
        "sim:constant\n--archive=/tmp/x",
        "SIM:constant",
        "/dev/sda-that-is-not-listed",
        "/dev/null",
        "/dev/zero",
        "/tmp",
        "/tmp/file",
        &absolute,
        "x.toml",
        ".",
        "-",
        "--help",
        "",
        " ",
        "/dev/sda\n",
        "/dev/../dev/sda",
        "\u{202e}",
    ] {
        for order in [
            verify(target),
            json!({ "verb": "info", "target": target }),
            json!({ "verb": "format", "target": target, "options": {}, "confirm": target }),
            json!({ "verb": "bench", "target": target, "options": { "recipe": "quick" }, "confirm": target }),
        ] {
            server.post("/api/tasks", &order).refused(422);
        }
    }
    for journal in ["/etc/passwd", "../x", "journal-1", "", "x.toml", &absolute] {
        let order = json!({ "verb": "restore", "target": "sim:constant", "options": { "journal": journal } });
        server.post("/api/tasks", &order).refused(404);
    }
    assert!(list(&server.document("/api/tasks"), "/tasks").is_empty());
    assert!(!home.path("saved").exists() && server.temporary().is_empty());
}

#[test]
fn no_path_is_opened_as_a_recipe_a_job_a_host_or_a_card() {
    let home = Home::new();
    bait(&home);
    let server = Server::start(&home, &[]);
    let absolute = |name: &str| home.path(name).to_str().unwrap().to_owned();
    for recipe in
        ["/etc/passwd", "../x.toml", "recipe.toml", "./recipe.toml", &absolute("recipe.toml"), "", "\0"]
    {
        let order = json!({ "verb": "bench", "target": "sim:constant", "options": { "recipe": recipe } });
        server.post("/api/tasks", &order).refused(422);
        let shown = server.get(&format!("/api/recipes/{}", escaped(recipe)));
        shown.refused(404);
    }
    for name in ["/etc/passwd", "./job.toml", "job.toml", &absolute("job.toml"), "", "\0"] {
        server.post("/api/rank", &json!({ "job": name })).refused(422);
        server.post("/api/rank", &json!({ "job": "pi-boot", "host": name })).refused(422);
        server.post("/api/rank", &json!({ "job": "pi-boot", "cards": [name] })).refused(422);
        server.get(&format!("/api/compare?card={}", escaped(name))).refused(422);
        server.get(&format!("/api/report?card={}", escaped(name))).refused(422);
        server.get(&format!("/api/cards/{}", escaped(name))).refused(404);
        server.get(&format!("/api/cards/{}/attachments/x", escaped(name))).refused(404);
        server.get(&format!("/api/sessions/{}", escaped(name))).refused(404);
        server.get(&format!("/api/sessions/{}/file?format=json", escaped(name))).refused(404);
        server.get(&format!("/api/tasks/{}", escaped(name))).refused(404);
        let unmount = format!("/api/devices/{}/unmount", escaped(name));
        server.send(server.head("POST", &unmount, &[("Content-Length", "0")]).as_bytes()).refused(404);
    }
    server.get("/api/compare").refused(422);
    server.get("/api/report?format=..%2fx").refused(422);
    for card in ["x.toml", ".%2fx.toml", "%2fetc%2fpasswd", "constant%3fstate=%2fetc%2fpasswd", "%00"] {
        server.get(&format!("/api/simulated/{card}")).refused(422);
    }
    for query in
        ["state=%2fetc%2fpasswd", "save=x", "seed=1%26save%3dx", "seed%3d1%26save=x", "announced_bytes=1e30"]
    {
        server.get(&format!("/api/simulated/constant?{query}")).refused(422);
    }
    assert!(!home.path("x").exists());
}

#[test]
fn long_and_odd_names_are_not_found() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let long = "a".repeat(30_000);
    let uuid = "-".repeat(36);
    for id in ["..%2f..%2fetc%2fpasswd", "%2e%2e", "%00", "%0d%0a", "%ff", "'%20OR%20'1'='1", &uuid, &long] {
        for path in ["/api/tasks/", "/api/cards/", "/api/sessions/", "/api/recipes/"] {
            server.get(&format!("{path}{id}")).refused(404);
        }
        server.delete(&format!("/api/tasks/{id}")).refused(404);
    }
    // Longer than any valid address, so it is refused unparsed.
    let answer = server.get(&format!("/api/tasks/{}", "a".repeat(200_000)));
    assert!([414, 431].contains(&answer.status), "{answer:?}");
}

const HOSTILE: [&str; 5] = [
    "<img src=x onerror=alert(1)>",
    "\"><script>alert(2)</script>",
    "' onmouseover='alert(3)",
    "</section></p><svg/onload=alert(4)>",
    "\u{202e}dnarb & &amp; \u{7}bell",
];

/// Asserts that a fragment has only text in place of a name.
#[track_caller]
fn is_text(home: &Home, html: &str) {
    let found = browsed(home, html);
    for tag in list(&found, "/tags") {
        let tag = tag.as_str().unwrap();
        assert!(
            !["script", "img", "iframe", "object", "embed", "form", "base", "link"].contains(&tag),
            "{tag}"
        );
    }
    for attribute in list(&found, "/attributes") {
        let (name, value) = (attribute[1].as_str().unwrap(), attribute[2].as_str().unwrap());
        assert!(!name.starts_with("on") && !value.contains("javascript:"), "{attribute}");
    }
}

#[test]
fn hostile_names_are_escaped_in_html_and_kept_in_json() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    for (number, name) in HOSTILE.iter().enumerate() {
        let file = format!("{name}.log");
        let sent = server.upload(&file, log(&[700 + number as u32, 690]).as_bytes());
        let order = |keep: bool| {
            json!({
                "uploads": [sent["upload"]], "keep": keep, "brand": name, "card": name, "marks": ["A2"],
            })
        };
        is_text(&home, text(&server.post("/api/imports", &order(false)).expect(200), "/html"));
        is_text(&home, text(&server.post("/api/imports", &order(true)).expect(200), "/html"));
    }
    let cards = server.document("/api/cards?own=true");
    let ids: Vec<&str> = list(&cards, "/cards").iter().map(|card| text(card, "/id")).collect();
    assert_eq!(ids.len(), HOSTILE.len(), "{cards:#}");
    for name in HOSTILE {
        let has = |card: &Value| card["brand"] == *name && text(card, "/title").contains(name);
        assert!(list(&cards, "/cards").iter().any(has), "{name:?} {cards:#}");
        let found = server.document(&format!("/api/cards?own=true&brand={}", escaped(name)));
        assert_eq!(found["total"], 1, "{name:?}");
    }
    for id in &ids {
        let change = json!({
            "set": { "seller": HOSTILE[0], "form": HOSTILE[1] },
            "event": { "kind": "bought", "date": "2024-05", "price": "9.99EUR", "about": HOSTILE[3] },
        });
        let changed = server.say("PATCH", &format!("/api/cards/{id}"), change.to_string().as_bytes());
        assert!(changed.status == 200 || changed.status == 422, "{changed:?}");
        let card = server.document(&format!("/api/cards/{id}"));
        is_text(&home, text(&card, "/html"));
        for session in list(&card, "/sessions") {
            let path = format!("/api/sessions/{}", text(session, "/session"));
            is_text(&home, text(&server.document(&path), "/html"));
            let file = server.get(&format!("{path}/file?format=html"));
            assert!(file.status == 200 && !file.text().contains("<img src=x"), "{path}");
        }
    }
    let all: String = ids.iter().map(|id| format!("card={id}&")).collect();
    is_text(&home, text(&server.document(&format!("/api/compare?{all}")), "/html"));
    let ranked = server.post("/api/rank", &json!({ "job": "pi-boot", "cards": ids }));
    if ranked.status == 200 {
        is_text(&home, text(&ranked.expect(200), "/html"));
    }
    let png = b"\x89PNG\r\n\x1a\n".as_slice();
    for (name, bytes) in
        [(HOSTILE[0], png), ("evil.html", b"<script>alert(1)</script>"), ("evil.svg", b"<svg/>")]
    {
        let path = format!("/api/cards/{}/attachments?name={}", ids[0], escaped(name));
        let length = bytes.len().to_string();
        let head = server.head("POST", &path, &[("Content-Length", &length)]);
        let card = server.send(&[head.as_bytes(), bytes].concat()).expect(200);
        let kept = list(&card, "/attachments").iter().find(|one| one["name"] == name).unwrap();
        let file = server.get(&format!("/api/cards/{}/attachments/{}", ids[0], text(kept, "/hash")));
        assert!(file.status == 200 && file.body == bytes);
        let media_type = file.header("content-type").unwrap();
        assert!(["image/png", "application/octet-stream"].contains(&media_type), "{media_type}");
    }
}

#[test]
fn download_names_cannot_forge_headers() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let sent = server.upload("a.log", log(&[700, 690]).as_bytes());
    let order = json!({ "uploads": [sent["upload"]], "keep": true, "brand": "a\r\nX-Evil: 1", "card": "b" });
    server.post("/api/imports", &order).expect(200);
    let session = server.document("/api/sessions");
    let path = format!("/api/sessions/{}/file?format=json", text(&session, "/sessions/0/session"));
    let saved = server.get(&path);
    saved.expect(200);
    assert_eq!(saved.header("x-evil"), None);
    assert!(
        saved.header("content-disposition").unwrap().starts_with("attachment; filename=\"cardscope-import-")
    );
    server.get(&path.replace("json", "exe")).refused(422);
    server.get(path.split('?').next().unwrap()).refused(422);
}
