//! Evidence for a refund: the card's identity, its announced and real capacity in bytes, the method, and addresses
//! at which the loss can be reproduced.

use cardscope_model::identity::Identity;
use cardscope_model::report::ReportHeader;
use cardscope_model::units::{ExactCapacity, group_digits};
use cardscope_model::verify::{AddressDisproof, SectorFound, TestMethod, Verification};
use cardscope_page::figure::{percent, pluralize};
use cardscope_page::tree::{Page, PageBlock, fact, limited_list};
use cardscope_sd::registers::Cid;

/// Most addresses on the printed page.
const ADDRESSES: usize = 8;

/// Adds the evidence as a folded section that is printed.
pub fn add_evidence(
    page: &mut Page,
    header: &ReportHeader,
    body: &Verification,
    identity: Option<&Identity>,
) {
    let cid = identity.and_then(|identity| identity.cid.as_ref());
    let nvme = identity.and_then(|identity| identity.nvme.as_ref()?.identify.as_ref());
    let cid_words =
        |cid: &Cid| format!("{} {}", cid.maker.as_deref().unwrap_or("unknown maker"), cid.pnm.trim());
    let all = [
        ("card", cid.map(cid_words).or(nvme.map(|it| it.mn.trim().to_owned()))),
        ("serial number", cid.map(|cid| cid.psn_hex.clone()).or(nvme.map(|it| it.sn.trim().to_owned()))),
        ("made", cid.map(|cid| cid.mdt.to_string())),
        ("CID", cid.map(|cid| cid.raw.to_string())),
        ("announced", Some(ExactCapacity(body.announced_bytes).to_string())),
        ("usable", body.usable_bytes.map(|bytes| ExactCapacity(bytes).to_string())),
        ("verified", Some(ExactCapacity(body.proven_bytes).to_string())),
        ("method", Some(describe_method(body))),
        ("confidence", Some(percent(body.confidence))),
        ("tested on", Some(header.target.clone())),
        ("reader", header.condition.get("reader").map(ToString::to_string)),
        ("seed", Some(header.seed.to_string())),
    ];
    let facts = all.into_iter().filter_map(|(name, value)| Some(fact(name, value?))).collect();
    let proofs = limited_list(&body.disproofs, ADDRESSES, describe_disproof);
    page.add_detail("Evidence", [PageBlock::Facts(facts), proofs]);
    page.mark_printed(&["Evidence"]);
}

fn describe_method(body: &Verification) -> String {
    let restored = if body.moved.bytes_restored > 0 { ", then restored" } else { "" };
    match body.method {
        TestMethod::Quick => {
            format!("quick test: samples over all addresses, written and read back{restored}")
        }
        TestMethod::Full => "full test: every block written and read back".to_owned(),
        TestMethod::Files => "files: the free space filled, and read back".to_owned(),
    }
}

fn describe_disproof(proof: &AddressDisproof) -> String {
    let times = if proof.seen == 2 { "twice".to_owned() } else { pluralize(proof.seen, "time") };
    let (address, found) = (group_digits(proof.address), describe_sector(proof.found));
    format!("byte {address}: read {found}, not what was written there ({times})")
}

fn describe_sector(found: SectorFound) -> String {
    match found {
        SectorFound::Expected => "the same".to_owned(),
        SectorFound::Flipped { bits } => format!("the same with {bits} bits wrong"),
        SectorFound::Elsewhere { address } => format!("what belongs to byte {}", group_digits(address)),
        SectorFound::Stale { generation } => format!("what stood there after write {generation}"),
        SectorFound::Foreign { address, .. } => {
            format!("another run's stamp of byte {}", group_digits(address))
        }
        SectorFound::Constant { byte } => format!("0x{byte:02x} throughout"),
        SectorFound::Other => "something older".to_owned(),
        SectorFound::Error => "an error".to_owned(),
    }
}
