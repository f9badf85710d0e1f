//! Pages of every verb on a good, a fake and a slow card in a real terminal: `tmux` with 80 and 120 columns, in
//! colour. Expected screens are in `tests/fixtures/screens`; `UPDATE_SCREENS=1` rewrites them. The escape of a colour
//! is written as `␛`.

use crate::common::binary::{CARDSCOPE, Home};
use crate::progress::slow_card;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Good card, fake card, and one slower than its marks promise.
const CARDS: [(&str, &str); 3] = [
    ("good", "sim:sandisk-extremepro-32g-a1"),
    ("fake", "sim:sandian-1tb-52g"),
    ("slow", "sim:evoplus-256g-a2"),
];

/// Verbs with a page of a card.
const VERBS: [(&str, &[&str]); 7] = [
    ("info", &[]),
    ("verify", &[]),
    ("bench", &["--recipe", "quick"]),
    ("map", &["--budget", "60s"]),
    ("sustain", &["--read", "--duration", "60s"]),
    ("check", &["--budget", "2m"]),
    ("fit", &[]),
];

/// Longest time of a verb on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

/// Terminal of this width, with its own tmux server that ends with it.
pub(crate) struct Terminal {
    socket: String,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).output();
    }
}

impl Terminal {
    /// Starts a shell command.
    pub(crate) fn start(home: &Home, name: &str, columns: usize, line: &str) -> Self {
        // High enough that nothing scrolls away.
        Self::sized(home, name, (columns, 400), line)
    }

    /// Same, with columns and lines.
    pub(crate) fn sized(home: &Home, name: &str, (columns, lines): (usize, usize), line: &str) -> Self {
        let terminal =
            Terminal { socket: home.path(&format!("{name}-{columns}.tmux")).display().to_string() };
        let mut tmux = home.command("tmux");
        tmux.env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .env_remove("CARDSCOPE_ARCHIVE");
        tmux.args([
            "-S",
            &terminal.socket,
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &columns.to_string(),
        ]);
        // A Ctrl-C that arrives just after the command must end neither the shell nor the terminal.
        let ended = "echo \"[ended $?]\"; while :; do sleep 1000; done";
        tmux.args(["-y", &lines.to_string(), &format!("trap : INT; {line}; {ended}")]);
        let made = tmux.output().expect("tmux is there: ./check installs it");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.args(["-S", &self.socket]).args(arguments).stdin(Stdio::null());
        tmux
    }

