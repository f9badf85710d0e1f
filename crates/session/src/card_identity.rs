//! Identity of a simulated card, a device or an image file, without opening it for a test.

use crate::error::{Failure, Result};
use crate::options::MachineOptions;
use cardscope_device::block::BlockDevice;
use cardscope_device::filesystem::refuse_kernel_file;
use cardscope_device::open::open_shared;
use cardscope_device::system::SystemRoots;
use cardscope_device::{contents, inspect};
use cardscope_engine::input_file;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::identity::Identity;

use cardscope_sd::health::HealthLayout;
use cardscope_simulator::target_spec;
use std::path::Path;

/// Identity of a target, judged as of today. `health` also requests the vendor's health data.
/// Fails if the target does not exist or cannot be queried.
pub fn identity_of(
    target: &str,
    machine: &MachineOptions,
    health: Option<Option<HealthLayout>>,
) -> Result<Identity> {
    let mut identity = if target_spec::is_simulated(target) {
        let spec = target_spec::parse(target).map_err(Failure::refused)?;
        cardscope_simulator::decode_identity(&spec.archetype).map_err(Failure::refused)?
    } else {
        inspect_target(target, &machine.system()?)?
    };
    if let Some(layout) = health {
        inspect::add_health(&machine.system()?, target, layout, &mut identity);
    }
    let mut identity = with_findings(identity);
    if let Some(layout) = &identity.layout {
        identity.findings.extend(layout.contradictions().into_iter().chain(layout.finding(target)));
    }
    Ok(identity)
}

/// Identity of a device or image file, with its partition layout where this computer can read it.
fn inspect_target(target: &str, system: &SystemRoots) -> Result<Identity> {
    let path = Path::new(target);
    if let Ok(about) = std::fs::metadata(path)
        && about.is_file()
        && system.is_live()
    {
        let file = input_file::open_plain(path)
            .map_err(|e| Failure::refused_for(format!("{target} cannot be read: {e}"), e))?;
        refuse_kernel_file(&file, path).map_err(Failure::refused)?;
        let mut identity = Identity { capacity_bytes: Some(about.len()), ..Identity::default() };
        identity.derive_fields();
        identity.layout = contents::file_layout(&file, about.len(), None);
        return Ok(identity);
    }
    let mut identity = inspect::inspect_card(system, target).map_err(Failure::refused)?;
    // An empty slot has no layout.
    let bytes = identity.capacity_bytes.filter(|_| system.is_live());
    if let Some((device, bytes)) = BlockDevice::find(system, target).zip(bytes) {
        // The layout of a partition is that of its whole disk.
        match open_shared(&device.disk().path(system)) {
            Ok(file) => identity.layout = contents::file_layout(&file, bytes, identity.allocation_unit()),
            Err(error) => {
                let text = format!("Partition table and file system could not be read: {error}.");
                let finding = Finding::new("layout-not-read", FindingWeight::Note, 1.0, text);
                identity.findings.push(finding);
            }
        }
    }
    Ok(identity)
}

/// Judges an identity and keeps the findings that it already has.
pub fn with_findings(identity: Identity) -> Identity {
    let today = jiff::Zoned::now().date();
    let (year, month) = (today.year().unsigned_abs(), today.month().unsigned_abs());
    let mut read = identity.findings.clone();
    let mut identity = identity.judged((year, month));
    read.append(&mut identity.findings);
    identity.findings = read;
    identity
}
