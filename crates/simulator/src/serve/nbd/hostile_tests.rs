//! Clients that send arbitrary bytes: no panic, no allocation by their claims, and the next client is served.

use super::super::ServingOptions;
use super::super::cpu_latency::CpuLatencyGuard;
use super::super::served_card::ServedCard;
use super::clients::NbdClients;
use super::handshake::{HandshakeNext, NbdExport, NbdHandshake};
use super::request::{
    ExportLimits, MAX_REQUEST_BYTES, NbdCommand, OPTION_MAGIC, REQUEST_BYTES, REQUEST_MAGIC, RequestVerdict,
    WireRequest, check_request,
};
use super::session::{SessionClient, execute_requests, negotiate};
use proptest::prelude::*;
use std::io::{Cursor, Read, Write};
use std::sync::{Arc, Mutex};

const BYTES: u64 = 1 << 20;

thread_local! {
    /// A card for each test thread, so that no test reads what another wrote.
    static CARD: Arc<ServedCard> = {
        let spec = crate::target_spec::parse("sim:constant?announced_bytes=1MiB").unwrap();
        let options = ServingOptions { timing: false, ..ServingOptions::default() };
        Arc::new(ServedCard::new(&spec, "constant".to_owned(), &options, &Arc::new(CpuLatencyGuard::new(&options))).unwrap())
    };
}

fn exports() -> Vec<NbdExport> {
    vec![NbdExport { name: "constant".to_owned(), bytes: BYTES }]
}

/// Bytes that a client receives.
#[derive(Clone, Default)]
struct ClientView(Arc<Mutex<Vec<u8>>>);

impl Write for ClientView {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Both directions of a connection.
struct ConnectionPair<'a> {
    sent: Cursor<&'a [u8]>,
    received: ClientView,
}

impl Read for ConnectionPair<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.sent.read(buffer)
    }
}

impl Write for ConnectionPair<'_> {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.received.write(data)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a client that sends these bytes and hangs up; returns what it received.
fn run_client(bytes: &[u8]) -> Vec<u8> {
    let mut wire = ConnectionPair { sent: Cursor::new(bytes), received: ClientView::default() };
    if let Ok(Some((_, aligned))) = negotiate(&mut wire, &exports()) {
        let clients = Arc::new(NbdClients::new());
        let client = clients.register_client(|| ());
        let session = SessionClient { clients: &clients, client: &client };
        let _ = CARD.with(|card| execute_requests(wire.sent, wire.received.clone(), card, aligned, session));
    }
    let seen = wire.received.0.lock().unwrap();
    seen.clone()
}

fn encode_option(number: u32, data: &[u8]) -> Vec<u8> {
    let head = [&OPTION_MAGIC.to_be_bytes()[..], &number.to_be_bytes(), &(data.len() as u32).to_be_bytes()];
    [&head.concat(), data].concat()
}

fn encode_go() -> Vec<u8> {
    encode_option(7, &[&8u32.to_be_bytes()[..], b"constant", &0u16.to_be_bytes()].concat())
}

fn encode_request(flags: u16, command: u16, offset: u64, len: u32) -> Vec<u8> {
    let parts: [&[u8]; 6] = [
        &REQUEST_MAGIC.to_be_bytes(),
        &flags.to_be_bytes(),
        &command.to_be_bytes(),
        &7u64.to_be_bytes(),
        &offset.to_be_bytes(),
        &len.to_be_bytes(),
    ];
    parts.concat()
}

/// Correct client: writes a block and reads it.
fn correct_client() -> Vec<u8> {
    let write = [encode_request(0, 1, 4096, 512), vec![0xab; 512]].concat();
    [
        3u32.to_be_bytes().to_vec(),
        encode_go(),
        write,
        encode_request(0, 0, 4096, 512),
        encode_request(0, 2, 0, 0),
    ]
    .concat()
}

#[test]
fn correct_client_is_served() {
    let seen = run_client(&correct_client());
    assert!(seen.ends_with(&[0xab; 512]));
}

