//! `fit`: compares an image or a size with the exact sizes of cards: the named card, those in the archive and the
//! built-in list of published sizes. Writes nothing.

use cardscope_device::contents;
use cardscope_device::filesystem::refuse_kernel_file;
use cardscope_engine::input_file;
use cardscope_model::capacity;
use cardscope_model::capacity::fit::{
    CardSize, FitReport, check_card_fit, compare_with_print, listed_cards, nominal_range, nominal_sizes,
    printed_bytes,
};
use cardscope_model::finding::Finding;
use cardscope_model::session_file::CardUnit;
use cardscope_model::units::parse_size;
use cardscope_session::archive_access::open_to_read;
use cardscope_session::card_identity::identity_of;
use cardscope_session::error::{Failure, Result};
use cardscope_session::options::{ArchiveAt, MachineOptions};
use cardscope_simulator::target_spec;
use clap::Args;
use rustix::fs::SeekFrom;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;

/// Show which cards an image or a size fits, to the byte
///
/// Without arguments it lists the known capacities. Exit status 1 if it does not fit the named card, the
/// smallest known card of --card, or else any card.
#[derive(Debug, Clone, Default, Args)]
#[command(mut_arg("archive", |archive| archive.help(
    "Archive whose cards are included: a file, or postgres://... [default: in the XDG data folder]"
)))]
pub struct FitRequest {
    /// Image file, or a size, e.g. 31393316864, 29.5GiB, 32GB; or only a card, to compare it with its print
    #[arg(value_name = "IMAGE|SIZE|CARD")]
    pub asked: Option<String>,
    /// Card to fit: a device, an image file or sim:NAME
    #[arg(value_name = "TARGET")]
    pub card: Option<String>,
    /// The same, also without an image: compare this card with its printed capacity
    #[arg(long, value_name = "TARGET", conflicts_with = "card")]
    pub target: Option<String>,
    /// All known cards of this nominal capacity, e.g. "32 GB": their sizes, and a partition that fits all
    #[arg(long = "card", value_name = "CAPACITY", id = "nominal")]
    pub nominal: Option<String>,
    /// The archive whose cards are looked at, too.
    #[command(flatten)]
    pub archive: ArchiveAt,
}

/// Compares an image or a size with the exact bytes of cards: cards of one printed capacity differ in them.
///
/// # Errors
/// If the image cannot be read or is packed, or there is no such card.
pub fn fit(request: &FitRequest) -> Result<FitReport> {
    // A card named without an image or a size is compared with its printed capacity.
    let named = request.target.as_ref().or(request.card.as_ref());
    let alone = request.asked.as_ref().filter(|asked| named.is_none() && is_device_or_simulated(asked));
    let asked = request.asked.as_ref().filter(|_| alone.is_none());
    let mut report = FitReport { asked: asked.cloned(), ..FitReport::default() };
    if let Some(asked) = asked {
        resolve_asked_size(asked, &mut report)?;
    }
    let wanted = request.nominal.as_deref().map(parse_nominal).transpose()?;
    let mut cards = listed_cards();
    cards.extend(archived_cards(request.archive.named_path())?);
    cards.sort_by_key(|card| card.bytes);
    let (asked, needed) = (report.asked_bytes, required_bytes(&report));
    if let Some(name) = named.or(alone) {
        let (card, findings) = read_card_size(name)?;
        report.print = compare_with_print(card.bytes, &cards);
        report.target = Some(check_card_fit(card, asked, needed));
        report.findings = findings;
    }
    let names = wanted.clone().map_or_else(|| nominal_sizes(&cards), |name| vec![name]);
    report.nominal = names.iter().filter_map(|name| nominal_range(name, &cards, asked)).collect();
    let about = |card: &CardSize| wanted.is_none() || capacity::nominal_size(card.bytes) == wanted;
    report.cards = cards.into_iter().filter(about).map(|card| check_card_fit(card, asked, needed)).collect();
    report.fits = overall_fit(&report, wanted.is_some());
    Ok(report)
}

/// Bytes of an image that must be copied: up to its last nonzero byte and the end of its last partition.
fn required_bytes(report: &FitReport) -> Option<u64> {
    report.in_use_bytes.max(report.partitions_end_bytes)
}

/// The named card decides, without one all cards of the capacity in `--card`, else any card.
fn overall_fit(report: &FitReport, of_one_capacity: bool) -> Option<bool> {
    report.asked_bytes?;
    if let Some(target) = &report.target {
        return target.fits;
    }
    if of_one_capacity {
        return report.nominal.first().and_then(|nominal| nominal.fits);
    }
    Some(report.cards.iter().any(|card| card.fits == Some(true)))
}

fn is_device_or_simulated(name: &str) -> bool {
    let is_device = || std::fs::metadata(name).is_ok_and(|about| about.file_type().is_block_device());
    target_spec::is_simulated(name) || is_device()
}

/// Reads `asked` as an image where a file has that name, else as a size.
fn resolve_asked_size(asked: &str, report: &mut FitReport) -> Result<()> {
    match std::fs::metadata(asked) {
        Ok(about) if about.is_file() => {
            let image = inspect_image(Path::new(asked))?;
            report.asked_bytes = Some(image.bytes);
            report.in_use_bytes = Some(image.in_use);
            report.partitions_end_bytes = image.partitions_end;
            Ok(())
        }
        Ok(_) => Err(Failure::refused(format!(
            "{asked} is not an image file; to ask about a card, name it with --target"
        ))),
        Err(_) => {
            let bytes = parse_size(asked);
            let not_a_size = |e| Failure::refused_for(format!("{asked} is not a file, and {e}"), e);
            report.asked_bytes = Some(bytes.map_err(not_a_size)?);
            Ok(())
        }
    }
}

