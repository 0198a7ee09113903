//! The commands for one stream, sent in one MULTI where that is allowed, and the possible outcomes of that block.

use super::commands;
use crate::core::sample::StreamRequest;
use redis::{Cmd, Value};

/// One command of a stream's block; it also says how to decode the reply.
pub(super) enum Step {
    Facts,
    Groups,
    Range(usize),
    Consumers(usize),
    Summary(usize),
    Page(usize, usize),
}

impl Step {
    pub(super) fn command(&self) -> &'static str {
        match self {
            Self::Facts => "XINFO STREAM",
            Self::Groups => "XINFO GROUPS",
            Self::Range(_) => "XRANGE",
            Self::Consumers(_) => "XINFO CONSUMERS",
            Self::Summary(_) | Self::Page(..) => "XPENDING",
        }
    }
}

/// Without MULTI the groups are read before the stream. A group reply that is slightly older than the stream's can show more unread
/// entries than there were, but never a cursor beyond the stream's end.
pub(super) fn steps_in_order(request: &StreamRequest, multi: bool) -> Vec<(Step, Cmd)> {
    let mut steps = steps(request);
    if !multi && request.facts {
        steps.swap(0, 1);
    }
    steps
}

fn steps(request: &StreamRequest) -> Vec<(Step, Cmd)> {
    let key = &request.key;
    let mut steps = Vec::new();
    steps.extend(request.facts.then(|| (Step::Facts, commands::xinfo_stream(key))));
    steps.push((Step::Groups, commands::xinfo_groups(key)));
    for (index, group) in request.groups.iter().enumerate() {
        if group.consumers {
            steps.push((Step::Consumers(index), commands::xinfo_consumers(key, &group.name)));
        }
        if group.summary {
            steps.push((Step::Summary(index), commands::xpending_summary(key, &group.name)));
        }
        for (number, page) in group.pages.iter().enumerate() {
            steps.push((Step::Page(index, number), commands::xpending_page(key, &group.name, page)));
        }
    }
    for (index, range) in request.ranges.iter().enumerate() {
        steps.push((Step::Range(index), commands::xrange(key, range)));
    }
    steps
}

/// ASKING is needed while a slot migrates to this node. It covers only the next command, or the whole transaction when it comes before
/// MULTI. Each ASKING gets a reply of its own.
pub(super) fn block(steps: &[(Step, Cmd)], multi: bool, asking: bool) -> Vec<Cmd> {
    let edge = |word| std::iter::once(commands::plain(word));
    let inner = steps.iter().map(|(_, cmd)| cmd.clone());
    match (multi, asking) {
        (true, true) => edge("ASKING").chain(edge("MULTI")).chain(inner).chain(edge("EXEC")).collect(),
        (true, false) => edge("MULTI").chain(inner).chain(edge("EXEC")).collect(),
        (false, true) => inner.flat_map(|cmd| edge("ASKING").chain(std::iter::once(cmd))).collect(),
        (false, false) => inner.collect(),
    }
}

/// The outcome of a block sent inside MULTI.
pub(super) enum Block {
    /// The replies, all taken at the same moment.
    Whole(Vec<Value>),
    /// MULTI itself was refused, so the commands ran one by one.
    Skewed(Vec<Value>),
    /// Another node of the cluster serves the key, or no node does. The server says so when a command is queued, or at EXEC.
    Astray(Vec<Value>),
    /// A command was refused when it was queued, so EXEC ran nothing.
    Aborted,
}

pub(super) fn unpack(mut replies: Vec<Value>) -> Block {
    let last = replies.pop();
    let refused = matches!(replies.first(), Some(Value::ServerError(_)));
    match last {
        Some(Value::Array(values)) if values.len() + 1 == replies.len() => Block::Whole(values),
        _ if refused => {
            replies.remove(0);
            Block::Skewed(replies)
        }
        last => match replies.iter().skip(1).chain(&last).find(|reply| is_astray(reply)).cloned() {
            Some(error) => Block::Astray(vec![error; replies.len() - 1]),
            None => Block::Aborted,
        },
    }
}

fn is_astray(reply: &Value) -> bool {
    let codes = ["MOVED", "ASK", "CLUSTERDOWN", "TRYAGAIN"];
    matches!(reply, Value::ServerError(error) if codes.contains(&error.code()))
}
