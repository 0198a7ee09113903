//! Who adds entries, and what is in them.

use std::{convert::Infallible, path::Path, time::Duration};

use redis::{Cmd, RedisResult, aio::MultiplexedConnection};
use tokio::time::{Instant, sleep_until};

use super::{jitter::Jitter, reader::connect};

/// Entries a stream keeps, about: the server trims in whole nodes. A demo left open over night must
/// not eat memory.
const STREAM_CAP_ENTRIES: u64 = 20_000;
/// A producer that fell further behind than this starts afresh, so that a laptop that slept does
/// not wake to a flood.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(1);

/// A kind of entry: the stream it goes to, how often, and what it carries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Produce {
    pub(super) stream: &'static str,
    /// Mean time between two entries, in milliseconds; the real ones are between half and one and a
    /// half of it.
    pub(super) every_ms: u64,
    /// The fields of the n-th entry.
    pub(super) fields: fn(n: u64, jitter: &mut Jitter) -> Vec<(&'static str, String)>,
}

/// About 25 orders a second.
pub(super) const ORDERS: Produce = Produce { stream: "orders", every_ms: 40, fields: order };
/// About 6 emails a second.
pub(super) const EMAILS: Produce = Produce { stream: "emails", every_ms: 166, fields: email };

impl Produce {
    /// The XADD of the n-th entry. `id` is `*` or an explicit entry id.
    pub(super) fn add(&self, id: &str, n: u64, jitter: &mut Jitter) -> Cmd {
        let mut command = redis::cmd("XADD");
        command.arg(self.stream).arg("MAXLEN").arg("~").arg(STREAM_CAP_ENTRIES).arg(id);
        for (name, value) in (self.fields)(n, jitter) {
            command.arg(name).arg(value);
        }
        command
    }
}

/// Adds entries for ever, from the n-th on.
///
/// # Errors
/// When the server cannot be reached any more, or refuses.
pub(super) async fn produce(socket: &Path, kind: Produce, mut n: u64, mut jitter: Jitter) -> RedisResult<Infallible> {
    let mut connection: MultiplexedConnection = connect(socket, &format!("{}-producer", kind.stream)).await?;
    let mut due = Instant::now();
    loop {
        // Times are added up, not slept one after the other: otherwise each XADD's own time would
        // lower the rate.
        due += jitter.millis(kind.every_ms / 2, kind.every_ms * 3 / 2);
        let now = Instant::now();
        if now.duration_since(due) > CATCH_UP_LIMIT {
            due = now;
        }
        sleep_until(due).await;
        kind.add("*", n, &mut jitter).exec_async(&mut connection).await?;
        n += 1;
    }
}

fn order(n: u64, jitter: &mut Jitter) -> Vec<(&'static str, String)> {
    let item = jitter.pick(&["espresso-beans", "filter-papers", "grinder", "kettle", "mug", "scale"]);
    let (quantity, cents) = (jitter.between(1, 4), jitter.between(450, 18_900));
    let currency = jitter.pick(&["EUR", "GBP", "USD"]);
    vec![
        ("order", format!("A-{}", 10_000 + n)),
        ("customer", format!("c{}", jitter.between(1_000, 9_999))),
        ("body", format!(r#"{{"item":"{item}","quantity":{quantity},"total_cents":{cents},"currency":"{currency}"}}"#)),
    ]
}

fn email(n: u64, jitter: &mut Jitter) -> Vec<(&'static str, String)> {
    let template = jitter.pick(&["order-confirmed", "password-reset", "shipped", "welcome"]);
    let language = jitter.pick(&["de", "en", "fr", "pl"]);
    let customer = jitter.between(1_000, 9_999);
    vec![
        ("to", format!("c{customer}@example.com")),
        ("template", template.to_owned()),
        ("body", format!(r#"{{"message":"m-{n}","language":"{language}","attempt":1}}"#)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_json_and_adding_is_capped() {
        for kind in [ORDERS, EMAILS] {
            let fields = (kind.fields)(3, &mut Jitter::new(1));
            let (_, body) = fields.iter().find(|(name, _)| *name == "body").unwrap();
            serde_json::from_str::<serde_json::Value>(body).unwrap();
            let packed = kind.add("*", 3, &mut Jitter::new(1)).get_packed_command();
            assert!(String::from_utf8(packed).unwrap().contains("MAXLEN\r\n$1\r\n~\r\n$5\r\n20000"));
        }
    }
}