/// Returns `32 GB` for `32GB` and `32 gb`; refuses a capacity that no card is sold with.
fn parse_nominal(text: &str) -> Result<String> {
    let text = text.trim().to_uppercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let name = format!("{} {}", &text[..digits], text[digits..].trim());
    let sold = printed_bytes(&name).and_then(capacity::nominal_size);
    match sold {
        Some(sold) if sold == name => Ok(name),
        _ => Err(Failure::refused(format!(
            "--card {text:?}: no card has that capacity; give e.g. 8 GB, 32 GB, 512 GB or 1 TB"
        ))),
    }
}

/// Exact size of a card, and its findings about capacity.
fn read_card_size(name: &str) -> Result<(CardSize, Vec<Finding>)> {
    let identity = identity_of(name, &MachineOptions::default(), None)?;
    let bytes = identity.capacity_bytes.ok_or_else(|| {
        Failure::refused(format!("{name} does not report its size; is a card in the slot?"))
    })?;
    let source = if target_spec::is_simulated(name) { "simulated" } else { "the system" };
    let findings = identity.findings.into_iter().filter(|f| f.claim.starts_with("capacity-")).collect();
    Ok((CardSize { card: name.to_owned(), bytes, source: source.to_owned() }, findings))
}

const CHUNK_BYTES: u64 = 1 << 20;

/// Magic bytes of packed files, and the command that prints the size of their content.
const PACKED: &[(&[u8], &str)] = &[
    (b"\xfd7zXZ\0", "xz -l"),
    (b"\x1f\x8b", "gzip -cd … | wc -c"),
    (b"\x28\xb5\x2f\xfd", "zstd -l"),
    (b"BZh", "bzip2 -cd … | wc -c"),
    (b"PK\x03\x04", "unzip -l"),
    (b"7z\xbc\xaf\x27\x1c", "7z l"),
];

struct ImageFacts {
    bytes: u64,
    in_use: u64,
    partitions_end: Option<u64>,
}

fn inspect_image(path: &Path) -> Result<ImageFacts> {
    let failed = |e: io::Error| Failure::refused_for(format!("{} cannot be read: {e}", path.display()), e);
    let file = input_file::open_plain(path).map_err(|e| failed(io::Error::other(e)))?;
    refuse_kernel_file(&file, path).map_err(Failure::refused)?;
    let bytes = file.metadata().map_err(failed)?.len();
    refuse_packed(&file, path)?;
    let listed = contents::examine_file(&file, bytes);
    let partitions_end = listed.partitions.iter().filter_map(|p| p.start.checked_add(p.bytes)).max();
    Ok(ImageFacts { bytes, in_use: find_data_end(&file, bytes).map_err(failed)?, partitions_end })
}

fn refuse_packed(file: &File, path: &Path) -> Result<()> {
    let mut head = [0u8; 8];
    let read = file.read_at(&mut head, 0).unwrap_or(0);
    let Some((_, tool)) = PACKED.iter().find(|(magic, _)| head[..read].starts_with(magic)) else {
        return Ok(());
    };
    let path = path.display();
    Err(Failure::refused(format!("{path} is packed; unpack it, or give the size that `{tool}` prints")))
}

/// Offset after the last nonzero byte. The search starts at the end and skips holes.
fn find_data_end(file: &File, bytes: u64) -> io::Result<u64> {
    let mut end = bytes;
    let mut chunk = vec![0u8; CHUNK_BYTES as usize];
    while end > 0 {
        let start = (end - 1) / CHUNK_BYTES * CHUNK_BYTES;
        // After the last data it fails with ENXIO. Any other error only means that holes cannot be skipped: reading shows
        // whether the file can be read.
        let data = match rustix::fs::seek(file, SeekFrom::Data(start)) {
            Err(Errno::NXIO) => end,
            found => found.unwrap_or(start),
        };
        if data < end {
            let part = &mut chunk[..(end - start) as usize];
            file.read_exact_at(part, start)?;
            if let Some(last) = part.iter().rposition(|byte| *byte != 0) {
                return Ok(start + last as u64 + 1);
            }
        }
        end = start;
    }
    Ok(0)
}

/// Cards of the archive, each once, with the capacity that they announce. Simulated cards are excluded, since their
/// size is invented.
fn archived_cards(path: Option<&Path>) -> Result<Vec<CardSize>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(Vec::new()) };
    let mut found = BTreeMap::new();
    for summary in archive.sessions()? {
        let session = archive.session(summary.id)?.file;
        let Some(CardUnit { id, maker, model, capacity_bytes: Some(bytes), .. }) = session.specimen else {
            continue;
        };
        if target_spec::is_simulated(&session.target) {
            continue;
        }
        let card = [maker, Some(model)].into_iter().flatten().collect::<Vec<_>>().join(" ");
        found.entry(id).or_insert(CardSize { card, bytes, source: "the archive".to_owned() });
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_session::file_system_tool::sparse_file;
    use std::os::fd::OwnedFd;

    #[test]
    fn only_missing_data_counts_as_a_hole() {
        let file = sparse_file(3 * CHUNK_BYTES).unwrap();
        assert_eq!(find_data_end(&file, 3 * CHUNK_BYTES).unwrap(), 0);
        file.write_all_at(b"x", CHUNK_BYTES + 7).unwrap();
        assert_eq!(find_data_end(&file, 3 * CHUNK_BYTES).unwrap(), CHUNK_BYTES + 8);
        // A pipe has no positions, so its seek fails.
        let (pipe, _writer) = io::pipe().unwrap();
        assert!(find_data_end(&File::from(OwnedFd::from(pipe)), CHUNK_BYTES).is_err());
    }
}
