//! Target that refuses writes beyond an [`WriteQuota`].

use crate::target::{IoDirection, IoRequest, Target, TargetError, TargetRegion, TargetResult, WriteQuota};

/// These file systems extend a file by writing zeros.
const GROW_BY_WRITING: [&str; 3] = ["vfat", "exfat", "msdos"];

pub struct WriteLimitedTarget {
    target: Box<dyn Target>,
    allowance: WriteQuota,
    /// Bytes to which the test file has grown; `None` if growing writes nothing.
    grown: Option<u64>,
}

/// True on file systems that zero-fill a growing file (FAT, exFAT): each byte is written once more than the test does.
pub fn grows_by_writing(file_system: Option<&str>) -> bool {
    file_system.is_some_and(|name| GROW_BY_WRITING.contains(&name))
}

impl WriteLimitedTarget {
    /// Wraps a target; its lanes share the quota. `grows` if the test area is a file that [grows by
    /// writing](grows_by_writing).
    pub fn new(target: Box<dyn Target>, allowance: WriteQuota, grows: bool) -> Self {
        WriteLimitedTarget { target, allowance, grown: grows.then_some(0) }
    }
}

impl Target for WriteLimitedTarget {
    crate::delegate_target!(
        [target] info, now, plan, complete, flush, discard, idle, drop_caches, temperature, ping, health,
        reopen, buffer, compare, caveats
    );

    fn submit(&mut self, io: &IoRequest) -> TargetResult {
        if io.direction == IoDirection::Write && !self.allowance.try_take(u64::from(io.len)) {
            return Err(TargetError::WriteLimitReached);
        }
        self.target.submit(io)
    }

    fn area(&mut self, bytes: u64) -> TargetResult<TargetRegion> {
        let more = self.grown.map_or(0, |grown| bytes.saturating_sub(grown));
        if more > self.allowance.available() {
            return Err(TargetError::WriteLimitReached);
        }
        let area = self.target.area(bytes);
        // Without space nothing was written, so nothing counts.
        if !matches!(area, Err(TargetError::NoSpace { .. })) {
            self.grown = self.grown.map(|grown| grown + more);
            let _ = self.allowance.try_take(more);
        }
        area
    }

    fn lane(&mut self) -> TargetResult<Option<Box<dyn Target>>> {
        let lane = self.target.lane()?;
        let allowance = &self.allowance;
        Ok(lane.map(|lane| -> Box<dyn Target> {
            Box::new(WriteLimitedTarget::new(lane, allowance.clone(), false))
        }))
    }

    fn allowance(&self) -> Option<&WriteQuota> {
        Some(&self.allowance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::IoContent;
    use crate::null_target::NullTarget;
    use crate::target::LanePlan;
    use cardscope_model::recipe::KernelPath;

    fn write(len: u32) -> IoRequest {
        IoRequest { slot: 0, direction: IoDirection::Write, offset: 0, len, content: IoContent::Noise }
    }

    #[test]
    fn file_growth_counts_only_if_it_writes() {
        for (file_system, left) in [("vfat", 4096), ("ext4", 12288)] {
            let (allowance, grows) = (WriteQuota::new(12288), grows_by_writing(Some(file_system)));
            let mut target =
                WriteLimitedTarget::new(Box::new(NullTarget::new(16384)), allowance.clone(), grows);
            for bytes in [4096, 8192, 8192, 4096] {
                target.area(bytes).unwrap();
            }
            assert_eq!(allowance.available(), left, "{file_system}");
            assert_eq!(target.area(16384) == Err(TargetError::WriteLimitReached), grows);
            allowance.reset(1 << 20);
            assert!(matches!(target.area(32768), Err(TargetError::NoSpace { .. })));
            assert_eq!(allowance.available(), 1 << 20, "nothing was written");
        }
    }

    #[test]
    fn writes_beyond_quota_are_refused_and_reads_are_free() {
        let allowance = WriteQuota::new(8192);
        let mut target =
            WriteLimitedTarget::new(Box::new(NullTarget::new(1 << 20)), allowance.clone(), false);
        let plan = LanePlan {
            depth: 1,
            block: 4096,
            path: KernelPath::Direct,
            sync_each: false,
            own_buffers: false,
        };
        target.plan(&plan).unwrap();
        let mut done = Vec::new();
        for left in [4096, 0] {
            target.submit(&write(4096)).unwrap();
            target.complete(1, &mut done).unwrap();
            assert_eq!(allowance.available(), left);
        }
        assert_eq!(target.submit(&write(4096)), Err(TargetError::WriteLimitReached));
        target.submit(&IoRequest { direction: IoDirection::Read, ..write(4096) }).unwrap();
        target.complete(1, &mut done).unwrap();
        assert_eq!(done.len(), 3);
    }
}
