//! `recipes` as text: the list, and one recipe explained.

use crate::figure::{duration, trimmed};
use crate::page::{Block, Page, fact};
use crate::table::Table;
use cardscope_model::recipe::{Aggregate, ExplainedRecipe, ExplainedTest};
use cardscope_model::units::{BinarySize, Size};

/// The list as people read it.
pub fn list(recipes: &[ExplainedRecipe]) -> String {
    let speed = recipes.first().map(|recipe| trimmed(recipe.estimate.card_mb_s, 0)).unwrap_or_default();
    let answer = format!("{} recipes; times are for one run on a card of {speed} MB/s", recipes.len());
    let mut page = Page::new("", answer);
    let table = Table::of(
        recipes,
        &[
            ("recipe", &|r| r.name.clone()),
            ("tests", &|r| r.tests.len().to_string()),
            ("time", &|r| duration(r.estimate.seconds)),
            ("what it is", &|r| r.title.split(':').next().unwrap_or_default().to_owned()),
        ],
    );
    page.add("", [Block::Table(table.left_aligned(["what it is"]))]);
    let next = ["cardscope recipes NAME", "cardscope bench DEVICE --recipe NAME"];
    page.add("Explain one, run one", [Block::Commands(next.map(str::to_owned).to_vec())]);
    page.text()
}

/// One recipe as people read it.
pub fn text(recipe: &ExplainedRecipe) -> String {
    let mut page = Page::new(&recipe.name, recipe.title.as_str());
    let estimate = &recipe.estimate;
    let cost = format!(
        "{} on a card of {} MB/s: writes {}, reads {}",
        duration(estimate.seconds),
        trimmed(estimate.card_mb_s, 0),
        Size(estimate.bytes_written),
        Size(estimate.bytes_read)
    );
    let optional = |name, value: &Option<String>| value.iter().map(|v| fact(name, v)).collect::<Vec<_>>();
    let facts = [fact("one run", cost), fact("test area", BinarySize(recipe.area_bytes))]
        .into_iter()
        .chain(optional("needs a card that is", &recipe.requires_state))
        .chain(optional("imitates", &recipe.tool))
        .chain([fact("source", &recipe.source), fact("version", &recipe.fingerprint)]);
    page.add("", [Block::Facts(facts.collect())]);
    let table = Table::of(
        &recipe.tests,
        &[
            ("test", &|t| t.test.clone()),
            ("step", &|t| t.step.clone().unwrap_or_default()),
            ("over", &|t| t.size_bytes.map_or("whole card".to_owned(), |size| BinarySize(size).to_string())),
            ("loops", &|t| t.loops.to_string()),
            ("a loop ends after", &ends),
            ("result", &|t| word(t.aggregate).to_owned()),
        ],
    );
    page.add(
        "Tests, in this order",
        [Block::Table(table.left_aligned(["step", "a loop ends after", "result"]))],
    );
    page.add("Run it", [Block::Commands(vec![format!("cardscope bench DEVICE --recipe {}", recipe.name)])]);
    page.text()
}

fn ends(test: &ExplainedTest) -> String {
    let passes = test.passes.map(|n| if n == 1 { "1 pass".to_owned() } else { format!("{n} passes") });
    let within = test.until_percent.map(|percent| format!("±{} %", trimmed(percent, 1)));
    let bytes = test.bytes.map(|bytes| BinarySize(bytes).to_string());
    let seconds = test.seconds.map(duration);
    [passes, bytes, within, seconds].into_iter().flatten().collect::<Vec<_>>().join(" or ")
}

fn word(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Max => "fastest",
        Aggregate::Mean => "mean",
        Aggregate::Total => "total",
        Aggregate::Median => "median",
    }
}
