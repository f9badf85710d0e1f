//! Removes from a picture what its camera or editor added: place, device, time and author. Pixels stay the same byte by byte,
//! and so does the orientation.
//!
//! Segments of JPEG: ITU T.81, B; Exif: CIPA DC-008, 4.5.5 and 4.6.4; chunks of PNG: W3C PNG 3rd edition, 5 and 11; of WebP:
//! RFC 9649, 2; blocks of GIF: GIF89a specification, 17 to 26.

/// Picture without metadata; `None` if it violates its format.
pub(super) fn without_metadata(media_type: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    match media_type {
        "image/jpeg" => clean_jpeg(bytes),
        "image/png" => clean_png(bytes),
        "image/webp" => clean_webp(bytes),
        "image/gif" => clean_gif(bytes),
        _ => None,
    }
}

fn clean_jpeg(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = vec![0xff, 0xd8];
    let mut at = 2;
    loop {
        let [0xff, marker] = *bytes.get(at..at + 2)? else { return None };
        // Data after the end marker are not part of the picture.
        if marker == 0xd9 {
            out.extend([0xff, 0xd9]);
            return Some(out);
        }
        let length = usize::from(u16::from_be_bytes(bytes.get(at + 2..at + 4)?.try_into().ok()?));
        let mut end = at + 2 + length;
        let segment = bytes.get(at + 4..end)?;
        if marker == 0xda {
            end += scan_length(bytes.get(end..)?)?;
        }
        match marker {
            0xe1 => out.extend(orientation(segment).map(orientation_segment).unwrap_or_default()),
            0xe2 if segment.starts_with(b"ICC_PROFILE\0") => out.extend(&bytes[at..end]),
            // The head of either kind may have a thumbnail, which may show the picture before it was cropped.
            0xe0 if segment.starts_with(b"JFIF\0") => out.extend(without_thumbnail(segment)?),
            // APP14 (0xee) stays, since it selects the colour transform of the pixels.
            0xe0 | 0xe2..=0xed | 0xef | 0xfe => {}
            _ => out.extend(&bytes[at..end]),
        }
        at = end;
    }
}

/// Head of a JFIF file: version, unit and density, without a thumbnail.
fn without_thumbnail(head: &[u8]) -> Option<Vec<u8>> {
    Some([b"\xff\xe0\0\x10", head.get(..12)?, &[0, 0]].concat())
}

/// Bytes of a scan, up to the next marker outside of it.
fn scan_length(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|two| two[0] == 0xff && !matches!(two[1], 0 | 0xd0..=0xd7 | 0xff))
}

/// Orientation in an Exif segment, if it is rotated or mirrored: 2 to 8.
fn orientation(segment: &[u8]) -> Option<u8> {
    let tiff = segment.strip_prefix(b"Exif\0\0")?;
    let big = tiff.starts_with(b"MM");
    let number = |at: usize, len: usize| -> Option<usize> {
        let digits = tiff.get(at..at.checked_add(len)?)?.iter();
        let add = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
        Some(if big { digits.fold(0, add) } else { digits.rev().fold(0, add) })
    };
    let directory = number(4, 4)?;
    let entries = (0..number(directory, 2)?).map(|n| directory + 2 + 12 * n);
    let place = entries.take_while(|at| *at < tiff.len()).find(|at| number(*at, 2) == Some(0x0112))?;
    u8::try_from(number(place + 8, 2)?).ok().filter(|turned| (2..=8).contains(turned))
}

/// Exif segment with nothing but an orientation.
fn orientation_segment(orientation: u8) -> Vec<u8> {
    let tiff =
        [b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".as_slice(), &[orientation], &[0; 6]].concat();
    [b"\xff\xe1\0\x22Exif\0\0".as_slice(), &tiff].concat()
}

fn clean_png(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut at) = (bytes.get(..8)?.to_vec(), 8);
    loop {
        let length = u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize;
        let chunk = bytes.get(at..at.checked_add(length)?.checked_add(12)?)?;
        if !matches!(&chunk[4..8], b"eXIf" | b"tEXt" | b"iTXt" | b"zTXt" | b"tIME") {
            out.extend(chunk);
        }
        if &chunk[4..8] == b"IEND" {
            return Some(out);
        }
        at += chunk.len();
    }
}

fn clean_webp(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let all = bytes.get(..length(4)?.checked_add(8)?)?;
    let (mut out, mut at) = (all.get(..12)?.to_vec(), 12);
    while at < all.len() {
        let padded = length(at + 4)?.checked_next_multiple_of(2)?;
        let mut chunk = all.get(at..at.checked_add(padded)?.checked_add(8)?)?.to_vec();
        at += chunk.len();
        match &chunk[..4] {
            b"EXIF" | b"XMP " => continue,
            // Its flags announce both of these chunks.
            b"VP8X" => *chunk.get_mut(8)? &= !0x0c,
            _ => {}
        }
        out.extend(chunk);
    }
    let size = u32::try_from(out.len() - 8).ok()?.to_le_bytes();
    out[4..8].copy_from_slice(&size);
    Some(out)
}

