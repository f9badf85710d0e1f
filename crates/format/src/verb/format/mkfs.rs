//! Runs `mkfs.fat` (dosfstools) or `mkfs.exfat` (exfatprogs) on a sparse file in memory, with the arguments that
//! put every structure at its planned sector.
//!
//! The arguments follow the tools' manuals. The result is compared with the planned layout before anything is
//! written to a card.

use super::file_system_image::FileSystemImage;
use cardscope_sd::layout::{CardLayout, FileSystem, SECTOR, boot, fat};
use cardscope_session::error::{Failure, Result};
use cardscope_session::file_system_tool::{find_tool, run_tool_on, sparse_file};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct MkfsTool {
    name: &'static str,
    package: &'static str,
    /// Option that prints the version.
    version: &'static str,
}

const FAT: MkfsTool = MkfsTool { name: "mkfs.fat", package: "dosfstools", version: "--help" };
const EXFAT: MkfsTool = MkfsTool { name: "mkfs.exfat", package: "exfatprogs", version: "-V" };

fn tool_for(file_system: FileSystem) -> &'static MkfsTool {
    if file_system == FileSystem::Exfat { &EXFAT } else { &FAT }
}

pub(super) fn find_mkfs(file_system: FileSystem) -> Result<PathBuf> {
    let MkfsTool { name, package, .. } = tool_for(file_system);
    find_tool(name).ok_or_else(|| {
        Failure::refused(format!(
            "{name} is missing, which makes {file_system} for this capacity; install the package {package}"
        ))
    })
}

pub(super) fn make_image(layout: &CardLayout, label: Option<&str>, seed: u64) -> Result<FileSystemImage> {
    let program = find_mkfs(layout.file_system)?;
    let partition = sparse_file(layout.partition_sectors * SECTOR)?;
    if layout.file_system == FileSystem::Exfat {
        run_tool_on(&program, &exfat_arguments(layout, label), &partition)?;
        amend_boot_regions(&partition, layout)?;
    } else {
        run_tool_on(&program, &fat_arguments(layout, label, seed), &partition)?;
    }
    check_made_layout(&partition, layout, &program)?;
    let version = tool_version(&program, tool_for(layout.file_system));
    FileSystemImage::new(layout, partition, version, seed)
}

fn fat_arguments(layout: &CardLayout, label: Option<&str>, seed: u64) -> Vec<String> {
    let bits = match layout.file_system {
        FileSystem::Fat12 => 12,
        FileSystem::Fat16 => 16,
        _ => 32,
    };
    let geometry = format!("{}/{}", layout.geometry.heads, layout.geometry.sectors_per_track);
    let id = format!("{:08x}", (seed ^ seed >> 32) as u32);
    // Without -a the tool rounds by itself and moves the data area off the boundary.
    let mut arguments = ["-a", "-S", "512", "-f", "2"].map(str::to_owned).to_vec();
    let root = (layout.root_sectors > 0).then(|| (layout.root_sectors * SECTOR / 32).to_string());
    let pairs = [
        ("-F", Some(bits.to_string())),
        ("-s", Some(layout.cluster_sectors.to_string())),
        ("-R", Some(layout.reserved_sectors.to_string())),
        ("-h", Some(layout.partition_start.to_string())),
        ("-g", Some(geometry)),
        ("-i", Some(id)),
        ("-r", root),
        ("-n", label.map(str::to_owned)),
    ];
    let given = pairs.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?]));
    arguments.extend(given.flatten());
    arguments
}

fn exfat_arguments(layout: &CardLayout, label: Option<&str>) -> Vec<String> {
    let kib = |sectors: u64| format!("{}K", sectors * SECTOR / 1024);
    let cluster = Some(("-c", kib(layout.cluster_sectors)));
    let boundary = Some(("-b", kib(layout.reserved_sectors)));
    let pairs = [cluster, boundary, label.map(|label| ("-L", label.to_owned()))];
    pairs.into_iter().flatten().flat_map(|(option, value)| [option.to_owned(), value]).collect()
}

fn amend_boot_regions(partition: &File, layout: &CardLayout) -> Result<()> {
    let mut region = vec![0u8; fat::BOOT_SECTORS * SECTOR as usize];
    for at in [0, region.len() as u64] {
        partition.read_exact_at(&mut region, at).map_err(Failure::io)?;
        if fat::fix_boot_region(&mut region, layout) {
            partition.write_all_at(&region, at).map_err(Failure::io)?;
        }
    }
    Ok(())
}

/// Refuses a file system that differs from the plan, as old tools or other implementations make.
fn check_made_layout(partition: &File, layout: &CardLayout, program: &Path) -> Result<()> {
    let mut head = vec![0u8; boot::BOOT_BYTES];
    partition.read_exact_at(&mut head, 0).map_err(Failure::io)?;
    let made = boot::parse_volume(&head);
    let planned = layout.volume();
    match made {
        Some(volume) if volume == planned => Ok(()),
        other => Err(Failure::refused(format!(
            "{} did not make the requested layout, so nothing was written to the card; try a newer version \
             (requested {planned:?}, made {other:?})",
            program.display()
        ))),
    }
}

/// Name of the tool, with its version if it prints one.
fn tool_version(program: &Path, tool: &MkfsTool) -> String {
    let said = Command::new(program).arg(tool.version).stdin(Stdio::null()).output();
    let text = said.map(|said| [said.stdout, said.stderr].concat()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_number = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    let number = text.split_whitespace().find(is_number);
    number.map_or_else(|| tool.name.to_owned(), |number| format!("{} {number}", tool.name))
}
