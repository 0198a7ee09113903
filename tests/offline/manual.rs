//! The manual page and the completions: every flag is in them, with its help, and what changes is seen.

use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use pelwatch::{cli::Cli, manual};

fn page() -> String {
    String::from_utf8(manual::page().unwrap()).unwrap()
}

fn all(command: &Command) -> Vec<Command> {
    std::iter::once(command.clone()).chain(command.get_subcommands().cloned()).collect()
}

#[test]
fn the_page_is_as_it_was() {
    insta::assert_snapshot!("manual_page", page());
}

#[test]
fn every_flag_has_help_and_stands_in_the_page_and_in_each_script() {
    let page = page().replace("\\-", "-");
    let scripts =
        Shell::value_variants().iter().map(|shell| (shell, String::from_utf8(manual::completions(*shell)).unwrap()));
    let scripts: Vec<_> = scripts.collect();
    let mut flags = 0;
    for command in all(&Cli::command()) {
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let name = format!("{} {}", command.get_name(), argument.get_id());
            assert!(argument.get_help().is_some_and(|help| help.to_string().len() > 5), "{name} has no help");
            let Some(long) = argument.get_long() else { continue };
            flags += 1;
            assert!(page.contains(&format!("--{long}")), "{name} is not in the page");
            for (shell, script) in &scripts {
                assert!(script.contains(long), "{name} is not in the script for {shell}");
            }
        }
    }
    assert!(flags > 40, "{flags}");
}

#[test]
fn no_line_of_the_page_is_taken_for_a_command_of_roff_by_mistake() {
    let known = ["TH", "SH", "SS", "TP", "PP", "RS", "RE", "ie", "el", "br", "ti", "nf", "fi", "IP", "B", "I"];
    for line in page().lines() {
        if let Some(command) = line.strip_prefix('.') {
            let word = command.split(' ').next().unwrap();
            assert!(known.contains(&word), "{line}");
        }
        assert!(!line.starts_with('\''), "{line}");
    }
}
