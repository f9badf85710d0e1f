//! `completions`: shell scripts that complete verbs, options, and names of recipes, jobs and simulated cards.
//!
//! `clap_complete` writes the scripts with a placeholder for each list of names. Here the placeholder is replaced by the
//! list, combined with file completion, since a recipe, a job and a card may also be a file.

use crate::output;
use cardscope_model::{job::JOBS, recipe::RECIPES};
use cardscope_session::{Result, simulated_cards};
use clap::{Arg, Args, Command, ValueEnum};
use clap_complete::{Shell as Script, generate};

/// Print the completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell that they are for
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, command: Command) -> Result<u8> {
        output::print_bytes(build_script(self.shell, command)?.as_bytes()).map(|()| 0)
    }
}

/// The shells that there are completions for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Kind of names that an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueSource {
    Recipes,
    Jobs,
    Cards,
    /// Cards as targets: `sim:NAME`.
    Targets,
}

impl ValueSource {
    const ALL: [Self; 4] = [Self::Recipes, Self::Jobs, Self::Cards, Self::Targets];

    /// Kind of names for an argument of a verb.
    fn for_argument(verb: &str, argument: &Arg) -> Option<ValueSource> {
        match (verb, argument.get_id().as_str()) {
            (_, "recipe") | ("recipes", "name") => Some(ValueSource::Recipes),
            (_, "job") | ("jobs", "name") => Some(ValueSource::Jobs),
            ("show" | "serve", "name" | "names") => Some(ValueSource::Cards),
            ("check" | "verify" | "bench" | "map" | "sustain" | "endure" | "format" | "info", "target")
            | ("fit", "card") => Some(ValueSource::Targets),
            _ => None,
        }
    }

    /// Placeholder in the generated script; in zsh the name of a function.
    fn placeholder(self) -> &'static str {
        match self {
            ValueSource::Recipes => "_cardscope_recipes",
            ValueSource::Jobs => "_cardscope_jobs",
            ValueSource::Cards => "_cardscope_cards",
            ValueSource::Targets => "_cardscope_targets",
        }
    }

    fn load_names(self) -> Result<Vec<String>> {
        let cards = |prefix: &str| -> Result<Vec<String>> {
            Ok(simulated_cards::list_cards()?.iter().map(|card| format!("{prefix}{}", card.name)).collect())
        };
        match self {
            ValueSource::Recipes => Ok(RECIPES.names().map(str::to_owned).collect()),
            ValueSource::Jobs => Ok(JOBS.names().map(str::to_owned).collect()),
            ValueSource::Cards => cards(""),
            ValueSource::Targets => cards("sim:"),
        }
    }
}

fn build_script(shell: Shell, command: Command) -> Result<String> {
    let (mut command, mut written) = (with_placeholders(command), Vec::new());
    let generator = match shell {
        Shell::Bash => Script::Bash,
        Shell::Zsh => Script::Zsh,
        Shell::Fish => Script::Fish,
    };
    generate(generator, &mut command, "cardscope", &mut written);
    let script = String::from_utf8_lossy(&written).into_owned();
    match shell {
        Shell::Bash => bash_script(script),
        Shell::Zsh => zsh_script(script),
        Shell::Fish => fish_script(script, &command),
    }
}

/// Replaces the values of each argument that takes names by the placeholder.
fn with_placeholders(command: Command) -> Command {
    let verb = command.get_name().to_owned();
    let command = command.mut_args(|argument| match ValueSource::for_argument(&verb, &argument) {
        Some(names) => argument.value_parser([names.placeholder()]),
        None => argument,
    });
    command.mut_subcommands(with_placeholders)
}

/// Replaces the placeholders and adds a wrapper: Bash splits words at colons, which names of simulated cards contain.
fn bash_script(script: String) -> Result<String> {
    let mut script = script.replace("complete -F _cardscope ", "complete -F _cardscope_whole_words ");
    for names in ValueSource::ALL {
        script = script.replace(names.placeholder(), &names.load_names()?.join(" "));
    }
    Ok(script + BASH_WRAPPER)
}

const BASH_WRAPPER: &str = r#"
_cardscope_whole_words() {
    local line="${COMP_LINE:0:COMP_POINT}"
    local word="${line##*[[:space:]]}"
    if [[ "$word" != *:* || "$COMP_WORDBREAKS" != *:* ]]; then
        _cardscope "$@"
        return
    fi
    local before="${line%"$word"}"
    before="${before%"${before##*[![:space:]]}"}"
    _cardscope "$1" "$word" "${before##*[[:space:]]}"
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
}
"#;

/// Replaces the placeholders by functions that offer names and files.
fn zsh_script(script: String) -> Result<String> {
    let (head, body) = script.split_once('\n').unwrap_or((&script, ""));
    let (mut body, mut functions) = (body.to_owned(), String::new());
    for names in ValueSource::ALL {
        let (word, list) = (names.placeholder(), names.load_names()?.join(" ").replace(':', "\\:"));
        body = body.replace(&format!("({word})"), word);
        functions +=
            &format!("{word}() {{\n    _alternative 'names:name:({list})' 'files:file:_files'\n}}\n");
    }
    Ok(format!("{head}\n{functions}{body}"))
}

/// Replaces the placeholders and adds positional arguments, which `clap_complete` leaves out for fish.
fn fish_script(script: String, command: &Command) -> Result<String> {
    let mut script = script;
    for names in ValueSource::ALL {
        let (word, list) = (names.placeholder(), names.load_names()?.join(" "));
        script = script.replace(&format!("-f -a \"{word}\\t''\""), &format!("-F -a \"{list}\""));
        for verb in verbs_taking(command, names) {
            let when = format!("__fish_seen_subcommand_from {verb}");
            script += &format!("complete -c cardscope -n \"{when}\" -F -a \"{list}\"\n");
        }
    }
    Ok(script)
}

/// Verbs with a positional argument of this kind.
fn verbs_taking(command: &Command, names: ValueSource) -> Vec<String> {
    let below = command.get_subcommands().flat_map(|verb| verbs_taking(verb, names));
    let takes = command
        .get_positionals()
        .any(|argument| ValueSource::for_argument(command.get_name(), argument) == Some(names));
    takes.then(|| command.get_name().to_owned()).into_iter().chain(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help;

    #[test]
    fn scripts_contain_no_placeholder() {
        for shell in [Shell::Bash, Shell::Fish] {
            let script = build_script(shell, help::full_command()).unwrap();
            for names in ValueSource::ALL {
                assert!(!script.contains(names.placeholder()), "{names:?} in {shell:?}");
                assert!(script.contains(&names.load_names().unwrap()[0]), "{names:?} in {shell:?}");
            }
        }
        let script = build_script(Shell::Zsh, help::full_command()).unwrap();
        for names in ValueSource::ALL {
            let word = names.placeholder();
            assert!(!script.contains(&format!("({word})")), "{word}");
            assert!(
                script.contains(&format!(":{word}")) && script.contains(&format!("\n{word}() {{")),
                "{word}"
            );
        }
    }

    #[test]
    fn verbs_on_cards_complete_simulated_targets() {
        let asked = verbs_taking(&help::full_command(), ValueSource::Targets);
        assert_eq!(asked.len(), 9, "{asked:?}");
        assert_eq!(verbs_taking(&help::full_command(), ValueSource::Cards), ["show", "serve"]);
    }
}
