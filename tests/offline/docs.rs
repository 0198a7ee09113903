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
