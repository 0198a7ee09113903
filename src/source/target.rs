//! The server to connect to: URLs and redis-cli's flags, checked and merged into one target.

use super::{
    dial::{Tls, TlsError, TlsFiles, Via},
    password::{Door, Passwords},
    sentinels::{Sentinels, without_brackets},
};
use redis::{ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Connecting takes at most this long where nothing else is said: a person may be waiting, and the host may be dead.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// A server that is busy for longer is shown as gone; it comes back by itself.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not a URL that pelwatch understands.
    #[error(
        "'{0}' is not a server address: give HOST:PORT, redis://HOST:PORT/DB, rediss:// or valkeys:// for TLS, unix:///PATH, or -h, -p and -s as for redis-cli"
    )]
    NotAnAddress(String),
    /// TLS cannot be used as it was asked for.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Something about TLS was given, and TLS was not.
    #[error("{0} is about TLS: add --tls, or use rediss:// or valkeys://")]
    NotTls(&'static str),
    /// A command carries a connection to a host, not to a socket.
    #[error("--via reaches a host and port: leave out the unix socket")]
    ViaSocket,
    /// Sentinels name the server, so nothing else may.
    #[error("--sentinel finds the server: leave out its address and --cluster")]
    SentinelsNameIt,
    /// What was given is no list of addresses.
    #[error("{0}")]
    NotASentinel(String),
    /// A URL and flags both name a server.
    #[error("give the server once: either a URL, or -s, or -h and -p")]
    Twice,
}

/// Where a server listens. Every use of it matches all kinds, so that a new one cannot be taken for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Unix(PathBuf),
    Tcp { host: String, port: u16 },
}

impl Address {
    /// The address without secrets: `unix:/run/redis.sock` or `host:port`.
    fn endpoint(&self) -> String {
        match self {
            Self::Unix(path) => format!("unix:{}", crate::core::name::visible(path_bytes(path))),
            Self::Tcp { host, port } if host.contains(':') => {
                format!("[{}]:{port}", crate::core::name::visible(host.as_bytes()))
            }
            Self::Tcp { host, port } => format!("{}:{port}", crate::core::name::visible(host.as_bytes())),
        }
    }

    /// Another node of the same cluster. Nodes have no unix sockets.
    fn at(&self, host: &str, port: u16) -> Self {
        match self {
            Self::Unix(_) | Self::Tcp { .. } => Self::Tcp { host: host.to_owned(), port },
        }
    }
}

/// A server to connect to. Neither its `Debug` nor [`Target::endpoint`] shows the password.
#[derive(Clone)]
pub struct Target {
    /// User, password, database.
    settings: RedisConnectionInfo,
    /// A password that is looked up at each connection.
    passwords: Option<Passwords>,
    address: Address,
    tls: Option<Tls>,
    tls_flags: String,
    via: Option<Via>,
    connect_timeout: Duration,
    reply_timeout: Duration,
    endpoint: String,
    cluster: bool,
    sentinels: Option<Sentinels>,
    /// Known nodes of the cluster, shared by all copies. When this server is gone, another node is tried.
    peers: Arc<Mutex<Vec<(String, u16)>>>,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("endpoint", &self.endpoint).field("db", &self.db()).finish_non_exhaustive()
    }
}

/// The parts as given on the command line.
#[derive(Clone, Default)]
pub struct Parts {
    pub url: Option<String>,
    /// -h
    pub host: Option<String>,
    /// -p
    pub port: Option<u16>,
    /// -s
    pub socket: Option<PathBuf>,
    /// -n
    pub db: Option<i64>,
    /// --user
    pub user: Option<String>,
    /// -a, `REDISCLI_AUTH` or what `--askpass` read
    pub password: Option<String>,
    /// --password-file or --password-command
    pub passwords: Option<Passwords>,
    /// --cluster
    pub cluster: bool,
    /// --tls
    pub tls: bool,
    pub tls_files: TlsFiles,
    /// --via
    pub via: Option<String>,
    /// --sentinel and --master
    pub sentinels: Option<Sentinels>,
    /// --connect-timeout
    pub connect_timeout: Option<Duration>,
    /// --timeout
    pub reply_timeout: Option<Duration>,
}

