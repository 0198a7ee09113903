//! The server binaries on this machine.

use std::{
    env, fmt, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];

/// A server binary that runs on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundServer {
    /// The folder where it was found; `PATH` for one installed in the system.
    pub name: String,
    /// `redis` or `valkey`.
    pub flavor: String,
    /// The version that it prints.
    pub version: (u32, u32, u32),
    pub bin: PathBuf,
}

impl FoundServer {
    /// The Redis version with the same commands and replies: every Valkey claims to be like Redis 7.2.4.
    pub fn compat(&self) -> (u32, u32, u32) {
        if self.flavor == "valkey" { (7, 2, 4) } else { self.version }
    }
}

impl fmt::Display for FoundServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, patch) = self.version;
        write!(f, "{} {major}.{minor}.{patch}", self.flavor)
    }
}

/// Every different server at hand, sorted by flavor and version: on `PATH`, and in the sub-folders of `PELWATCH_TEST_SERVERS` (by default
/// `pelwatch/servers` in the user's cache folder). If `PELWATCH_TEST_ONLY` is set, only the server at that path: `scripts/matrix` runs
/// each version alone.
///
/// # Panics
/// When there is none.
pub fn found_servers() -> Vec<FoundServer> {
    if let Some(only) = set("PELWATCH_TEST_ONLY") {
        let found = identify("only".to_owned(), only.clone());
        return vec![found.unwrap_or_else(|| panic!("{} is not a server that runs here", only.display()))];
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| ("PATH".to_owned(), folder));
    let fetched = sub_folders(&servers_folder()).into_iter();
    let fetched = fetched.map(|folder| (folder.file_name().unwrap().to_string_lossy().into_owned(), folder));

    let mut found: Vec<FoundServer> = on_path
        .chain(fetched)
        .flat_map(|(name, folder)| PROGRAMS.map(|program| (name.clone(), folder.join(program))))
        .filter(|(_, bin)| is_executable(bin))
        .filter_map(|(name, bin)| identify(name, bin))
        .collect();
    // A stable sort: of two servers with the same version, the one on PATH comes first and is kept.
    found.sort_by(|a, b| (&a.flavor, a.version).cmp(&(&b.flavor, b.version)));
    found.dedup_by(|later, first| (&later.flavor, later.version) == (&first.flavor, first.version));
    assert!(
        !found.is_empty(),
        "no redis-server or valkey-server on PATH or in {}; a missing server is an error, not a skip: run scripts/test",
        servers_folder().display()
    );
    found
}

/// The server with the newest command set, for a test of something that came with `least`. If `PELWATCH_TEST_ONLY` names an older one,
/// prints that and returns `None`; without that variable, an old server is not accepted as a reason to skip.
///
/// # Panics
/// When every server at hand is older, and no single one was asked for.
pub fn newest_from(least: (u32, u32, u32)) -> Option<FoundServer> {
    let newest = found_servers().into_iter().max_by_key(FoundServer::compat)?;
    if newest.compat() >= least {
        return Some(newest);
    }
    assert!(set("PELWATCH_TEST_ONLY").is_some(), "this needs a server from {least:?} on, and there is only {newest}");
    println!("nothing to test on {newest}: this came with {least:?}");
    None
}

fn set(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn servers_folder() -> PathBuf {
    set("PELWATCH_TEST_SERVERS").unwrap_or_else(|| {
        let home_cache = || set("HOME").unwrap_or_default().join(".cache");
        set("XDG_CACHE_HOME").unwrap_or_else(home_cache).join("pelwatch/servers")
    })
}

fn sub_folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

fn identify(name: String, bin: PathBuf) -> Option<FoundServer> {
    let output = Command::new(&bin).arg("--version").output().ok();
    let line = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let Some((flavor, version)) = parse_version(&line) else {
        eprintln!("{} does not run here, so nothing is tested on it", bin.display());
        return None;
    };
    Some(FoundServer { name, flavor, version, bin })
}

/// Reads `Redis server v=7.0.15 ...`. Valkey 7.2 omits its name: `Server v=7.2.7 ...`.
fn parse_version(line: &str) -> Option<(String, (u32, u32, u32))> {
    let mut words = line.split_whitespace();
    let flavor = if words.next()? == "Redis" { "redis" } else { "valkey" };
    let version = words.find_map(|word| word.strip_prefix("v="))?;
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    let version = (numbers.next()??, numbers.next()??, numbers.next()??);
    Some((flavor.to_owned(), version))
}
