//! Checks the architecture by reading the sources: core and app do no I/O, know no terminal and read no clock. Some things must appear in
//! no file.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Paths and prefixes of paths that core and app must not name.
const FORBIDDEN: [&str; 20] = [
    "tokio",
    "redis",
    "ratatui",
    "crossterm",
    "futures",
    "chrono",
    "std::fs",
    "std::net",
    "std::io",
    "std::process",
    "std::thread",
    "std::env",
    "std::time::Instant",
    "std::time::SystemTime",
    "crate::source",
    "crate::tui",
    "crate::report",
    "crate::demo",
    "crate::record",
    "crate::clock",
];

/// Reading a clock, however it was imported.
const CLOCKS: [&str; 4] = ["Instant::now", "SystemTime", "UNIX_EPOCH", "Local::now"];

const MOST_LINES: usize = 500;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder of `src`; empty if the folder does not exist.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let short = path.strip_prefix(root()).unwrap_or(&path).to_path_buf();
                found.push((short, text));
            }
        }
    }
    found.sort();
    found
}

/// The code of a file: comments and the contents of string literals are blanked, line breaks stay.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '/' if rest.peek() == Some(&'/') => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            '"' => {
                out.push('"');
                while let Some(c) = rest.next() {
                    match c {
                        '\\' => drop(rest.next()),
                        '"' => break,
                        '\n' => out.push('\n'),
                        _ => {}
                    }
                }
                out.push('"');
            }
            // a quote or an escape in a character literal, not the beginning of a string
            '\'' if matches!(rest.peek(), Some('"' | '\\')) => {
                rest.next();
                rest.next();
            }
            c => out.push(c),
        }
    }
    out
}

/// Every path that a piece of code imports or names, with the groups of `use` written out: `std::{fs, io::Read}` gives `std::fs` and
/// `std::io::Read`. `super` and `self` stay as they are.
fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    // prefixes of the open groups
    let mut open: Vec<String> = vec![String::new()];
    let mut current = String::new();
    let mut in_use = false;
    let tokens = tokens(code);
    for (index, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "use" => {
                in_use = true;
                current.clear();
            }
            ";" if in_use => {
                found.push(format!("{}{current}", open.concat()));
                current.clear();
                open.truncate(1);
                in_use = false;
            }
            "{" if in_use => open.push(std::mem::take(&mut current)),
            "}" if in_use => {
                found.push(format!("{}{current}", open.concat()));
                current.clear();
                open.pop();
            }
            "," if in_use => {
                found.push(format!("{}{current}", open.concat()));
                current.clear();
            }
            word if in_use => {
                current.push_str(word);
            }
            // outside of `use`, a path is words joined by `::`
            "::" => current.push_str("::"),
            word if word.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                let goes_on = index > 0 && tokens[index - 1] == "::";
                if !goes_on {
                    found.push(std::mem::take(&mut current));
                }
                current.push_str(word);
            }
            _ => found.push(std::mem::take(&mut current)),
        }
    }
    found.push(current);
    found.retain(|path| path.contains("::") || !path.is_empty());
    found
}

fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if c == ':' && rest.peek() == Some(&':') {
            rest.next();
            tokens.push("::".to_owned());
        } else if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    tokens.push(word);
    tokens
}

fn breaches(code: &str, forbidden: &[&str]) -> Vec<String> {
    let is_below =
        |path: &str, root: &str| path.strip_prefix(root).is_some_and(|rest| rest.starts_with("::")) || path == root;
    let named = paths(code).into_iter().filter(|path| forbidden.iter().any(|root| is_below(path, root)));
    // a crate's name alone, as in a variable or field, is not an import
    let mut found: Vec<String> = named.filter(|path| path.contains("::")).collect();
    found.extend(CLOCKS.iter().filter(|clock| code.contains(*clock)).map(|clock| (*clock).to_owned()));
    found
}

fn assert_clean(folder: &str, forbidden: &[&str]) {
    for (path, text) in sources(folder) {
        let found = breaches(&code(&text), forbidden);
        assert!(found.is_empty(), "{} uses {found:?}", path.display());
    }
}

#[test]
fn the_core_knows_nothing_of_the_world() {
    assert!(sources("src/core").len() > 10, "the core is where it is looked for");
    let mut forbidden = FORBIDDEN.to_vec();
    forbidden.extend(["crate::app", "crate::cli", "crate::run"]);
    assert_clean("src/core", &forbidden);
}

#[test]
fn the_app_knows_nothing_of_the_world_but_the_core() {
    assert_clean("src/app", &FORBIDDEN);
}

#[test]
fn the_edges_do_not_know_each_other() {
    assert_clean_of(
        "src/source",
        &["crate::tui", "crate::app", "crate::report", "crate::demo", "ratatui", "crossterm"],
    );
    assert_clean_of(
        "src/record",
        &["crate::tui", "crate::app", "crate::report", "crate::demo", "ratatui", "crossterm"],
    );
    assert_clean_of("src/report", &["crate::tui", "ratatui", "crossterm"]);
}

/// Like [`assert_clean`], but reading a clock is allowed.
fn assert_clean_of(folder: &str, forbidden: &[&str]) {
    for (path, text) in sources(folder) {
        let mut found = breaches(&code(&text), forbidden);
        found.retain(|breach| !CLOCKS.contains(&breach.as_str()));
        assert!(found.is_empty(), "{} uses {found:?}", path.display());
    }
}

#[test]
fn a_breach_is_seen_however_it_is_written() {
    let table = [
        ("use tokio::sync::mpsc;", "tokio::sync::mpsc"),
        ("use std::{fmt, fs};", "std::fs"),
        ("use std::{collections::{BTreeMap, BTreeSet}, io::{self, Read}, fmt};", "std::io::Read"),
        ("pub(crate) use crate::{core::id, source::Link};", "crate::source::Link"),
        ("fn f() -> redis::Value { todo() }", "redis::Value"),
        ("let t = std::time::Instant::now();", "std::time::Instant::now"),
        ("let x = [crate::clock::Clock::start(); 1];", "crate::clock::Clock::start"),
    ];
    for (text, breach) in table {
        let found = breaches(&code(text), &FORBIDDEN);
        assert!(found.contains(&breach.to_owned()), "{text}: {found:?}");
    }
    let harmless = [
        "// use tokio::spawn;",
        "let text = \"use std::fs;\";",
        "use crate::core::{id::EntryId, redis_like::X};",
        "let redis = 1; f(redis);",
        "let quote = '\"'; use std::fmt; let more = '\"';",
    ];
    for text in harmless {
        assert_eq!(breaches(&code(text), &FORBIDDEN), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn no_file_is_too_long_to_be_read() {
    for (path, text) in sources("src") {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines", path.display());
    }
}

#[test]
fn unsafe_code_is_forbidden_in_both_crates() {
    for path in ["src/lib.rs", "src/main.rs"] {
        let text = fs::read_to_string(root().join(Path::new(path))).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{path}");
    }
}

#[test]
fn nothing_unfinished_is_left_in_the_sources() {
    for (path, text) in sources("src") {
        let code = code(&text);
        for word in ["todo!", "unimplemented!", "dbg!"] {
            assert!(!code.contains(word), "{} has {word}", path.display());
        }
    }
}
