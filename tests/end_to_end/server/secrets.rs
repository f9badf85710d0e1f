//! Secrets of the server are hidden from other users of the computer.

use super::Server;
use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::machine::{TestMount, names_in, run_tool};
use crate::common::{text, until};
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PLACE: &str = "/api/tasks";

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn token_file(home: &Home) -> PathBuf {
    home.path("state/cardscope/server-token")
}

/// Output of a script that another user runs.
fn as_another_user(script: &str, argument: &str) -> String {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", script, "sh", argument]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let outcome = Running::of(command).finish();
    outcome.stdout + &outcome.stderr
}

/// Folder with an `xdg-open` that records its arguments and keeps running, like a browser.
fn browser(home: &Home) -> PathBuf {
    let folder = home.path("bin");
    fs::create_dir(&folder).unwrap();
    let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$HOME/opened.part\"\n/bin/mv \"$HOME/opened.part\" \"$HOME/opened\"\n/bin/sleep 20\nexit 0\n";
    fs::write(folder.join("xdg-open"), script).unwrap();
    set(&folder.join("xdg-open"), 0o755);
    folder
}

/// Page that the browser was told to open.
fn opened_page(home: &Home) -> PathBuf {
    until("the browser", || home.path("opened").exists());
    PathBuf::from(fs::read_to_string(home.path("opened")).unwrap().trim())
}

