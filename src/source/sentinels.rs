//! Which sentinels to ask, and for which master.

use crate::core::name::visible;
use std::sync::{Arc, Mutex, PoisonError};

/// Where the master's address is asked for.
#[derive(Clone)]
pub struct Sentinels {
    /// The one that answered last comes first.
    addresses: Arc<Mutex<Vec<(String, u16)>>>,
    pub(super) master: String,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

impl std::fmt::Debug for Sentinels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sentinels").field("master", &self.master).finish_non_exhaustive()
    }
}

impl Sentinels {
    /// Reads `host:port` or `host`, several with commas between them.
    ///
    /// # Errors
    /// The part that is no address.
    pub fn new(list: &str, master: &str, user: Option<String>, password: Option<String>) -> Result<Self, String> {
        let addresses: Result<Vec<_>, String> = list.split(',').map(str::trim).map(address).collect();
        Ok(Self { addresses: Arc::new(Mutex::new(addresses?)), master: master.to_owned(), user, password })
    }

    /// The master in words, as long as no address is known.
    pub(super) fn endpoint(&self) -> String {
        format!("master {}", visible(self.master.as_bytes()))
    }

    pub(super) fn addresses(&self) -> Vec<(String, u16)> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn prefer(&self, address: &(String, u16)) {
        let mut all = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|one| one == address) {
            all[..=at].rotate_right(1);
        }
    }
}

/// `host:port`, `host`, `[::1]:26379` or `::1`.
fn address(text: &str) -> Result<(String, u16), String> {
    let wrong = || format!("'{}' is not the address of a sentinel: give HOST:PORT", visible(text.as_bytes()));
    let is_plain = text.parse::<std::net::Ipv6Addr>().is_ok();
    let (host, port) = match text.rsplit_once(':').filter(|_| !is_plain) {
        Some((host, port)) if !host.ends_with(':') && (!host.contains(':') || host.ends_with(']')) => {
            (host, port.parse().map_err(|_| wrong())?)
        }
        Some(_) if text.ends_with(']') => (text, PORT),
        Some(_) => return Err(wrong()),
        None => (text, PORT),
    };
    let host = without_brackets(host);
    let fits = !host.is_empty() && !host.contains(['/', '@', ' ', '[', ']']);
    if fits { Ok((host.to_owned(), port)) } else { Err(wrong()) }
}

/// `::1` of `[::1]`.
pub(super) fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Where sentinels listen if nobody says otherwise.
const PORT: u16 = 26379;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    pub(super) fn addresses_are_read_as_people_write_them() {
        for (given, host, port) in [
            ("10.0.0.1", "10.0.0.1", 26379),
            ("s1.example:5000", "s1.example", 5000),
            ("[::1]:7", "::1", 7),
            ("[::1]", "::1", 26379),
            ("::1", "::1", 26379),
        ] {
            assert_eq!(address(given), Ok((host.to_owned(), port)), "{given}");
        }
        for wrong in ["", ":1", "h:", "h:x", "h:70000", "a/b", "u@h:1", "::x:1"] {
            assert!(address(wrong).is_err_and(|why| why.contains("is not the address of a sentinel")), "{wrong}");
        }
    }

    #[test]
    fn who_answered_is_asked_first() {
        let all = Sentinels::new("a, b:1 ,c", "m", None, None).unwrap();
        all.prefer(&("c".to_owned(), 26379));
        let hosts: Vec<String> = all.addresses().into_iter().map(|(host, _)| host).collect();
        assert_eq!(hosts, ["c", "a", "b"]);
    }
}
