//! Help texts beyond the options: groups of verbs, and examples.

use crate::command_line::CommandLine;
use clap::builder::StyledStr;
use clap::{Command, CommandFactory};
use std::fmt::Write;

pub(crate) mod examples;

use examples::EXIT_STATUS;
pub(crate) use examples::examples_of as examples;

/// Verbs in the order in which a user needs them. Each verb must be in one group.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Look", &["list", "info", "decode", "fit", "recipes", "jobs"]),
    ("Test", &["check", "verify", "bench", "map", "sustain", "endure", "format", "restore"]),
    ("Watch", &["serve", "top", "observe", "doctor"]),
    ("Compare", &["compare", "rank", "report"]),
    ("Simulate", &["sim"]),
    ("Archive", &["archive", "import"]),
    ("Set up", &["completions", "manual"]),
];

/// Returns the command line with its complete help.
pub(crate) fn full_command() -> Command {
    let bare = CommandLine::command();
    let verbs: Vec<String> = bare.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let grouped = grouped_template(&bare);
    verbs.iter().fold(bare.help_template(grouped), |command, name| {
        command.mut_subcommand(name, |verb| match examples(name) {
            [] => verb,
            examples => {
                let text = examples_text(&verb, examples);
                verb.after_help(text)
            }
        })
    })
}

/// Help template of the program with grouped verbs, which clap does not support.
fn grouped_template(command: &Command) -> StyledStr {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let width = command.get_subcommands().map(|verb| verb.get_name().len()).max().unwrap_or(0);
    let mut text = StyledStr::new();
    let _ = write!(
        text,
        "{{about}}\n\
         Start with `{literal}cardscope check DEVICE{literal:#}`.\n\
         No card at hand? `{literal}cardscope sim list{literal:#}` lists simulated ones to test.\n\n\
         {{usage-heading}} {{usage}}\n\n"
    );
    for (group, verbs) in GROUPS {
        let _ = writeln!(text, "{header}{group}:{header:#}");
        for name in verbs {
            let about =
                command.find_subcommand(name).and_then(Command::get_about).cloned().unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:<width$}{literal:#}  {about}");
        }
        text.push_str("\n");
    }
    let _ = write!(
        text,
        "{header}Options:{header:#}\n{{options}}\n\n\
         {header}Exit status:{header:#} {EXIT_STATUS}\n\n\
         `{literal}cardscope VERB --help{literal:#}` explains a verb and shows examples."
    );
    text
}

fn examples_text(command: &Command, examples: &[&str]) -> StyledStr {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let mut text = StyledStr::new();
    let _ = write!(text, "{header}Examples:{header:#}");
    for example in examples {
        let _ = write!(text, "\n  {literal}{example}{literal:#}");
    }
    text
}

#[cfg(test)]
mod tests;
