//! `list`, `info` and `decode`, and unmounting a card before a test.

use cardscope_device::list::{self, ListScope};
use cardscope_device::object::{self, ObjectError};
use cardscope_device::open::PermissionDialog;
use cardscope_device::system::SystemRoots;
use cardscope_device::unmount::{self, UnmountError};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_model::device::DeviceInfo;
use cardscope_model::identity::{self, HexRegisters, Identity};
use cardscope_model::units::TemperatureUnit;
use cardscope_sd::health::{CardHealth, HealthLayout};
use cardscope_session::card_identity::{identity_of, with_findings};
use cardscope_session::error::{Failure, Result};
use cardscope_session::options::MachineOptions;
use clap::Args;

/// Show cards and readers, and whether they are safe to test
#[derive(Debug, Clone, Default, Args)]
pub struct ListRequest {
    /// Also show fixed disks and loop devices
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub machine: MachineOptions,
}

/// Show a card's identity, registers, bus and limits
#[derive(Debug, Clone, Default, Args)]
pub struct InfoRequest {
    /// Device as `list` shows it, or sim:NAME
    pub target: String,
    /// Show temperatures in C, F or K
    #[arg(long, value_name = "UNIT", default_value = "C")]
    pub degrees: TemperatureUnit,
    /// Also ask for the maker's health page (CMD56): sandisk, longsys, micron, swissbit or apacer
    ///
    /// Without a name the maker's number in the card's CID decides. A card that does not know the command can stop answering
    /// until you take it out and put it back.
    #[arg(long, value_name = "LAYOUT", num_args = 0..=1, require_equals = true)]
    pub health: Option<Option<HealthLayout>>,
    #[command(flatten)]
    pub machine: MachineOptions,
}

/// Decode pasted registers
#[derive(Debug, Clone, Default, Args)]
#[command(arg_required_else_help = true)]
pub struct DecodeRequest {
    /// Card identification, 32 hex digits
    #[arg(long, value_name = "HEX")]
    pub cid: Option<String>,
    /// Card-specific data, 32 hex digits
    #[arg(long, value_name = "HEX")]
    pub csd: Option<String>,
    /// SD configuration register, 16 hex digits
    #[arg(long, value_name = "HEX")]
    pub scr: Option<String>,
    /// SD status, 128 hex digits
    #[arg(long, value_name = "HEX")]
    pub ssr: Option<String>,
    /// Operating conditions, 8 hex digits
    #[arg(long, value_name = "HEX")]
    pub ocr: Option<String>,
    /// Health page as CMD56 gave it, 1024 hex digits
    #[arg(long, value_name = "HEX")]
    pub health: Option<String>,
}

/// Removable devices on this machine or in a recorded `/sys` tree, or all devices if requested.
pub fn list_devices(request: &ListRequest) -> Result<Vec<DeviceInfo>> {
    let scope = if request.all { ListScope::WithLoops } else { ListScope::Hardware };
    let mut entries = list::list_devices(&request.machine.system()?, scope);
    entries.retain(|e| request.all || e.removable);
    Ok(entries)
}

/// Text that changes whenever a card is inserted, removed, mounted or unmounted. No device is opened.
pub fn presence_text() -> String {
    list::device_fingerprint(&SystemRoots::host())
}

/// Verifies that a device path still leads to the card that `object` names.
pub fn check_object(path: &str, object: &str) -> Result<()> {
    object::check_object_at(path, object).map_err(Failure::refused)
}

/// Refusal of a device with another card than the confirmed one.
pub fn changed_card_refusal(path: &str) -> Failure {
    Failure::refused(ObjectError::Changed { name: path.to_owned() })
}

/// Unmounts all file systems of a card, named by kernel name or path as in [`list_devices`]. With an object, only if it is
/// that card.
pub fn unmount_card(name: &str, object: Option<&str>, interrupt: &InterruptFlag) -> Result<()> {
    let listed = list::list_devices(&SystemRoots::host(), ListScope::WithLoops);
    let card = listed.iter().find(|card| card.name == name || card.path == name).ok_or_else(|| {
        Failure::refused(format!("{name} is not a card in this computer; `cardscope list` shows them"))
    })?;
    let to_failure = |error| match error {
        UnmountError::Other { .. } => Failure::io(error),
        _ => Failure::refused(error),
    };
    let mut silent = |_: &str| ();
    let mut dialog = PermissionDialog::new(&mut silent, interrupt);
    unmount::unmount_card(&card.name, object, &mut dialog).map_err(to_failure)
}

/// Reads the identity of a card and checks it as of today.
pub fn read_identity(request: &InfoRequest) -> Result<Identity> {
    identity_of(&request.target, &request.machine, request.health)
}

/// Decodes pasted registers and checks them as of today.
pub fn decode_registers(request: &DecodeRequest) -> Result<Identity> {
    let registers = HexRegisters {
        cid: request.cid.as_deref(),
        csd: request.csd.as_deref(),
        scr: request.scr.as_deref(),
        ssr: request.ssr.as_deref(),
        ocr: request.ocr.as_deref(),
        kind: None,
    };
    if registers == HexRegisters::default() && request.health.is_none() {
        let what = "nothing to decode: give --cid, --csd, --scr, --ssr, --ocr or --health with hex digits";
        return Err(Failure::refused(what));
    }
    let mut identity = identity::from_hex(registers).map_err(Failure::refused)?;
    let health = request.health.as_deref().map(CardHealth::from_hex).transpose();
    identity.health = health.map_err(Failure::refused)?;
    Ok(with_findings(identity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(name: &str) -> String {
        match unmount_card(name, None, &InterruptFlag::default()) {
            Err(Failure::Refused(why)) => why.to_string(),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn unmount_refuses_unlisted_devices_and_the_system_disk() {
        for name in ["", "no-such-card", "/dev/no-such-card", "/", "/dev/null", "/dev/../dev/vda"] {
            let why = refused(name);
            assert!(why.contains("is not a card") && why.contains("cardscope list"), "{why}");
        }
        let listed = list::list_devices(&SystemRoots::host(), ListScope::Hardware);
        let of_system =
            |disk: &&DeviceInfo| disk.reason.as_ref().is_some_and(|why| why.contains("running system"));
        let disk = listed.iter().find(of_system).expect("/ lies on a disk here");
        assert!(!disk.can_unmount, "{disk:?}");
        for name in [&disk.name, &disk.path] {
            let why = refused(name);
            assert!(why.contains("is not removable") || why.contains("running system"), "{why}");
        }
    }
}
