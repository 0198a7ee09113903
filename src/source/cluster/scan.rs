//! Discovery over all nodes: SCAN answers for one node only, so a pass is complete when every node's is.

use super::{node::Node, round::Jobs};
use crate::core::{
    name::Name,
    sample::{Fault, ScanRequest, ScanSample},
};
use std::collections::BTreeMap;

/// A pass, and what came of those before.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pass: u64,
    /// Nodes that are not done, with the cursor of each.
    open: BTreeMap<String, String>,
    /// A node could not take part in this pass.
    missed: bool,
    /// Every node took part in the last complete pass.
    pub(super) whole: bool,
    /// Found, and not told so far.
    found: Vec<Name>,
    fault: Option<Fault>,
}

impl Scan {
    /// Puts the next steps on the jobs of the nodes that can be asked. A node that cannot be is left out of the pass.
    pub(super) fn put<'a>(
        &mut self,
        request: &ScanRequest,
        nodes: impl Iterator<Item = &'a Node>,
        lost: impl Fn(&Node) -> bool,
        jobs: &mut Jobs,
    ) {
        let nodes: Vec<&Node> = nodes.collect();
        if request.cursor == "0" || self.open.is_empty() {
            self.pass += 1;
            self.missed = false;
            self.open = nodes.iter().map(|node| (node.name.clone(), "0".to_owned())).collect();
        }
        self.fault = None;
        let missed = &mut self.missed;
        self.open.retain(|name, _| {
            let there = nodes.iter().any(|node| node.name == *name && !lost(node));
            *missed |= !there;
            there
        });
        for (name, cursor) in &self.open {
            let job = jobs.entry(name.clone()).or_default();
            job.request.scan = Some(ScanRequest { cursor: cursor.clone(), ..request.clone() });
            job.pass = self.pass;
        }
    }

    /// Takes one node's step in.
    pub(super) fn take(&mut self, node: &str, pass: u64, found: ScanSample) {
        self.found.extend(found.keys);
        if pass != self.pass {
            return;
        }
        match found.fault {
            Some(fault) => {
                self.missed = true;
                self.open.remove(node);
                self.fault = Some(fault);
            }
            None if found.cursor == "0" => drop(self.open.remove(node)),
            None => {
                if let Some(cursor) = self.open.get_mut(node) {
                    *cursor = found.cursor;
                }
            }
        }
    }

    /// A node failed under way.
    pub(super) fn lose(&mut self, node: &str) {
        self.missed |= self.open.remove(node).is_some();
    }

    /// The step as a whole.
    pub(super) fn step(&mut self) -> ScanSample {
        let keys = std::mem::take(&mut self.found);
        let fault = self.fault.take().filter(|fault| matches!(fault, Fault::Denied(_)) || keys.is_empty());
        let cursor = if self.open.is_empty() {
            self.whole = !self.missed;
            "0".to_owned()
        } else {
            format!("{} nodes", self.open.len())
        };
        ScanSample { keys, cursor, fault }
    }
}
