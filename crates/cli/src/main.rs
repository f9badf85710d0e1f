//! The binary `cardscope`: parses arguments, runs the verb, and prints its result.

#![forbid(unsafe_code)]

mod completions;

mod help;
mod manual;
mod output;
mod progress;
mod signals;
mod terminal;
mod verbs;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use help::{CommandKind, CommandLine};
use std::process::ExitCode;

/// Stack size in bytes, independent of `ulimit -s`: without optimization the parser and the pages need up to 2 MiB.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    output::ignore_size_limit_signal();
    let thread = std::thread::Builder::new().name("main".into()).stack_size(STACK);
    match thread.spawn(run).map(std::thread::JoinHandle::join) {
        Ok(Ok(status)) => status,
        // The thread has printed its panic.
        Ok(Err(_)) => ExitCode::from(101),
        // Without memory for another stack the main thread may still do.
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    let mut command = help::full_command();
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = parsed
        .and_then(|matches| CommandLine::from_arg_matches(&matches).map_err(|e| e.format(&mut command)));
    let cli = match parsed {
        Ok(cli) => cli,
        // Without arguments the short help is printed as an error.
        Err(help) if help.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => help.exit(),
        Err(error) if error.use_stderr() => {
            output::print_usage_error(error);
            return ExitCode::from(2);
        }
        // Help and version are our own text, so nothing in them needs quoting.
        Err(help) => help.exit(),
    };
    let run = || match cli.asked {
        CommandKind::Verb(verb) => signals::install_handlers().and_then(|()| verb.run(&cli.output)),
        CommandKind::Completions(completions) => completions.run(help::full_command()),
        CommandKind::Manual(manual) => manual.run(help::full_command(), &cli.output),
    };
    let status = match run() {
        Ok(status) => status,
        Err(failure) => {
            output::print_failure(&failure, &cli.output);
            failure.exit_status()
        }
    };
    ExitCode::from(status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;
    use std::fmt::Write;

    #[test]
    fn clap_definition_is_consistent() {
        help::full_command().debug_assert();
    }

    fn section(out: &mut String, path: &str, command: &mut Command) {
        let _ = writeln!(out, "\n## {path}\n\n```\n{}```", command.render_long_help());
        for sub in command.get_subcommands_mut().filter(|s| s.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name());
            section(out, &path, sub);
        }
    }

    /// Compares docs/cli.md with the binary; `UPDATE_DOCS=1 cargo test -p cardscope` writes it.
    #[test]
    fn published_cli_reference_is_up_to_date() {
        let mut command = help::full_command().term_width(110);
        command.build();
        let mut text = "# The command line\n\nWritten by the binary itself; a test keeps it so.\n".to_owned();
        section(&mut text, "cardscope", &mut command);
        let text: String = text.lines().map(|l| format!("{}\n", l.trim_end())).collect();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &text).expect("docs/cli.md can be written");
        }
        let published = std::fs::read_to_string(path).unwrap_or_default();
        assert!(published == text, "docs/cli.md is out of date: run UPDATE_DOCS=1 cargo test -p cardscope");
    }
}
