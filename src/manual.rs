//! What shells and `man` need, made from the command line itself: a flag cannot be missing in it.

use crate::{cli::Cli, failure::Failure};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::{self, Write};

/// `pelwatch completions`
///
/// # Errors
/// When it cannot be printed.
pub fn print_completions(shell: Shell) -> Result<(), Failure> {
    Ok(io::stdout().lock().write_all(&completions(shell))?)
}

/// `pelwatch man`
///
/// # Errors
/// When it cannot be printed.
pub fn print_page() -> Result<(), Failure> {
    Ok(io::stdout().lock().write_all(&page()?)?)
}

/// The script for a shell.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pelwatch", &mut script);
    script
}

/// pelwatch(1): the dashboard first, then a part for each subcommand.
///
/// # Errors
/// None that can happen in memory.
pub fn page() -> io::Result<Vec<u8>> {
    let command = Cli::command();
    let man = Man::new(command.clone()).section("1");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    writeln!(page, ".SH SYNOPSIS\n{}", usage(&command))?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    writeln!(page, ".SH SUBCOMMANDS")?;
    for subcommand in command.get_subcommands() {
        page.extend(part(subcommand)?);
    }
    page.write_all(include_bytes!("../assets/manual-end.roff"))?;
    Ok(page)
}

/// A subcommand within the page: its headings are one level lower.
fn part(subcommand: &Command) -> io::Result<Vec<u8>> {
    let name = format!("pelwatch {}", subcommand.get_name());
    let subcommand = subcommand.clone().disable_help_flag(true).bin_name(&name).display_name(&name);
    let mut of_server = false;
    let subcommand = subcommand.mut_args(|argument| {
        let is_of_server = argument.get_help_heading() == Some("Server");
        of_server |= is_of_server;
        argument.hide(is_of_server)
    });
    let man = Man::new(subcommand.clone());
    let mut text = Vec::new();
    writeln!(text, ".SS {name}")?;
    let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
    writeln!(text, "{}\n.PP\n{}.", usage(&subcommand), escaped(&about))?;
    let mut rest = Vec::new();
    man.render_options_section(&mut rest)?;
    let rest = String::from_utf8_lossy(&rest);
    for line in rest.lines().filter(|line| !line.starts_with(".ie") && !line.starts_with(".el")) {
        match line.strip_prefix(".SH ") {
            Some(heading) => writeln!(text, ".PP\n\\fI{}\\fR", heading.trim_matches('"'))?,
            None => writeln!(text, "{line}")?,
        }
    }
    if of_server {
        writeln!(text, ".PP\nWhich server: the flags under SERVER above.")?;
    }
    Ok(text)
}

/// `pelwatch claim [OPTIONS] --to <CONSUMER> <STREAM> <GROUP>`
fn usage(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    escaped(usage.trim_start_matches("Usage: ").lines().next().unwrap_or_default().trim())
}

/// A hyphen is a minus sign there unless it says otherwise.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('-', "\\-")
}
