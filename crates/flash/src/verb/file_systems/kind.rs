//! File systems to test, and their mkfs arguments with the values that the map advises.
//!
//! Arguments follow the manuals mke2fs(8), mkfs.f2fs(8), mkfs.nilfs2(8), mkfs.exfat(8). None of them may discard:
//! mkfs works on a file in memory, and the card is discarded before.

use cardscope_engine::cause::ErrorCause;
use cardscope_model::card_map::MapAdvice;
use cardscope_model::units::KIB;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileSystemKind {
    pub(super) name: &'static str,
    package: &'static str,
    fixed: &'static [&'static str],
}

/// File systems for flash as in docs/reference/reports.md#lexar-review, and exFAT, which cards are sold with.
pub(super) const KINDS: [FileSystemKind; 4] = [
    FileSystemKind { name: "ext4", package: "e2fsprogs", fixed: &["-q", "-F", "-b", "4096"] },
    FileSystemKind { name: "f2fs", package: "f2fs-tools", fixed: &["-q", "-f", "-t", "0"] },
    FileSystemKind { name: "nilfs2", package: "nilfs-tools", fixed: &["-q", "-f", "-K"] },
    FileSystemKind { name: "exfat", package: "exfatprogs", fixed: &[] },
];

impl FileSystemKind {
    pub(super) fn find_mkfs(&self) -> Result<PathBuf, ErrorCause> {
        let tool = format!("mkfs.{}", self.name);
        let missing = || format!("{tool} is missing; install the package {}", self.package).into();
        cardscope_session::file_system_tool::find_tool(&tool).ok_or_else(missing)
    }

    pub(super) fn mkfs_arguments(&self, advice: &MapAdvice) -> Vec<String> {
        let fixed = self.fixed.iter().map(|word| (*word).to_owned());
        fixed.chain(self.advised_arguments(advice)).collect()
    }

    fn advised_arguments(&self, advice: &MapAdvice) -> Vec<String> {
        let pair = |option: &str, value: String| vec![option.to_owned(), value];
        match self.name {
            "ext4" => {
                let mut extended = vec!["nodiscard".to_owned(), "lazy_itable_init=1".to_owned()];
                extended.extend(advice.ext4_stride.map(|n| format!("stride={n}")));
                extended.extend(advice.ext4_stripe_width.map(|n| format!("stripe_width={n}")));
                pair("-E", extended.join(","))
            }
            "f2fs" => advice.f2fs_segments_per_section.map_or_else(Vec::new, |n| pair("-s", n.to_string())),
            "exfat" => {
                let kib = advice.exfat_cluster_bytes.map(|bytes| format!("{}K", bytes / KIB));
                kib.map_or_else(Vec::new, |kib| pair("-c", kib))
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mkfs_arguments_follow_the_advice() {
        let advice = MapAdvice {
            ext4_stride: Some(4),
            ext4_stripe_width: Some(1024),
            f2fs_segments_per_section: Some(2),
            exfat_cluster_bytes: Some(131_072),
            ..MapAdvice::default()
        };
        let last = KINDS.map(|kind| kind.mkfs_arguments(&advice).last().cloned().unwrap_or_default());
        let extended = "nodiscard,lazy_itable_init=1,stride=4,stripe_width=1024";
        assert_eq!(last, [extended, "2", "-K", "128K"]);
        let plain = KINDS.map(|kind| kind.mkfs_arguments(&MapAdvice::default()).len());
        assert_eq!(plain, [6, 4, 3, 0]);
    }
}
