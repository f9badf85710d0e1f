//! NVMe admin commands, all of them reading only: Identify, Get Log Page, Get Features.
//!
//! `include/uapi/linux/nvme_ioctl.h` of the Linux kernel for the structure and its code, NVMe Base Specification for
//! the commands; both in docs/reference/linux.md#nvme.

use crate::system::errno_reason;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, opcode};
use std::ffi::c_void;
use std::mem::offset_of;
use std::path::Path;

#[derive(Clone, Copy)]
pub(super) struct AdminQuery {
    name: &'static str,
    /// File name of the answer in a recording.
    pub(super) file: &'static str,
    opcode: u8,
    namespace: u32,
    cdw10: u32,
    /// Size of the answer; 4 for a feature, which is returned in the result dword.
    pub(super) bytes: usize,
}

const IDENTIFY_CONTROLLER: AdminQuery =
    admin_query("Identify Controller", "identify_controller.bin", (IDENTIFY, CNS_CONTROLLER), 4096);
const IDENTIFY_NAMESPACE: AdminQuery =
    admin_query("Identify Namespace", "identify_namespace.bin", (IDENTIFY, CNS_NAMESPACE), 4096);

/// SMART / health of the controller. The upper half of cdw10 is the length in dwords less one.
const SMART_LOG: AdminQuery = AdminQuery {
    namespace: ALL_NAMESPACES,
    ..admin_query("SMART log", "smart_log.bin", (GET_LOG_PAGE, LOG_SMART | (512 / 4 - 1) << 16), 512)
};

const fn admin_query(name: &'static str, file: &'static str, call: (u8, u32), bytes: usize) -> AdminQuery {
    let (opcode, cdw10) = call;
    AdminQuery { name, file, opcode, namespace: 0, cdw10, bytes }
}

/// Query for the current value of a feature; cdw11 stays 0, which for 04h means composite and over-temperature.
const TEMPERATURE_THRESHOLD: AdminQuery =
    admin_query("Get Features 04h", "feature_04.bin", (GET_FEATURES, 0x04), 4);
const THERMAL_MANAGEMENT: AdminQuery =
    admin_query("Get Features 10h", "feature_10.bin", (GET_FEATURES, 0x10), 4);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ControllerData {
    /// Identify Controller, 4096 bytes.
    pub(crate) identify: Option<Vec<u8>>,
    /// Identify Namespace, 4096 bytes.
    pub(crate) namespace: Option<Vec<u8>>,
    /// SMART / health log page 02h, 512 bytes.
    pub(crate) smart: Option<Vec<u8>>,
    /// Result of Get Features 04h, composite, over-temperature.
    pub(crate) feature_04: Option<u32>,
    /// Result of Get Features 10h.
    pub(crate) feature_10: Option<u32>,
    /// Names of the missing answers, with reasons.
    pub(crate) missing: Vec<(&'static str, String)>,
}

/// Answer to a query, or the reason why there is none.
type QueryAnswer = Result<Vec<u8>, String>;

impl ControllerData {
    /// Collects all answers; `ask` returns an answer or the reason why it is missing.
    pub(super) fn collect_answers(namespace: u32, ask: impl Fn(&AdminQuery) -> QueryAnswer) -> Self {
        let mut missing = Vec::new();
        let mut answer = |query: AdminQuery| ask(&query).map_err(|why| missing.push((query.name, why))).ok();
        let dword = |bytes: Vec<u8>| bytes.get(..4)?.try_into().ok().map(u32::from_le_bytes);
        ControllerData {
            identify: answer(IDENTIFY_CONTROLLER),
            namespace: answer(AdminQuery { namespace, ..IDENTIFY_NAMESPACE }),
            smart: answer(SMART_LOG),
            feature_04: answer(TEMPERATURE_THRESHOLD).and_then(dword),
            feature_10: answer(THERMAL_MANAGEMENT).and_then(dword),
            missing,
        }
    }
}

/// `struct nvme_admin_cmd`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<AdminCommand>() == 72 && offset_of!(AdminCommand, addr) == 24);
const _: () = assert!(offset_of!(AdminCommand, data_len) == 36 && offset_of!(AdminCommand, cdw10) == 40);
const _: () = assert!(offset_of!(AdminCommand, result) == 68);

/// `NVME_IOCTL_ADMIN_CMD`.
const ADMIN: Opcode = opcode::read_write::<AdminCommand>(b'N', 0x41);
const _: () = assert!(ADMIN == 0xc048_4e41);

const GET_LOG_PAGE: u8 = 0x02;
const IDENTIFY: u8 = 0x06;
const GET_FEATURES: u8 = 0x0a;
/// CNS of Identify: namespace and controller.
const CNS_NAMESPACE: u32 = 0;
const CNS_CONTROLLER: u32 = 1;
const LOG_SMART: u32 = 0x02;
/// Namespace ID for log pages of the controller itself.
const ALL_NAMESPACES: u32 = 0xffff_ffff;
const TIMEOUT_MS: u32 = 5000;

/// Command and memory for its answer, which must live as long as the kernel may write to it.
struct AdminExchange<'a> {
    command: AdminCommand,
    // Borrowed so that the memory cannot be touched or freed while the kernel fills it.
    _data: &'a mut [u8],
}