impl Target {
    /// Merges the parts into one target. Without any it is redis-cli's default, 127.0.0.1:6379.
    pub fn new(parts: Parts) -> Result<Self, TargetError> {
        let ways = usize::from(parts.url.is_some())
            + usize::from(parts.socket.is_some())
            + usize::from(parts.host.is_some() || parts.port.is_some());
        if ways > 1 {
            return Err(TargetError::Twice);
        }
        if parts.sentinels.is_some() && (ways > 0 || parts.cluster) {
            return Err(TargetError::SentinelsNameIt);
        }
        let (address, settings, url_tls) = match (parts.url, parts.socket) {
            (Some(url), _) => from_url(&url)?,
            (None, Some(path)) => (Address::Unix(path), RedisConnectionInfo::default(), false),
            (None, None) => {
                let host = parts.host.unwrap_or_else(|| "127.0.0.1".to_owned());
                let host = without_brackets(&host).to_owned();
                (Address::Tcp { host, port: parts.port.unwrap_or(6379) }, RedisConnectionInfo::default(), false)
            }
        };
        let mut settings = settings.set_skip_set_lib_name();
        if let Some(db) = parts.db {
            settings = settings.set_db(db);
        }
        if let Some(user) = parts.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = parts.password {
            settings = settings.set_password(password);
        }
        if parts.via.is_some() && matches!(address, Address::Unix(_)) {
            return Err(TargetError::ViaSocket);
        }
        let files = parts.tls_files;
        let tls = match (parts.tls || url_tls, files.first_flag()) {
            (true, _) => Some(Tls::new(&files)?),
            (false, Some(flag)) => return Err(TargetError::NotTls(flag)),
            (false, None) => None,
        };
        Ok(Self {
            settings,
            passwords: parts.passwords,
            endpoint: parts.sentinels.as_ref().map_or_else(|| address.endpoint(), Sentinels::endpoint),
            address,
            tls_flags: if tls.is_some() { files.words() } else { String::new() },
            tls,
            via: parts.via.map(Via::new),
            connect_timeout: parts.connect_timeout.unwrap_or(CONNECT_TIMEOUT),
            reply_timeout: parts.reply_timeout.unwrap_or(REPLY_TIMEOUT),
            cluster: parts.cluster,
            sentinels: parts.sentinels,
            peers: Arc::default(),
        })
    }

    /// Another node of the same cluster: a different address, everything else the same.
    pub(super) fn at(&self, host: &str, port: u16) -> Self {
        let address = self.address.at(host, port);
        Self { endpoint: address.endpoint(), address, ..self.clone() }
    }

    /// The server that sentinels name now.
    pub(super) fn named(&self, master: &str, host: &str, port: u16) -> Self {
        let at = self.at(host, port);
        let master = crate::core::name::visible(master.as_bytes());
        Self { endpoint: format!("{master} at {}", at.endpoint), ..at }
    }

    pub(super) fn sentinels(&self) -> Option<&Sentinels> {
        self.sentinels.as_ref()
    }

    /// Whether to watch all nodes of a cluster.
    pub fn is_cluster(&self) -> bool {
        self.cluster
    }

    /// The host, also used for nodes that the cluster announces without one.
    pub(super) fn host(&self) -> &str {
        match &self.address {
            Address::Tcp { host, .. } => host,
            Address::Unix(_) => "127.0.0.1",
        }
    }

    /// The port; 0 for a unix socket.
    pub(super) fn port(&self) -> u16 {
        match &self.address {
            Address::Tcp { port, .. } => *port,
            Address::Unix(_) => 0,
        }
    }

