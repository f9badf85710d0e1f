//! Archives of logs: `.zip` and `.gz`, unpacked in memory and never onto a disk, so that no name in them leads anywhere.
//!
//! A few kilobytes can unpack to terabytes. So what comes out is counted while it comes, and stops at a limit.

use super::MOST_BYTES;
use std::io::{Cursor, Read};

/// All that one archive may unpack to.
const MOST_UNPACKED: u64 = 16 * MOST_BYTES;

/// Most files in one archive.
const MOST_FILES: usize = 100_000;

/// One log, with the name it has inside of what it was packed in.
#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    /// Empty for a file that is no archive.
    pub(super) name: String,
    /// What is in it, or why that cannot be had.
    pub(super) bytes: Result<Vec<u8>, String>,
}

/// What a file holds: itself, or what is packed in it. Archives within archives stay packed: they are no logs.
pub(super) fn pieces(bytes: Vec<u8>) -> Vec<Piece> {
    match bytes.as_slice() {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => unzip(&bytes),
        [0x1f, 0x8b, ..] => vec![Piece { name: String::new(), bytes: gunzip(&bytes) }],
        _ => vec![Piece { name: String::new(), bytes: Ok(bytes) }],
    }
}

fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    limited(flate2::read::MultiGzDecoder::new(bytes), MOST_BYTES)
}

fn unzip(bytes: &[u8]) -> Vec<Piece> {
    let broken = |why: String| vec![Piece { name: String::new(), bytes: Err(why) }];
    let mut archive = match zip::ZipArchive::new(Cursor::new(bytes)) {
        Ok(archive) if archive.len() <= MOST_FILES => archive,
        Ok(archive) => {
            return broken(format!("{} files are packed in it, more than {MOST_FILES}", archive.len()));
        }
        Err(error) => return broken(format!("it is packed and cannot be unpacked ({error})")),
    };
    let mut left = MOST_UNPACKED;
    let mut pieces = Vec::new();
    for place in 0..archive.len() {
        match member(&mut archive, place, left.min(MOST_BYTES)) {
            Some(piece) => {
                left -= piece.bytes.as_ref().map_or(0, |b| b.len() as u64);
                pieces.push(piece);
            }
            None => continue,
        }
    }
    pieces
}

/// One file of an archive; `None` for a folder.
fn member(archive: &mut zip::ZipArchive<Cursor<&[u8]>>, place: usize, most: u64) -> Option<Piece> {
    match archive.by_index(place) {
        Ok(file) if file.is_dir() => None,
        Ok(file) => {
            let name = file.name().map_or_else(|_| format!("file {}", place + 1), |name| name.into_owned());
            Some(Piece { name, bytes: limited(file, most) })
        }
        Err(error) => {
            let bytes = Err(format!("it cannot be unpacked ({error})"));
            Some(Piece { name: format!("file {}", place + 1), bytes })
        }
    }
}

/// Reads what comes out, but no more than is reasonable for a log.
fn limited(packed: impl Read, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = packed.take(most + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 > most => {
            Err(format!("it unpacks to more than {} MiB; no log is that long", most >> 20))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(format!("it cannot be unpacked ({error})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn logs_come_out_of_both_kinds_of_archive_with_their_names() {
        let packed = zipped(&[("a/one.log", b"first"), ("../../two.log", b"second")]);
        let names: Vec<_> = pieces(packed).into_iter().map(|p| (p.name, p.bytes.unwrap())).collect();
        assert_eq!(
            names,
            [("a/one.log".into(), b"first".to_vec()), ("../../two.log".into(), b"second".to_vec())]
        );
        assert_eq!(pieces(gz(b"log"))[0].bytes, Ok(b"log".to_vec()));
        assert_eq!(pieces(b"plain".to_vec())[0].bytes, Ok(b"plain".to_vec()));
    }

    #[test]
    fn a_bomb_is_stopped_while_it_unpacks_and_what_lies_beside_it_is_read() {
        let zeros = vec![0u8; (MOST_BYTES + 10) as usize];
        let bomb = gz(&zeros);
        assert!(bomb.len() < 1 << 20);
        assert!(pieces(bomb)[0].bytes.as_ref().unwrap_err().contains("no log is that long"));
        let found = pieces(zipped(&[("bomb", &zeros), ("good.log", b"fine")]));
        assert!(found[0].bytes.is_err());
        assert_eq!(found[1].bytes, Ok(b"fine".to_vec()));
    }

    #[test]
    fn a_cut_archive_says_so() {
        let mut whole = gz(&[7; 5000]);
        whole.truncate(20);
        assert!(pieces(whole)[0].bytes.is_err());
        let mut whole = zipped(&[("a", b"aaaa")]);
        whole.truncate(30);
        assert!(pieces(whole)[0].bytes.is_err());
    }
}
