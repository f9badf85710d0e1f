//! Tests that time cards which answer in real time: each has the machine to itself, or shares it with others that
//! mostly wait (`common::turns`), since whatever else runs takes the processor that the served card needs. Their module comes last in the order of names, in which tests
//! are begun: a test that waits for its turn would take the thread of another.

mod observed;
mod peers;
mod same_verdicts;
mod served_time;
mod sustained;
mod watched_starts;

#[test]
fn no_module_comes_after_this_one() {
    let main = include_str!("../main.rs");
    let modules = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    assert_eq!(modules.max(), Some("without_others"));
}
