//! The edge towards the server: connecting, asking, decoding. Nothing here writes, blocks or creates a consumer.

mod block;
mod caps;
mod census;
mod cluster;
mod commands;
mod connection;
pub(crate) mod decode;
mod executor;
mod fault;
mod link;
mod planner;
pub mod target;

pub use census::Walker;
pub use cluster::Cluster;
pub use connection::{Connection, connect_owner};
pub use decode::weight;
pub use executor::{Executor, Progress, Stop};
pub use fault::LinkFault;
pub use link::Link;
pub use planner::{NoPlan, Planner};
pub use target::{Target, TargetError};

use crate::core::{
    census::{Answer, Step},
    id::EntryId,
    name::Name,
    sample::{Cost, EntryPayload, Request, Sample},
};
use std::time::Duration;

/// Where samples come from: a server, a recording, a script in a test.
pub trait Source {
    /// Takes one sample.
    ///
    /// # Errors
    /// When the server cannot be heard; what it says of single keys is inside the sample.
    fn sample(&mut self, request: &Request) -> impl Future<Output = Result<Sample, LinkFault>> + Send;

    /// Of the time that a sample took, what the next must be put off for.
    fn spent(&self, elapsed: Duration) -> Duration {
        elapsed
    }

    /// Fetches one entry because somebody wants to read it.
    ///
    /// # Errors
    /// When the server cannot be heard.
    fn entry(&mut self, key: &Name, id: EntryId) -> impl Future<Output = Result<EntryPayload, LinkFault>> + Send;

    /// Takes one step of a census: one round trip.
    ///
    /// # Errors
    /// When the server cannot be heard.
    fn census(
        &mut self,
        key: &Name,
        group: &Name,
        step: &Step,
    ) -> impl Future<Output = Result<(Answer, Cost), LinkFault>> + Send;
}