    pub(super) fn set_peers(&self, peers: Vec<(String, u16)>) {
        *self.peers.lock().unwrap_or_else(PoisonError::into_inner) = peers;
    }

    pub(super) fn peers(&self) -> Vec<(String, u16)> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A server on a unix socket. Never fails in practice.
    pub fn unix(path: &Path) -> Result<Self, TargetError> {
        Self::new(Parts { socket: Some(path.to_owned()), ..Parts::default() })
    }

    /// The address without secrets: `unix:/run/redis.sock` or `host:port`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The address with the database, for people and the journal: `unix:/run/redis.sock`, `host:port db 3`.
    pub fn place(&self) -> String {
        if self.db() == 0 { self.endpoint.clone() } else { format!("{} db {}", self.endpoint, self.db()) }
    }

    pub fn db(&self) -> i64 {
        self.settings.db()
    }

    /// The redis-cli arguments for the same server, for commands to copy. The password is left out.
    pub fn cli_words(&self) -> String {
        let place = match &self.address {
            Address::Unix(path) => format!("-s {}", path.display()),
            Address::Tcp { host, port } => format!("-h {host} -p {port}"),
        };
        let place = if self.cluster { format!("-c {place}") } else { place };
        let place = if self.tls.is_some() { format!("{place} --tls{}", self.tls_flags) } else { place };
        if self.db() == 0 { place } else { format!("{place} -n {}", self.db()) }
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// User, password, database.
    pub(super) fn settings(&self) -> &RedisConnectionInfo {
        &self.settings
    }

    pub(super) fn passwords(&self) -> Option<&Passwords> {
        self.passwords.as_ref()
    }

    /// Who wants to be let in, and where, for looking up a password.
    pub(super) fn door(&self) -> Door {
        let user = self.settings.username().unwrap_or("default").to_owned();
        Door { host: self.host().to_owned(), port: self.port(), user }
    }

    pub(super) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    /// What must be said of the way to the server: that nobody checks who answers.
    pub fn caution(&self) -> Option<&'static str> {
        self.tls.as_ref().is_some_and(|tls| tls.insecure).then_some("INSECURE TLS")
    }

    pub(super) fn via(&self) -> Option<&Via> {
        self.via.as_ref()
    }

    /// The screen is taken: what carries connections may not write there, nor ask anything.
    pub fn ask_no_more(&self) {
        self.via.iter().for_each(Via::ask_no_more);
        self.passwords.iter().for_each(Passwords::ask_no_more);
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    pub(super) fn reply_timeout(&self) -> Duration {
        self.reply_timeout
    }
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str())
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> &[u8] {
    path.to_str().unwrap_or("?").as_bytes()
}

/// An address as one says it: `localhost:6379`, `[::1]`, `10.0.0.1:6379/3`, `/run/redis.sock`. What may hold a password needs its scheme,
/// and a single word may be a mistyped command.
fn bare(text: &str) -> Option<String> {
    if text.contains(['@', ' ', '?']) {
        return None;
    }
    if text.starts_with('/') {
        return Some(format!("unix://{text}"));
    }
    let (address, db) = text.split_once('/').unwrap_or((text, "0"));
    let (host, port) = if let Some(rest) = address.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        host.parse::<std::net::Ipv6Addr>().ok()?;
        (format!("[{host}]"), if port.is_empty() { "6379" } else { port.strip_prefix(':')? })
    } else {
        let (host, port) = address.split_once(':')?;
        (host.to_owned(), port)
    };
    let fits = !host.is_empty() && port.parse::<u16>().is_ok() && db.parse::<u32>().is_ok();
    fits.then(|| format!("redis://{host}:{port}/{db}"))
}

