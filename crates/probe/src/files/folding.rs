//! In which period a card's addresses repeat, told from files. Their own distances do not tell: a file system leaves gaps
//! for its tables and cuts files into pieces. So it is asked where on the card the sector lies and where the one whose
//! content stands in it; of a wrapping card all such distances are multiples of the period.

use super::folder::TestFolder;
use super::pass::Pass;
use super::reading::ToRead;
use super::sorting::Shift;

/// Distances of fewer sectors than this share of the overwritten ones are remains of something else.
const LEAST_SHARE: f64 = 0.01;

/// No card is so small: what has only smaller divisors in common is no period.
const LEAST_PERIOD: u64 = 1 << 20;

/// The period in bytes; `None` where the file system does not tell where files lie, or the distances have nothing in
/// common.
pub(super) fn period(pass: &Pass<'_, impl TestFolder>, files: &[ToRead]) -> Option<u64> {
    let all = pass.sorted.counts.overwritten;
    let counts = |shift: &&Shift| shift.count as f64 >= LEAST_SHARE * all as f64;
    let place = |offset| on_card(&pass.folder, files, offset);
    let distances: Option<Vec<u64>> = pass
        .sorted
        .shifts
        .values()
        .filter(counts)
        .map(|shift| Some(place(shift.expected)?.abs_diff(place(shift.found)?)))
        .collect();
    common(&distances?)
}

/// The greatest common divisor of distances, where it is large enough to mean something.
fn common(distances: &[u64]) -> Option<u64> {
    distances.iter().copied().reduce(gcd).filter(|period| *period >= LEAST_PERIOD)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Where on the card a byte of the whole data lies.
fn on_card(folder: &impl TestFolder, files: &[ToRead], offset: u64) -> Option<u64> {
    let file = files.iter().find(|file| file.range().contains(&offset))?;
    let start = file.range().start;
    folder.on_card(file.named.number, offset - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_is_what_all_distances_have_in_common() {
        let (mib, odd) = (1 << 20, 18_350_592);
        assert_eq!(common(&[256 * mib]), Some(256 * mib));
        assert_eq!(common(&[3 * odd, 2 * odd, odd]), Some(odd));
        assert_eq!(common(&[3 * odd, 2 * odd]), Some(odd), "also where no two copies are neighbours");
        assert_eq!(common(&[256 * mib, 256 * mib - 4096]), None, "gaps are no period");
        assert_eq!(common(&[]), None);
    }
}
