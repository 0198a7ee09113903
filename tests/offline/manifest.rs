//! What Cargo.toml promises: the minimum Rust version is one that every dependency of the program can be built with.

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

#[test]
fn no_dependency_needs_a_newer_rust_than_we_promise() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // only what this machine builds: other platforms' packages need not be downloaded
    command.args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &host()]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let ours = packages.iter().find(|package| package["name"] == "pelwatch").unwrap();
    let promised = version(ours["rust_version"].as_str().expect("Cargo.toml has a rust-version"));
    let mut told = 0;
    for package in packages {
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
