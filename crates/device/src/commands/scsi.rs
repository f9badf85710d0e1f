//! TEST UNIT READY to a USB reader by `SG_IO`: answered by the reader, without data or flash.
//!
//! `include/scsi/sg.h` of the Linux kernel for the structure, SCSI Primary Commands for command and sense data. The
//! kernel's command filter permits this command to everyone who may read the device.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater};

/// `struct sg_io_hdr`, with pointers as addresses.
#[repr(C)]
#[derive(Debug, Default)]
struct SgIoHeader {
    interface_id: i32,
    dxfer_direction: i32,
    cmd_len: u8,
    mx_sb_len: u8,
    iovec_count: u16,
    dxfer_len: u32,
    dxferp: usize,
    cmdp: usize,
    sbp: usize,
    timeout: u32,
    flags: u32,
    pack_id: i32,
    usr_ptr: usize,
    status: u8,
    masked_status: u8,
    msg_status: u8,
    sb_len_wr: u8,
    host_status: u16,
    driver_status: u16,
    resid: i32,
    duration: u32,
    info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<SgIoHeader>() == 88);
    assert!(std::mem::offset_of!(SgIoHeader, cmdp) == 24);
    assert!(std::mem::offset_of!(SgIoHeader, timeout) == 40);
    assert!(std::mem::offset_of!(SgIoHeader, status) == 64);
    assert!(std::mem::offset_of!(SgIoHeader, host_status) == 68);
};

/// `SG_IO`.
const SG_IO: Opcode = 0x2285;
const INTERFACE: i32 = b'S' as i32;
/// `SG_DXFER_NONE`.
const NO_DATA: i32 = -1;
const TIMEOUT_MS: u32 = 5000;

const TEST_UNIT_READY: [u8; 6] = [0; 6];
const SENSE_BYTES: usize = 32;

/// Sense keys (SPC, table of sense keys), and additional codes.
const NOT_READY: u8 = 2;
const UNIT_ATTENTION: u8 = 6;
const MEDIUM_NOT_PRESENT: u8 = 0x3a;
/// "Not ready to ready change, medium may have changed".
const MEDIUM_CHANGED: u8 = 0x28;

/// Readers report unit attentions, such as a reset, new microcode or other parameters, one per command.
const MAX_UNIT_ATTENTIONS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReaderAnswer {
    /// SCSI status; with `host_status`, that of the transport, 0 on success.
    status: u8,
    host_status: u16,
    sense: [u8; SENSE_BYTES],
}

/// Header of a command without data. The kernel reads the command and writes sense data while it is sent.
fn command_header(command: &mut [u8; 6], sense: &mut [u8; SENSE_BYTES]) -> SgIoHeader {
    SgIoHeader {
        interface_id: INTERFACE,
        dxfer_direction: NO_DATA,
        cmd_len: command.len() as u8,
        mx_sb_len: sense.len() as u8,
        cmdp: command.as_mut_ptr().expose_provenance(),
        sbp: sense.as_mut_ptr().expose_provenance(),
        timeout: TIMEOUT_MS,
        ..SgIoHeader::default()
    }
}

fn send_test_unit_ready(fd: &OwnedFd) -> Result<ReaderAnswer, Errno> {
    let (mut command, mut sense) = (TEST_UNIT_READY, [0; SENSE_BYTES]);
    let mut header = command_header(&mut command, &mut sense);
    // SAFETY: SG_IO takes `struct sg_io_hdr`, whose layout is asserted above; its pointers lead to `command` and
    // `sense`, which outlive the call. The command moves no data and changes nothing.
    unsafe { rustix::ioctl::ioctl(fd, Updater::<SG_IO, SgIoHeader>::new(&mut header)) }?;
    Ok(ReaderAnswer { status: header.status, host_status: header.host_status, sense })
}

pub(super) fn test_unit_ready(fd: &OwnedFd) -> Result<(), Errno> {
    retry_unit_attention(|| send_test_unit_ready(fd))
}

/// Repeats the command until no unit attention is pending. A changed medium is not skipped: readers report it only
/// once, and writing on would hit the other card.
fn retry_unit_attention(mut ask: impl FnMut() -> Result<ReaderAnswer, Errno>) -> Result<(), Errno> {
    for _ in 0..MAX_UNIT_ATTENTIONS {
        match interpret_answer(&ask()?) {
            Err(Errno::AGAIN) => {}
            other => return other,
        }
    }
    Err(Errno::IO)
}

