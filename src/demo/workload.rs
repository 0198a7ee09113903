//! The participants of the demo, and the supervisor that runs them.

use std::{
    convert::Infallible,
    future::Future,
    path::{Path, PathBuf},
    time::Duration,
};

use redis::RedisResult;
use tokio::{
    task::{JoinError, JoinSet},
    time::Instant,
};

use super::{
    error::DemoError,
    jitter::Jitter,
    producer::{EMAILS, ORDERS, produce},
    reader::Reader,
    seed::{SEEDED_EMAILS, SEEDED_ORDERS, seed},
    workers::{crashing, diligent, forgetful},
};

/// The `holder-gone` threshold of the demo, in ms. It is far below what production needs: the crashing worker stops about 12 s after the
/// start and must be reported within half a minute.
pub const GONE_AFTER_MS: u64 = 15_000;

/// When the crashing worker stops, counted from the start of the workload.
const CRASH_AFTER: Duration = Duration::from_secs(12);

/// The name of a participant, and how it ended.
type Ended = (&'static str, RedisResult<()>);

/// Seeds the private server at `socket` and drives the workload on it: [`seed`], then [`drive`].
///
/// # Errors
/// It ends only with [`DemoError::Workload`], when the server goes away or refuses a command. Dropping the future stops every producer
/// and worker.
pub async fn run(socket: PathBuf) -> Result<Infallible, DemoError> {
    seed(&socket).await?;
    drive(socket).await
}

/// Drives producers and workers on a server that [`seed`] has prepared, each over its own connection.
///
/// It runs on any tokio runtime, also on a current-thread one.
///
/// # Errors
/// As [`run`].
pub async fn drive(socket: PathBuf) -> Result<Infallible, DemoError> {
    let mut crew = JoinSet::new();
    hire(&mut crew, &socket);
    loop {
        judge(crew.join_next().await).map_err(DemoError::Workload)?;
    }
}

/// Whether the workload continues after one participant's end, and if not, why not.
fn judge(ended: Option<Result<Ended, JoinError>>) -> Result<(), String> {
    match ended {
        // the crash: this participant is meant to end silently
        Some(Ok((_, Ok(())))) => Ok(()),
        Some(Ok((name, Err(error)))) if error.is_io_error() => {
            Err(format!("{name} lost its connection to the private server ({error})"))
        }
        Some(Ok((name, Err(error)))) => Err(format!("{name}: {error}")),
        Some(Err(error)) => Err(format!("a participant failed: {error}")),
        None => Err("nobody is left at work".to_owned()),
    }
}

fn hire(crew: &mut JoinSet<Ended>, socket: &Path) {
    let address = || socket.to_owned();

    let at = address();
    enlist(crew, "orders-producer", async move { never(produce(&at, ORDERS, SEEDED_ORDERS, Jitter::new(1)).await) });
    let at = address();
    enlist(crew, "emails-producer", async move { never(produce(&at, EMAILS, SEEDED_EMAILS, Jitter::new(2)).await) });

    for (seed, name) in [(11, "billing-1"), (12, "billing-2"), (13, "billing-3")] {
        let at = address();
        enlist(crew, name, async move {
            let reader = Reader::connect(&at, "orders", "billing", name).await?;
            never(diligent(reader, 20..=60, Jitter::new(seed)).await)
        });
    }
    let (at, crash_at) = (address(), Instant::now() + CRASH_AFTER);
    enlist(crew, "billing-crash", async move {
        let reader = Reader::connect(&at, "orders", "billing", "billing-crash").await?;
        crashing(reader, 20..=60, Jitter::new(14), crash_at).await
    });

    let at = address();
    enlist(crew, "analytics-1", async move {
        let reader = Reader::connect(&at, "orders", "analytics", "analytics-1").await?;
        // about 21 a second while 25 arrive: slow enough to fall behind, too fast to look stuck
        never(diligent(reader, 40..=50, Jitter::new(21)).await)
    });

    let at = address();
    enlist(crew, "mailer-1", async move {
        let reader = Reader::connect(&at, "emails", "mailer", "mailer-1").await?;
        // sending takes time, so most emails go to the worker that forgets them
        never(diligent(reader, 150..=300, Jitter::new(31)).await)
    });
    let at = address();
    enlist(crew, "mailer-noack", async move {
        never(forgetful(Reader::connect(&at, "emails", "mailer", "mailer-noack").await?).await)
    });
}

fn enlist(crew: &mut JoinSet<Ended>, name: &'static str, work: impl Future<Output = RedisResult<()>> + Send + 'static) {
    crew.spawn(async move { (name, work.await) });
}

/// Maps a future that ends only with an error to the result type that all participants share.
fn never(ended: RedisResult<Infallible>) -> RedisResult<()> {
    match ended {
        Ok(never) => match never {},
        Err(error) => Err(error),
    }
}
