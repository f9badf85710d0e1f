//! Authentication, and headers that restrict browsers.

use super::{Answer, Server};
use crate::common::binary::{CARDSCOPE, Home, Running};

/// Path that needs only the token.
const PLACE: &str = "/api/tasks";

fn asked(server: &Server, method: &str, path: &str, lines: &[String]) -> Answer {
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    server.send(format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n").as_bytes())
}

#[test]
fn foreign_host_headers_are_refused() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let (port, token) = (server.address.port(), format!("Cardscope-Token: {}", server.token));
    let with =
        |lines: &[String]| asked(&server, "GET", PLACE, &[std::slice::from_ref(&token), lines].concat());
    for ours in ["127.0.0.1", "localhost", "LocalHost", "[::1]"] {
        with(&[format!("Host: {ours}:{port}")]).expect(200);
    }
    let ours = format!("Host: 127.0.0.1:{port}");
    for forged in [
        vec![format!("Host: evil.example:{port}")],
        vec![format!("Host: localhost.evil.example:{port}")],
        vec![format!("Host: evil.localhost:{port}")],
        vec![format!("Host: localhost:{port}.")],
        vec!["Host: localhost".to_owned()],
        vec!["Host: 127.0.0.1:1".to_owned()],
        vec!["Host: ".to_owned()],
        vec![format!("Host: 0.0.0.0:{port}")],
        vec![format!("Host: user@127.0.0.1:{port}")],
        vec![ours.clone(), ours.clone()],
        vec![ours.clone(), format!("Host: evil.example:{port}")],
        vec![format!("Host: evil.example:{port}"), format!("X-Forwarded-Host: 127.0.0.1:{port}")],
        vec![],
    ] {
        let answer = with(&forged);
        assert!([400, 403].contains(&answer.status), "{forged:?}: {}", answer.status);
        assert!(!answer.text().contains("\"tasks\""), "{forged:?}: {}", answer.text());
    }
    // Also the app's page, so that none of its scripts runs under another name.
    asked(&server, "GET", "/", &[format!("Host: evil.example:{port}")]).refused(403);
    // An absolute address in the request line changes nothing.
    let absolute = format!("http://evil.example:{port}{PLACE}");
    asked(&server, "GET", &absolute, &[token.clone(), format!("Host: evil.example:{port}")]).refused(403);
}

#[test]
fn foreign_origins_are_refused_despite_the_token() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let own = [format!("Host: {}", server.address), format!("Cardscope-Token: {}", server.token)];
    let with =
        |origin: &str| asked(&server, "GET", PLACE, &[&own[..], &[format!("Origin: {origin}")]].concat());
    with(&format!("http://{}", server.address)).expect(200);
    for foreign in [
        "http://evil.example",
        "null",
        "",
        &format!("https://{}", server.address),
        &format!("http://{}.evil.example", server.address),
        &format!("http://evil.example/http://{}", server.address),
        &format!("http://localhost:{}", server.address.port()),
    ] {
        with(foreign).refused(403);
    }
    let twice = [format!("Origin: http://{}", server.address), "Origin: http://evil.example".to_owned()];
    asked(&server, "GET", PLACE, &[&own[..], &twice].concat()).refused(403);
}

#[test]
fn api_needs_the_token() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let host = format!("Host: {}", server.address);
    let wrong = format!("{}0", &server.token[..63]);
    let wrong = if wrong == server.token { "1".repeat(64) } else { wrong };
    for lines in [
        vec![],
        vec!["Cardscope-Token:".to_owned()],
        vec![format!("Cardscope-Token: {wrong}")],
        vec![format!("Cardscope-Token: {}", &server.token[..63])],
        vec![format!("Cardscope-Token: {}0", server.token)],
        vec![format!("Cardscope-Token: {}", server.token.to_uppercase())],
        vec![format!("Cardscope-Token: {}", server.token), format!("Cardscope-Token: {wrong}")],
        vec![format!("Authorization: Bearer {}", server.token)],
        vec![format!("Cookie: cardscope-{}={wrong}", server.address.port())],
        vec![format!("Cookie: cardscope-1={}", server.token)],
        vec![format!("Cookie: cardscope-{}={}", server.address.port(), server.token)],
    ] {
        if server.token.to_uppercase() == server.token {
            continue;
        }
        let lines = [vec![host.clone(), "Content-Length: 0".to_owned()], lines].concat();
        for (method, path) in [
            ("GET", PLACE),
            ("GET", "/api/openapi.json"),
            ("GET", "/api/events"),
            ("GET", "/api/there-is-none"),
            ("POST", PLACE),
            ("POST", "/api/session"),
            ("POST", "/api/uploads?name=x"),
            ("PATCH", "/api/cards/x"),
            ("DELETE", "/api/tasks/x"),
            ("PUT", PLACE),
        ] {
            asked(&server, method, path, &lines).refused(401);
        }
    }
    asked(&server, "GET", &format!("{PLACE}?token={}", server.token), &[host]).refused(401);
    assert!(server.temporary().is_empty());
}

