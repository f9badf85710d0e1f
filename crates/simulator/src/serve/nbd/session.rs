//! Connection of one client: negotiates, then executes its requests on the card. A thread of the session sends the
//! answers, so that a client which reads none delays no other; memory for requests in flight is limited.

use super::super::LagMeasure;
use super::super::delay::{self, AnswerDelay, DelayOptions};
use super::super::served_card::{ServedCard, ServedRequest as InFlight, TimedResult};
use super::clients::{NbdClient, NbdClients, ReservedMemory, SocketDirection};
use super::handshake::{HandshakeNext, NbdExport, NbdHandshake};
use super::request::{
    ExportLimits, NbdCommand, NbdErrno, REQUEST_BYTES, RequestVerdict, WireRequest, check_request, reply_head,
};
use crate::content::CardIoError;
use std::io::{self, IoSlice, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Export that a client chose, and whether it adheres to whole sectors; None if it chose none.
pub(super) type ExportChoice = Option<(usize, bool)>;

pub(super) fn negotiate<S: Read + Write>(stream: &mut S, exports: &[NbdExport]) -> io::Result<ExportChoice> {
    let mut handshake = NbdHandshake::new(exports);
    stream.write_all(&NbdHandshake::greeting())?;
    let (mut bytes, mut out) = (Vec::new(), Vec::new());
    loop {
        bytes.resize(handshake.wanted_bytes(), 0);
        stream.read_exact(&mut bytes)?;
        let next = handshake.take_bytes(&bytes, &mut out);
        stream.write_all(&out)?;
        out.clear();
        match next {
            HandshakeNext::Negotiate => {}
            HandshakeNext::Close => return Ok(None),
            HandshakeNext::Transmit { export, aligned } => return Ok(Some((export, aligned))),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct SessionClient<'a> {
    pub(super) clients: &'a Arc<NbdClients>,
    pub(super) client: &'a Arc<NbdClient>,
}

/// Executes requests to one card until the client leaves or breaks the protocol.
pub(super) fn execute_requests<R: Read, W: Write + Send + 'static>(
    reader: R,
    writer: W,
    card: &Arc<ServedCard>,
    aligned: bool,
    client: SessionClient<'_>,
) -> io::Result<()> {
    let options = &card.options;
    let how = DelayOptions { real_time: options.has_measure(LagMeasure::Priority), wait_inline: false };
    if options.timing {
        delay::set_precise_wakeups(how.real_time);
    }
    let session = NbdSession {
        card,
        limits: ExportLimits { bytes: card.live.bytes, aligned },
        writer: Arc::new(Mutex::new(writer)),
        client,
        delay: if options.timing { Some(AnswerDelay::start(how)?) } else { None },
    };
    session.run_requests(reader)
}

struct NbdSession<'a, W> {
    card: &'a Arc<ServedCard>,
    limits: ExportLimits,
    writer: Arc<Mutex<W>>,
    client: SessionClient<'a>,
    delay: Option<AnswerDelay>,
}

impl<W: Write + Send + 'static> NbdSession<'_, W> {
    fn run_requests(&self, mut reader: impl Read) -> io::Result<()> {
        let mut head = [0; REQUEST_BYTES];
        loop {
            reader.read_exact(&mut head)?;
            self.client.client.record_activity();
            let Some(request) = WireRequest::parse(&head) else { return Ok(()) };
            match check_request(&request, self.limits) {
                RequestVerdict::Close => return Ok(()),
                RequestVerdict::Refuse { error, skip } => {
                    skip_data(&mut reader, skip)?;
                    let Some(taken) = self.reserve_memory(0) else { return Ok(()) };
                    self.send_answer(ReadyReply { cookie: request.cookie, result: Err(error), taken }, None);
                }
                RequestVerdict::Do { task, offset, len, sync } => {
                    let held = if matches!(task, NbdCommand::Read | NbdCommand::Write) { len } else { 0 };
                    let Some(taken) = self.reserve_memory(held) else { return Ok(()) };
                    let mut data = Vec::new();
                    if task == NbdCommand::Write {
                        let read = || read_data(&mut reader, len);
                        data = self.client.client.with_deadline(SocketDirection::In, len, read)?;
                    }
                    self.execute_request((request.cookie, taken), task, (offset, len), sync, data);
                }
            }
        }
    }

    /// Waits for memory. None if the client was cut off; its further requests are not executed.
    fn reserve_memory(&self, bytes: u64) -> Option<ReservedMemory> {
        self.client.clients.hold_bytes(self.client.client, bytes)
    }

    fn execute_request(
        &self,
        (cookie, mut taken): (u64, ReservedMemory),
        task: NbdCommand,
        (offset, len): (u64, u64),
        sync: bool,
        data: Vec<u8>,
    ) {
        let request = self.card.begin_request();
        let (live, came) = (&self.card.live, request.arrival);
        let none = |(at, result): TimedResult<()>| (at, result.map(|()| Vec::new()));
        let (mut at, mut result) = match task {
            NbdCommand::Read => live.read(came, offset, len),
            NbdCommand::Write => none(live.write(came, offset, &data)),
            NbdCommand::Flush => none(live.flush(came)),
            NbdCommand::Trim => none(live.discard(came, offset, len)),
            NbdCommand::Cache => none(live.read_unreturned(came, offset, len)),
            NbdCommand::WriteZeroes => none(live.write_zeros(came, offset, len)),
        };
        if sync && result.is_ok() {
            (at, result) = none(live.flush(came));
        }
        // The written data is no longer needed, so its memory is free while the answer waits.
        drop(data);
        if task != NbdCommand::Read {
            taken.release_data();
        }
        let ready = ReadyReply { cookie, result: result.map_err(|e| nbd_errno(&e)), taken };
        self.send_answer(ready, Some((request, at)));
    }

    /// Sends an answer when it is due. A refusal, which needs no card, is sent at once, but after earlier answers.
    fn send_answer(&self, ready: ReadyReply, request: Option<(InFlight, Instant)>) {
        let (writer, client) = (Arc::clone(&self.writer), Arc::clone(self.client.client));
        let send = move || {
            let len = ready.result.as_ref().map_or(0, Vec::len) as u64;
            match client.with_deadline(SocketDirection::Out, len, || ready.write_reply(&writer)) {
                Ok(()) => client.record_activity(),
                Err(_) => client.disconnect(),
            }
            drop(ready.taken);
        };
        match (&self.delay, request) {
            (delay, Some((request, due))) => request.answer_at(delay.as_ref(), due, send),
            (Some(delay), None) => delay.answer_at(Instant::now(), Box::new(move |_| send())),
            (None, None) => send(),
        }
    }
}

struct ReadyReply {
    cookie: u64,
    result: Result<Vec<u8>, NbdErrno>,
    taken: ReservedMemory,
}

impl ReadyReply {
    fn write_reply<W: Write>(&self, writer: &Mutex<W>) -> io::Result<()> {
        let head = reply_head(self.cookie, self.result.as_ref().err().copied());
        let data = self.result.as_deref().unwrap_or_default();
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        write_both(&mut *writer, &head, data)
    }
}

/// Writes both parts in one call if the kernel takes them, so that a short answer is one packet.
fn write_both(writer: &mut impl Write, head: &[u8], data: &[u8]) -> io::Result<()> {
    let sent = writer.write_vectored(&[IoSlice::new(head), IoSlice::new(data)])?;
    writer.write_all(head.get(sent..).unwrap_or_default())?;
    writer.write_all(data.get(sent.saturating_sub(head.len())..).unwrap_or_default())
}

fn nbd_errno(error: &CardIoError) -> NbdErrno {
    if error.errno() == libc::ENOSPC { NbdErrno::NoSpace } else { NbdErrno::Io }
}

/// Reads the data of a write. Memory is committed only for bytes that arrive.
fn read_data(reader: &mut impl Read, len: u64) -> io::Result<Vec<u8>> {
    let mut data = Vec::with_capacity(len as usize);
    let read = reader.by_ref().take(len).read_to_end(&mut data)?;
    if read as u64 == len { Ok(data) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn skip_data(reader: &mut impl Read, len: u64) -> io::Result<()> {
    let skipped = io::copy(&mut reader.by_ref().take(len), &mut io::sink())?;
    if skipped == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
