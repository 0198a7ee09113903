//! The edge towards the server: connecting, asking, decoding. Nothing here writes, blocks or creates a consumer.

mod caps;
mod commands;
pub(crate) mod decode;
mod executor;
mod link;
mod planner;
mod poller;
pub mod target;

pub use decode::weight;
pub use executor::{Executor, Progress, Stop};
pub use link::{Link, LinkFault};
pub use planner::Planner;
pub use poller::{Order, Plan, Poller, Report};
pub use target::{Target, TargetError};

use crate::core::{
    id::EntryId,
    name::Name,
    sample::{EntryPayload, Request, Sample},
};

/// Where samples come from: a server, a recording, a script in a test.
pub trait Source {
    /// Takes one sample.
    ///
    /// # Errors
    /// When the server cannot be heard; what it says of single keys is inside the sample.
    fn sample(&mut self, request: &Request) -> impl Future<Output = Result<Sample, LinkFault>> + Send;

    /// Fetches one entry because somebody wants to read it.
    ///
    /// # Errors
    /// When the server cannot be heard.
    fn entry(&mut self, key: &Name, id: EntryId) -> impl Future<Output = Result<EntryPayload, LinkFault>> + Send;
}
