//! The connection for watching: one server, or all nodes of a cluster.

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

#[derive(Debug)]
pub enum Connection {
    /// One server.
    Link(Box<Link>),
    Cluster(Box<Cluster>),
}

impl Connection {
    /// Connects. With --cluster it connects to every node, if the server belongs to a cluster.
    pub async fn connect(target: &Target, clock: Clock) -> Result<Self, LinkFault> {
        let (link, _) = connect_any(target, clock).await?;
        if !target.is_cluster() {
            return Ok(Self::Link(Box::new(link)));
        }
        Ok(match Cluster::open(link, target, clock).await? {
            Ok(cluster) => Self::Cluster(Box::new(cluster)),
            Err(link) => Self::Link(link),
        })
    }

    /// Makes readings wait longer for slow nodes: a script needs a complete reading more than a quick one.
    pub fn patient(self) -> Self {
        match self {
            Self::Cluster(cluster) => Self::Cluster(Box::new(cluster.patient())),
            link @ Self::Link(_) => link,
        }
    }
}

impl Source for Connection {
    /// A cluster paces each node on its own, so it returns zero.
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

/// Connects to the named server or, when that fails, to another known node of its cluster; with sentinels, to the master that they name.
async fn connect_any(target: &Target, clock: Clock) -> Result<(Link, Target), LinkFault> {
    if let Some(sentinels) = target.sentinels() {
        let (link, at) = sentinels.connect(target, clock).await?;
        return Ok((link.found_by_sentinels(&at), at));
    }
    let fault = match Link::connect(target, clock).await {
        Ok(link) => return Ok((link, target.clone())),
        Err(fault) => fault,
    };
    for (host, port) in target.peers() {
        let at = target.at(&host, port);
        if let Ok(link) = Link::connect(&at, clock).await {
            return Ok((link, at));
        }
    }
    Err(fault)
}

/// Opens a separate connection for writing, to the node that serves a key; returns it with the target of that node. Without --cluster
/// that is the named server, or the master that sentinels name.
pub async fn connect_owner(target: &Target, key: &Name, clock: Clock) -> Result<(Link, Target), LinkFault> {
    let (mut link, mut at) = connect_any(target, clock).await?;
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
