//! What has no controller of its own answers no question and lacks no right.

use cardscope_device::commands::commands;
use cardscope_device::system::System;
use cardscope_testkit::devices::Loop;

#[test]
fn a_loop_device_answers_nothing_and_nothing_is_missing() {
    let card = Loop::zeros(8, &[]);
    let answers = commands(&System::host(), &card.path);
    assert!(answers.ping.is_none() && answers.health.is_none());
    assert!(answers.missing.is_empty(), "{:?}", answers.missing);
}
