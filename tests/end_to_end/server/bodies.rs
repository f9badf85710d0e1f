//! Request bodies that are too large, malformed or endless: refused with a reason, and nothing of them remains.

use super::{Server, escaped};
use crate::common::binary::Home;
use crate::common::{list, text, until};
use serde_json::{Value, json};
use std::io::Write;
use std::net::{Shutdown, TcpStream};

/// Paths that accept a document.
const TAKE_DOCUMENTS: [(&str, &str); 5] = [
    ("POST", "/api/tasks"),
    ("POST", "/api/rank"),
    ("POST", "/api/imports"),
    ("POST", "/api/recipes/check"),
    ("PATCH", "/api/cards/none"),
];

#[test]
fn malformed_documents_are_refused() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let deep = |open: &str, n: usize| format!("{{\"verb\":{}", open.repeat(n));
    for (method, path) in TAKE_DOCUMENTS {
        for body in [
            &b""[..],
            b"{",
            b"null",
            b"[]",
            b"7",
            b"\"text\"",
            b"{\"verb\":7,\"job\":7,\"uploads\":7,\"text\":7,\"set\":7}",
            b"{\"verb\":\"check\",\"job\":[],\"uploads\":\"x\",\"text\":{},\"marks\":{}}",
            b"{\"verb\":\"\xff\xfe\"}",
            b"\xef\xbb\xbf{}",
            b"{\"verb\":\"\\ud800\"}",
            b"{\"verb\":1e999}",
            b"{\"there-is\":\"no such field\"} and more",
            deep("[", 100_000).as_bytes(),
            deep("{\"a\":", 100_000).as_bytes(),
        ] {
            let answer = server.say(method, path, body);
            // An empty change is valid, and then the card does not exist.
            let odd = [400, 422].contains(&answer.status) || (method == "PATCH" && answer.status == 404);
            assert!(odd, "{method} {path} {body:.60?}: {answer:?}");
            answer.refused(answer.status);
        }
        let fields_in_order = server.say(method, path, b" []").refused(422);
        assert!(fields_in_order.contains("array"), "{method} {path}: {fields_in_order}");
        let large = format!("{{\"verb\":\"{}\"}}", "x".repeat(1 << 20));
        server.say(method, path, large.as_bytes()).refused(413);
        let head = server.head(method, path, &[("Content-Type", "text/plain"), ("Content-Length", "2")]);
        server.send(&[head.as_bytes(), b"{}"].concat()).refused(415);
        let head = server.head(method, path, &[("Content-Length", "2")]);
        server.send(&[head.as_bytes(), b"{}"].concat()).refused(415);
    }
    assert!(list(&server.document("/api/tasks"), "/tasks").is_empty());
}

#[test]
fn oversized_chunked_document_is_cut_off() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let headers = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")];
    let head = server.head("POST", "/api/rank", &headers);
    let answer = server.stream(|stream| {
        let chunk = format!("{:x}\r\n{}\r\n", 1 << 16, " ".repeat(1 << 16));
        let _ = stream.write_all(head.as_bytes());
        // The end is never sent.
        while stream.write_all(chunk.as_bytes()).is_ok() {}
    });
    answer.refused(413);
}

/// Connection that sends this and then nothing.
fn silent(server: &Server, said: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(said.as_bytes()).unwrap();
    stream
}

#[test]
fn stalled_request_does_not_block_others() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let json = ("Content-Type", "application/json");
    let half = server.head("POST", "/api/tasks", &[json, ("Content-Length", "100")]) + "{\"verb\":";
    let chunk = server.head("POST", "/api/tasks", &[json, ("Transfer-Encoding", "chunked")]) + "5\r\n{\"ver";
    let file = server.head("POST", "/api/uploads?name=x", &[("Content-Length", "1000")]) + "half a file";
    let said = [half.as_str(), &chunk, &file, "GET /api/tasks HT", ""];
    let silent: Vec<TcpStream> = said.iter().cycle().take(50).map(|said| silent(&server, said)).collect();
    until("the half files", || server.temporary().len() == 10);
    server.get("/api/tasks").expect(200);
    for stream in &silent {
        let _ = stream.shutdown(Shutdown::Both);
    }
    drop(silent);
    until("the end of the half files", || server.temporary().is_empty());
    assert!(list(&server.document("/api/tasks"), "/tasks").is_empty());
}

