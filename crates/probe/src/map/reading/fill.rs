//! A test file that nothing was written to holds extents which the file system answers by itself, with zeros and without
//! the card: before reads of it are timed it is written.

use super::super::Options;
use super::span::Span;
use crate::card::{Piece, pieces};
use crate::site::Site;
use crate::trouble::Stop;

/// Bytes of a write.
const WRITE: u32 = 1 << 20;

/// Writes what reads will be timed in, where offsets are a file's. The reason where that cannot be done.
pub(super) fn fill(site: &mut Site<'_, '_>, span: Span, options: &Options) -> Result<Option<String>, Stop> {
    if options.card_addresses {
        return Ok(None);
    }
    let why =
        |rest: &str| Some(format!("reads of a file that was never written do not reach the card; {rest}"));
    if !options.writes {
        return Ok(why("only reading was asked for"));
    }
    if !site.may_write(span.len) {
        return Ok(why("less may be written than it takes"));
    }
    site.phase("writing the test file");
    site.shape(WRITE, 1)?;
    let began = site.seconds();
    let end = span.start + span.len;
    for piece in pieces(span.start, end, WRITE).collect::<Vec<Piece>>() {
        let (done, spent) = (piece.offset - span.start, site.seconds() - began);
        if !site.has_time(spent / done.max(1) as f64 * (end - piece.offset) as f64) {
            return Ok(why("the time given was too short to write it"));
        }
        site.prepare(&[piece])?;
        if site.write(piece)?.is_none() {
            return Ok(why("writing it failed"));
        }
    }
    site.flush()?;
    Ok(None)
}
