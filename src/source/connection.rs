//! What watching goes through: one server, or all nodes of a cluster.

use super::{
    Cluster, Link, LinkFault, Source, Target,
    cluster::{NodePlace, REDIRECTIONS},
    commands, decode,
};
use crate::{
    clock::Clock,
    core::{
        census::{Answer, Step},
        id::EntryId,
        name::Name,
        sample::{Cost, EntryPayload, Fault, Request, Sample},
    },
};
use std::time::Duration;

/// Where samples come from.
#[derive(Debug)]
pub enum Connection {
    /// One server.
    Link(Box<Link>),
    /// A cluster.
    Cluster(Box<Cluster>),
}

impl Connection {
    /// Connects; with --cluster to every node of the cluster, if the server is one's.
    ///
    /// # Errors
    /// When the server is not reached or does not let us in.
    pub async fn connect(target: &Target, clock: Clock) -> Result<Self, LinkFault> {
        let link = connect_any(target, clock).await?;
        if !target.is_cluster() {
            return Ok(Self::Link(Box::new(link)));
        }
        Ok(match Cluster::open(link, target, clock).await? {
            Ok(cluster) => Self::Cluster(Box::new(cluster)),
            Err(link) => Self::Link(link),
        })
    }

    /// For a reading that has to be whole rather than in time.
    pub fn patient(self) -> Self {
        match self {
            Self::Cluster(cluster) => Self::Cluster(Box::new(cluster.patient())),
            link @ Self::Link(_) => link,
        }
    }
}

impl Source for Connection {
    /// A cluster's nodes are put off one by one.
    fn spent(&self, elapsed: Duration) -> Duration {
        match self {
            Self::Link(_) => elapsed,
            Self::Cluster(_) => Duration::ZERO,
        }
    }

    async fn sample(&mut self, request: &Request) -> Result<Sample, LinkFault> {
        match self {
            Self::Link(link) => link.sample(request).await,
            Self::Cluster(cluster) => cluster.sample(request).await,
        }
    }

    async fn entry(&mut self, key: &Name, id: EntryId) -> Result<EntryPayload, LinkFault> {
        match self {
            Self::Link(link) => link.entry(key, id).await,
            Self::Cluster(cluster) => cluster.entry(key, id).await,
        }
    }

    async fn census(&mut self, key: &Name, group: &Name, step: &Step) -> Result<(Answer, Cost), LinkFault> {
        match self {
            Self::Link(link) => link.census(key, group, step).await,
            Self::Cluster(cluster) => cluster.census(key, group, step).await,
        }
    }
}

/// The server named, or another node of its cluster once others are known.
async fn connect_any(target: &Target, clock: Clock) -> Result<Link, LinkFault> {
    let fault = match Link::connect(target, clock).await {
        Ok(link) => return Ok(link),
        Err(fault) => fault,
    };
    for (host, port) in target.peers() {
        if let Ok(link) = Link::connect(&target.at(&host, port), clock).await {
            return Ok(link);
        }
    }
    Err(fault)
}

/// A connection of its own to the node that serves a key, for what is written there, and that node's address. Without --cluster the
/// server named.
///
/// # Errors
/// When a node is not reached or does not let us in.
pub async fn connect_owner(target: &Target, key: &Name, clock: Clock) -> Result<(Link, Target), LinkFault> {
    let mut link = connect_any(target, clock).await?;
    let mut at = target.clone();
    if !target.is_cluster() {
        return Ok((link, at));
    }
    for _ in 0..REDIRECTIONS {
        let (replies, _) = link.send(&[commands::xinfo_groups(key)]).await?;
        let moved = match replies.first().map(decode::groups) {
            Some(Err(Fault::Elsewhere { node, once: false, .. })) => NodePlace::parse(&node, at.host()),
            _ => None,
        };
        let Some(place) = moved else { break };
        at = target.at(&place.host, place.port);
        link = Link::connect(&at, clock).await?;
    }
    Ok((link, at))
}