#[test]
fn cookie_allows_reads_only() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let cookie = server.cookie();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    let (name, secret) = pair.split_once('=').unwrap();
    assert_eq!(name, format!("cardscope-{}", server.address.port()));
    assert!(secret.len() == 64 && secret != server.token, "it has a secret of its own");
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict");
    // The cookie, which other ports of this computer can see, is not valid as the header.
    let header = [format!("Host: {}", server.address), format!("Cardscope-Token: {secret}")];
    asked(&server, "GET", PLACE, &header).refused(401);
    let own =
        [format!("Host: {}", server.address), format!("Cookie: a=b; {pair}"), "Content-Length: 0".to_owned()];
    asked(&server, "GET", PLACE, &own).expect(200);
    assert_eq!(asked(&server, "HEAD", PLACE, &own).status, 200);
    // A query with a body is no write.
    let question = br#"{"job":"pi-boot"}"#;
    let head: String = own[..2].iter().map(|line| format!("{line}\r\n")).collect();
    let head = format!(
        "POST /api/rank HTTP/1.1\r\nConnection: close\r\n{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        question.len()
    );
    server.send(&[head.as_bytes(), question].concat()).expect(200);
    for (method, path) in [
        ("POST", PLACE),
        ("POST", "/api/session"),
        ("POST", "/api/imports"),
        ("POST", "/api/rank/"),
        ("POST", "/api/devices/x/unmount"),
        ("POST", "/api/uploads?name=x"),
        ("POST", "/api/tasks/x/stop"),
        ("PATCH", "/api/cards/x"),
        ("DELETE", "/api/tasks/x"),
    ] {
        asked(&server, method, path, &own).refused(401);
    }
}

#[test]
fn responses_have_security_headers() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let host = format!("Host: {}", server.address);
    let stranger = |path: &str, host: &str| asked(&server, "GET", path, &[host.to_owned()]);
    for answer in [
        server.get(PLACE),
        server.get("/api/there-is-none"),
        server.get("/api/tasks/none"),
        server.get("/"),
        server.get("/assets/none.js"),
        server.delete(PLACE),
        server.say("POST", PLACE, b"{"),
        server.say("POST", PLACE, &vec![b' '; 2 << 20]),
        stranger(PLACE, &host),
        stranger("/", "Host: evil.example"),
    ] {
        let policy = answer.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"]
        {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe-eval") && !policy.contains("script-src 'self' "), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}: {answer:?}");
        }
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    assert_eq!(server.get(PLACE).header("cache-control"), Some("no-store"));
}

#[test]
fn unknown_paths_get_the_api_error_form() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    for path in
        ["/api/", "/api/none", "/api/tasks/", "/api/tasks/a/b", "/api/tasks/../host", "/api/%2e%2e/tasks"]
    {
        server.get(path).refused(404);
    }
    for (method, path, allowed) in [
        ("PUT", "/api/tasks", "GET,HEAD,POST"),
        ("DELETE", "/api/cards", "GET,HEAD"),
        ("OPTIONS", "/api/tasks", "GET,HEAD,POST"),
        ("TRACE", "/api/host", "GET,HEAD"),
        ("PATCH", "/api/rank", "POST"),
        ("POST", "/", "GET, HEAD"),
    ] {
        let answer = server.send(server.head(method, path, &[("Content-Length", "0")]).as_bytes());
        answer.refused(405);
        assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
    }
    server.get("/api/tasks/%ff%fe").refused(404);
}

#[test]
fn used_port_gets_advice() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let port = server.address.port().to_string();
    home.run(&["serve", "--port", &port, "--json"]).expect(2).says(&[
        &server.address.to_string(),
        "another program listens there",
        "--port",
    ]);
    home.run(&["serve", "--port", "0", "--listen", "192.0.2.1"]).expect(2).says(&["--listen"]);
    server.get(PLACE).expect(200);
    // The port is free as soon as the server has ended.
    drop(server);
    let mut command = home.command(CARDSCOPE);
    command.args(["serve", "--port", &port, "--json"]);
    let again = Running::of(command);
    crate::common::until("the server", || again.printed().contains(&port));
}
