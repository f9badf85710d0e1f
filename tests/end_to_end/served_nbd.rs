//! Cards over NBD with real clients (libnbd, qemu): several at once, and clients that send garbage or die.

use crate::common::binary::Home;
use crate::common::machine::{MIB, image, run_tool, try_tool};
use crate::common::nbd::Nbd;
use rustix::process::Signal;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Peak memory of the server in MiB.
fn peak_mib(nbd: &Nbd) -> u64 {
    let id = nbd.running.as_ref().unwrap().id();
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().split(' ').next().unwrap().parse::<u64>().unwrap() >> 10
}

const CARD: &str = "constant?announced_bytes=32MiB";

#[test]
fn nbdinfo_finds_every_card_by_its_name_with_what_it_can_do() {
    let home = Home::new();
    let socket = home.path("cards.sock");
    let nbd = Nbd::start(&home, &["lexar-16g-c10", CARD], socket.to_str().unwrap(), &["--no-timing"]);
    let list: Value = serde_json::from_str(&run_tool("nbdinfo", &["--list", "--json", nbd.uri(0)])).unwrap();
    assert_eq!(list["protocol"], "newstyle-fixed");
    let cards: Vec<_> =
        list["exports"].as_array().unwrap().iter().map(|e| (&e["export-name"], &e["export-size"])).collect();
    let (lexar, constant) = (Value::from(16_012_804_096u64), Value::from(32 * MIB));
    assert_eq!(cards, [(&"lexar-16g-c10".into(), &lexar), (&"constant".into(), &constant)]);
    let one: Value = serde_json::from_str(&run_tool("nbdinfo", &["--json", nbd.uri(1)])).unwrap();
    let one = &one["exports"][0];
    for can in ["can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn", "can_cache"] {
        assert_eq!(one[can], true, "{can}: {one:#}");
    }
    assert_eq!(
        (&one["is_read_only"], &one["is_rotational"], &one["can_df"]),
        (&false.into(), &false.into(), &false.into())
    );
    assert_eq!((&one["block_size_minimum"], &one["block_size_preferred"]), (&512.into(), &4096.into()));
    assert_eq!(one["block_size_maximum"], 32 * MIB);
    // Without a name the first card is used.
    let default = format!("nbd+unix:///?socket={}", socket.display());
    assert_eq!(run_tool("nbdinfo", &["--size", &default]), "16012804096");
    let unknown = format!("nbd+unix:///nonesuch?socket={}", socket.display());
    assert!(!try_tool("nbdinfo", &["--size", &unknown]).status.success());
    nbd.stop().expect(0);
    assert!(!socket.exists(), "removed at the end");
}

#[test]
fn an_image_copied_to_a_card_and_back_is_the_same() {
    let home = Home::new();
    let nbd = Nbd::start(&home, &[CARD], "127.0.0.1:0", &["--no-timing"]);
    let image = image(&home.path(""), 32);
    let (image_name, back, third) = (image.to_str().unwrap(), home.path("back"), home.path("third"));
    run_tool("nbdcopy", &["--flush", "--connections=4", image_name, nbd.uri(0)]);
    run_tool("nbdcopy", &[nbd.uri(0), back.to_str().unwrap()]);
    assert!(std::fs::read(&image).unwrap() == std::fs::read(&back).unwrap());
    run_tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", image_name, nbd.uri(0)]);
    run_tool("qemu-img", &["convert", "-f", "raw", "-O", "qcow2", nbd.uri(0), third.to_str().unwrap()]);
    run_tool("qemu-img", &["convert", "-n", "-f", "qcow2", "-O", "raw", third.to_str().unwrap(), nbd.uri(0)]);
    run_tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", image_name, nbd.uri(0)]);
    let info = run_tool("qemu-img", &["info", nbd.uri(0)]);
    assert!(info.contains("32 MiB (33554432 bytes)"), "{info}");
    let told = nbd.stop().expect(0);
    assert!(!told.stderr.contains("warning"), "{told}");
}

