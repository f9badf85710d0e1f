//! Forwarding of `Target` methods for wrappers that change only some calls.

// Types named by the macro, reachable from every crate that uses it.
pub use cardscope_model::caveat::Caveat;
pub use cardscope_model::units::Nanos;
pub use cardscope_sd::nvme::SmartLog;

/// Forwards the listed methods of [`Target`](crate::target::Target) to an inner target, a field of `self`:
/// `delegate_target!([target] now, plan, flush);`.
#[macro_export]
macro_rules! delegate_target {
    (@ info $inner:tt) => { $crate::delegate_target!(& info() -> &$crate::target::TargetInfo, $inner); };
    (@ caveats $inner:tt) => { $crate::delegate_target!(& caveats() -> Vec<$crate::delegate::Caveat>, $inner); };
    (@ buffer [$($inner:tt)+]) => {
        fn buffer(&mut self, slot: u32) -> Result<&mut [u8], $crate::target::TargetError> {
            self.$($inner)+.buffer(slot)
        }
    };
    (@ now $inner:tt) => { $crate::delegate_target!(% now() -> $crate::delegate::Nanos, $inner); };
    (@ plan $inner:tt) => { $crate::delegate_target!(? plan(plan: &$crate::target::LanePlan) -> (), $inner); };
    (@ submit $inner:tt) => { $crate::delegate_target!(? submit(io: &$crate::target::Io) -> (), $inner); };
    (@ complete $inner:tt) => {
        $crate::delegate_target!(
            ? complete(at_least: usize, done: &mut Vec<$crate::target::IoCompletion>) -> (), $inner
        );
    };
    (@ flush $inner:tt) => { $crate::delegate_target!(? flush() -> (), $inner); };
    (@ discard $inner:tt) => { $crate::delegate_target!(? discard(range: $crate::target::TargetRegion) -> (), $inner); };
    (@ idle $inner:tt) => { $crate::delegate_target!(% idle(time: ::std::time::Duration) -> (), $inner); };
    (@ area $inner:tt) => { $crate::delegate_target!(? area(bytes: u64) -> $crate::target::TargetRegion, $inner); };
    (@ drop_caches $inner:tt) => { $crate::delegate_target!(? drop_caches() -> (), $inner); };
    (@ temperature $inner:tt) => { $crate::delegate_target!(% temperature() -> Option<f64>, $inner); };
    (@ ping $inner:tt) => { $crate::delegate_target!(? ping() -> Option<$crate::delegate::Nanos>, $inner); };
    (@ health $inner:tt) => { $crate::delegate_target!(% health() -> Option<$crate::delegate::SmartLog>, $inner); };
    (@ reopen $inner:tt) => { $crate::delegate_target!(? reopen() -> (), $inner); };
    (@ compare $inner:tt) => {
        $crate::delegate_target!(
            ? compare(slot: u32, expected: $crate::content::IoContent) -> $crate::content::ContentMatch, $inner
        );
    };
    (& $name:ident() -> $done:ty, [$($inner:tt)+]) => {
        fn $name(&self) -> $done {
            self.$($inner)+.$name()
        }
    };
    (? $name:ident($($argument:ident: $kind:ty),*) -> $done:ty, $inner:tt) => {
        $crate::delegate_target!(
            % $name($($argument: $kind),*) -> Result<$done, $crate::target::TargetError>, $inner
        );
    };
    (% $name:ident($($argument:ident: $kind:ty),*) -> $done:ty, [$($inner:tt)+]) => {
        fn $name(&mut self, $($argument: $kind),*) -> $done {
            self.$($inner)+.$name($($argument),*)
        }
    };
    ($inner:tt $($method:ident),+) => {
        $($crate::delegate_target!(@ $method $inner);)+
    };
}
