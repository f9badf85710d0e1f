//! Decompression bombs, deep nesting, and small resource limits.

use super::{CARD, drawn, ended, published};
use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::logs::{log, taken_in, write};
use crate::common::machine::data;
use crate::common::{list, text};
use serde_json::Value;
use std::fs;
use std::time::Duration;

/// Files of a few hundred KiB that expand to a GiB: zeros, many files, nested archives.
const BOMBS: &str = "
import gzip, os, struct, sys, zipfile, zlib
to = lambda name: os.path.join(sys.argv[1], name)
raw = lambda: zlib.compressobj(wbits=-15)
SIZE, END = 64 << 20, b'\\x03\\0'
zeros, packer = bytes(SIZE), raw()
# May stand in a stream any number of times, so that a GiB is packed in a moment.
block = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
bomb = (block + END, zlib.crc32(zeros), SIZE)
def write_zip(name, members):
    with open(to(name), 'wb') as out:
        directory = b''
        for member, (packed, crc, size) in members.items():
            head = struct.pack('<HHHHHIIIHH', 20, 0, 8, 0, 33, crc, len(packed), size, len(member), 0)
            directory += b'PK\\1\\2\\x14\\0' + head + struct.pack('<HHHII', 0, 0, 0, 0, out.tell()) + member
            out.write(b'PK\\3\\4' + head + member + packed)
        out.write(directory + b'PK\\5\\6' + struct.pack('<HHHHIIH', 0, 0, *[len(members)] * 2, len(directory), out.tell(), 0))
log, packer = open(sys.argv[2], 'rb').read(), raw()
good = (packer.compress(log) + packer.flush(), zlib.crc32(log), len(log))
write_zip('zeros.zip', {b'0.log': bomb, b'good.log': good})
write_zip('bomb.zip', {b'%d.log' % n: bomb for n in range(16)})
with zipfile.ZipFile(to('many.zip'), 'w', zipfile.ZIP_STORED) as z:
    for n in range(100000):
        z.writestr('%d.log' % n, b'')
with zipfile.ZipFile(to('nested.zip'), 'w', zipfile.ZIP_DEFLATED) as z:
    for n in range(10):
        z.write(to('bomb.zip'), '%d.zip' % n)
crc = 0
for _ in range(32):
    crc = zlib.crc32(zeros, crc)
with open(to('zeros.gz'), 'wb') as out:
    out.write(b'\\x1f\\x8b\\x08' + bytes(7) + block * 32 + END + struct.pack('<II', crc, 32 * SIZE))
with open(to('members.gz'), 'wb') as out:
    out.write(gzip.compress(b'') * 200000)
assert zipfile.ZipFile(to('zeros.zip')).testzip() is None
";

#[test]
fn decompression_bombs_are_bounded() {
    let home = Home::new();
    let good = write(&home, "in/good.log", log(&[700]));
    let folder = home.path("in");
    let made = home.command("python3").args(["-c", BOMBS, folder.to_str().unwrap(), &good]).status().unwrap();
    assert!(made.success());
    for name in ["zeros.zip", "bomb.zip", "many.zip", "nested.zip", "zeros.gz", "members.gz"] {
        let bomb = folder.join(name);
        let mut command = home.command("sh");
        // Includes the program's own address space and the file.
        let limited = "ulimit -v 600000 && exec \"$0\" import --json \"$@\"";
        command.args(["-c", limited, CARDSCOPE, bomb.to_str().unwrap(), &good]);
        let outcome = Running::of(command).finish();
        println!("{name}: {:.1} s", outcome.took.as_secs_f64());
        assert!(outcome.took < Duration::from_secs(15), "{name}: {:?}", outcome.took);
        let document = ended(outcome).json();
        let kept =
            |file: &&Value| text(file, "/file").ends_with("/good.log") && text(file, "/kept") != "failed";
        assert!(list(&document, "/files").iter().any(|file| kept(&file)), "{name}: {document:.3000}");
    }
}

/// Runs the program with a limit of the shell.
fn limited(home: &Home, limit: &str, arguments: &[&str]) -> Outcome {
    let mut command = home.command("sh");
    command.args(["-c", &format!("ulimit {limit} && exec \"$@\""), "sh", CARDSCOPE]).args(arguments);
    Running::of(command).finish()
}

