//! Tables of the README that come from the program. `PELWATCH_UPDATE=1 cargo test --test docs` writes them anew.

use pelwatch::{
    app::keymap::{self, BINDINGS},
    core::symptoms,
};
use std::{fs, sync::Mutex};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
/// One test at a time reads and writes the file.
static FILE: Mutex<()> = Mutex::new(());

/// Where the part between two markers begins and ends.
fn part(text: &str, name: &str) -> (usize, usize) {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let start = text.find(&open).unwrap_or_else(|| panic!("README.md has no line {open}")) + open.len();
    let end = start + text[start..].find(&close).unwrap_or_else(|| panic!("README.md has no {close}"));
    (start, end)
}

fn compare(name: &str, table: &str) {
    let _guard = FILE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = fs::read_to_string(README).expect("README.md is there");
    let (start, end) = part(&text, name);
    // Markdown needs a blank line between a comment and a table
    let wanted = format!("\n{table}\n");
    if std::env::var_os("PELWATCH_UPDATE").is_some_and(|value| value == "1") {
        fs::write(README, format!("{}{wanted}{}", &text[..start], &text[end..])).expect("README.md can be written");
        return;
    }
    assert!(
        text[start..end] == wanted,
        "the table of {name} in README.md is not that of the program; PELWATCH_UPDATE=1 cargo test --test docs writes it"
    );
}

#[test]
fn the_readme_lists_the_keys() {
    compare("keys", &keymap::markdown());
}

#[test]
fn the_readme_lists_the_symptoms() {
    compare("symptoms", &symptoms::markdown());
}

/// Cells of each row; a bar inside a cell would make one more.
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

/// `scripts/matrix --readme` writes this one, from a run on every server that can be had.
#[test]
fn the_table_of_servers_has_a_row_for_each_and_a_cell_for_each_suite() {
    let text = fs::read_to_string(README).expect("README.md is there");
    let (start, end) = part(&text, "servers");
    let table: Vec<&str> = text[start..end].lines().filter(|line| line.starts_with('|')).collect();
    let cells =
        |row: &str| -> Vec<String> { row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect() };
    let head = cells(table[0]);
    assert!(head[0] == "server" && head.len() > 4, "{head:?}");
    for suite in &head[1..] {
        let path = |name| format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"));
        let [module, binary] = [path(format!("server/{suite}.rs")), path(format!("{suite}/main.rs"))];
        assert!([module, binary].iter().any(|path| fs::metadata(path).is_ok()), "there is no suite {suite}");
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
