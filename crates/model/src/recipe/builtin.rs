//! The recipes that come with the program. A new one is a file in `recipes/` and one line here.

use super::RecipeError;
use super::nearest::nearest;

macro_rules! recipes {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../recipes/", $name, ".toml")))),*]
    };
}

static BUILTIN: &[(&str, &str)] = recipes![
    "quick",
    "short",
    "precise",
    "cdm3",
    "cdm8-default",
    "cdm8-default-mix",
    "cdm8-nvme",
    "cdm8-peak",
    "cdm8-real",
    "cdm9-flash",
    "kdiskmark",
    "cdm-fio",
    "as-ssd",
    "geerling-2020",
    "geerling-2024",
    "pibenchmarks",
    "agnostics-a1",
    "dd-sweep",
];

/// Name and text of every recipe that comes with the program.
#[must_use]
pub fn builtin() -> &'static [(&'static str, &'static str)] {
    BUILTIN
}

/// The text of a recipe that comes with the program.
///
/// # Errors
/// If there is none of that name; the message lists all, and the one that was probably meant.
pub fn find(name: &str) -> Result<&'static str, RecipeError> {
    let names = || BUILTIN.iter().map(|(n, _)| *n);
    BUILTIN.iter().find(|(n, _)| *n == name).map(|(_, text)| *text).ok_or_else(|| RecipeError::Unknown {
        name: name.to_owned(),
        meant: nearest(name, names()).map_or(String::new(), |n| format!("did you mean {n:?}? ")),
        there: names().collect::<Vec<_>>().join(", "),
    })
}
