//! Hash slots: which slot a key has, and which node serves it.

use crate::{core::name::visible, source::decode};
use redis::Value;
use std::collections::BTreeSet;

const SLOTS: u16 = 16_384;
/// Marks a slot that no node serves.
const NOBODY: u16 = u16::MAX;

/// CRC16 as in the cluster specification (XMODEM: polynomial 0x1021, start 0).
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(
            crc ^ (u16::from(*byte) << 8),
            |crc: u16, _| {
                if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
            },
        )
    })
}

/// The part of a key that decides its slot: the text between the first `{` and the next `}`, or the whole key if that text is empty or
/// missing.
fn hash_tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|b| *b == b'{') else { return key };
    let rest = &key[open + 1..];
    match rest.iter().position(|b| *b == b'}') {
        None | Some(0) => key,
        Some(close) => &rest[..close],
    }
}

pub fn slot(key: &[u8]) -> u16 {
    crc16(hash_tag(key)) % SLOTS
}

/// Where the cluster's map is forbidden, one slot in this many is probed.
const PROBE: usize = 16;

/// One key for every sixteenth slot, in order. A read of such a key is redirected to the node that serves its slot.
pub fn probes() -> Vec<String> {
    let mut keys = vec![String::new(); usize::from(SLOTS) / PROBE];
    let mut open = keys.len();
    for key in (0_u32..).map(|n| format!("pelwatch:{n}")) {
        let slot = usize::from(slot(key.as_bytes()));
        if slot.is_multiple_of(PROBE) && keys[slot / PROBE].is_empty() {
            keys[slot / PROBE] = key;
            open -= 1;
            if open == 0 {
                break;
            }
        }
    }
    keys
}

/// The address of a node, as the cluster announces it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Host name or address.
    pub host: String,
    pub port: u16,
    /// Its IP address, for use when the name in `host` cannot be resolved here.
    pub ip: Option<String>,
}

impl Place {
    /// Reads the `host:port` of a redirection. A missing host means the host of the node that answered.
    pub fn parse(text: &str, answered: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = if host.is_empty() || host == "?" { answered } else { host };
        Some(Self { host: host.to_owned(), port: port.parse().ok()?, ip: None })
    }

    /// Its name on the screen, `host:port`.
    pub fn name(&self) -> String {
        format!("{}:{}", visible(self.host.as_bytes()), self.port)
    }
}

/// Which node serves which slot.
#[derive(Clone, Debug)]
pub struct SlotMap {
    places: Vec<Place>,
    owner: Vec<u16>,
}

impl Default for SlotMap {
    fn default() -> Self {
        Self { places: Vec::new(), owner: vec![NOBODY; usize::from(SLOTS)] }
    }
}

impl SlotMap {
    /// Reads CLUSTER SLOTS, which every version has. Each range is `[first, last, [host, port, id, …], replicas …]`; any other form gives
    /// `None`.
    pub fn read(reply: &Value, answered: &str) -> Option<Self> {
        let Value::Array(ranges) = reply else { return None };
        let mut map = Self::default();
        for range in ranges {
            let Value::Array(parts) = range else { return None };
            let [first, last, Value::Array(node), ..] = parts.as_slice() else { return None };
            let slot = |value: &Value| decode::integer(value).and_then(|n| u16::try_from(n).ok());
            let place = read_place(node, answered)?;
            let (first, last) = (slot(first)?, slot(last)?);
            let index = map.index(place);
            if first > last {
                return None;
            }
            map.owner.get_mut(usize::from(first)..=usize::from(last))?.fill(index);
        }
        Some(map)
    }

    fn index(&mut self, place: Place) -> u16 {
        let same = |known: &Place| known.host == place.host && known.port == place.port;
        let found = self.places.iter().position(same);
        let index = found.unwrap_or_else(|| {
            self.places.push(place);
            self.places.len() - 1
        });
        u16::try_from(index).unwrap_or(NOBODY)
    }

    /// The node that serves a slot.
    pub fn owner(&self, slot: u16) -> Option<&Place> {
        self.places.get(usize::from(*self.owner.get(usize::from(slot))?))
    }

    /// Corrects one slot after a redirection.
    pub fn set(&mut self, slot: u16, place: Place) {
        let index = self.index(place);
        if let Some(owner) = self.owner.get_mut(usize::from(slot)) {
            *owner = index;
        }
    }

    /// Builds a map from the replies to [`probes`]: the node that a probe was redirected to, or `None` if the asked node answered itself.
    /// The slots between two probes are assumed to belong to the same node as the probe before them, until a redirection corrects that.
    pub fn guess(here: Place, answers: impl Iterator<Item = Option<Place>>) -> Self {
        let mut map = Self { places: vec![here], owner: vec![0; usize::from(SLOTS)] };
        for (number, place) in answers.enumerate().take(usize::from(SLOTS) / PROBE) {
            if let Some(place) = place {
                let index = map.index(place);
                map.owner[number * PROBE..(number + 1) * PROBE].fill(index);
            }
        }
        map
    }

    /// The nodes that serve at least one slot.
    pub fn places(&self) -> Vec<&Place> {
        let serving: BTreeSet<u16> = self.owner.iter().copied().collect();
        serving.into_iter().filter_map(|index| self.places.get(usize::from(index))).collect()
    }
}

/// Reads `[host, port, id, [ip, …]]`. A nil or empty host means the node that answered. From 7.0 on the host can be `?`, a host name that
/// was never set.
fn read_place(node: &[Value], answered: &str) -> Option<Place> {
    let port = decode::integer(node.get(1)?).and_then(|port| u16::try_from(port).ok())?;
    let ip = node.get(3).and_then(|more| decode::field_text(more, "ip")).filter(|ip| !ip.is_empty());
    let host = node.first().and_then(decode::text).filter(|host| !host.is_empty() && host != "?");
    let host = host.or_else(|| ip.clone()).unwrap_or_else(|| answered.to_owned());
    Some(Place { host, port, ip })
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
