//! Terminal pages of every kind of document.

use cardscope_compare::page::comparison::ComparisonLayout;
use cardscope_model::job::{JOBS, Job};
use cardscope_model::recipe::{ExplainedRecipe, RECIPES};
use cardscope_model::report::NewsTone;
use cardscope_page::text_chart;
use cardscope_page::tree::terminal::{ScreenOptions, expand_tabs, render_lines, render_text};
use cardscope_page::tree::{Page, PageBlock, fact};
use cardscope_testkit::samples as sample;
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

fn job(name: &str) -> Job {
    cardscope_model::job::find_job(name).unwrap()
}

fn recipe(name: &str) -> ExplainedRecipe {
    let text = RECIPES.find_text(name).unwrap();
    cardscope_model::recipe::parse(text, None).unwrap().explain_recipe()
}

/// Pages of all kinds of documents.
fn pages() -> Vec<Page> {
    let of_files = RECIPES.names().map(|name| cardscope_bench::page::recipes::recipe_page(&recipe(name)));
    let of_files =
        of_files.chain(JOBS.names().map(|name| cardscope_compare::page::jobs::job_page(&job(name))));
    let pages = vec![
        cardscope_bench::page::recipes::list_page(&RECIPES.names().map(recipe).collect::<Vec<_>>()),
        cardscope_compare::page::jobs::job_list_page(&JOBS.names().map(job).collect::<Vec<_>>()),
        cardscope_host::page::observe::page(&sample::observe_report()),
        cardscope_import::page::import_page(&sample::import_report()),
        cardscope_compare::page::comparison::comparison_page(
            &sample::comparison(2, 3, 4),
            ComparisonLayout::default(),
        ),
        cardscope_compare::page::comparison::comparison_page(
            &sample::comparison(20, 10, 12),
            ComparisonLayout::default(),
        ),
        cardscope_compare::page::ranking::ranking_page(&sample::ranking(12)),
        cardscope_flash::page::page(&sample::map_report()),
        cardscope_endurance::page::sustain::sustain_page(&sample::sustain_report()),
    ];
    of_files.chain(pages).collect()
}

/// True if an answer is one sentence within 80 columns that begins with a capital, a number or a name.
fn is_one_sentence(answer: &str) -> bool {
    let named = answer.split_whitespace().next().is_some_and(|word| word.ends_with(':'));
    let begins = answer.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()) || named;
    begins && answer.width() <= 80 && answer.ends_with(['.', '!', '?', '…'])
}

#[test]
fn every_answer_is_one_sentence() {
    for page in pages() {
        assert!(is_one_sentence(&page.answer), "{:?}", page.answer);
    }
    assert!(!is_one_sentence("not a sentence.") && !is_one_sentence("No stop"));
}

/// True for lines that may exceed the screen: charts of fixed width, and text that is typed or copied.
fn keeps_its_width(page: &Page, line: &str) -> bool {
    fn within(blocks: &[PageBlock], line: &str) -> bool {
        blocks.iter().any(|block| match block {
            PageBlock::Commands(commands) => commands.iter().any(|command| line.trim() == command),
            PageBlock::Verbatim(text) => text.lines().any(|other| expand_tabs(other) == line),
            PageBlock::Chart(chart) => {
                text_chart::render_text_chart(chart).lines().any(|other| other == line)
            }
            PageBlock::Section(section) => within(&section.blocks, line),
            _ => false,
        })
    }
    let typed = page.next.iter().filter_map(|step| step.command.as_ref());
    page.sections.iter().any(|section| within(&section.blocks, line))
        || typed.into_iter().any(|command| line.trim() == command)
}

#[test]
fn answer_comes_first_with_at_most_five_reasons() {
    for page in pages() {
        let first = render_lines(&page, &ScreenOptions { columns: 80, details: false }).remove(0);
        let first: String = first.into_iter().map(|span| span.text).collect();
        assert_eq!(first, *page.answer, "the answer takes one line of 80 columns");
        assert!(page.reasons.len() <= 5 && !page.answer.is_empty());
    }
}

#[test]
fn details_are_shown_on_request_or_named() {
    let page = cardscope_endurance::page::sustain::sustain_page(&sample::sustain_report());
    let first = render_text(&page, &ScreenOptions { columns: 80, details: false });
    let all = render_text(&page, &ScreenOptions { columns: 80, details: true });
    assert!(first.contains("More with --details: ") && !all.contains("More with --details"), "{first}");
    assert!(all.lines().count() > first.lines().count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn answer_is_one_sentence_for_any_file_name(title in "[A-Za-z(]{1,12}( [a-zA-Z0-9µ日:.]{1,12}){0,20}") {
        let mut recipe = recipe("quick");
        let mut job = job("pi-boot");
        recipe.title.clone_from(&title);
        job.title.clone_from(&title);
        for answer in [cardscope_bench::page::recipes::recipe_page(&recipe).answer, cardscope_compare::page::jobs::job_page(&job).answer] {
            prop_assert!(is_one_sentence(&answer), "{answer:?}");
        }
    }

    #[test]
    fn no_line_is_wider_than_the_screen(columns in 60usize..200, details: bool, name in "([a-z0-9/=日]{1,10} ){0,12}") {
        let name = name.trim_end().to_owned();
        let mut all = pages();
        let mut named = sample::comparison(3, 2, 2);
        named.entries[0].name = name.clone();
        all.push(cardscope_compare::page::comparison::comparison_page(&named, ComparisonLayout::default()));
        let mut page = Page::new(&name, NewsTone::Bad, format!("{name} {name}"));
        page.add_reason(NewsTone::Bad, name.clone());
        page.figures = vec![fact(&name, &name)];
        page.add_step(name.clone(), Some(name.clone()));
        all.push(page);
        for page in all {
            for line in render_text(&page, &ScreenOptions { columns, details }).lines() {
                prop_assert!(line.width() <= columns || keeps_its_width(&page, line), "{columns}: {line:?}");
            }
        }
    }
}
