//! The data before the first worker starts, so that the first screen is not empty.

use std::path::Path;

use redis::{Pipeline, RedisResult};

use super::{
    error::DemoError,
    jitter::Jitter,
    producer::{EMAILS, ORDERS, Produce},
    reader::connect,
};

/// How many orders there are at the start. The producer continues the numbering.
pub(super) const SEEDED_ORDERS: u64 = 40;
/// How many emails there are at the start.
pub(super) const SEEDED_EMAILS: u64 = 12;

/// One consumer's work before the demo begins: it received `taken` entries and acknowledged all but `kept`.
struct Share {
    consumer: &'static str,
    taken: usize,
    kept: usize,
}

/// Puts a few seconds of history on a new server, in one round trip: entries with recent ids, three groups at different cursors and a few
/// pending entries.
///
/// # Errors
/// [`DemoError::Workload`] when the server cannot be reached or already has this data.
pub async fn seed(socket: &Path) -> Result<(), DemoError> {
    plant(socket).await.map_err(|error| DemoError::Workload(format!("seeding failed: {error}")))
}

async fn plant(socket: &Path) -> RedisResult<()> {
    let mut connection = connect(socket, "seed").await?;
    let (seconds, micros): (u64, u64) = redis::cmd("TIME").query_async(&mut connection).await?;
    let now_ms = seconds * 1_000 + micros / 1_000;

    let mut pipeline = redis::pipe();
    // one transaction: whoever watches at that moment sees all of it or nothing
    pipeline.atomic();
    let orders = add_history(&mut pipeline, ORDERS, SEEDED_ORDERS, now_ms);
    let billing = [share("billing-1", 12, 2), share("billing-2", 12, 2), share("billing-3", 12, 1)];
    deliver(&mut pipeline, ORDERS.stream, "billing", &orders, &billing);
    deliver(&mut pipeline, ORDERS.stream, "analytics", &orders, &[share("analytics-1", 16, 2)]);
    let emails = add_history(&mut pipeline, EMAILS, SEEDED_EMAILS, now_ms);
    let mailer = [share("mailer-1", 4, 1), share("mailer-noack", 6, 6)];
    deliver(&mut pipeline, EMAILS.stream, "mailer", &emails, &mailer);
    pipeline.exec_async(&mut connection).await
}

fn share(consumer: &'static str, taken: usize, kept: usize) -> Share {
    Share { consumer, taken, kept }
}

/// Adds `count` entries with ids before `now_ms`, at the producer's own rate. Returns the ids in order.
fn add_history(pipeline: &mut Pipeline, kind: Produce, count: u64, now_ms: u64) -> Vec<String> {
    let mut jitter = Jitter::new(0);
    let ids: Vec<String> = (0..count).map(|n| format!("{}-0", now_ms - (count - n) * kind.every_ms)).collect();
    for (n, id) in (0..).zip(&ids) {
        pipeline.add_command(kind.add(id, n, &mut jitter)).ignore();
    }
    ids
}

/// Creates the group at the beginning of the stream. Then each consumer in turn takes its share and acknowledges it.
fn deliver(pipeline: &mut Pipeline, stream: &str, group: &str, ids: &[String], shares: &[Share]) {
    pipeline.cmd("XGROUP").arg("CREATE").arg(stream).arg(group).arg("0").ignore();
    let mut left = ids;
    for share in shares {
        pipeline.cmd("XREADGROUP").arg("GROUP").arg(group).arg(share.consumer);
        pipeline.arg("COUNT").arg(share.taken).arg("STREAMS").arg(stream).arg(">").ignore();
        // delivery follows the order of ids, so each share is known without reading the replies
        let (taken, rest) = left.split_at(share.taken);
        let acked = &taken[..share.taken - share.kept];
        if !acked.is_empty() {
            pipeline.cmd("XACK").arg(stream).arg(group).arg(acked).ignore();
        }
        left = rest;
    }
}
