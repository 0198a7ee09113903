//! The producers of entries, and the contents of the entries.

use std::{convert::Infallible, path::Path, time::Duration};

use redis::{Cmd, RedisResult, aio::MultiplexedConnection};
use tokio::time::{Instant, sleep_until};

use super::{jitter::Jitter, reader::connect};

/// About how many entries a stream keeps; the server trims whole nodes only. A demo that runs overnight must not fill the memory.
const STREAM_CAP_ENTRIES: u64 = 20_000;
/// A producer that is further behind than this skips the missed entries: after sleep, a laptop must not flood the stream.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(1);

/// A kind of entry: its stream, its rate and its fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Produce {
    pub(super) stream: &'static str,
    /// Mean time between two entries, in ms. Each real one is between half and one and a half of it.
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

/// Adds entries forever, beginning with the n-th.
pub(super) async fn produce(socket: &Path, kind: Produce, mut n: u64, mut jitter: Jitter) -> RedisResult<Infallible> {
    let mut connection: MultiplexedConnection = connect(socket, &format!("{}-producer", kind.stream)).await?;
    let mut due = Instant::now();
    loop {
        // add up the due times: with a sleep after each XADD, the time of the XADD itself would lower the rate
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
