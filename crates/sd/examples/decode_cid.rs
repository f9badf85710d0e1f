//! Decodes a CID, given as hex: `cargo run -p cardscope-sd --example decode_cid -- 035344535530344780811ea6ab00b37f`.
//!
//! Linux shows a card's CID in `/sys/block/mmcblk0/device/cid`.

use cardscope_sd::registers::{Cid, CrcStatus, RegisterError};

fn main() -> Result<(), RegisterError> {
    // Without an argument: a SanDisk of 4 GB.
    let text = std::env::args().nth(1).unwrap_or_else(|| "035344535530344780811ea6ab00b37f".to_owned());
    println!("{}", describe_cid(&Cid::from_hex(&text)?));
    Ok(())
}

/// The fields of a CID, one a line, with what they mean.
fn describe_cid(cid: &Cid) -> String {
    let crc = match cid.crc {
        CrcStatus::Ok => "right",
        CrcStatus::Absent => "not delivered by the host",
        CrcStatus::Mismatch => "wrong: a digit lost in copying, or a transfer error",
    };
    [
        format!("maker     {} ({})", cid.mid_hex, cid.maker.as_deref().unwrap_or("never seen")),
        format!("OEM       {}", cid.oid),
        format!("name      {}", cid.pnm),
        format!("revision  {}", cid.prv),
        format!("serial    {}", cid.psn_hex),
        format!("made      {}", cid.mdt),
        format!("CRC7      {crc}"),
    ]
    .join("\n")
}

#[test]
fn description_has_every_field() -> Result<(), RegisterError> {
    let text = describe_cid(&Cid::from_hex("035344535530344780811ea6ab00b37f")?);
    for line in ["maker     0x03 (SanDisk / Western Digital)", "name      SU04G", "CRC7      right"] {
        assert!(text.contains(line), "{text}");
    }
    Ok(())
}
