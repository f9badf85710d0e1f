//! Unpacks `.zip` and `.gz` in memory, never onto a disk, so that no name in an archive can lead anywhere.
//!
//! A few kilobytes can unpack to terabytes, so the output is counted while it is unpacked, and stops at a limit. Files are
//! handed out one by one, so that only one of them is in memory.

use cardscope_engine::cause::ErrorCause;
use cardscope_model::units::DecimalSize;
use std::io::{Cursor, Read};

/// Longest file that is read as a log. The longest real one (fio with a histogram for each job) has some MiB.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// Bytes to which one archive may unpack, including files that are refused.
const MOST_UNPACKED: u64 = 16 * MOST_BYTES;

/// Bytes to which any packed file may unpack, in addition to [`MOST_EXPANSION`] its packed length. Logs are packed to a fifth or
/// a thirtieth, zeros to a thousandth: reading a GiB of them would take minutes.
const ALLOWED_BYTES: u64 = 16 << 20;
const MOST_EXPANSION: u64 = 50;

fn unpacked_limit(packed: u64, most: u64) -> u64 {
    packed.saturating_mul(MOST_EXPANSION).saturating_add(ALLOWED_BYTES).min(most)
}

const MOST_FILES: usize = 20_000;

type ZipBytes<'a> = zip::ZipArchive<Cursor<&'a [u8]>>;

#[derive(Debug, PartialEq)]
pub(super) struct PackedFile {
    /// Empty for a file that is not packed.
    pub(super) name: String,
    /// Content, or the reason why it cannot be unpacked.
    pub(super) bytes: Result<Vec<u8>, ErrorCause>,
}

/// Passes a file, or each file packed in it, to `take` until that fails. Archives within archives are refused.
pub(super) fn for_each_file<E>(
    bytes: Vec<u8>,
    mut take: impl FnMut(PackedFile) -> Result<(), E>,
) -> Result<(), E> {
    match bytes.as_slice() {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => {
            // A bomb uses up its own limit at most; the extra allowance leaves room for the files after it.
            let most = ALLOWED_BYTES + unpacked_limit(bytes.len() as u64, MOST_UNPACKED);
            unzip(&bytes, most, &mut take)
        }
        [0x1f, 0x8b, ..] => {
            let most = unpacked_limit(bytes.len() as u64, MOST_BYTES);
            let (_, bytes) = read_unpacked(flate2::read::MultiGzDecoder::new(&bytes[..]), most);
            take(PackedFile { name: String::new(), bytes })
        }
        _ => take(PackedFile { name: String::new(), bytes: Ok(bytes) }),
    }
}

fn unpack_failure(error: impl std::error::Error + Send + Sync + 'static) -> ErrorCause {
    ErrorCause::with_message(format!("it cannot be unpacked ({error})"), error)
}

fn unzip<E>(bytes: &[u8], mut left: u64, to: &mut impl FnMut(PackedFile) -> Result<(), E>) -> Result<(), E> {
    let broken = |why: ErrorCause| PackedFile { name: String::new(), bytes: Err(why) };
    let mut archive = match zip::ZipArchive::new(Cursor::new(bytes)) {
        Ok(archive) if archive.len() <= MOST_FILES => archive,
        Ok(archive) => {
            let why = format!("it contains {} files, more than {MOST_FILES}", archive.len());
            return to(broken(why.into()));
        }
        Err(error) => return to(broken(unpack_failure(error))),
    };
    for at in 0..archive.len() {
        if left == 0 {
            let (of, rest) = (archive.len(), archive.len() - at);
            let why = format!("too large; its last {rest} of {of} files were skipped");
            return to(broken(why.into()));
        }
        let (used, member) = unpack_file(&mut archive, at, left.min(MOST_BYTES));
        left -= used.min(left);
        if let Some(member) = member {
            to(member)?;
        }
    }
    Ok(())
}

/// Unpacks one file of an archive and returns the number of unpacked bytes; `None` for a folder.
fn unpack_file(archive: &mut ZipBytes<'_>, at: usize, most: u64) -> (u64, Option<PackedFile>) {
    match archive.by_index(at) {
        Ok(file) if file.is_dir() => (0, None),
        Ok(file) => {
            let name = file.name().map_or_else(|_| format!("file {}", at + 1), |name| name.into_owned());
            let most = unpacked_limit(file.compressed_size(), most);
            let (used, bytes) = read_unpacked(file, most);
            (used, Some(PackedFile { name, bytes: bytes.and_then(refuse_nested) }))
        }
        Err(error) => {
            let bytes = Err(unpack_failure(error));
            (0, Some(PackedFile { name: format!("file {}", at + 1), bytes }))
        }
    }
}

/// Refuses an archive at once, which the readers would reject only after a search through all of it.
fn refuse_nested(bytes: Vec<u8>) -> Result<Vec<u8>, ErrorCause> {
    match bytes.as_slice() {
        [b'P', b'K', 3, 4, ..] | [0x1f, 0x8b, ..] => Err("it is packed once more; unpack it first".into()),
        _ => Ok(bytes),
    }
}