#[test]
fn oversized_upload_is_refused_by_its_header() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    for length in ["1000000000", "9000000000000000000"] {
        let head = server.head("POST", "/api/uploads?name=large.log", &[("Content-Length", length)]);
        // The body is never sent, so an answer that waited for it would not come.
        let error = server.send(head.as_bytes()).refused(413);
        assert!(error.contains("large.log") && error.contains("256 MiB"), "{error}");
    }
    let attach = "/api/cards/none/attachments?name=x.png";
    let head = server.head("POST", attach, &[("Content-Length", "1000000000")]);
    let refused = server.send(head.as_bytes());
    assert!([404, 413].contains(&refused.status), "{refused:?}");
    assert!(server.temporary().is_empty());
}

#[test]
fn growing_upload_is_refused_and_removed() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let head = server.head("POST", "/api/uploads?name=large.log", &[("Transfer-Encoding", "chunked")]);
    let answer = server.stream(|stream| {
        let chunk = [format!("{:x}\r\n", 1 << 20).as_bytes(), &vec![b'x'; 1 << 20], b"\r\n"].concat();
        let _ = stream.write_all(head.as_bytes());
        // 300 MiB.
        let _ = (0..300).try_for_each(|_| stream.write_all(&chunk));
        let _ = stream.write_all(b"0\r\n\r\n");
    });
    answer.refused(413);
    assert!(server.temporary().is_empty());
}

#[test]
fn upload_keeps_only_its_base_name() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    for (sent, kept) in [
        ("run 1.log", "run 1.log"),
        ("../../../../etc/cron.d/evil", "evil"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\a.log", "a.log"),
        ("..", "file"),
        ("", "file"),
        ("a\r\nSet-Cookie: b.log", "aSet-Cookie: b.log"),
        ("nul\0l.log", "null.log"),
        ("\u{202e}gol.exe", "\u{202e}gol.exe"),
        ("<img src=x onerror=alert(1)>.log", "<img src=x onerror=alert(1)>.log"),
    ] {
        let upload = server.upload(sent, b"some text");
        assert_eq!((text(&upload, "/name"), &upload["bytes"]), (kept, &json!(9)), "{sent:?}");
    }
    let long = server.upload(&"é".repeat(4000), b"");
    assert!(text(&long, "/name").len() <= 200);
    let files = server.temporary();
    assert_eq!(files.len(), 11);
    assert!(files.iter().all(|folder| folder.starts_with(&server.temp)), "{files:?}");
    let mut outside = home.names();
    outside.retain(|name| !["temp", "state", "data"].contains(&name.as_str()));
    assert_eq!(outside, [""; 0], "nothing lies beside the folder");
    for id in ["..", ".", "%2e%2e", "..%2f..%2fstate", "x", &"a".repeat(5000), "%00"] {
        let answer = server.delete(&format!("/api/uploads/{id}"));
        assert!([404, 405].contains(&answer.status), "{id}: {answer:?}");
        answer.refused(answer.status);
        let import = server.post("/api/imports", &json!({ "uploads": [id] }));
        import.refused(404);
    }
    let id = text(&long, "/upload");
    server.delete(&format!("/api/uploads/{id}")).expect(204);
    server.delete(&format!("/api/uploads/{id}")).refused(404);
    assert_eq!(server.temporary().len(), 10);
    let missing = server.send(server.head("POST", "/api/uploads", &[("Content-Length", "0")]).as_bytes());
    missing.refused(422);
}

#[test]
fn unknown_upload_is_no_server_error() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let rubbish: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for (name, bytes) in
        [("a.log", &rubbish[..]), ("b.zip", b"PK\x03\x04broken"), ("c.json", b"{"), ("d", b"")]
    {
        let id = text(&server.upload(name, bytes), "/upload").to_owned();
        for keep in [false, true] {
            let answer = server.post("/api/imports", &json!({ "uploads": [id], "keep": keep }));
            assert!(answer.status == 200 || answer.status == 422, "{name}: {answer:?}");
            if answer.status == 200 {
                let document: Value = answer.expect(200);
                assert!(!text(&document, "/files/0/error").is_empty(), "{document:#}");
                assert_eq!(text(&document, "/files/0/file"), name);
            }
        }
    }
    assert!(!escaped("/").contains('/'));
}

#[test]
fn hostile_recipe_is_a_client_error() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    for recipe in [
        String::new(),
        format!("a = {}", "[".repeat(300_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        "[[test]]\n".repeat(100_000),
        "a.".repeat(200_000) + "b = 1",
        "name = \"\0\"".to_owned(),
        "\u{feff}".to_owned(),
    ] {
        let checked = server.post("/api/recipes/check", &json!({ "text": recipe })).expect(200);
        assert_eq!(checked["ok"], false, "{checked:.200}");
        assert!(!text(&checked, "/error").is_empty());
    }
    server.get("/api/recipes").expect(200);
}