/// The address, who asks, and whether TLS is wanted.
fn from_url(url: &str) -> Result<(Address, RedisConnectionInfo, bool), TargetError> {
    let complete = if url.contains("://") { None } else { bare(url) };
    let url = complete.as_deref().unwrap_or(url);
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("rediss" | "valkeys" | "redis" | "valkey" | "unix" | "redis+unix" | "valkey+unix") => {}
        // the input may contain a password, so repeat at most its scheme
        Some(other) => {
            return Err(TargetError::NotAnAddress(format!("{}://…", crate::core::name::visible(other.as_bytes()))));
        }
        None => {
            return Err(TargetError::NotAnAddress(crate::core::name::visible(
                url.split('@').next_back().unwrap_or("").as_bytes(),
            )));
        }
    }
    // the layers below the protocol are ours: to the library it is a plain address
    let with_tls = matches!(scheme.as_deref(), Some("rediss" | "valkeys"));
    let plain = url.split_once("://").filter(|_| with_tls).map(|(_, rest)| format!("redis://{rest}"));
    let info = plain
        .as_deref()
        .unwrap_or(url)
        .into_connection_info()
        .map_err(|_| TargetError::NotAnAddress(format!("{}://…", scheme.as_deref().unwrap_or_default())))?;
    let address = match info.addr() {
        ConnectionAddr::Unix(path) => Address::Unix(path.clone()),
        ConnectionAddr::Tcp(host, port) => Address::Tcp { host: without_brackets(host).to_owned(), port: *port },
        // the library knows kinds that no scheme above leads to
        _ => return Err(TargetError::NotAnAddress(format!("{}://…", scheme.unwrap_or_default()))),
    };
    Ok((address, info.redis_settings().clone(), with_tls))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Result<Target, TargetError> {
        Target::new(Parts { url: Some(text.to_owned()), ..Parts::default() })
    }

    #[test]
    fn reads_the_urls_that_people_bring() {
        for (text, endpoint, db) in [
            ("redis://10.0.0.1:7000/3", "10.0.0.1:7000", 3),
            ("valkey://cache", "cache:6379", 0),
            ("redis://user:secret@h:1/2", "h:1", 2),
            ("unix:///run/redis.sock?db=1", "unix:/run/redis.sock", 1),
            ("localhost:6379", "localhost:6379", 0),
            ("10.0.0.1:7000/3", "10.0.0.1:7000", 3),
            ("[::1]", "[::1]:6379", 0),
            ("[::1]:7000", "[::1]:7000", 0),
            ("redis://[::1]:7000", "[::1]:7000", 0),
            ("/run/redis.sock", "unix:/run/redis.sock", 0),
            ("rediss://user:secret@h:6380/2", "h:6380", 2),
            ("VALKEYS://h", "h:6379", 0),
        ] {
            let target = url(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!((target.endpoint(), target.db()), (endpoint, db), "{text}");
            assert!(!format!("{target:?}").contains("secret"));
            assert_eq!(
                target.tls().is_some(),
                text.to_lowercase().starts_with("rediss") || text.starts_with("VALKEYS")
            );
        }
    }

    #[test]
    fn refuses_the_rest_in_a_sentence_without_secrets() {
        let insecure = TlsFiles { insecure: true, ..TlsFiles::default() };
        let plain = Parts { host: Some("h".into()), tls_files: insecure, ..Parts::default() };
        assert_eq!(Target::new(plain).err(), Some(TargetError::NotTls("--insecure")));
        let socket = Parts { socket: Some("/s".into()), via: Some("nc %h %p".into()), ..Parts::default() };
        assert_eq!(Target::new(socket).err(), Some(TargetError::ViaSocket));
        for bad in [
            "http://u:secret@h",
            "redis://u:secret@h:port",
            "nonsense",
            "://",
            "u:secret@",
            "",
            "h:port",
            "[::1",
            "[x]:1",
            ":1",
            "h:70000",
        ] {
            let error = url(bad).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains("is not a server address"), "{bad}: {error}");
            assert!(!error.contains("secret"), "{bad}: {error}");
        }
        let twice = Parts { url: Some("redis://h".into()), port: Some(1), ..Parts::default() };
        assert_eq!(Target::new(twice).err(), Some(TargetError::Twice));
    }
}