/// Removes comments and application data, except the number of repetitions of an animation.
fn clean_gif(bytes: &[u8]) -> Option<Vec<u8>> {
    // A flag announces a colour table, and its low bits the size.
    let colours = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let mut at = 13 + colours(*bytes.get(10)?);
    let mut out = bytes.get(..at)?.to_vec();
    loop {
        let start = at;
        let (head, keeps) = match *bytes.get(at)? {
            0x3b => {
                out.push(0x3b);
                return Some(out);
            }
            0x2c => (11 + colours(*bytes.get(at + 9)?), true),
            0x21 => match *bytes.get(at + 1)? {
                0xf9 | 0x01 => (2, true),
                0xff => (2, bytes.get(at + 3..)?.starts_with(b"NETSCAPE2.0")),
                _ => (2, false),
            },
            _ => return None,
        };
        at += head;
        loop {
            let len = usize::from(*bytes.get(at)?);
            at += 1 + len;
            if len == 0 {
                break;
            }
        }
        if keeps {
            out.extend(bytes.get(start..at)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
        [&[0xff, marker][..], &(content.len() as u16 + 2).to_be_bytes(), content].concat()
    }

    /// Exif in either byte order, with a location after the orientation.
    fn exif(big: bool, orientation: u8) -> Vec<u8> {
        let tiff: &[u8] = match big {
            true => b"MM\0\x2a\0\0\0\x08\0\x02\x88\x25\0\x04\0\0\0\x01\0\0\0\x26\x01\x12\0\x03\0\0\0\x01\0",
            false => b"II\x2a\0\x08\0\0\0\x02\0\x25\x88\x04\0\x01\0\0\0\x26\0\0\0\x12\x01\x03\0\x01\0\0\0",
        };
        [b"Exif\0\0", tiff, &[orientation, 0, 0, 0], b"GPS 52.5 13.4"].concat()
    }

    #[test]
    fn jpeg_keeps_pixels_and_orientation_only() {
        let scan = [segment(0xda, b"head"), vec![1, 0xff, 0, 2, 0xff, 0xd3, 3]].concat();
        for (big, orientation) in [(true, 6), (false, 6), (true, 1)] {
            let parts = [
                vec![0xff, 0xd8],
                segment(0xe0, b"JFIF\0\x01\x02\0\0\x48\0\x48\x01\x01rgb"),
                segment(0xe0, b"JFXX\0 a picture in small"),
                segment(0xe1, &exif(big, orientation)),
                segment(0xfe, b"by me"),
                segment(0xdb, b"table"),
                scan.clone(),
                segment(0xc4, b"between"),
                scan.clone(),
                b"\xff\xd9and a second picture".to_vec(),
            ];
            let clean = without_metadata("image/jpeg", &parts.concat()).unwrap();
            let turned = if orientation == 6 {
                segment(0xe1, &[&orientation_segment(6)[4..]].concat())
            } else {
                Vec::new()
            };
            let head = segment(0xe0, b"JFIF\0\x01\x02\0\0\x48\0\x48\0\0");
            let kept = [&parts[0], &head, &turned, &parts[5], &scan, &parts[7], &scan, &vec![0xff, 0xd9]];
            assert_eq!(clean, kept.map(Clone::clone).concat(), "{big} {orientation}");
            let again = without_metadata("image/jpeg", &clean).unwrap();
            assert_eq!(again, clean, "what is written is read alike");
        }
    }

    #[test]
    fn metadata_chunks_of_png_and_webp_are_removed() {
        let chunk = |name: &[u8], content: &[u8]| {
            [&(content.len() as u32).to_be_bytes()[..], name, content, b"sums"].concat()
        };
        let head = b"\x89PNG\r\n\x1a\n".to_vec();
        let [size, text, data, end] =
            [(&b"IHDR"[..], &b"size"[..]), (b"tEXt", b"me"), (b"IDAT", b"pixels"), (b"IEND", b"")]
                .map(|(name, content)| chunk(name, content));
        let whole = [head.clone(), size.clone(), text, data.clone(), end.clone()].concat();
        assert_eq!(without_metadata("image/png", &whole), Some([head, size, data, end].concat()));

        let chunk =
            |name: &[u8], content: &[u8]| [name, &(content.len() as u32).to_le_bytes(), content].concat();
        let riff = |chunks: &[Vec<u8>]| {
            let body = chunks.concat();
            [b"RIFF".to_vec(), (body.len() as u32 + 4).to_le_bytes().to_vec(), b"WEBP".to_vec(), body]
                .concat()
        };
        let pixels = chunk(b"VP8 ", b"pixels");
        let whole = riff(&[chunk(b"VP8X", &[0x1c, 0]), pixels.clone(), chunk(b"EXIF", b"at home!")]);
        let clean = riff(&[chunk(b"VP8X", &[0x10, 0]), pixels]);
        assert_eq!(without_metadata("image/webp", &whole), Some(clean));
    }

    #[test]
    fn gif_keeps_frames_and_repetitions_only() {
        let head = b"GIF89a\x02\0\x02\0\x80\0\0\0\0\0\xff\xff\xff".to_vec();
        let repeated = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0".to_vec();
        let comment = b"\x21\xfe\x05by me\0".to_vec();
        let foreign = b"\x21\xff\x0bXMP DataXMP\x03gps\0".to_vec();
        let delay = b"\x21\xf9\x04\0\x0a\0\0\0".to_vec();
        let picture = b"\x2c\0\0\0\0\x02\0\x02\0\0\x02\x02\x44\x0a\0".to_vec();
        let parts = [&head, &repeated, &comment, &foreign, &delay, &picture, &b"\x3b and more".to_vec()];
        let clean = without_metadata("image/gif", &parts.map(Clone::clone).concat()).unwrap();
        let kept = [&head, &repeated, &delay, &picture, &vec![0x3b]];
        assert_eq!(clean, kept.map(Clone::clone).concat());
        assert_eq!(without_metadata("image/gif", &clean), Some(clean));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_handled_without_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80)) {
            for (kind, head) in [("image/jpeg", &b"\xff\xd8"[..]), ("image/png", b"\x89PNG\r\n\x1a\n"), ("image/webp", b"RIFF"), ("image/gif", b"GIF89a")] {
                let _ = without_metadata(kind, &[head, &bytes].concat());
                let _ = without_metadata(kind, &bytes);
            }
            let _ = orientation(&[b"Exif\0\0MM", &bytes[..]].concat());
        }
    }
}
