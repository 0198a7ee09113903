//! Hash slots: which one a key has, and which node serves it.

use crate::{core::name::visible, source::decode};
use redis::Value;
use std::collections::BTreeSet;

/// Slots of a cluster.
const SLOTS: usize = 16_384;
/// No node serves the slot.
const NOBODY: u16 = u16::MAX;

/// CRC16 as the cluster specification has it (XMODEM: polynomial 0x1021, start 0).
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

/// The part of a key that decides its slot: what stands between the first `{` and the next `}`, unless that is nothing.
fn hash_tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|b| *b == b'{') else { return key };
    let rest = &key[open + 1..];
    match rest.iter().position(|b| *b == b'}') {
        None | Some(0) => key,
        Some(close) => &rest[..close],
    }
}

/// The slot of a key.
pub fn slot(key: &[u8]) -> u16 {
    crc16(hash_tag(key)) % SLOTS as u16
}

/// One slot in so many is asked about where the cluster may not be asked for its map.
const PROBE: usize = 16;

/// A key for every sixteenth slot, in order: asking for one tells by a redirection who serves its slot.
pub fn probes() -> Vec<String> {
    let mut keys = vec![String::new(); SLOTS / PROBE];
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

/// Where a node is, as the cluster tells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Its address, where `host` is a name that may not be known here.
    pub ip: Option<String>,
}

impl Place {
    /// Reads `host:port` of a redirection; without a host it is that of the node that answered.
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

/// Who serves which slot.
#[derive(Clone, Debug)]
pub struct SlotMap {
    places: Vec<Place>,
    owner: Vec<u16>,
}

impl Default for SlotMap {
    fn default() -> Self {
        Self { places: Vec::new(), owner: vec![NOBODY; SLOTS] }
    }
}

impl SlotMap {
    /// Reads CLUSTER SLOTS, which every version has: `[first, last, [host, port, id, …], replicas …]` each. `None` for any other form.
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
        found.unwrap_or_else(|| {
            self.places.push(place);
            self.places.len() - 1
        }) as u16
    }

    /// Who serves a slot.
    pub fn owner(&self, slot: u16) -> Option<&Place> {
        self.places.get(usize::from(*self.owner.get(usize::from(slot))?))
    }

    /// A redirection told who serves a slot.
    pub fn set(&mut self, slot: u16, place: Place) {
        let index = self.index(place);
        if let Some(owner) = self.owner.get_mut(usize::from(slot)) {
            *owner = index;
        }
    }

    /// From the answers to [`probes`], each the node that it was sent on to, or `None` from the one that was asked. Slots in between are
    /// thought to be their neighbour's until a redirection says otherwise.
    pub fn guess(here: Place, answers: impl Iterator<Item = Option<Place>>) -> Self {
        let mut map = Self { places: vec![here], owner: vec![0; SLOTS] };
        for (number, place) in answers.enumerate().take(SLOTS / PROBE) {
            if let Some(place) = place {
                let index = map.index(place);
                map.owner[number * PROBE..(number + 1) * PROBE].fill(index);
            }
        }
        map
    }

    /// The nodes that serve any slot.
    pub fn places(&self) -> Vec<&Place> {
        let serving: BTreeSet<u16> = self.owner.iter().copied().collect();
        serving.into_iter().filter_map(|index| self.places.get(usize::from(index))).collect()
    }
}

/// `[host, port, id, [ip, …]]`: the host may be nil or empty (that of the node that answered), and from 7.0 on a name that was never set (`?`).
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
