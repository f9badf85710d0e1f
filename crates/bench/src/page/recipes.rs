//! Pages of `recipes`: the list, and one recipe explained.

use cardscope_model::recipe::{ExplainedRecipe, ExplainedTest, LoopAggregate};
use cardscope_model::report::NewsTone;
use cardscope_model::units::{BinarySize, DecimalSize};
use cardscope_page::figure::{answer_line, duration, to_sentence, without_trailing_zeros};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock, fact};

pub fn list_page(recipes: &[ExplainedRecipe]) -> Page {
    let speed = recipes.first().map(|recipe| without_trailing_zeros(recipe.estimate.card_mb_s, 0));
    let speed = speed.unwrap_or_default();
    let answer = format!("{} recipes; times are for one run on a card of {speed} MB/s.", recipes.len());
    let mut page = Page::from_answer(answer);
    let table = Table::from_items(
        recipes,
        &[
            ("recipe", &|r| r.name.clone()),
            ("tests", &|r| r.tests.len().to_string()),
            ("time", &|r| duration(r.estimate.seconds)),
            ("description", &|r| r.title.split(':').next().unwrap_or_default().to_owned()),
        ],
    );
    page.add_section("", [PageBlock::Table(table.left_aligned(["description"]))]);
    page.add_step("Explain one:", Some("cardscope recipes NAME".to_owned()));
    page.add_step("Run one:", Some("cardscope bench DEVICE --recipe NAME".to_owned()));
    page
}

pub fn recipe_page(recipe: &ExplainedRecipe) -> Page {
    let (title, more) = recipe.title.split_once(": ").unwrap_or((&recipe.title, ""));
    let mut page = Page::from_answer(answer_line(&format!("{}: {title}", recipe.name)));
    page.add_reasons(NewsTone::Plain, (!more.is_empty()).then(|| to_sentence(more)));
    let estimate = &recipe.estimate;
    let (time, speed) = (duration(estimate.seconds), without_trailing_zeros(estimate.card_mb_s, 0));
    let (written, read) = (DecimalSize(estimate.bytes_written), DecimalSize(estimate.bytes_read));
    let cost = format!("{time} on a card of {speed} MB/s: writes {written}, reads {read}");
    let mut facts = vec![fact("one run", cost), fact("test area", BinarySize(recipe.area_bytes))];
    facts.extend(recipe.requires_state.as_ref().map(|state| fact("needs a card that is", state)));
    facts.extend(recipe.tool.as_ref().map(|tool| fact("imitates", tool)));
    facts.extend([fact("source", &recipe.source), fact("version", &recipe.fingerprint)]);
    page.add_section("", [PageBlock::Facts(facts)]);
    let table = Table::from_items(
        &recipe.tests,
        &[
            ("test", &|t| t.test.clone()),
            ("step", &|t| t.step.clone().unwrap_or_default()),
            ("over", &|t| t.size_bytes.map_or("whole card".to_owned(), |size| BinarySize(size).to_string())),
            ("loops", &|t| t.loops.to_string()),
            ("a loop ends after", &end_conditions),
            ("result", &|t| aggregate_word(t.aggregate).to_owned()),
        ],
    );
    let table = table.left_aligned(["step", "a loop ends after", "result"]);
    page.add_section("Tests, in this order", [PageBlock::Table(table)]);
    page.add_step("Run it:", Some(format!("cardscope bench DEVICE --recipe {}", recipe.name)));
    page
}

fn end_conditions(test: &ExplainedTest) -> String {
    let passes = test.passes.map(|n| if n == 1 { "1 pass".to_owned() } else { format!("{n} passes") });
    let within = test.until_percent.map(|percent| format!("±{} %", without_trailing_zeros(percent, 1)));
    let bytes = test.bytes.map(|bytes| BinarySize(bytes).to_string());
    let seconds = test.seconds.map(duration);
    [passes, bytes, within, seconds].into_iter().flatten().collect::<Vec<_>>().join(" or ")
}

fn aggregate_word(aggregate: LoopAggregate) -> &'static str {
    match aggregate {
        LoopAggregate::Max => "fastest",
        LoopAggregate::Mean => "mean",
        LoopAggregate::Total => "total",
        LoopAggregate::Median => "median",
    }
}
