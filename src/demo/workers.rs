//! How the consumers behave: well, slowly, forgetfully, or crashed.

use std::{convert::Infallible, ops::RangeInclusive};

use redis::RedisResult;
use tokio::time::{Instant, sleep};

use super::{jitter::Jitter, reader::Reader};

/// How many entries a worker takes at a time.
const BATCH: usize = 8;
/// How many entries the crashing worker holds when it stops.
const HELD_AT_CRASH: usize = 5;
/// Most pending entries of the forgetful worker. A demo that runs overnight must not fill the memory.
const FORGOTTEN_LIMIT: usize = 3_000;
/// At the limit, this many of the oldest are acknowledged.
const REMEMBERED_AT_ONCE: usize = 1_000;

/// Handles each entry within `handling_ms` milliseconds and acknowledges it, forever.
///
/// `handling_ms` decides whether this worker is healthy or falls behind.
pub(super) async fn diligent(
    mut reader: Reader,
    handling_ms: RangeInclusive<u64>,
    mut jitter: Jitter,
) -> RedisResult<Infallible> {
    let mut batch = reader.in_hand(BATCH).await?;
    loop {
        for id in &batch {
            sleep(jitter.millis(*handling_ms.start(), *handling_ms.end())).await;
            reader.ack(std::slice::from_ref(id)).await?;
        }
        batch = reader.take(BATCH).await?;
    }
}

/// Works like [`diligent`] until `crash_at`, then takes five more entries and stops: its connection closes and the entries stay pending
/// for good.
pub(super) async fn crashing(
    mut reader: Reader,
    handling_ms: RangeInclusive<u64>,
    mut jitter: Jitter,
    crash_at: Instant,
) -> RedisResult<()> {
    while Instant::now() < crash_at {
        for id in reader.take(1).await? {
            sleep(jitter.millis(*handling_ms.start(), *handling_ms.end())).await;
            reader.ack(&[id]).await?;
        }
    }
    let mut held = 0;
    while held < HELD_AT_CRASH {
        held += reader.take(HELD_AT_CRASH - held).await?.len();
    }
    Ok(())
}

/// Handles entries and never acknowledges them, except at the limit that keeps the demo small.
pub(super) async fn forgetful(mut reader: Reader) -> RedisResult<Infallible> {
    let mut held = reader.in_hand(FORGOTTEN_LIMIT).await?.len();
    loop {
        held += reader.take(BATCH).await?.len();
        if held >= FORGOTTEN_LIMIT {
            let oldest = reader.in_hand(REMEMBERED_AT_ONCE).await?;
            reader.ack(&oldest).await?;
            held -= oldest.len();
        }
    }
}
