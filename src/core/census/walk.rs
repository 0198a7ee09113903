//! The walk itself: which command comes next, and how large it may be.

use super::{CensusRequest, CensusSample, Older, Tally, fate, ids, sweep::Sweep};
use crate::core::{
    fault::{Fault, Part},
    id::EntryId,
    known::Known,
    model::PendingRow,
    number::size,
    page::PageRequest,
    time::Mono,
};
use std::collections::VecDeque;

/// Rows of the first page: about 50 us.
const FIRST_ROWS: usize = 100;
/// Most rows of a page: about 54 KB.
const MOST_ROWS: usize = 1000;
/// Most entries looked up by one pipeline: 1 to 2 us each.
const MOST_LOOKS: usize = 100;
/// Most bytes of a reply with payloads.
const REPLY_BYTES: u64 = 64 * 1024;
/// Entries larger than this, in bytes, are not looked up.
const LARGE_ENTRY: u64 = 4 * 1024;
/// Share of the bound for one command that pages aim at, in percent, so that a busy moment does not exceed the bound.
const AIM: u64 = 60;

/// What to ask next; each is one round trip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The oldest entries of a consumer.
    Older(Older),
    /// A page of pending entries.
    Page(PageRequest),
    /// Whether these entries are in the stream: one XRANGE for each.
    Look(Vec<EntryId>),
    /// Whether these entries, which are not in the stream, are still pending: one XPENDING for each. An entry that was acknowledged and
    /// deleted in between has not lost its payload.
    Confirm(Vec<EntryId>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The rows for `Page` or `Older`.
    Page(Part<Vec<PendingRow>>),
    /// For each entry of `Look` or `Confirm`, whether it is there; `None` where that was refused.
    There(Vec<Option<bool>>),
}

/// One walk over a PEL.
#[derive(Clone, Debug)]
pub struct Walk {
    request: CensusRequest,
    judged_by: (Option<EntryId>, Known<EntryId>),
    sweep: Option<Sweep>,
    from: Option<EntryId>,
    rows: usize,
    open: VecDeque<EntryId>,
    absent: Vec<EntryId>,
    tally: Tally,
}

impl Walk {
    pub fn new(request: CensusRequest, now: Mono) -> Self {
        Self {
            sweep: Sweep::new(&request.holders, request.pending, request.limits),
            from: Some(EntryId::MIN),
            rows: FIRST_ROWS,
            open: VecDeque::new(),
            absent: Vec::new(),
            tally: Tally::new(request.round, request.pending, now),
            judged_by: (request.stream.first, request.stream.max_deleted),
            request,
        }
    }

    /// The request, with the newest facts.
    pub fn request(&self) -> &CensusRequest {
        &self.request
    }

    /// The progress so far.
    pub fn sample(&self) -> CensusSample {
        let CensusRequest { key, group, .. } = &self.request;
        CensusSample { key: key.clone(), group: group.clone(), tally: self.tally.clone(), judged_by: self.judged_by }
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether the request still belongs to this walk; if so, the walk takes over its newer facts.
    pub fn follow(&mut self, request: &CensusRequest) -> bool {
        let old = &self.request;
        let same = (&old.key, &old.group, old.round) == (&request.key, &request.group, request.round);
        if same {
            self.tally.of = request.pending;
            self.request = request.clone();
        }
        same
    }

    /// The next command, to be sent now; `None` when the walk is over.
    pub fn next(&self, now: Mono) -> Option<Step> {
        if self.tally.ended.is_some() {
            return None;
        }
        if let Some(older) = self.sweep.as_ref().and_then(|sweep| sweep.next(now)) {
            return Some(Step::Older(older));
        }
        if !self.absent.is_empty() {
            return Some(Step::Confirm(self.absent.clone()));
        }
        if !self.open.is_empty() {
            let affordable = size(REPLY_BYTES / self.request.entry_bytes.max(1)).clamp(1, MOST_LOOKS);
            return Some(Step::Look(self.open.iter().take(affordable).copied().collect()));
        }
        let page = PageRequest { from: self.from?, to: EntryId::MAX, count: self.rows, consumer: None };
        Some(Step::Page(page))
    }

    /// Adds an answer that was read at `at` and cost the server `spent_us`.
    pub fn take(&mut self, step: &Step, answer: Answer, spent_us: u64, at: Mono) {
        self.tally.server_us = self.tally.server_us.saturating_add(spent_us);
        self.tally.slowest_us = self.tally.slowest_us.max(spent_us);
        match (step, answer) {
            (Step::Page(page), Answer::Page(Ok(rows))) => self.take_page(page, &rows, spent_us, at),
            (Step::Older(asked), Answer::Page(Ok(rows))) => {
                if let Some(sweep) = &mut self.sweep {
                    sweep.take(asked, &rows, spent_us, self.request.limits, at);
                    self.tally.first = sweep.found();
                }
            }
            (Step::Older(_), Answer::Page(Err(_))) => self.sweep = None,
            (Step::Page(_), Answer::Page(Err(fault))) => self.give_up(&fault, at),
            (Step::Look(asked), Answer::There(there)) => {
                self.open.drain(..asked.len().min(self.open.len()));
                for (id, there) in asked.iter().zip(there) {
                    match there {
                        Some(true) => self.tally.unsure -= 1,
                        Some(false) => self.absent.push(*id),
                        None => {}
                    }
                }
                self.end_if_done(at);
            }
            (Step::Confirm(asked), Answer::There(there)) => {
                self.absent.clear();
                let known = there.iter().take(asked.len()).flatten();
                for still_pending in known {
                    self.tally.unsure -= 1;
                    self.tally.gone += i64::from(*still_pending);
                }
                self.end_if_done(at);
            }
            (_, _) => self.give_up(&Fault::Other("the server answered something else than was asked".to_owned()), at),
        }
    }

    fn take_page(&mut self, page: &PageRequest, rows: &[PendingRow], spent_us: u64, at: Mono) {
        self.tally.count(rows, at);
        for id in ids(rows) {
            match fate(&self.request.stream, id) {
                Some(true) => {}
                Some(false) => self.tally.gone += 1,
                None => {
                    self.tally.unsure += 1;
                    if self.request.entry_bytes <= LARGE_ENTRY {
                        self.open.push_back(id);
                    }
                }
            }
        }
        self.from = rows.last().filter(|_| rows.len() >= page.count).and_then(|row| row.id.next());
        let aim_us = self.request.limits.command_us * AIM / 100;
        let fitting = rows.len() as u64 * aim_us / spent_us.max(1);
        // a page that was not full does not show how large a page may be, unless even that was too large
        let over = spent_us > self.request.limits.command_us;
        if rows.len() >= page.count || over {
            let most = if over { self.rows / 2 } else { self.rows * 2 };
            self.rows = size(fitting).min(most).max(self.rows / 4).clamp(10, MOST_ROWS);
        }
        self.end_if_done(at);
    }

    fn end_if_done(&mut self, at: Mono) {
        if self.from.is_none() && self.open.is_empty() && self.absent.is_empty() {
            self.tally.ended = Some(at);
        }
    }

    fn give_up(&mut self, fault: &Fault, at: Mono) {
        self.tally.fault = Some(fault.words());
        self.tally.ended = Some(at);
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