#[test]
fn file_size_limit_loses_no_data() {
    let home = Home::new();
    taken_in(&home, "a.log", &[700], &[]);
    taken_in(&home, "b.log", &[600], &[]);
    let whole = home.sessions().len();
    let card = home.path("card.img");
    let content = data(64 << 20);
    fs::write(&card, &content).unwrap();
    let image = card.to_str().unwrap();
    let (out, folder) = (home.path("page.html"), home.path("exported"));
    fs::create_dir(&folder).unwrap();
    let (out, folder) = (out.to_str().unwrap(), folder.to_str().unwrap());
    let state = home.path("card.state");
    let saved = format!("sim:constant?announced_bytes=64MiB&state={}", state.display());
    let another = write(&home, "c.log", log(&[500]));
    let recipe = home.recipe("", "[[test]]\ntest = \"SEQ1M Q1T1 write\"\npasses = 1\n");
    let directory = home.path("card");
    fs::create_dir(&directory).unwrap();
    let directory = directory.to_str().unwrap();
    let backup = home.path("backup.img");
    // Shells count in blocks of 512 or 1024 bytes.
    let mut is_drawn = drawn(5);
    for blocks in [0, 1, 8, 100, 2000, 20_000] {
        let limit = format!("-f {blocks}");
        for arguments in [
            &["list"] as &[&str],
            &["verify", image],
            &["verify", directory],
            &["verify", "--files", directory, "--max-write", "32M"],
            &["bench", image, "--recipe", &recipe],
            &["bench", image, "--recipe", &recipe, "--backup", backup.to_str().unwrap()],
            &["bench", directory, "--recipe", &recipe],
            &["map", image, "--budget", "5s"],
            &["verify", &saved],
            &["bench", CARD, "--recipe", &recipe],
            &["import", &another],
            &["archive", "list"],
            &["archive", "export", "-o", folder],
            &["archive", "edit", "a", "--set", "note=x"],
            &["compare", "a", "b"],
            &["report", "-o", out],
            &["manual", folder],
            &["completions", "bash"],
        ]
        .into_iter()
        .filter(|_| is_drawn())
        {
            let outcome = limited(&home, &limit, arguments);
            let name = format!("{limit}: {arguments:?}");
            let outcome = ended(outcome);
            assert!(outcome.status.code() != Some(1), "no card is at fault: {name}\n{outcome}");
            if outcome.status.code() == Some(3) {
                assert!(outcome.stderr.contains("ulimit -f"), "{name}\n{outcome}");
            }
            // Data that could not be restored within the limit can be restored without it.
            let restored = home.run(&["restore"]);
            assert!([Some(0), Some(2)].contains(&restored.status.code()), "{name}\n{restored}");
            assert!(fs::read(&card).unwrap() == content, "{name}: data of the card is lost");
            let _ = fs::remove_file(&backup);
        }
    }
    assert!(home.sessions().len() >= whole, "what was stored stays");
}

#[test]
fn one_mib_stack_is_enough() {
    let home = Home::new();
    taken_in(&home, "a.log", &[700], &[]);
    taken_in(&home, "b.log", &[600], &[]);
    let small = |arguments: &[&str]| ended(limited(&home, "-s 1024", arguments));
    for verb in published().keys() {
        let words: Vec<&str> = verb.split(' ').collect();
        for help in ["--help", "-h"] {
            let asked = [&words[..], &[help]].concat();
            assert!(!small(&asked).expect(0).stdout.is_empty(), "{verb}");
        }
    }
    for shell in ["bash", "zsh", "fish"] {
        small(&["completions", shell]).expect(0);
    }
    let (manual, page) = (home.path("manual"), home.path("page.html"));
    fs::create_dir(&manual).unwrap();
    small(&["manual", manual.to_str().unwrap()]).expect(0);
    small(&["verify", CARD]).expect(0);
    let recipe = home.recipe("size = \"4MiB\"", "[[test]]\ntest = \"RND4K Q32T4 read\"\npasses = 1\n");
    small(&["bench", CARD, "--recipe", &recipe]).expect(0);
    small(&["map", CARD, "--budget", "3s"]);
    small(&["check", CARD, "--budget", "5s"]);
    small(&["archive", "list"]).expect(0);
    small(&["compare", "a", "b"]).expect(0);
    small(&["rank", "--for", "game-load"]);
    small(&["report", "-o", page.to_str().unwrap()]).expect(0);
    small(&["doctor", "--json"]);
    let mut is_drawn = drawn(4);
    for open in [
        "[",
        "{\"a\":",
        "a = [",
        "[[",
        "a.",
        "<a>",
        "{\"fio version\":[",
        "{\"format\": \"cardscope-session\", \"a\":[",
    ] {
        let repeated = open.split(' ').next_back().unwrap().repeat(100_000);
        let deep = write(&home, "deep.toml", format!("{open}{repeated}"));
        for arguments in [
            &["import", &deep] as &[&str],
            &["archive", "import", &deep],
            &["bench", CARD, "--recipe", &deep],
            &["rank", "--for", &deep],
            &["rank", "--for", "pi-boot", "--on", &deep],
            &["bench", &format!("sim:{deep}")],
            &["sustain", CARD, "--against", &deep],
            &["compare", &deep, "a"],
            &["restore", &deep],
        ]
        .into_iter()
        .filter(|_| is_drawn())
        {
            let outcome = small(arguments);
            assert!([Some(1), Some(2)].contains(&outcome.status.code()), "{outcome}");
        }
    }
}