#[test]
fn client_may_leave_at_any_byte() {
    let all = correct_client();
    (0..all.len()).for_each(|len| drop(run_client(&all[..len])));
    assert!(run_client(&all).ends_with(&[0xab; 512]));
}

#[test]
fn overlong_names_and_options_are_refused() {
    let long_name = encode_option(7, &[&u32::MAX.to_be_bytes()[..], b"constant"].concat());
    let seen = run_client(&[&3u32.to_be_bytes()[..], &long_name].concat());
    assert!(seen.windows(4).any(|w| w == 0x8000_0003u32.to_be_bytes()), "invalid: {seen:?}");
    let endless = [&3u32.to_be_bytes()[..], &OPTION_MAGIC.to_be_bytes(), &[0, 0, 0, 7], &[0xff; 4]].concat();
    assert_eq!(run_client(&endless).len(), 18, "nothing after the greeting: hung up");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn negotiation_survives_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let (exports, mut out) = (exports(), Vec::new());
        let mut handshake = NbdHandshake::new(&exports);
        let mut rest = &bytes[..];
        while let Some((front, after)) = rest.split_at_checked(handshake.wanted_bytes()) {
            prop_assert!(handshake.wanted_bytes() <= 8192);
            rest = after;
            if handshake.take_bytes(front, &mut out) != HandshakeNext::Negotiate {
                break;
            }
        }
        prop_assert!(out.len() <= 64 * (bytes.len() + 1));
    }

    #[test]
    fn arbitrary_options_do_not_end_negotiation(
        options in proptest::collection::vec((0u32..20, proptest::collection::vec(any::<u8>(), 0..40)), 0..8),
    ) {
        // EXPORT_NAME, ABORT and GO end a negotiation by design.
        let kept = options.iter().filter(|(number, _)| ![1, 2, 7].contains(number));
        let sent: Vec<u8> = kept.flat_map(|(number, data)| encode_option(*number, data)).collect();
        let rest = correct_client();
        let seen = run_client(&[&rest[..4], &sent, &rest[4..]].concat());
        prop_assert!(seen.ends_with(&[0xab; 512]));
    }

    #[test]
    fn accepted_requests_are_within_the_card(bytes in any::<[u8; REQUEST_BYTES - 4]>(), aligned: bool) {
        let head: Vec<u8> = REQUEST_MAGIC.to_be_bytes().into_iter().chain(bytes).collect();
        let request = WireRequest::parse(&head.try_into().unwrap()).unwrap();
        let small = WireRequest { command: request.command % 8, flags: request.flags % 4, ..request };
        let near = WireRequest { offset: request.offset % (2 * BYTES), len: request.len % (1 << 26), ..small };
        for request in [request, small, near] {
            match check_request(&request, ExportLimits { bytes: BYTES, aligned }) {
                RequestVerdict::Do { task: NbdCommand::Flush, .. } | RequestVerdict::Close => {}
                RequestVerdict::Do { offset, len, .. } => prop_assert!(offset + len <= BYTES && len > 0),
                RequestVerdict::Refuse { skip, .. } => prop_assert!(skip <= u64::from(MAX_REQUEST_BYTES)),
            }
        }
    }

    #[test]
    fn arbitrary_requests_do_not_harm_next_client(
        requests in proptest::collection::vec((0u16..4, 0u16..9, 0u64..2 * BYTES, 0u32..(1 << 26)), 0..6),
        rubbish in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let sent = requests.iter().flat_map(|(flags, command, offset, len)| encode_request(*flags, *command, *offset, *len));
        let start = correct_client();
        run_client(&[&start[..4 + encode_go().len()], &sent.collect::<Vec<u8>>(), &rubbish].concat());
        prop_assert!(run_client(&start).ends_with(&[0xab; 512]));
        prop_assert_eq!(CARD.with(|card| card.meter.in_flight().0), 0);
    }
}
