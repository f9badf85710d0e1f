//! Timed tests on cards in real time. Each has the machine to itself, or shares it with others that mostly wait
//! (`common::turns`), because other load takes the processor from the served card. Tests start in the order of their
//! names and this module is the last, so that no waiting test occupies the thread of another.

mod observed;
mod peers;
mod same_verdicts;
mod served_time;
mod sustained;
mod watched_starts;

#[test]
fn this_module_is_the_last() {
    let main = include_str!("../main.rs");
    let modules = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    assert_eq!(modules.max(), Some("without_others"));
}