#[test]
fn token_is_hidden_from_other_users() {
    let home = Home::new();
    // Readable for everybody, like most home folders.
    set(&home.path(""), 0o755);
    let browser = browser(&home);
    let server = Server::start_as(&home, &["--open"], |command| {
        command.env("PATH", &browser);
    });
    let page = opened_page(&home);
    let shown = fs::read_to_string(&page).unwrap();
    assert!(shown.contains(&server.link()), "{shown}");
    assert_eq!(page.metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(
        page.parent().unwrap(),
        home.path("").canonicalize().unwrap(),
        "where browsers in a sandbox can read"
    );
    assert!(!page.file_name().unwrap().to_string_lossy().starts_with('.'));

    let arguments = as_another_user("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'", "");
    assert!(arguments.contains("cardscope") && arguments.contains(page.to_str().unwrap()), "{arguments}");
    assert!(!arguments.contains(&server.token));
    let everything = as_another_user(
        "find \"$1\" -type f -exec cat {} + 2>/dev/null; cat \"$1\"/*.html",
        home.path("").to_str().unwrap(),
    );
    assert!(
        everything.contains("Permission denied")
            && everything.contains("xdg-open") | everything.contains("printf"),
        "{everything}"
    );
    assert!(!everything.contains(&server.token));
    assert!(!as_another_user("cat \"$1\"", token_file(&home).to_str().unwrap()).contains(&server.token));

    // The page is removed as soon as a browser has the cookie.
    server.cookie();
    assert!(!page.exists());
}

#[test]
fn browser_page_is_removed_and_replaces_nothing() {
    let home = Home::new();
    let browser = browser(&home);
    let start = |port: &str| {
        let mut command = home.command(CARDSCOPE);
        command.args(["serve", "--port", port, "--open", "--json"]).env("PATH", &browser);
        Running::of(command)
    };
    let server = start("0");
    let page = opened_page(&home);
    assert!(server.printed().contains("token="), "for the program that asked");
    server.signal(rustix::process::Signal::INT);
    server.finish().expect(0);
    assert!(!page.exists());
    // A planted link in place of the page is not followed.
    let port = page.to_str().unwrap().rsplit_once('-').unwrap().1.trim_end_matches(".html").to_owned();
    let bait = home.path("bait");
    fs::write(&bait, "mine").unwrap();
    symlink(&bait, &page).unwrap();
    let server = start(&port);
    until("the server", || server.printed().contains("token="));
    until("the warning", || server.noted().contains("the browser is not opened"));
    assert_eq!(fs::read_to_string(&bait).unwrap(), "mine");
}

#[test]
fn each_start_has_a_new_token() {
    let home = Home::new();
    let first = Server::start(&home, &[]);
    let file = token_file(&home);
    assert_eq!((first.token.len(), fs::read_to_string(&file).unwrap()), (64, first.token.clone()));
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(file.parent().unwrap().metadata().unwrap().mode() & 0o777, 0o700);
    let (old, cookie) = (first.token.clone(), first.cookie());
    drop(first);
    assert!(!file.exists());
    let mut second = Server::start(&home, &[]);
    assert_ne!(second.token, old);
    let own = second.token.clone();
    second.token.clone_from(&old);
    second.get(PLACE).refused(401);
    let pair = cookie.split(';').next().unwrap();
    let host = second.address;
    second
        .send(
            format!("GET {PLACE} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: {pair}\r\n\r\n")
                .as_bytes(),
        )
        .refused(401);
    second.token = own;
    second.get(PLACE).expect(200);
    // The token of a killed server is replaced.
    second.kill();
    assert_eq!(fs::read_to_string(&file).unwrap(), second.token);
    let third = Server::start(&home, &[]);
    assert_eq!(fs::read_to_string(&file).unwrap(), third.token);
    assert_ne!(third.token, second.token);
}

#[test]
fn server_runs_without_room_for_the_token_file() {
    let home = Home::new();
    // The disk has room for the token, but not for the address after it.
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=4k"], "tmpfs");
    let folder = disk.point.join("cardscope");
    for _ in 0..2 {
        let server = Server::start_as(&home, &[], |command| {
            command.env("XDG_STATE_HOME", &disk.point);
        });
        until("the warning", || server.running().noted().contains("find no token"));
        let noted = server.running().noted();
        assert!(noted.contains("No space left on device") && noted.contains("free some space"), "{noted}");
        server.get(PLACE).expect(200);
        assert_eq!(names_in(&folder), ["server-lock"]);
        fs::write(disk.point.join("full"), [7; 4096]).unwrap();
    }
    // No folder at all.
    let server = Server::start_as(&home, &["--archive", "a.sqlite"], |command| {
        command.env_remove("XDG_STATE_HOME").env_remove("HOME");
    });
    server.get(PLACE).expect(200);
    until("the warning", || server.running().noted().contains("HOME"));
}

/// Asserts that secrets exposed by `change` are refused with the command that repairs them.
fn assert_refused(start: &dyn Fn() -> Outcome, token: &str, command: &str) {
    let outcome = start();
    assert_eq!(outcome.status.code(), Some(2), "{outcome}");
    assert!(outcome.stderr.contains(command), "{command}: {outcome}");
    assert!(!outcome.stdout.contains(token) && !outcome.stderr.contains(token), "{outcome}");
}

#[test]
fn exposed_token_files_are_refused() {
    let token = "a".repeat(64);
    for option in [false, true] {
        let home = Home::new();
        let file = if option { home.path("secret/token") } else { token_file(&home) };
        let folder = file.parent().unwrap().to_owned();
        fs::create_dir_all(&folder).unwrap();
        let path = file.to_str().unwrap();
        let mut words = vec!["serve", "--port", "0", "--json"];
        words.extend(if option { vec!["--token-file", path] } else { vec![] });
        let start = || home.run(&words);
        fs::write(&file, &token).unwrap();
        for mode in [0o644, 0o640, 0o620, 0o666] {
            set(&file, mode);
            assert_refused(&start, &token, &format!("chmod 600 {path}"));
        }
        set(&file, 0o600);
        set(&folder, 0o777);
        assert_refused(&start, &token, "chmod go-w");
        set(&folder, 0o700);
        run_tool("chown", &["65534", path]);
        assert_refused(&start, &token, &format!("rm {path}"));
        assert_eq!(file.metadata().unwrap().uid(), 65534, "it is left alone");
        run_tool("chown", &["0", path]);
        run_tool("chown", &["65534", folder.to_str().unwrap()]);
        assert_refused(&start, &token, "chown 0");
        run_tool("chown", &["0", folder.to_str().unwrap()]);
        // Repaired, but a token of an earlier start is not used again.
        let server = Server::start(&home, &words[4..]);
        assert_eq!(server.token == token, option);
    }
}

#[test]
fn token_file_is_created_once_and_not_printed() {
    let home = Home::new();
    let file = home.path("token");
    let path = file.to_str().unwrap();
    let first = Server::start(&home, &["--token-file", path]).token.clone();
    assert_eq!(fs::read_to_string(&file).unwrap(), first);
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(Server::start(&home, &["--token-file", path]).token, first, "it stays");
    let running = home.start(&["serve", "--port", "0", "--token-file", path]);
    until("the address", || running.printed().contains("http://"));
    assert!(running.printed().contains(path) && !running.printed().contains(&first), "{}", running.printed());
    for odd in ["", "short", "no token\n", &"x y".repeat(30)] {
        fs::write(&file, odd).unwrap();
        home.run(&["serve", "--port", "0", "--token-file", path])
            .expect(2)
            .says(&["holds no token", "openssl rand -hex 32"]);
    }
    let folder = home.path("folder");
    fs::create_dir(&folder).unwrap();
    home.run(&["serve", "--port", "0", "--token-file", folder.to_str().unwrap()])
        .expect(2)
        .says(&["is a folder"]);
    home.run(&["serve", "--port", "0", "--token-file", "/nowhere/token"]).expect(2).says(&["/nowhere/token"]);
}

#[test]
fn folders_of_uploads_that_a_killed_server_left_are_removed_at_the_next_start() {
    let home = Home::new();
    let mut server = Server::start(&home, &[]);
    let living = Server::start(&home, &[]);
    server.upload("run.log", b"a log");
    living.upload("run.log", b"another");
    assert_eq!(server.temporary().len(), 2);
    server.kill();
    assert_eq!(server.temporary().len(), 2, "nobody is left to remove it");
    let next = Server::start(&home, &[]);
    let left = next.temporary();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read_dir(&left[0]).unwrap().count(), 1, "that of a server that lives");
}