impl<'a> AdminExchange<'a> {
    fn new(query: &AdminQuery, data: &'a mut [u8]) -> Self {
        let AdminQuery { opcode, namespace: nsid, cdw10, .. } = *query;
        let (addr, data_len) =
            if data.is_empty() { (0, 0) } else { (data.as_mut_ptr() as u64, data.len() as u32) };
        let timeout_ms = TIMEOUT_MS;
        let command =
            AdminCommand { opcode, nsid, addr, data_len, cdw10, timeout_ms, ..AdminCommand::default() };
        AdminExchange { command, _data: data }
    }
}

// SAFETY: ADMIN is the code of `struct nvme_admin_cmd`, whose layout is asserted above; `as_ptr` returns a pointer to
// one owned by `self`, and its `addr` and `data_len` describe memory that `self` borrows for as long.
unsafe impl Ioctl for AdminExchange<'_> {
    /// Status (0 on success) and result dword.
    type Output = (u32, u32);

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        ADMIN
    }

    fn as_ptr(&mut self) -> *mut c_void {
        (&raw mut self.command).cast()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, command: *mut c_void) -> rustix::io::Result<Self::Output> {
        // SAFETY: `command` is the pointer returned by `as_ptr`: an AdminCommand that is still alive.
        let result = unsafe { (*command.cast::<AdminCommand>()).result };
        Ok((out as u32, result))
    }
}

/// Sends one command. Returns its status (0 on success) and result dword.
fn send_command(fd: &OwnedFd, question: &AdminQuery, data: &mut [u8]) -> Result<(u32, u32), Errno> {
    // SAFETY: see `impl Ioctl for Exchange`; the commands sent here only read from the card.
    unsafe { rustix::ioctl::ioctl(fd, AdminExchange::new(question, data)) }
}

/// Returns the answer, or the reason why there is none.
fn send_query(fd: &OwnedFd, question: &AdminQuery) -> QueryAnswer {
    let of_feature = question.opcode == GET_FEATURES;
    let mut data = vec![0; if of_feature { 0 } else { question.bytes }];
    match send_command(fd, question, &mut data).map_err(errno_reason)? {
        (0, result) => Ok(if of_feature { result.to_le_bytes().to_vec() } else { data }),
        (status, _) => Err(status_text(status)),
    }
}

/// Type and code of a status; the bits above are "more" and "do not retry".
const STATUS_CODE: u32 = 0x7ff;
/// Status of an unsupported command: invalid opcode, invalid field, invalid log page (NVMe Base Specification, figures
/// "Generic Command Status" and "Command Specific Status").
const UNSUPPORTED: [u32; 3] = [0x001, 0x002, 0x109];

fn status_text(status: u32) -> String {
    let known = UNSUPPORTED.contains(&(status & STATUS_CODE));
    if known { "not supported by this drive".to_owned() } else { format!("NVMe status {status:#06x}") }
}

/// Any feature that the controller answers from memory would do.
pub(crate) fn ping_controller(fd: &OwnedFd) -> Result<(), Errno> {
    let (status, _) = send_command(fd, &TEMPERATURE_THRESHOLD, &mut [])?;
    if status == 0 { Ok(()) } else { Err(Errno::IO) }
}

/// SMART log of a controller (`/dev/nvme0`), 512 bytes, or the reason why there is none.
pub(crate) fn read_smart_log(device: &Path) -> QueryAnswer {
    send_query(&open_controller(device)?, &SMART_LOG)
}

fn open_controller(device: &Path) -> Result<OwnedFd, String> {
    rustix::fs::open(device, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(errno_reason)
}

/// Queries a controller (`/dev/nvme0`) for all of [`ControllerData`].
pub(super) fn query_all(device: &Path, namespace: u32) -> ControllerData {
    let fd = open_controller(device);
    let ask = |query: &AdminQuery| send_query(fd.as_ref().map_err(String::clone)?, query);
    ControllerData::collect_answers(namespace, ask)
}

/// Composite temperature in °C, from the kelvin in the SMART log (bytes 1 and 2), for kernels without NVMe hwmon.
pub(crate) fn composite_celsius(device: &Path) -> Option<f64> {
    let log = read_smart_log(device).ok()?;
    let kelvin = u16::from_le_bytes([log[1], log[2]]);
    (kelvin > 0).then(|| f64::from(kelvin) - 273.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_controller_is_reported_per_answer() {
        let answers = query_all(Path::new("/dev/nvme-none"), 1);
        assert_eq!(answers.missing.len(), 5);
        assert!(answers.identify.is_none() && answers.missing[0].1.contains("No such file"));
    }

    #[test]
    fn unknown_query_is_unsupported() {
        assert_eq!([0x4002, 0x2002, 0x0001, 0x4109].map(status_text), ["not supported by this drive"; 4]);
        assert_eq!(status_text(0x4006), "NVMe status 0x4006");
    }

    #[test]
    fn non_nvme_device_refuses_command() {
        let fd = open_controller(Path::new("/dev/null")).unwrap();
        assert!(send_query(&fd, &IDENTIFY_CONTROLLER).is_err());
    }
}
