//! What has no controller of its own answers no question and lacks no right.

use cardscope_device::commands::commands;
use cardscope_device::system::SystemRoots;
use cardscope_testkit::devices::LoopDevice;

#[test]
fn a_loop_device_answers_nothing_and_nothing_is_missing() {
    let card = LoopDevice::zeros(8, &[]);
    let answers = commands(&SystemRoots::host(), &card.path);
    assert!(answers.ping.is_none() && answers.health.is_none());
    assert!(answers.missing.is_empty(), "{:?}", answers.missing);
}
