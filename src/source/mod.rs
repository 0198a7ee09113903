//! The edge towards the server: connecting, sending commands, decoding replies. Watching never writes, blocks or creates a consumer.

mod block;
mod caps;
mod census;
mod cluster;
mod commands;
mod connection;
pub(crate) mod decode;
mod dial;
mod executor;
mod fault;
mod info;
mod last_words;
mod link;
mod master;
mod password;
mod planner;
mod reach;
mod sentinels;
pub mod target;

pub use census::Walker;
pub use cluster::Cluster;
pub use connection::{Connection, connect_owner};
pub use decode::weight;
pub use dial::{Tls, TlsError, TlsFiles};
pub use executor::{Executor, Progress, Stop};
pub use fault::LinkFault;
pub use link::Link;
pub use password::Passwords;
pub use planner::{NoPlan, Planner};
pub use sentinels::Sentinels;
pub use target::{Target, TargetError};

use crate::core::{
    census::{Answer, Step},
    id::EntryId,
    name::Name,
    sample::{Cost, EntryPayload, Request, Sample},
};
use std::time::Duration;

/// A source of samples: a server, a cluster, or a script in a test.
pub trait Source {
    /// Takes one sample.
    ///
    /// # Errors
    /// When the server cannot be reached. Faults of single keys are inside the sample.
    fn sample(&mut self, request: &Request) -> impl Future<Output = Result<Sample, LinkFault>> + Send;

    /// How much of the time that a sample took counts against the next tick.
    fn spent(&self, elapsed: Duration) -> Duration {
        elapsed
    }

    /// Fetches one entry for a person to read.
    fn entry(&mut self, key: &Name, id: EntryId) -> impl Future<Output = Result<EntryPayload, LinkFault>> + Send;

    /// Runs one step of a census, in one round trip.
    fn census(
        &mut self,
        key: &Name,
        group: &Name,
        step: &Step,
    ) -> impl Future<Output = Result<(Answer, Cost), LinkFault>> + Send;
}
