//! What has no controller of its own answers no question and lacks no right.

use cardscope_device::commands::detect_commands;
use cardscope_device::system::SystemRoots;
use cardscope_testkit::devices::LoopDevice;

#[test]
fn loop_device_has_no_commands_and_none_missing() {
    let card = LoopDevice::zeroed(8, &[]);
    let answers = detect_commands(&SystemRoots::host(), &card.path);
    assert!(answers.ping.is_none() && answers.health.is_none());
    assert!(answers.missing.is_empty(), "{:?}", answers.missing);
}