/// Reads at most `most` bytes, and fails if there are more. Also returns the number of bytes read.
fn read_unpacked(packed: impl Read, most: u64) -> (u64, Result<Vec<u8>, ErrorCause>) {
    let mut bytes = Vec::new();
    // One byte more than allowed shows that there are more.
    let read = packed.take(most + 1).read_to_end(&mut bytes);
    let length = bytes.len() as u64;
    let bytes = match read {
        Ok(_) if length > most => {
            let why = format!("more than {}, too long for a log packed so small", DecimalSize(most));
            Err(format!("it unpacks to {why}; cut out the log").into())
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(unpack_failure(error)),
    };
    (length, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn unzipped(packed: &[u8], most: u64) -> Vec<PackedFile> {
        let mut found = Vec::new();
        let Ok(()) = unzip(packed, most, &mut |member| {
            found.push(member);
            Ok::<(), Infallible>(())
        });
        found
    }

    fn all(bytes: Vec<u8>) -> Vec<PackedFile> {
        let mut found = Vec::new();
        let Ok(()) = for_each_file(bytes, |member| {
            found.push(member);
            Ok::<(), Infallible>(())
        });
        found
    }

    #[test]
    fn zip_and_gzip_are_unpacked_with_names() {
        let packed = zipped(&[("a/one.log", b"first"), ("../../two.log", b"second")]);
        let names: Vec<_> = all(packed).into_iter().map(|p| (p.name, p.bytes.unwrap())).collect();
        assert_eq!(
            names,
            [("a/one.log".into(), b"first".to_vec()), ("../../two.log".into(), b"second".to_vec())]
        );
        assert_eq!(all(gz(b"log"))[0].bytes, Ok(b"log".to_vec()));
        assert_eq!(all(b"plain".to_vec())[0].bytes, Ok(b"plain".to_vec()));
    }

    #[test]
    fn bomb_is_stopped_and_other_files_are_read() {
        let zeros = vec![0u8; (MOST_BYTES + 10) as usize];
        let bomb = gz(&zeros);
        assert!(bomb.len() < 1 << 20);
        assert!(all(bomb)[0].bytes.as_ref().unwrap_err().to_string().contains("too long for a log"));
        let found = all(zipped(&[("bomb", &zeros), ("good.log", b"fine")]));
        assert!(found[0].bytes.is_err());
        assert_eq!(found[1].bytes, Ok(b"fine".to_vec()));
    }

    #[test]
    fn nested_archive_is_refused() {
        let inner = zipped(&[("a.log", b"first")]);
        let found = all(zipped(&[("inner.zip", &inner), ("b.log", b"fine")]));
        let refusal = found[0].bytes.as_ref().unwrap_err().to_string();
        assert!(refusal.contains("packed once more"), "{refusal}");
        assert_eq!(found[1].bytes, Ok(b"fine".to_vec()));
    }

    #[test]
    fn files_beyond_the_limit_are_skipped_with_one_line() {
        let zeros = vec![0u8; 3 << 10];
        let names: Vec<String> = (0..200).map(|n| format!("{n}.log")).collect();
        let members: Vec<(&str, &[u8])> =
            names.iter().map(|name| (name.as_str(), zeros.as_slice())).collect();
        let found = unzipped(&zipped(&members), 10 << 10);
        assert_eq!(found.len(), 5, "three whole, one that is cut off, and one line for the rest");
        assert!(found[..3].iter().all(|member| member.bytes.is_ok()) && found[3].bytes.is_err());
        assert!(
            found[4].bytes.as_ref().unwrap_err().to_string().contains("last 196 of 200"),
            "{:?}",
            found[4]
        );
    }

    #[test]
    fn refused_files_count_towards_the_limit() {
        let mut packed = zipped(&[("a.log", &[0; 5000]), ("b.log", b"fine")]);
        // The checksum is wrong now, so the file is unpacked to its end and then refused.
        packed[14] ^= 1;
        let at = packed.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
        packed[at + 16] ^= 1;
        let found = unzipped(&packed, 5000);
        assert!(
            found[0].bytes.is_err()
                && found[1].bytes.as_ref().unwrap_err().to_string().contains("last 1 of 2"),
            "{found:?}"
        );
    }

    #[test]
    fn unpacking_stops_when_the_consumer_fails() {
        let packed = zipped(&[("a.log", b"a"), ("b.log", b"b")]);
        let mut taken = 0;
        let ended = for_each_file(packed, |_| {
            taken += 1;
            Err("enough")
        });
        assert_eq!((ended, taken), (Err("enough"), 1));
    }

    #[test]
    fn truncated_archive_is_an_error() {
        let mut whole = gz(&[7; 5000]);
        whole.truncate(20);
        assert!(all(whole)[0].bytes.is_err());
        let mut whole = zipped(&[("a", b"aaaa")]);
        whole.truncate(30);
        assert!(all(whole)[0].bytes.is_err());
    }
}