#[test]
fn token_proof_reveals_nothing_else() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let host = server.address;
    let asked = |nonce: &str| {
        server.send(
            format!("GET /api/proof?nonce={nonce} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )
    };
    let nonce = "0123456789abcdef".repeat(2);
    let proof = asked(&nonce).expect(200);
    assert_eq!(text(&proof, "/proof"), text(&asked(&nonce).expect(200), "/proof"));
    assert_ne!(text(&proof, "/proof"), text(&asked(&nonce.replace('0', "1")).expect(200), "/proof"));
    let hmac = format!("printf %s {nonce} | openssl dgst -sha256 -hmac {}", server.token);
    assert!(run_tool("sh", &["-c", &hmac]).ends_with(text(&proof, "/proof")));
    for odd in ["", "0", &"0".repeat(31), &"0".repeat(129), &"g".repeat(32), &"%00".repeat(32)] {
        asked(odd).refused(422);
    }
}

/// Runs `serve --open` on a port without a browser.
fn opened(home: &Home, port: u16) -> Outcome {
    let mut command = home.command(CARDSCOPE);
    command.args(["serve", "--port", &port.to_string(), "--open", "--json"]).env("PATH", home.path("bin"));
    Running::of(command).finish()
}

#[test]
fn open_gives_no_token_to_another_program() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let port = server.address.port();
    assert_eq!(text(&opened(&home, port).expect(0).json(), "/address"), server.link());
    drop(server);
    // Another user's program takes over the port.
    let squatter = TcpListener::bind(("127.0.0.1", port)).unwrap();
    squatter.set_nonblocking(true).unwrap();
    let outcome = opened(&home, port).expect(2).says(&["another program listens there"]);
    assert!(!outcome.stdout.contains("token") && squatter.accept().is_err(), "{outcome}");
    // Same, while a server of the user runs on another port.
    let server = Server::start(&home, &[]);
    let outcome = opened(&home, port).expect(2);
    assert!(!outcome.stdout.contains("token") && squatter.accept().is_err(), "{outcome}");
    server.get(PLACE).expect(200);
}
