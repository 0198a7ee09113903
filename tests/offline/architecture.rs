//! Checks the architecture by reading the sources: core and app do no I/O, know no terminal and read no clock. Some things must appear in
//! no file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Paths and prefixes of paths that core and app must not name.
const FORBIDDEN: [&str; 22] = [
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
    "crate::tasks",
    "crate::dashboard",
    "crate::tui",
    "crate::report",
    "crate::demo",
    "crate::journal",
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
    let above = ["crate::run", "crate::cli", "crate::dashboard", "crate::failure", "crate::main"];
    let screen = ["crate::tui", "ratatui", "crossterm"];
    let rules: [(&str, &[&str]); 5] = [
        ("src/source", &["crate::app", "crate::tasks", "crate::report", "crate::demo", "crate::journal"]),
        ("src/tasks", &["crate::report", "crate::demo"]),
        ("src/report", &["crate::source", "crate::tasks", "crate::app", "crate::demo", "crate::journal"]),
        ("src/demo", &["crate::app", "crate::tasks", "crate::report", "crate::core"]),
        ("src/tui", &["crate::source", "crate::tasks", "crate::report", "crate::demo", "crate::journal", "redis"]),
    ];
    for (folder, forbidden) in rules {
        assert!(!sources(folder).is_empty(), "{folder} is where it is looked for");
        assert_clean_of(folder, &[&above[..], forbidden].concat());
        if folder != "src/tui" {
            assert_clean_of(folder, &screen);
        }
    }
    // the store remembers, the symptoms judge
    assert_clean_of_code("src/core/store", &["crate::core::symptoms", "crate::core::watch"]);
}

/// As [`assert_clean_of`], without the unit tests.
fn assert_clean_of_code(folder: &str, forbidden: &[&str]) {
    for (path, text) in sources(folder).into_iter().filter(|(path, _)| !is_test(path)) {
        let found = breaches(&code(&text), forbidden);
        assert!(found.is_empty(), "{} uses {found:?}", path.display());
    }
}

fn is_test(path: &Path) -> bool {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    name == "tests"
        || name.ends_with("_tests")
        || name == "fake"
        || path.iter().any(|part| part == "tests" || part == "testing")
}

/// Which part of a module's path names its unit: the folder or file directly below `src`, or below `src/core`.
fn arrows(depth: usize, below: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources(below).into_iter().filter(|(path, _)| !is_test(path)) {
        let mut module: Vec<String> =
            path.with_extension("").iter().skip(1).map(|part| part.to_string_lossy().into_owned()).collect();
        if module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        let Some(from) = module.get(depth).cloned() else { continue };
        let code = code(&text);
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for named in paths(code) {
            let mut words: Vec<&str> = named.split("::").collect();
            let mut at = module.clone();
            match words[0] {
                "crate" => at.clear(),
                "super" | "self" => {}
                _ => continue,
            }
            while let Some(first) = words.first() {
                match *first {
                    "crate" | "self" => {}
                    "super" => drop(at.pop()),
                    _ => break,
                }
                words.remove(0);
            }
            let target: Vec<String> = at.into_iter().chain(words.into_iter().map(str::to_owned)).collect();
            if target.len() > depth + 1 && target[..depth] == module[..depth] && target[depth] != from {
                arrows.entry(from.clone()).or_default().insert(target[depth].clone());
            }
        }
    }
    arrows
}

fn circle(arrows: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn walk(
        at: &str,
        trail: &mut Vec<String>,
        done: &mut BTreeSet<String>,
        arrows: &BTreeMap<String, BTreeSet<String>>,
    ) -> bool {
        if trail.iter().any(|seen| seen == at) {
            trail.push(at.to_owned());
            return true;
        }
        if !done.insert(at.to_owned()) {
            return false;
        }
        trail.push(at.to_owned());
        if arrows.get(at).into_iter().flatten().any(|next| walk(next, trail, done, arrows)) {
            return true;
        }
        trail.pop();
        false
    }
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|start| {
        let mut trail = Vec::new();
        walk(start, &mut trail, &mut done, arrows).then_some(trail)
    })
}

#[test]
fn no_circle_of_imports_between_the_parts_of_the_program_or_of_the_core() {
    for (depth, below) in [(0, "src"), (1, "src/core"), (1, "src/source"), (1, "src/app"), (2, "src/app/screen")] {
        let arrows = arrows(depth, below);
        assert!(arrows.values().map(BTreeSet::len).sum::<usize>() > 2, "{below}: arrows are seen: {arrows:?}");
        assert_eq!(circle(&arrows), None, "{below}");
    }
    let made_up = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")];
    let made_up = made_up.map(|(from, to)| (from.to_owned(), BTreeSet::from([to.to_owned()])));
    assert!(circle(&BTreeMap::from(made_up)).is_some(), "a circle is seen");
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
