//! Rows of the overview: which there are, and how they compare.

use super::{Listed, Order, PatternRow, RowId, ranking::Ranked};
use crate::{
    app::{App, Place},
    core::{
        lag::LagKind,
        name::Name,
        sample::Fault,
        store::{GroupState, RowState, StreamState},
        symptoms::{Finding, Judgement, Level, OfStream},
        time::Mono,
        watch::Watch,
    },
};
use std::{borrow::Cow, cmp::Reverse, collections::BTreeSet};

/// A row: a group, or a stream without any.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub stream: &'a StreamState,
    pub group: Option<&'a GroupState>,
    watch: &'a Watch,
    /// What the checks say of the stream.
    verdicts: OfStream<'a>,
}

/// How urgent a row is among those of its level: the largest comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urgency {
    lost: i64,
    lag_rises: bool,
    oldest_ms: Option<i64>,
}

/// Whether a lag rises is judged over this window, in milliseconds.
const WINDOW_MS: u64 = 60_000;

impl<'a> Row<'a> {
    /// What was found of the stream as a whole.
    pub fn of_stream(&self) -> &'a [Finding] {
        self.verdicts.findings()
    }

    /// What the checks say of the group; nothing where there is none.
    pub fn judgement(&self) -> Option<&'a Judgement> {
        self.group.map(|group| self.verdicts.group(group.name()))
    }

    pub fn id(&self) -> RowId {
        RowId { key: self.stream.key.clone(), group: self.group.map(|group| group.name().clone()) }
    }

    /// Whether it is the row of that identity.
    pub fn is(&self, id: &RowId) -> bool {
        self.stream.key == id.key && self.group.map(GroupState::name) == id.group.as_ref()
    }

    /// How bad it is: findings, or a stream that cannot be read although it was asked for.
    pub fn level(&self) -> Option<Level> {
        let of_stream = self.verdicts.level();
        let of_group = self.judgement().and_then(Judgement::level);
        match (&self.stream.state, self.group) {
            (RowState::Fault(_), _) => Some(Level::Warn),
            (_, Some(group)) if self.stream.groups_fault.is_some() || group.doubt().is_some() => {
                of_group.max(Some(Level::Warn))
            }
            _ => of_group.max(of_stream),
        }
    }

    /// Whether the group was not read so far, so that nothing found means nothing.
    pub fn is_unread(&self) -> bool {
        self.group.is_some_and(|group| self.stream.is_ok() && !group.has_been_read()) && !self.is_ignored()
    }

    /// Whether something was found that the user marked as known.
    pub fn is_known(&self) -> bool {
        let of_group = self.judgement().into_iter().flat_map(|judgement| &judgement.findings);
        of_group.chain(self.of_stream()).any(|finding| finding.known_until_ms.is_some())
    }

    /// Whether the group is shown and never judged.
    pub fn is_ignored(&self) -> bool {
        self.group.is_some_and(|group| self.watch.store.settings.ignores(group.name()))
    }

    /// Why nothing can be said of the row although it was asked about.
    pub fn why_unknown(&self) -> Option<String> {
        match (self.group, &self.stream.state, &self.stream.groups_fault) {
            (Some(_), ..) if self.is_ignored() => None,
            (Some(group), ..) => group.why_unknown(self.stream),
            (None, RowState::Fault(Fault::Missing | Fault::WrongType), _) => None,
            (None, RowState::Fault(fault), _) | (None, RowState::Ok, Some(fault)) => Some(fault.words()),
            _ => None,
        }
    }

    /// Whether the key was asked for and is missing, or not a stream.
    pub fn is_amiss(&self) -> bool {
        matches!(self.stream.state, RowState::Fault(Fault::Missing | Fault::WrongType))
    }

    /// Whether a check found something that needs a look.
    pub fn found(&self) -> Option<Level> {
        let of_stream = self.verdicts.level();
        self.judgement().and_then(Judgement::level).filter(|level| *level > Level::Info).max(of_stream)
    }

    /// `orders/workers holder-gone`: the row and the worst that was found there.
    pub fn trouble(&self) -> String {
        let of_group = self.judgement().into_iter().flat_map(|judgement| &judgement.findings);
        let mut found: Vec<&Finding> = of_group.chain(self.of_stream()).collect();
        found.sort_by_key(|finding| Reverse(finding.counts_as()));
        let group = self.group.map_or(String::new(), |group| format!("/{}", group.name().shown()));
        let what = found.first().map_or(String::new(), |finding| format!(" {}", finding.id));
        format!("{}{group}{what}", self.stream.key.shown())
    }

    /// Among rows that are equally bad, those that lost entries come first, then those whose lag rises, then those with the oldest
    /// pending entry.
    fn urgency(&self) -> Urgency {
        let Some(group) = self.group else { return Urgency::default() };
        let mut lags = group.history.window(WINDOW_MS).filter_map(|point| point.lag);
        let (first, last) = (lags.next(), lags.next_back());
        Urgency {
            lost: group.lost.map_or(0, |lost| lost.entries),
            lag_rises: first.zip(last).is_some_and(|(first, last)| last > first),
            oldest_ms: group.oldest_idle(Mono(0)).value(),
        }
    }

    fn lag_rank(&self) -> i64 {
        self.group.map_or(-2, |group| match group.lag.kind {
            LagKind::Unknown | LagKind::Unsupported => 1,
            _ => group.lag.value.unwrap_or(1),
        })
    }
}

