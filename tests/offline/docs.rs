//! Tables in the documents that come from the program: keys in README.md, symptoms in docs/symptoms.md.
//! `PELWATCH_UPDATE=1 cargo test --test offline docs` writes these two. Also checks the form of the table that `scripts/matrix --docs`
//! writes into docs/servers.md.

use pelwatch::{
    app::keymap::{self, BINDINGS},
    core::symptoms,
};
use std::{fs, path::PathBuf, sync::Mutex};

const README: &str = "README.md";
const SYMPTOMS: &str = "docs/symptoms.md";
const SERVERS: &str = "docs/servers.md";

/// Only one test at a time may read and write a document.
static FILES: Mutex<()> = Mutex::new(());

fn path(document: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(document)
}

fn read(document: &str) -> String {
    fs::read_to_string(path(document)).unwrap_or_else(|error| panic!("{document} cannot be read: {error}"))
}

/// The start and end of the part between two markers.
fn part(document: &str, text: &str, name: &str) -> (usize, usize) {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let start = text.find(&open).unwrap_or_else(|| panic!("{document} has no line {open}")) + open.len();
    let end = start + text[start..].find(&close).unwrap_or_else(|| panic!("{document} has no {close}"));
    (start, end)
}

fn compare(document: &str, name: &str, table: &str) {
    let _guard = FILES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = read(document);
    let (start, end) = part(document, &text, name);
    // Markdown needs a blank line between a comment and a table
    let wanted = format!("\n{table}\n");
    if std::env::var_os("PELWATCH_UPDATE").is_some_and(|value| value == "1") {
        let updated = format!("{}{wanted}{}", &text[..start], &text[end..]);
        fs::write(path(document), updated).unwrap_or_else(|error| panic!("{document} cannot be written: {error}"));
        return;
    }
    assert!(
        text[start..end] == wanted,
        "the table of {name} in {document} differs from the program's; PELWATCH_UPDATE=1 cargo test --test offline docs writes it"
    );
}

#[test]
fn the_readme_lists_the_keys() {
    compare(README, "keys", &keymap::markdown());
}

#[test]
fn docs_symptoms_lists_the_symptoms() {
    compare(SYMPTOMS, "symptoms", &symptoms::markdown());
}

/// The number of cells in each row: a bar inside a cell would add one.
fn columns(table: &str) -> Vec<usize> {
    table.lines().map(|line| line.matches('|').count() - 1).collect()
}

#[test]
fn the_tables_are_whole() {
    let keys = keymap::markdown();
    assert_eq!(keys.lines().count(), BINDINGS.len() + 2);
    assert!(columns(&keys).iter().all(|count| *count == 3), "{keys}");
    let table = symptoms::markdown();
    assert_eq!(table.lines().count(), symptoms::ids().count() + 2);
    assert!(columns(&table).iter().all(|count| *count == 5), "{table}");
    for about in symptoms::all() {
        assert!(!about.levels.is_empty() && about.levels.is_sorted(), "{}", about.id);
        assert!(!about.says.is_empty() && !about.cause.is_empty() && !about.remedy.is_empty(), "{}", about.id);
    }
}

/// `scripts/matrix --docs` writes this table, from a run on every server that it can fetch.
#[test]
fn the_table_of_servers_has_a_row_for_each_and_a_cell_for_each_suite() {
    let text = read(SERVERS);
    let (start, end) = part(SERVERS, &text, "servers");
    let table: Vec<&str> = text[start..end].lines().filter(|line| line.starts_with('|')).collect();
    let cells =
        |row: &str| -> Vec<String> { row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect() };
    let head = cells(table[0]);
    assert!(head[0] == "server" && head.len() > 4, "{head:?}");
    for suite in &head[1..] {
        let files = [format!("tests/server/{suite}.rs"), format!("tests/{suite}/main.rs")];
        assert!(files.iter().any(|file| path(file).is_file()), "there is no suite {suite}");
    }
    assert!(table.len() > 5, "versions of several majors, and a Valkey");
    for row in &table[2..] {
        let row = cells(row);
        assert_eq!(row.len(), head.len(), "{row:?}");
        let name: Vec<&str> = row[0].split(' ').collect();
        assert!(matches!(name[..], ["Redis" | "Valkey", version] if version.split('.').count() == 3), "{row:?}");
        for cell in &row[1..] {
            assert!(cell.starts_with("ok, ") || cell.starts_with("**failed**, "), "{row:?}");
        }
    }
    let has = |name: &str| table[2..].iter().any(|row| row.starts_with(name));
    assert!(["| Redis 6.", "| Redis 7.", "| Redis 8.", "| Valkey "].into_iter().all(has), "{table:#?}");
}

/// The words in `code style` of a document, without those in code blocks.
fn code_words(text: &str) -> Vec<&str> {
    let prose: Vec<&str> = text.split("\n```").step_by(2).collect();
    prose
        .into_iter()
        .flat_map(|part| part.lines().filter(|line| !line.starts_with("    ")))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect()
}

fn all_sources(folder: PathBuf) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&all_sources(path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    text
}

const FOR_DEVELOPERS: [&str; 3] = ["docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md"];

#[test]
fn files_and_folders_that_documents_name_exist() {
    let mut seen = 0;
    for document in FOR_DEVELOPERS.into_iter().chain(["README.md", "docs/servers.md", "docs/server-facts.md"]) {
        let text = read(document);
        for word in code_words(&text) {
            let is_path = ["src/", "tests/", "docs/", "scripts/", "benches/", "fuzz/", "core/"]
                .iter()
                .any(|top| word.starts_with(top));
            if !is_path || word.contains([' ', '*']) {
                continue;
            }
            seen += 1;
            let exists = path(word).exists() || path(&format!("src/{word}")).exists();
            assert!(exists, "{document} names {word}, which does not exist");
        }
        let folder = path(document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let is_ours = !link.is_empty() && !link.contains("://");
            assert!(
                !is_ours || folder.with_file_name(link).exists(),
                "{document} links to {link}, which does not exist"
            );
        }
    }
    assert!(seen > 40, "paths are recognized: {seen}");
}

#[test]
fn types_and_functions_that_documents_name_exist() {
    let sources = all_sources(path("src"));
    let mut seen = 0;
    for document in FOR_DEVELOPERS {
        let text = read(document);
        for word in code_words(&text) {
            let last = word.rsplit("::").next().unwrap_or(word);
            let is_word = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
            let is_type = word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
            if !(is_type || word.contains("::")) || !word.split("::").all(is_word) {
                continue;
            }
            seen += 1;
            let first = word.split("::").next().unwrap_or(word);
            let defined = ["struct ", "enum ", "trait ", "type ", "mod "].iter().any(|kind| {
                sources.match_indices(&format!("{kind}{first}")).any(|(at, found)| {
                    !sources[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
                })
            });
            assert!(defined, "{document} names {word}: there is no {first}");
            let is_function = last.starts_with(char::is_lowercase);
            let forms = if is_function {
                vec![format!("fn {last}("), format!("fn {last}<"), format!("{last}: ")]
            } else {
                vec![last.to_owned()]
            };
            let is_there = forms.iter().any(|form| sources.contains(form));
            assert!(is_there, "{document} names {word}: there is no {last}");
        }
    }
    assert!(seen > 60, "names are recognized: {seen}");
}
