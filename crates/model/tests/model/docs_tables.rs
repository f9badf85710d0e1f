//! Tables of recipes, jobs and hosts in the book. `UPDATE_DOCS=1 cargo test -p cardscope-model` writes a new file's row.

use cardscope_model::host::{self, HOSTS, Host};
use cardscope_model::job::{self, JOBS, Job, JobDemand};
use cardscope_model::recipe::{
    FlushMode, LoopAggregate, PrintedQuantity, RECIPES, Recipe, RecipeTest, ToolFormat, parse,
};
use cardscope_model::units::DecimalSize;
use cardscope_testkit::measured_tables::{Column, compare, table};

/// The words of the tests, each once, in order; `–` where there are none.
fn distinct(tests: &[RecipeTest], words: impl Fn(&RecipeTest) -> Option<String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for words in tests.iter().filter_map(words) {
        if !all.contains(&words) {
            all.push(words);
        }
    }
    if all.is_empty() { "–".to_owned() } else { all.join("; ") }
}

fn loops(test: &RecipeTest) -> String {
    if let Some(until) = test.until {
        return format!("until ±{} %", until.ci95_percent);
    }
    let discarded = match test.discard_loops {
        0 => String::new(),
        loops => format!("{loops} discarded + "),
    };
    let value = match test.aggregate {
        _ if test.loops == 1 => "",
        LoopAggregate::Max => " → best",
        LoopAggregate::Mean => " → mean",
        LoopAggregate::Total => " → all bytes / all time",
        LoopAggregate::Median => " → median",
    };
    format!("{discarded}{}{value}", test.loops)
}

fn flush(test: &RecipeTest) -> &'static str {
    match test.flush {
        FlushMode::None => "none",
        FlushMode::Timed => "timed",
        FlushMode::Untimed => "untimed",
    }
}

/// The printed unit, and the true one where it is another.
fn printed(prints: &ToolFormat) -> String {
    let bytes = match prints.quantity {
        PrintedQuantity::BytesPerS => prints.divide,
        PrintedQuantity::Iops | PrintedQuantity::LatencyS => return prints.unit.clone(),
    };
    let unit = [(1e6, "MB/s"), (1_048_576.0, "MiB/s"), (1024.0, "KiB/s"), (1e3, "kB/s")];
    let named = unit.iter().find(|(factor, _)| *factor == bytes).map(|(_, name)| (*name).to_owned());
    let unit = named.unwrap_or_else(|| format!("{} MB/s", bytes / 1e6));
    if unit == prints.unit { unit } else { format!("\"{}\": {unit}", prints.unit) }
}

fn cost(recipe: &Recipe) -> String {
    let estimate = recipe.explain_recipe().estimate;
    let time = match estimate.seconds {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    };
    format!(
        "{time}, writes {}, reads {}",
        DecimalSize(estimate.bytes_written),
        DecimalSize(estimate.bytes_read)
    )
}

#[test]
fn recipes_are_listed() {
    let recipes = RECIPES.parse_all(|text| parse(text, None)).unwrap();
    let speed = recipes[0].explain_recipe().estimate.card_mb_s;
    let table = table(
        &recipes,
        &[
            ("recipe", &|r: &Recipe| format!("`{}`", r.name)),
            ("tests", &|r| r.title.clone()),
            (&format!("one run at {speed} MB/s"), &cost),
            ("loops → value", &|r| match r.tries {
                1 => distinct(&r.tests, |test| Some(loops(test))),
                tries => format!("first of {tries} tries that passes"),
            }),
            ("flush", &|r| distinct(&r.tests, |test| Some(flush(test).to_owned()))),
            ("the tool prints", &|r| distinct(&r.tests, |test| test.prints.as_ref().map(printed))),
            ("scores", &|r| r.scores.iter().map(|score| score.name.as_str()).collect::<Vec<_>>().join(", ")),
        ],
    );
    compare("recipes", "recipes", &table);
}

fn demand(demand: &JobDemand) -> String {
    let (name, unit) = demand.figure.name_and_unit();
    let limit = |word, value: Option<f64>| value.map(|value| format!("{name} {word} {} {unit}", value));
    limit("at least", demand.least).or(limit("at most", demand.most)).unwrap_or_default()
}

#[test]
fn jobs_are_listed() {
    let columns: &[Column<Job>] = &[
        ("job", &|job| format!("`{}`", job.name)),
        ("is", &|job| job.title.clone()),
        ("work", &|job| job.work.iter().map(|work| work.what.as_str()).collect::<Vec<_>>().join("; ")),
        ("demands", &|job| job.demand.iter().map(demand).collect::<Vec<_>>().join("; ")),
    ];
    compare("jobs", "jobs", &table(&JOBS.parse_all(job::parse_job).unwrap(), columns));
}

#[test]
fn hosts_are_listed() {
    let columns: &[Column<Host>] = &[
        ("host", &|host| format!("`{}`", host.name)),
        ("is", &|host| host.title.clone()),
        ("reads", &|host| format!("{} MB/s", host.read_mb_s)),
        ("writes", &|host| format!("{} MB/s", host.write_mb_s)),
    ];
    compare("jobs", "hosts", &table(&HOSTS.parse_all(host::parse_host).unwrap(), columns));
}
