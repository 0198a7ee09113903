//! Finds the server binary for the demo.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::error::{DemoError, SERVER_BIN_VARIABLE};

/// The programs to look for on `PATH`. The first one found is used.
const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];

/// Finds the server to run: [`SERVER_BIN_VARIABLE`] if it is set, else the first `redis-server` on `PATH`, else the first
/// `valkey-server`.
///
/// # Errors
/// [`DemoError::UnusableServerBinary`] if the variable is not the absolute path of an executable file, [`DemoError::NoServerBinary`] if
/// nothing is found.
pub fn server_binary() -> Result<PathBuf, DemoError> {
    choose(env::var_os(SERVER_BIN_VARIABLE), env::var_os("PATH").as_deref())
}

fn choose(named: Option<OsString>, search_path: Option<&OsStr>) -> Result<PathBuf, DemoError> {
    if let Some(named) = named.filter(|value| !value.is_empty()) {
        return checked(PathBuf::from(named));
    }
    let folders: Vec<PathBuf> = search_path.map(|path| env::split_paths(path).collect()).unwrap_or_default();
    PROGRAMS
        .iter()
        .flat_map(|program| folders.iter().map(move |folder| folder.join(program)))
        // with a relative entry of PATH the choice would depend on the current folder
        .find(|candidate| candidate.is_absolute() && is_executable(candidate))
        .ok_or(DemoError::NoServerBinary)
}

fn checked(path: PathBuf) -> Result<PathBuf, DemoError> {
    let reason = if path.is_relative() {
        "is not an absolute path"
    } else if !path.is_file() {
        "is not a file"
    } else if !is_executable(&path) {
        "is not executable"
    } else {
        return Ok(path);
    };
    Err(DemoError::UnusableServerBinary { path, reason })
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;
    use std::fs;

    fn folder_with(name: &str, mode: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        folder
    }

    #[test]
    fn redis_is_preferred_wherever_it_stands_on_the_path() {
        let (valkey, redis) = (folder_with("valkey-server", 0o755), folder_with("redis-server", 0o755));
        let path = env::join_paths([valkey.path(), redis.path()]).unwrap();
        assert_eq!(choose(None, Some(&path)).unwrap(), redis.path().join("redis-server"));
    }

    #[test]
    fn a_file_that_cannot_be_executed_is_passed_over() {
        let (plain, valkey) = (folder_with("redis-server", 0o644), folder_with("valkey-server", 0o755));
        let path = env::join_paths([plain.path(), valkey.path()]).unwrap();
        assert_eq!(choose(None, Some(&path)).unwrap(), valkey.path().join("valkey-server"));
    }

    #[test]
    fn nothing_found_tells_how_to_install_one() {
        let sentence = choose(None, None).unwrap_err().to_string();
        assert!(sentence.contains("apt install redis-server"), "{sentence}");
        assert!(sentence.contains(SERVER_BIN_VARIABLE), "{sentence}");
    }

    #[test]
    fn a_named_binary_is_checked_and_not_searched_for() {
        let folder = folder_with("my-redis", 0o755);
        let named = folder.path().join("my-redis");
        assert_eq!(choose(Some(named.clone().into()), None).unwrap(), named);

        let sentence = choose(Some("redis-server".into()), None).unwrap_err().to_string();
        assert!(sentence.contains("is not an absolute path"), "{sentence}");
        let missing = folder.path().join("missing").into_os_string();
        assert!(choose(Some(missing), None).unwrap_err().to_string().contains("is not a file"));
        let plain = folder_with("plain", 0o600);
        let plain = plain.path().join("plain").into_os_string();
        assert!(choose(Some(plain), None).unwrap_err().to_string().contains("is not executable"));
    }
}
