//! Published figures that archetypes must reproduce, and the model's results, as rows of `docs/fidelity.md`.
//!
//! Every run compares the quick groups with the page; long sessions run in a short form. The page is written by
//! `UPDATE_DOCS=1 cargo test --profile long -p cardscope-simulator --test simulator fidelity -- --ignored`.

mod cdm_fio;
mod drives;
mod express;
mod express_printed;
mod flashbench;
mod flashbench_logs;
mod lexar_review;
mod library;
mod page;
mod raspberry_pi;
mod row;
mod speed_comparison;

use page::{RowGroup, RunForm};
use row::FidelityRow;

/// Sections of the page, in its order.
const GROUPS: &[RowGroup] = &[
    lexar_review::GROUP,
    flashbench_logs::GROUP,
    raspberry_pi::GROUP,
    speed_comparison::GROUP,
    library::GROUP,
    express::GROUP,
    drives::GROUP,
];

/// Rows of all groups, computed in parallel.
fn run_groups(form: RunForm) -> Vec<Vec<FidelityRow>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = GROUPS.iter().map(|group| scope.spawn(move || group.run(form))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn row_errors(results: &[Vec<FidelityRow>]) -> Vec<String> {
    results.iter().flatten().filter_map(FidelityRow::row_error).collect()
}

/// Sections by group; None for a group of which this form runs a part only.
fn sections(form: RunForm, results: &[Vec<FidelityRow>]) -> Vec<Option<String>> {
    let pairs = GROUPS.iter().zip(results);
    pairs.map(|(group, rows)| group.is_shown(form).then(|| group.section(rows))).collect()
}

/// Writes the page if requested, and compares page and figures with the model.
fn check_page(form: RunForm) {
    let results = run_groups(form);
    let shown = sections(form, &results);
    let old = std::fs::read_to_string(page::page_path()).unwrap_or_default();
    let new = page::assemble_page(&old, GROUPS, &shown);
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    if update {
        std::fs::write(page::page_path(), &new).unwrap();
    }
    assert_eq!(row_errors(&results), Vec::<String>::new());
    for (group, section) in GROUPS.iter().zip(&shown).filter(|_| !update) {
        match section {
            Some(text) => assert!(
                old.contains(text.trim_end()),
                "docs/fidelity.md no longer says what the model gives in {:?}; the new section:\n{text}",
                group.title
            ),
            None => println!("{}: not compared, the page shows whole sessions", group.title),
        }
    }
    assert!(
        update || old == new,
        "docs/fidelity.md differs from what the model gives in its head or its order"
    );
}

#[test]
fn short_form_matches_sources_and_page() {
    check_page(RunForm::Short);
}

#[test]
#[ignore = "whole sessions of a quarter of a billion I/Os: run it optimised"]
fn full_form_matches_sources_and_page() {
    check_page(RunForm::Full);
}