fn interpret_answer(answer: &ReaderAnswer) -> Result<(), Errno> {
    if answer.status == 0 && answer.host_status == 0 {
        return Ok(());
    }
    match sense_key_and_code(&answer.sense) {
        Some((UNIT_ATTENTION, MEDIUM_CHANGED)) => Err(Errno::NOMEDIUM),
        Some((NOT_READY | UNIT_ATTENTION, MEDIUM_NOT_PRESENT)) => Err(Errno::NOMEDIUM),
        Some((UNIT_ATTENTION, _)) => Err(Errno::AGAIN),
        _ => Err(Errno::IO),
    }
}

/// Sense key and additional code, from fixed (70h, 71h) or descriptor format (72h, 73h).
fn sense_key_and_code(sense: &[u8; SENSE_BYTES]) -> Option<(u8, u8)> {
    match sense[0] & 0x7f {
        0x70 | 0x71 => Some((sense[2] & 0xf, sense[12])),
        0x72 | 0x73 => Some((sense[1] & 0xf, sense[2])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u8, host_status: u16, bytes: &[(usize, u8)]) -> ReaderAnswer {
        let mut sense = [0; SENSE_BYTES];
        bytes.iter().for_each(|(at, byte)| sense[*at] = *byte);
        ReaderAnswer { status, host_status, sense }
    }

    #[test]
    fn test_unit_ready_moves_no_data() {
        let (mut command, mut sense) = (TEST_UNIT_READY, [0; SENSE_BYTES]);
        let header = command_header(&mut command, &mut sense);
        assert_eq!((header.interface_id, header.dxfer_direction), (0x53, -1));
        assert_eq!((header.cmd_len, header.dxfer_len, command), (6, 0, [0; 6]));
    }

    #[test]
    fn sense_data_maps_to_errno() {
        assert_eq!(interpret_answer(&answer(0, 0, &[])), Ok(()));
        // SPC: 02/3A medium not present, 06/28 medium may have changed, 06/29 reset, 04/44 internal failure.
        assert_eq!(interpret_answer(&answer(2, 0, &[(0, 0x70), (2, 2), (12, 0x3a)])), Err(Errno::NOMEDIUM));
        assert_eq!(interpret_answer(&answer(2, 0, &[(0, 0x72), (1, 2), (2, 0x3a)])), Err(Errno::NOMEDIUM));
        assert_eq!(interpret_answer(&answer(2, 0, &[(0, 0xf0), (2, 6), (12, 0x28)])), Err(Errno::NOMEDIUM));
        assert_eq!(interpret_answer(&answer(2, 0, &[(0, 0x72), (1, 6), (2, 0x28)])), Err(Errno::NOMEDIUM));
        assert_eq!(interpret_answer(&answer(2, 0, &[(0, 0x70), (2, 6), (12, 0x29)])), Err(Errno::AGAIN));
        assert_eq!(interpret_answer(&answer(2, 0, &[(0, 0x70), (2, 4), (12, 0x44)])), Err(Errno::IO));
        // DID_NO_CONNECT without sense: the transport is broken.
        assert_eq!(interpret_answer(&answer(0, 1, &[])), Err(Errno::IO));
    }
    fn asked(codes: &[Option<u8>]) -> (Result<(), Errno>, usize) {
        let mut asked = 0;
        let ended = retry_unit_attention(|| {
            asked += 1;
            Ok(codes[asked - 1].map_or(answer(0, 0, &[]), |c| answer(2, 0, &[(0, 0x70), (2, 6), (12, c)])))
        });
        (ended, asked)
    }

    #[test]
    fn changed_medium_fails_despite_later_success() {
        assert_eq!(asked(&[Some(0x28), None]), (Err(Errno::NOMEDIUM), 1));
        assert_eq!(asked(&[Some(0x29), Some(0x28), None]), (Err(Errno::NOMEDIUM), 2));
        assert_eq!(asked(&[Some(0x29), None]), (Ok(()), 2));
        assert_eq!(asked(&[Some(0x29); 9]), (Err(Errno::IO), MAX_UNIT_ATTENTIONS));
    }
}
