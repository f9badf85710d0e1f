//! Commands to an SD card by `MMC_IOC_CMD`: CMD13 SEND_STATUS, answered from registers; ACMD13, the SD status; CMD56, a
//! vendor-specific block.
//!
//! `include/uapi/linux/mmc/ioctl.h` and `include/linux/mmc/core.h` of the Linux kernel;
//! docs/reference/linux.md#raw-commands. The kernel requires CAP_SYS_RAWIO and the whole device.

use cardscope_sd::health::PAGE_BYTES;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, opcode};
use std::mem::offset_of;

/// `struct mmc_ioc_cmd`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct IocCommand {
    write_flag: i32,
    is_acmd: i32,
    opcode: u32,
    arg: u32,
    response: [u32; 4],
    flags: u32,
    blksz: u32,
    blocks: u32,
    postsleep_min_us: u32,
    postsleep_max_us: u32,
    data_timeout_ns: u32,
    cmd_timeout_ms: u32,
    pad: u32,
    data_ptr: u64,
}

const _: () = assert!(size_of::<IocCommand>() == 72 && offset_of!(IocCommand, opcode) == 8);
const _: () = assert!(offset_of!(IocCommand, response) == 16 && offset_of!(IocCommand, flags) == 32);
const _: () = assert!(offset_of!(IocCommand, cmd_timeout_ms) == 56 && offset_of!(IocCommand, data_ptr) == 64);

/// `MMC_IOC_CMD`.
const IOC_CMD: Opcode = opcode::read_write::<IocCommand>(0xb3, 0);
const _: () = assert!(IOC_CMD == 0xc048_b300);

const SEND_STATUS: u32 = 13;
/// Short response with CRC and command index, no data: `MMC_RSP_R1 | MMC_CMD_AC`.
const RESPONSE_R1: u32 = 1 | 1 << 2 | 1 << 4;
/// ACMD13 is CMD13 after CMD55, which the kernel sends.
const SD_STATUS: u32 = 13;
const GEN_CMD: u32 = 56;
/// R1 with a block of data: `MMC_RSP_R1 | MMC_CMD_ADTC`.
const RESPONSE_R1_DATA: u32 = RESPONSE_R1 | 1 << 5;
const TIMEOUT_MS: u32 = 5000;

fn status_command(rca: u16) -> IocCommand {
    IocCommand {
        opcode: SEND_STATUS,
        arg: u32::from(rca) << 16,
        flags: RESPONSE_R1,
        cmd_timeout_ms: TIMEOUT_MS,
        ..IocCommand::default()
    }
}

/// Requests the status of the card at this relative address; only the fact of an answer matters.
pub(super) fn send_status(fd: &OwnedFd, rca: u16) -> Result<(), Errno> {
    let mut command = status_command(rca);
    // SAFETY: IOC_CMD is the code of `struct mmc_ioc_cmd`, whose layout is asserted above; with no blocks the kernel
    // does not follow `data_ptr`. CMD13 changes nothing on the card.
    unsafe { rustix::ioctl::ioctl(fd, Updater::<IOC_CMD, IocCommand>::new(&mut command)) }
}

/// Transfers one block between the card and `block`.
fn transfer(fd: &OwnedFd, command: IocCommand, block: &mut [u8]) -> Result<(), Errno> {
    let mut command = with_block(command, block);
    // SAFETY: IOC_CMD is the code of `struct mmc_ioc_cmd`, whose layout is asserted above. `data_ptr` points to
    // `block`, which is borrowed mutably for the call and has `blksz * blocks` bytes.
    unsafe { rustix::ioctl::ioctl(fd, Updater::<IOC_CMD, IocCommand>::new(&mut command)) }
}

fn with_block(command: IocCommand, block: &mut [u8]) -> IocCommand {
    IocCommand {
        flags: RESPONSE_R1_DATA,
        blksz: block.len() as u32,
        blocks: 1,
        cmd_timeout_ms: TIMEOUT_MS,
        data_ptr: block.as_mut_ptr() as u64,
        ..command
    }
}

/// Reads the SD status (SSR). The kernel supplies the card's address.
pub(super) fn read_sd_status(fd: &OwnedFd) -> Result<[u8; 64], Errno> {
    let mut block = [0; 64];
    transfer(fd, IocCommand { opcode: SD_STATUS, is_acmd: 1, ..IocCommand::default() }, &mut block)?;
    Ok(block)
}

/// Reads a vendor-specific page by CMD56.
pub(super) fn read_page(fd: &OwnedFd, arg: u32) -> Result<[u8; PAGE_BYTES], Errno> {
    let mut block = [0; PAGE_BYTES];
    transfer(fd, IocCommand { opcode: GEN_CMD, arg, ..IocCommand::default() }, &mut block)?;
    Ok(block)
}

/// Writes a block of zeros to the controller, after which cards of some makers have their page ready.
pub(super) fn prepare_page(fd: &OwnedFd, arg: u32) -> Result<(), Errno> {
    let command = IocCommand { opcode: GEN_CMD, arg, write_flag: 1, ..IocCommand::default() };
    transfer(fd, command, &mut [0; PAGE_BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_command_has_length_and_address() {
        let mut block = [0; 64];
        let place = block.as_mut_ptr() as u64;
        let command = with_block(IocCommand { opcode: SD_STATUS, ..IocCommand::default() }, &mut block);
        // R1 and ADTC in include/linux/mmc/core.h: 0x15 and 1 << 5.
        assert_eq!((command.opcode, command.flags, command.write_flag), (13, 0x35, 0));
        assert_eq!((command.blksz, command.blocks, command.data_ptr), (64, 1, place));
    }

    #[test]
    fn status_command_moves_no_data() {
        let command = status_command(0xaaaa);
        assert_eq!((command.opcode, command.arg), (13, 0xaaaa_0000));
        // MMC_RSP_SPI_R1 left aside, R1 is 0x15 in include/linux/mmc/core.h; AC is 0.
        assert_eq!(command.flags, 0x15);
        assert_eq!((command.write_flag, command.is_acmd, command.blocks, command.data_ptr), (0, 0, 0, 0));
    }
}