    /// Current screen with colours.
    pub(crate) fn shows(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p", "-e", "-t", "0"]).output().unwrap();
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    /// Value of a tmux format such as `#{alternate_on}`.
    pub(crate) fn is(&self, format: &str) -> String {
        let said = self.tmux(&["display-message", "-p", "-t", "0", format]).output().unwrap();
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    }

    /// Resizes the terminal.
    pub(crate) fn resize(&self, columns: usize, lines: usize) {
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let resized = self.tmux(&["resize-window", "-t", "0", "-x", &columns, "-y", &lines]).status();
        assert!(resized.unwrap().success());
    }

    /// Presses a key.
    pub(crate) fn press(&self, key: &str) {
        assert!(self.tmux(&["send-keys", "-t", "0", key]).status().unwrap().success());
    }

    /// Screen as soon as a condition is true.
    #[track_caller]
    pub(crate) fn once(&self, so: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let shown = self.shows();
            if so(&shown) {
                return shown;
            }
            assert!(began.elapsed() < LIMIT, "never so:\n{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Final screen of the command without its status line, and its exit status.
    #[track_caller]
    pub(crate) fn ended(&self) -> (String, i32) {
        let shown = self.once(|shown| shown.contains("[ended "));
        let (screen, rest) = shown.split_once("[ended ").unwrap();
        let status = rest.split(']').next().unwrap().parse().unwrap();
        (screen.trim_end().to_owned() + "\n", status)
    }
}

/// Text of a coloured screen.
pub(crate) fn plain(screen: &str) -> String {
    let mut out = String::new();
    let mut parts = screen.split('\u{1b}');
    out += parts.next().unwrap_or_default();
    for part in parts {
        out += part.split_once('m').map_or(part, |(_, text)| text);
    }
    out
}

/// Screen without text that differs between runs: ids and the folder of the home.
fn known_again(screen: &str) -> String {
    let line = |line: &str| match line.find("Archived as session ") {
        Some(at) => {
            let end = line.rfind('.').unwrap_or(line.len());
            format!("{}ID{}", &line[..at + 20], &line[end..])
        }
        None => line.to_owned(),
    };
    let lines: Vec<String> = screen.lines().map(line).collect();
    lines.join("\n").replace('\u{1b}', "␛") + "\n"
}

#[track_caller]
fn same(name: &str, screen: &str) {
    let path = format!("{}/../../tests/fixtures/screens/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let screen = known_again(screen);
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        std::fs::write(&path, &screen).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(known == screen, "{name} differs; UPDATE_SCREENS=1 writes it anew:\n{screen}");
}

fn session_of(screen: &str) -> Option<String> {
    let screen = plain(screen);
    let id = screen.split_once("Archived as session ")?.1.split('.').next()?;
    Some(id.to_owned())
}

/// Runs all verbs on a card in a terminal of 80 columns and shows their archived pages in 120 columns.
fn all_verbs(card: &str, target: &str) {
    let home = Home::new();
    for (verb, options) in VERBS {
        let target = if verb == "fit" { "16GB" } else { target };
        let seed = if matches!(verb, "info" | "fit") { "" } else { " --seed 1" };
        let line = format!("'{CARDSCOPE}' {verb} '{target}' {}{seed} --quiet", options.join(" "));
        let name = format!("{verb}-{card}");
        let (screen, status) = Terminal::start(&home, &name, 80, &line).ended();
        assert!(status < 2, "{line}: {status}\n{screen}");
        let shown = plain(&screen);
        let answer = shown.lines().next().unwrap();
        assert!(answer.chars().count() <= 80 && answer.ends_with('.'), "{answer}");
        let bullets = shown.lines().take_while(|line| !line.is_empty());
        assert!(bullets.filter(|line| line.starts_with("  • ")).count() <= 5, "{shown}");
        same(&format!("{name}-80"), &screen);
        let Some(session) = session_of(&screen) else { continue };
        // Same page from the archive, wider and with details, and without colours in a pipe.
        let again = format!("'{CARDSCOPE}' archive show {session} --details");
        let (wide, _) = Terminal::start(&home, &name, 120, &again).ended();
        same(&format!("{name}-120"), &wide);
        let archive = home.archive();
        let piped =
            home.run(&["archive", "show", &session, "--archive", archive.to_str().unwrap()]).expect(0);
        // A command longer than a line is wrapped by the terminal.
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(words(&piped.stdout), words(&shown), "a pipe gets the text of 80 columns without colours");
    }
}

#[test]
fn screens_of_a_good_card() {
    all_verbs(CARDS[0].0, CARDS[0].1);
}

#[test]
fn screens_of_a_fake_card() {
    all_verbs(CARDS[1].0, CARDS[1].1);
}

#[test]
fn screens_of_a_slow_card() {
    all_verbs(CARDS[2].0, CARDS[2].1);
}

#[test]
fn colours_follow_terminal_and_options() {
    let home = Home::new();
    let info = ["info", CARDS[1].1];
    let piped = home.run(&info).expect(0).stdout;
    assert!(!piped.contains('\u{1b}'));
    let always = home.run(&[&info[..], &["--color", "always"]].concat()).expect(0).stdout;
    assert!(always.starts_with("\u{1b}[1m\u{1b}[33m"), "{always:?}");
    assert_eq!(plain(&always), piped);
    let line = format!("NO_COLOR=1 '{CARDSCOPE}' info '{}'", CARDS[1].1);
    assert!(!Terminal::start(&home, "no-color", 80, &line).ended().0.contains('\u{1b}'));
}

/// Stage in the progress line, from 1.
fn stage(shown: &str) -> Option<u32> {
    let (before, _) = shown.rsplit_once("/6 ")?;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// True if every table has rows.
fn no_empty_table(shown: &str) -> bool {
    let lines: Vec<&str> = shown.lines().collect();
    let heads = ["Speed", "Suitable for", "Marks"];
    lines.windows(3).all(|part| !heads.contains(&part[0]) || !part[2].trim().is_empty())
}

/// Interrupts a check in every stage: the first on a card in real time, so that none ends before the key arrives, the
/// later ones, which would take minutes there, on a simulated card.
#[test]
fn interrupted_check_shows_partial_results() {
    let home = Home::new();
    let served = slow_card(&home);
    for wanted in 1..=6 {
        let real_time = wanted <= 3;
        let card = if real_time { served.card().display().to_string() } else { CARDS[0].1.to_owned() };
        let line = format!("'{CARDSCOPE}' check '{card}' --seed 1 --budget 2m");
        let terminal = Terminal::start(&home, &format!("stage-{wanted}"), 80, &line);
        let reached =
            terminal.once(|shown| stage(shown).is_some_and(|now| now >= wanted) || shown.contains("[ended "));
        if !reached.contains("[ended ") {
            terminal.press("C-c");
        }
        let (screen, status) = terminal.ended();
        let shown = plain(&screen);
        assert!(status == 130 || !real_time && [0, 1, 4].contains(&status), "{status}\n{shown}");
        let words = ["PASSED", "NOT PROVEN", "NOT TESTED"];
        // The terminal echoes a key that arrives just after the progress line was removed.
        let mut lines = shown.lines().map(|line| line.trim_start_matches("^C"));
        let answer = lines.find(|line| words.iter().any(|word| line.starts_with(word)));
        assert!(answer.is_some_and(|answer| answer.ends_with('.')), "no answer in\n{shown}");
        assert!(no_empty_table(&shown), "{shown}");
        assert!(status != 130 || shown.contains("Ended early"), "{shown}");
    }
}
