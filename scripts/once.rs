//! Takes one picture of any program, to look at screens while working on them.

use crate::{
    LIMIT, RESTLESS,
    render::{DARK, Renderer},
    save,
};
use pelwatch::testing::pty::{Terminal, text_of};
use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Duration,
};

/// Longer than the pause between keys of the tour: this must suit any program, also a slow one.
const QUIET: Duration = Duration::from_millis(400);

/// Starts the program in an empty folder, waits for a text (any text, if empty), types the keys, waits until the screen is still, and
/// writes the picture and the text.
pub fn run(out: &str, size: &str, wait: &str, keys: &str, program: &str, args: &[&str]) -> Result<(), Box<dyn Error>> {
    let (cols, rows) = size.split_once('x').ok_or("the size is COLSxROWS, as in 120x40")?;
    let renderer = Renderer::new()?;
    let steps = steps(keys)?;
    let mut terminal = Terminal::start(&find(program)?, args, (cols.parse()?, rows.parse()?), &[]);
    if wait.is_empty() {
        terminal.wait_for("any text", LIMIT, |screen| !text_of(screen).trim().is_empty());
    } else {
        terminal.wait_text(wait, LIMIT);
    }
    for step in steps {
        terminal.wait_still(QUIET / 4, RESTLESS);
        terminal.send(&step);
    }
    if !terminal.wait_still(QUIET, RESTLESS) {
        eprintln!("screenshots: the screen never stood still for {QUIET:?}; taken as it was");
    }
    save(&renderer, &terminal, Path::new(out), DARK)
}

/// Splits the keys into steps: `\n` Enter, `\e` Esc, `\t` Tab, `\b` Backspace, `\w` wait until the screen is still, `\\` a backslash.
/// Keys after Esc are a separate step, or a program would read Alt and a letter; a sequence such as `\e[B` stays together.
fn steps(keys: &str) -> Result<Vec<String>, String> {
    let mut steps = vec![String::new()];
    let mut chars = keys.chars().peekable();
    while let Some(char) = chars.next() {
        let key = match char {
            '\\' => match chars.next() {
                Some('n') => '\r',
                Some('e') => '\x1b',
                Some('t') => '\t',
                Some('b') => '\x7f',
                Some('\\') => '\\',
                Some('w') => {
                    steps.push(String::new());
                    continue;
                }
                other => {
                    return Err(format!("no key is written \\{}", other.map_or(String::new(), String::from)));
                }
            },
            plain => plain,
        };
        if let Some(step) = steps.last_mut() {
            step.push(key);
        }
        if key == '\x1b' && !matches!(chars.peek(), Some('[' | 'O')) {
            steps.push(String::new());
        }
    }
    steps.retain(|step| !step.is_empty());
    Ok(steps)
}

/// The program's absolute path: as given if it contains a slash, else from PATH.
fn find(program: &str) -> Result<PathBuf, Box<dyn Error>> {
    if program.contains('/') {
        return Ok(std::path::absolute(program)?);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.find(|place| place.is_file()).ok_or_else(|| format!("{program} is not on PATH").into())
}
