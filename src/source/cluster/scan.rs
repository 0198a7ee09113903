//! Finds keys on all nodes. SCAN covers only one node, so a pass is complete when every node's scan is.

use super::{node::Node, round::Jobs};
use crate::core::{
    name::Name,
    sample::{Fault, ScanRequest, ScanSample},
};
use std::collections::BTreeMap;

/// The current pass, and the results so far.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pass: u64,
    /// The nodes that are not finished, with the cursor of each.
    open: BTreeMap<String, String>,
    /// A node was missing from this pass.
    missed: bool,
    /// Every node took part in the last complete pass.
    pub(super) whole: bool,
    /// Keys that were found but not reported yet.
    found: Vec<Name>,
    fault: Option<Fault>,
}

impl Scan {
    /// Adds the next scan step to the jobs of all reachable nodes. An unreachable node is left out of the pass.
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

    /// Takes in the scan step of one node.
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

    /// Drops a node from the pass after a failure.
    pub(super) fn lose(&mut self, node: &str) {
        self.missed |= self.open.remove(node).is_some();
    }

    /// The result of this tick over all nodes.
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
