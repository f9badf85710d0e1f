//! `fit`: does an image or a size fit a card, by exact bytes: of the card that is named, of those in the archive, and of
//! those that are known to the byte. Nothing is written.

use cardscope_device::contents;
use cardscope_device::filesystem::refuse_kernel_file;
use cardscope_engine::input;
use cardscope_model::capacity::fit::{CardSize, FitReport, card_fit, known_cards, nominals, of_nominal};
use cardscope_model::capacity::{self, fit::print_fit, fit::printed_bytes};
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
use std::collections::BTreeMap;
use std::fs::File;
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

/// Tells on which cards an image or a size fits: cards of one printed capacity differ in their bytes.
///
/// # Errors
/// If the image cannot be read or is packed, or there is no such card.
pub fn fit(request: &FitRequest) -> Result<FitReport> {
    // A card that stands alone is compared with what is printed on it.
    let named = request.target.as_ref().or(request.card.as_ref());
    let alone = request.asked.as_ref().filter(|asked| named.is_none() && is_card(asked));
    let asked = request.asked.as_ref().filter(|_| alone.is_none());
    let mut report = FitReport { asked: asked.cloned(), ..FitReport::default() };
    if let Some(asked) = asked {
        measure(asked, &mut report)?;
    }
    let wanted = request.nominal.as_deref().map(nominal_name).transpose()?;
    let mut cards = known_cards();
    cards.extend(archived(request.archive.named())?);
    cards.sort_by_key(|card| card.bytes);
    let (asked, needed) = (report.asked_bytes, needed(&report));
    if let Some(name) = named.or(alone) {
        let (card, findings) = target(name)?;
        report.print = print_fit(card.bytes, &cards);
        report.target = Some(card_fit(card, asked, needed));
        report.findings = findings;
    }
    let names = wanted.clone().map_or_else(|| nominals(&cards), |name| vec![name]);
    report.nominal = names.iter().filter_map(|name| of_nominal(name, &cards, asked)).collect();
    let about = |card: &CardSize| wanted.is_none() || capacity::nominal(card.bytes) == wanted;
    report.cards = cards.into_iter().filter(about).map(|card| card_fit(card, asked, needed)).collect();
    report.fits = answer(&report, wanted.is_some());
    Ok(report)
}

/// What must be copied of an image at least: up to its last byte that is not zero, and all of its partitions.
fn needed(report: &FitReport) -> Option<u64> {
    let ends = [report.in_use_bytes, report.partitions_end_bytes];
    ends.into_iter().flatten().max()
}

/// The card that is named decides; else all cards of the nominal capacity; else any card.
fn answer(report: &FitReport, of_one_capacity: bool) -> Option<bool> {
    report.asked_bytes?;
    if let Some(target) = &report.target {
        return target.fits;
    }
    if of_one_capacity {
        return report.nominal.first().and_then(|nominal| nominal.fits);
    }
    Some(report.cards.iter().any(|card| card.fits == Some(true)))
}

/// Whether a name is that of a device or a simulated card, not of an image or a size.
fn is_card(name: &str) -> bool {
    target_spec::is_simulated(name)
        || std::fs::metadata(name).is_ok_and(|about| about.file_type().is_block_device())
}

/// Takes an image by its name, anything else as a size.
fn measure(asked: &str, report: &mut FitReport) -> Result<()> {
    match std::fs::metadata(asked) {
        Ok(about) if about.is_file() => {
            let image = look(Path::new(asked))?;
            report.asked_bytes = Some(image.bytes);
            report.in_use_bytes = Some(image.in_use);
            report.partitions_end_bytes = image.partitions_end;
            Ok(())
        }
        Ok(_) => Err(Failure::refused(format!(
            "{asked} is not an image file; to ask about a card, name it with --target"
        ))),
        Err(_) => {
            let bytes = parse_size(asked)
                .map_err(|e| Failure::refused_for(format!("{asked} is not a file, and {e}"), e))?;
            report.asked_bytes = Some(bytes);
            Ok(())
        }
    }
}

/// `32GB`, `32 gb` as `32 GB`, where it is a capacity that cards are sold with.
fn nominal_name(text: &str) -> Result<String> {
    let text = text.trim().to_uppercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let name = format!("{} {}", &text[..digits], text[digits..].trim());
    let sold = printed_bytes(&name).and_then(capacity::nominal);
    match sold {
        Some(sold) if sold == name => Ok(name),
        _ => Err(Failure::refused(format!(
            "--card {text:?}: no card has that capacity; give e.g. 8 GB, 32 GB, 512 GB or 1 TB"
        ))),
    }
}

/// The exact size of a card, with what the card itself says otherwise.
fn target(name: &str) -> Result<(CardSize, Vec<Finding>)> {
    let identity = identity_of(name, &MachineOptions::default(), None)?;
    let bytes = identity.capacity_bytes.ok_or_else(|| {
        Failure::refused(format!("{name} does not report its size; is a card in the slot?"))
    })?;
    let source = if target_spec::is_simulated(name) { "simulated" } else { "the system" };
    let findings = identity.findings.into_iter().filter(|f| f.claim.starts_with("capacity-")).collect();
    Ok((CardSize { card: name.to_owned(), bytes, source: source.to_owned() }, findings))
}

/// Read at a time.
const CHUNK: u64 = 1 << 20;

/// Packed files by their first bytes, and how to learn the size of what is in them.
const PACKED: &[(&[u8], &str)] = &[
    (b"\xfd7zXZ\0", "xz -l"),
    (b"\x1f\x8b", "gzip -cd … | wc -c"),
    (b"\x28\xb5\x2f\xfd", "zstd -l"),
    (b"BZh", "bzip2 -cd … | wc -c"),
    (b"PK\x03\x04", "unzip -l"),
    (b"7z\xbc\xaf\x27\x1c", "7z l"),
];

/// What is known of an image.
struct ImageFacts {
    bytes: u64,
    in_use: u64,
    partitions_end: Option<u64>,
}

/// Looks at an image.
fn look(path: &Path) -> Result<ImageFacts> {
    let failed =
        |e: std::io::Error| Failure::refused_for(format!("{} cannot be read: {e}", path.display()), e);
    let file = input::open(path).map_err(|e| failed(std::io::Error::other(e)))?;
    refuse_kernel_file(&file, path).map_err(Failure::refused)?;
    let bytes = file.metadata().map_err(failed)?.len();
    refuse_packed(&file, path)?;
    let listed = contents::describe(&file, bytes);
    let partitions_end = listed.partitions.iter().filter_map(|p| p.start.checked_add(p.bytes)).max();
    Ok(ImageFacts { bytes, in_use: in_use(&file, bytes).map_err(failed)?, partitions_end })
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

/// Up to the last byte that is not zero, sought from the end; holes are passed over.
fn in_use(file: &File, bytes: u64) -> std::io::Result<u64> {
    let mut end = bytes;
    let mut chunk = vec![0u8; CHUNK as usize];
    while end > 0 {
        let start = (end - 1) / CHUNK * CHUNK;
        // A file system that knows no holes says that everything is data.
        let data = rustix::fs::seek(file, SeekFrom::Data(start));
        if data.is_ok_and(|at| at < end) {
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

/// The cards of the archive, each once, with the capacity that it announced. Simulated ones are left out: they are made
/// up.
fn archived(path: Option<&Path>) -> Result<Vec<CardSize>> {
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