impl App {
    /// All rows, by name. A stream without one of the groups asked for has a row only if it was asked for itself.
    pub fn every_row(&self) -> Vec<Row<'_>> {
        let watch = self.shown();
        let store = &watch.store;
        let wanted = &store.settings.groups;
        let mut rows: Vec<Row> = Vec::new();
        let mut judged = watch.verdicts.streams();
        for stream in store.streams.values() {
            let (before, verdicts) = (rows.len(), judged.next(&stream.key));
            rows.extend(
                stream.groups.values().filter(|g| wanted.is_empty() || wanted.contains(g.name())).map(|group| Row {
                    stream,
                    group: Some(group),
                    watch,
                    verdicts,
                }),
            );
            if rows.len() == before && (stream.groups.is_empty() || store.settings.keys.contains(&stream.key)) {
                rows.push(Row { stream, group: None, watch, verdicts });
            }
        }
        rows
    }

    /// The rows that the filter lets through, in order, each for itself.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let (rows, ranked) = self.ranked_rows();
        ranked.order().filter_map(|row| rows.get(row)).copied().collect()
    }

    /// What the overview lists, in order: rows, and those that are rolled up.
    pub fn listed(&self) -> Vec<Listed<'_>> {
        let (rows, ranked) = self.ranked_rows();
        let mut listed = Vec::new();
        for block in &ranked.blocks {
            let members: Vec<Row> = block.rows.iter().filter_map(|row| rows.get(*row)).copied().collect();
            let Some(id) = &block.pattern else {
                listed.extend(members.into_iter().map(|row| Listed::Row { row, is_member: false }));
                continue;
            };
            let is_open = self.overview.open.contains(id);
            let shown = if is_open { members.clone() } else { Vec::new() };
            listed.push(Listed::Pattern(PatternRow { id: id.clone(), members, is_open }));
            listed.extend(shown.into_iter().map(|row| Listed::Row { row, is_member: true }));
        }
        listed
    }

    fn ranked_rows(&self) -> (Vec<Row<'_>>, Cow<'_, Ranked>) {
        let rows = self.every_row();
        // between the parts of a sample a row can come or go before the order is computed
        let kept = self.ranked();
        let ranked = if kept.rows == rows.len() { kept } else { self.rank_now() };
        (rows, ranked)
    }

    /// What a row is sorted by: the largest comes first.
    pub fn rank(&self, row: &Row, level: Option<Level>) -> (Option<Level>, Option<i64>, Urgency) {
        let pending = row.group.and_then(|group| group.facts.pending.value());
        match self.overview.order {
            Order::Name => (None, None, Urgency::default()),
            Order::Level => {
                let level = level.filter(|level| *level > Level::Info);
                (level, None, level.map_or_else(Urgency::default, |_| row.urgency()))
            }
            Order::Lag => (None, Some(row.lag_rank()), Urgency::default()),
            Order::Pending => (None, pending, Urgency::default()),
            Order::Oldest => {
                let oldest = row.group.and_then(|group| group.oldest_idle(Mono(0)).value());
                (None, Some(oldest.unwrap_or(-1)), Urgency::default())
            }
        }
    }

    /// The streams that have a row on the screen, or just beside it.
    pub fn seen(&self) -> BTreeSet<Name> {
        if self.place != Place::Overview {
            return BTreeSet::new();
        }
        let listed = self.listed();
        let height = usize::from(self.size.1);
        let start = self.selected_index(&listed).saturating_sub(height / 2).min(listed.len().saturating_sub(height));
        let shown = listed.iter().skip(start).take(height);
        shown.filter_map(|listed| Some(listed.worst()?.stream.key.clone())).collect()
    }

    /// Whether the filter lets a row through.
    pub fn passes(&self, row: &Row) -> bool {
        let group = row.group.map_or(String::new(), |group| group.name().shown());
        self.overview.filter.passes(&[&row.stream.key.shown(), &group])
    }

    /// Index of what is picked; the first when nothing is picked or it went away.
    pub fn selected_index(&self, listed: &[Listed]) -> usize {
        let Some(selected) = &self.overview.selected else { return 0 };
        listed.iter().position(|listed| listed.is(selected)).unwrap_or(0)
    }
}