#[test]
fn qemu_io_writes_reads_trims_and_is_refused_beyond_the_end() {
    let home = Home::new();
    let nbd = Nbd::start(&home, &[CARD], "127.0.0.1:0", &["--no-timing"]);
    let run = |commands: &[&str]| {
        let each: Vec<&str> = commands.iter().flat_map(|c| ["-c", c]).collect();
        let output = try_tool("qemu-io", &[&["-f", "raw"], each.as_slice(), &[nbd.uri(0)]].concat());
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let told = run(&[
        "write -f -P 0xa5 1M 64k",
        "flush",
        "read -P 0xa5 1M 64k",
        "write -z 1M 4k",
        "read -P 0 1M 4k",
    ]);
    assert!(!told.contains("fail") && told.matches("65536/65536").count() == 2, "{told}");
    let told = run(&["discard 1M 64k", "read -P 0 1M 64k"]);
    assert!(!told.contains("fail"), "{told}");
    let told = run(&["read -P 0xa5 1M 64k"]);
    assert!(told.contains("Pattern verification failed"), "the discard reached the card: {told}");
}

/// Client without library limits, which selects the default card by the old handshake.
fn by_hand(nbd: &Nbd) -> TcpStream {
    let mut stream = TcpStream::connect(nbd.host()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    stream.write_all(&[0, 0, 0, 3]).unwrap();
    stream.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
    stream.read_exact(&mut [0; 10]).unwrap();
    stream
}

fn request(command: u16, offset: u64, len: u32) -> Vec<u8> {
    let numbers = [
        command.to_be_bytes().to_vec(),
        vec![7; 8],
        offset.to_be_bytes().to_vec(),
        len.to_be_bytes().to_vec(),
    ];
    [&[0x25, 0x60, 0x95, 0x13, 0, 0], numbers.concat().as_slice()].concat()
}

/// Error number of the next reply.
fn error(stream: &mut TcpStream) -> u32 {
    let mut head = [0; 16];
    stream.read_exact(&mut head).unwrap();
    assert_eq!((&head[..4], &head[8..]), (&[0x67, 0x44, 0x66, 0x98][..], &[7u8; 8][..]));
    u32::from_be_bytes(head[4..8].try_into().unwrap())
}

#[test]
fn requests_beyond_the_end_or_the_largest_size_get_the_protocols_errors() {
    let home = Home::new();
    let nbd = Nbd::start(&home, &[CARD], "127.0.0.1:0", &["--no-timing"]);
    let mut stream = by_hand(&nbd);
    for (sent, expected) in [
        (request(0, 32 * MIB - 512, 1024), 22),
        ([request(1, 32 * MIB, 512), vec![1; 512]].concat(), 28),
        (request(0, 0, 33 << 20), 75),
        (request(0, 0, 0), 22),
        (request(3, 0, 0), 0),
        (request(9, 0, 512), 22),
    ] {
        stream.write_all(&sent).unwrap();
        assert_eq!(error(&mut stream), expected, "{sent:?}");
    }
    // A write that claims 4 GiB is not awaited.
    stream.write_all(&request(1, 0, u32::MAX)).unwrap();
    assert_eq!(stream.read(&mut [0; 16]).unwrap(), 0, "hung up");
}

#[test]
fn bad_nbd_clients_do_not_disturb_others() {
    let home = Home::new();
    let nbd = Nbd::start(&home, &[CARD], "127.0.0.1:0", &["--no-timing"]);
    let image = image(&home.path(""), 32);
    // One client is silent, one requests 2 GB and never reads, one sends noise instead of a request.
    let _silent = TcpStream::connect(nbd.host()).unwrap();
    let mut greedy = by_hand(&nbd);
    (0..64).for_each(|_| greedy.write_all(&request(0, 0, 32 << 20)).unwrap());
    for seed in 0..50u8 {
        let mut noisy = if seed % 2 == 0 { by_hand(&nbd) } else { TcpStream::connect(nbd.host()).unwrap() };
        let noise: Vec<u8> =
            (0..4000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 ^ seed).collect();
        let _ = noisy.write_all(&noise);
    }
    run_tool("nbdcopy", &["--flush", image.to_str().unwrap(), nbd.uri(0)]);
    run_tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", image.to_str().unwrap(), nbd.uri(0)]);
    assert!(peak_mib(&nbd) < 200, "memory does not grow with what clients ask for: {} MiB", peak_mib(&nbd));
    nbd.stop().expect(0);
}

#[test]
fn idle_nbd_connections_do_not_block_others() {
    let home = Home::new();
    let nbd = Nbd::start(&home, &[CARD], "127.0.0.1:0", &["--no-timing"]);
    let image = image(&home.path(""), 32);
    let _silent: Vec<_> = (0..200).map(|_| TcpStream::connect(nbd.host()).unwrap()).collect();
    assert_eq!(run_tool("nbdinfo", &["--size", nbd.uri(0)]), "33554432");
    // These select the card and send no request.
    let _idle: Vec<_> = (0..100).map(|_| by_hand(&nbd)).collect();
    assert_eq!(run_tool("nbdinfo", &["--size", nbd.uri(0)]), "33554432");
    run_tool("nbdcopy", &["--flush", "--connections=4", image.to_str().unwrap(), nbd.uri(0)]);
    run_tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", image.to_str().unwrap(), nbd.uri(0)]);
    nbd.stop().expect(0);
}

#[test]
fn stuck_nbd_clients_use_bounded_memory() {
    let home = Home::new();
    let nbd = Nbd::start(&home, &[CARD], "127.0.0.1:0", &["--no-timing"]);
    let image = image(&home.path(""), 32);
    let greedy = |_| {
        let mut stream = by_hand(&nbd);
        (0..64).for_each(|_| stream.write_all(&request(0, 0, 32 << 20)).unwrap());
        stream
    };
    let _first: Vec<_> = (0..4).map(greedy).collect();
    // Requests of the largest size use the memory of idle clients.
    let mut long = by_hand(&nbd);
    long.write_all(&request(0, 0, 32 << 20)).unwrap();
    assert_eq!(error(&mut long), 0);
    let _greedy: Vec<_> = (0..16).map(greedy).collect();
    let endless = |_| {
        let mut stream = by_hand(&nbd);
        stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
        stream.write_all(&request(1, 0, 32 << 20)).unwrap();
        // Sends as much as the server accepts, but not everything.
        let _ = stream.write_all(&vec![7; 31 << 20]);
        stream
    };
    let _endless: Vec<_> = (0..16).map(endless).collect();
    run_tool("nbdcopy", &["--flush", image.to_str().unwrap(), nbd.uri(0)]);
    run_tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", image.to_str().unwrap(), nbd.uri(0)]);
    assert!(peak_mib(&nbd) < 300, "{} MiB", peak_mib(&nbd));
    nbd.stop().expect(0);
}

#[test]
fn a_client_that_is_killed_with_requests_in_flight_is_forgotten() {
    let home = Home::new();
    let nbd = Nbd::start(&home, &["constant?announced_bytes=32MiB&command_s=0.5"], "127.0.0.1:0", &[]);
    let mut client =
        Command::new("nbdcopy").args([nbd.uri(0), "/dev/null"]).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    client.kill().unwrap();
    client.wait().unwrap();
    assert_eq!(run_tool("nbdinfo", &["--size", nbd.uri(0)]), "33554432");
    nbd.stop().expect(0);
}

#[test]
fn stale_socket_is_replaced_and_used_one_refused() {
    let home = Home::new();
    let socket = home.path("card.sock");
    let name = socket.to_str().unwrap();
    let mut first = Nbd::start(&home, &[CARD], name, &["--no-timing"]);
    home.run(&["sim", "serve", CARD, "--nbd", name]).expect(2).says(&["another server answers"]);
    let running = first.running.take().unwrap();
    running.signal(Signal::KILL);
    running.finish();
    assert!(socket.exists() && UnixStream::connect(&socket).is_err(), "a dead socket, or this tests nothing");
    Nbd::start(&home, &[CARD], name, &["--no-timing"]).stop().expect(0);
    assert!(!socket.exists());
    std::fs::write(&socket, "a file of the user's").unwrap();
    home.run(&["sim", "serve", CARD, "--nbd", name]).expect(2).says(&["not a socket"]);
    assert_eq!(std::fs::read_to_string(&socket).unwrap(), "a file of the user's");
}

#[test]
fn used_ports_and_invalid_addresses_are_refused() {
    let home = Home::new();
    let first = Nbd::start(&home, &[CARD], "127.0.0.1:0", &["--no-timing"]);
    home.run(&["sim", "serve", CARD, "--nbd", first.host()])
        .expect(2)
        .says(&["port is in use", first.host()]);
    for (bad, word) in [
        ("192.0.2.1:0", "this machine does not have that address"),
        (":10809", "host is missing"),
        ("localhost:x", "port must be"),
    ] {
        home.run(&["sim", "serve", CARD, "--nbd", bad]).expect(2).says(&[word]);
    }
    let missing: PathBuf = home.path("no-such-directory/card.sock");
    home.run(&["sim", "serve", CARD, "--nbd", missing.to_str().unwrap()])
        .expect(2)
        .says(&["create it first"]);
    home.run(&["sim", "serve", CARD]).expect(2).says(&["--mount", "--nbd"]);
}

#[test]
fn public_nbd_address_warns() {
    let home = Home::new();
    let open = Nbd::start(&home, &[CARD], "0.0.0.0:0", &["--no-timing"]);
    open.stop().expect(0).says(&["no password"]);
    let own = Nbd::start(&home, &[CARD], "127.0.0.1:0", &["--no-timing"]);
    assert!(!own.stop().stderr.contains("password"));
}
