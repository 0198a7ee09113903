//! What Cargo.toml promises: the minimum Rust version is one that every dependency of the program can be built with, and no dependency has
//! a licence that would bind those who pass the program on.

use std::process::Command;

/// `1.88` and `1.88.0` are the same version.
fn version(text: &str) -> (u32, u32, u32) {
    let mut numbers = text.split('.').map(|part| part.parse::<u32>().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// The platform that tests run on, as rustc names it.
fn host() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

/// All packages of this platform, ours among them.
fn packages() -> Vec<serde_json::Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // only what this machine builds: other platforms' packages need not be downloaded
    command.args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &host()]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn no_dependency_needs_a_newer_rust_than_we_promise() {
    let packages = packages();
    let ours = packages.iter().find(|package| package["name"] == "pelwatch").unwrap();
    let promised = version(ours["rust_version"].as_str().expect("Cargo.toml has a rust-version"));
    let mut told = 0;
    for package in &packages {
        let Some(needed) = package["rust_version"].as_str() else { continue };
        told += 1;
        assert!(
            version(needed) <= promised,
            "{} {} needs Rust {needed}: keep an older version in Cargo.lock, or raise rust-version",
            package["name"],
            package["version"]
        );
    }
    assert!(told > 50, "dependencies name their Rust version: {told} of {}", packages.len());
}

/// Licences that ask for no more than their text beside the program.
const LICENCES: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "WTFPL",
    "Zlib",
];

/// Whether one of the alternatives can be chosen, and all of its parts are allowed. (`AND` binds closer than `OR` in the SPDX language;
/// brackets around alternatives turn that round.)
fn is_allowed(expression: &str) -> bool {
    let alternatives = |text: &str| {
        let text = text.trim().trim_matches(['(', ')']).replace('/', " OR ");
        text.split(" OR ").any(|one| one.split(" AND ").all(|part| LICENCES.contains(&part.trim())))
    };
    if expression.contains('(') { expression.split(" AND ").all(alternatives) } else { alternatives(expression) }
}

#[test]
fn every_licence_lets_the_program_be_passed_on() {
    assert!(is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0") && !is_allowed("(MIT OR Zlib) AND GPL-3.0"));
    assert!(is_allowed("MIT/GPL-3.0") && !is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0"));
    for package in packages() {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence), "{} {}: {licence:?}", package["name"], package["version"]);
    }
}
