//! The group screen: one group. Its state and what keys do to it.

mod tree;

use super::{
    App, Picked, Place, RowId, effect::Effect, filter::Filter, keymap::Action, moved, overlay::Overlay, overview,
    paragraph::paragraph,
};
use crate::core::{
    command::Argv,
    id::EntryId,
    model::PendingRow,
    name::Name,
    store::{GroupState, StreamState},
    symptoms::{Finding, FindingKey, Level, Thing},
    time::Now,
    watch::JudgedGroup,
    words::entries,
};
use std::collections::BTreeSet;

pub use tree::{Branch, TreeRow, aged, branches, idle_row_of};

/// A part of the group screen that takes keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pane {
    /// The entries around the cursor.
    Strip,
    /// Consumers and what they hold.
    #[default]
    Consumers,
    /// What is wrong.
    Symptoms,
}

impl Pane {
    const ALL: [Self; 3] = [Self::Strip, Self::Consumers, Self::Symptoms];

    /// The pane `step` further on, round the edge.
    pub fn after(self, step: isize) -> Self {
        let index = Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0) as isize;
        Self::ALL[(index + step).rem_euclid(Self::ALL.len() as isize) as usize]
    }
}

/// How close the strip is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zoom {
    /// Entries with their ids.
    #[default]
    Entries,
    /// One cell for each entry.
    Cells,
    /// The whole retained stream.
    Stream,
}

impl Zoom {
    /// The next of the three.
    pub fn next(self) -> Self {
        match self {
            Self::Entries => Self::Cells,
            Self::Cells => Self::Stream,
            Self::Stream => Self::Entries,
        }
    }
}

/// What the user set on the group screen.
#[derive(Clone, Debug, Default)]
pub struct GroupScreen {
    /// The pane that takes keys.
    pub pane: Pane,
    /// Only that pane is shown.
    pub alone: bool,
    /// Zoom of the strip.
    pub zoom: Zoom,
    /// Entry picked on the strip; the cursor's own when none.
    pub entry: Option<EntryId>,
    /// Row picked in the tree of consumers.
    pub tree_row: Option<TreeRow>,
    /// Consumers whose entries are shown.
    pub open: BTreeSet<Option<Name>>,
    /// The largest holder is still to be unfolded: the consumers of the group just opened were not known so far.
    pub unfold: bool,
    /// The consumer that held the picked entry when it was last seen; `None` for nobody.
    pub holder: Option<Name>,
    /// Consumers that held entries since the group was opened: they stand in front, and stay there.
    pub held: BTreeSet<Name>,
    /// Consumers that hold nothing and were not seen for long are listed one by one.
    pub idle_open: bool,
    /// The finding picked; the first when none was.
    pub finding: Option<FindingKey>,
    /// Only consumers whose names contain this.
    pub filter: Filter,
    /// What is typed to find a finding. It picks one and hides none.
    pub search: Filter,
    /// Entries marked.
    pub marks: BTreeSet<EntryId>,
}

/// A key of the group screen.
pub fn act(app: &mut App, action: Action, now: Now, effects: &mut Vec<Effect>) {
    let screen = &mut app.group_screen;
    match action {
        Action::Open => open(app, effects),
        Action::Back if screen.pane == Pane::Strip && screen.entry.is_some() => screen.entry = None,
        Action::Back if !screen.filter.text.is_empty() => screen.filter.text.clear(),
        Action::Filter if screen.pane == Pane::Symptoms => {
            screen.search = Filter { typing: true, ..Filter::default() };
        }
        Action::Filter => {
            screen.pane = Pane::Consumers;
            screen.filter.typing = true;
        }
        Action::Back if screen.alone => screen.alone = false,
        Action::Back => app.place = Place::Overview,
        Action::Right | Action::Left => sideways(app, action == Action::Right),
        Action::NextPane => screen.pane = screen.pane.after(1),
        Action::PreviousPane => screen.pane = screen.pane.after(-1),
        Action::Show(pane) => screen.pane = pane,
        Action::Alone => screen.alone = !screen.alone,
        Action::Oldest => oldest(app, now),
        Action::Zoom => screen.zoom = screen.zoom.next(),
        Action::NextGroup => next_group(app, 1),
        Action::PreviousGroup => next_group(app, -1),
        Action::Mark => mark(app, now),
        Action::MarkAll => mark_all(app, now),
        _ => {
            if let Some(step) = action.step(app.size) {
                walk(app, step);
            }
        }
    }
}

/// Picks the first finding that contains what is typed.
pub fn find(app: &mut App) {
    if app.group_screen.search.text.is_empty() {
        return;
    }
    let found = |seen: &JudgedGroup| {
        let passes = |finding: &&Finding| app.group_screen.search.passes(&[finding.id, &finding.sentence()]);
        seen.findings().find(passes).map(Finding::key)
    };
    if let Some(key) = app.group().as_ref().and_then(found) {
        app.group_screen.finding = Some(key);
    }
}

/// Shows a group, as one finds it: nothing picked, nothing marked.
pub fn enter(app: &mut App, row: RowId) {
    let Some(group) = row.group.clone() else { return };
    app.place = Place::Group { key: row.key.clone(), group };
    app.overview.selected = Some(Picked::Row(row));
    app.overview.chosen = true;
    let GroupScreen { alone, zoom, .. } = app.group_screen;
    // what is wrong comes first, else who reads
    let wrong = app.group().is_some_and(|seen| seen.findings().any(|finding| finding.counts_as() > Level::Info));
    let pane = if wrong { Pane::Symptoms } else { Pane::Consumers };
    app.group_screen = GroupScreen { pane, alone, zoom, unfold: true, ..GroupScreen::default() };
    unfold(app);
}

/// The largest holder is what one came for: unfolded and picked as soon as it is known.
pub fn unfold(app: &mut App) {
    let Some(JudgedGroup { group, .. }) = app.group().filter(|_| app.group_screen.unfold) else { return };
    if group.consumers.value.is_none() {
        return;
    }
    let holders = branches(app, group).into_iter().filter_map(|row| match row {
        Branch::Consumer { name, pending, .. } if pending > 0 => Some((pending, name.cloned())),
        _ => None,
    });
    let largest = holders.reduce(|most, next| if next.0 > most.0 { next } else { most }).map(|(_, name)| name);
    app.group_screen.unfold = false;
    if let Some(name) = largest {
        app.group_screen.tree_row = Some(TreeRow::Consumer(name.clone()));
        app.group_screen.open.insert(name);
    }
}

/// Name or id of what is picked.
pub fn name(app: &App) -> Option<String> {
    let Place::Group { group, .. } = &app.place else { return None };
    match app.group_screen.pane {
        Pane::Strip => picked_entry(app).map(|id| id.to_string()),
        Pane::Consumers => Some(match &app.group_screen.tree_row {
            Some(TreeRow::Consumer(Some(name))) => name.shown(),
            Some(TreeRow::Entry(id)) => id.to_string(),
            _ => group.shown(),
        }),
        Pane::Symptoms => app.picked_finding().map(|finding| paragraph(app, finding)),
    }
}

/// The command that shows what is picked.
pub fn command(app: &App) -> Option<Argv> {
    let Place::Group { key, group } = &app.place else { return None };
    match app.group_screen.pane {
        Pane::Strip => Some(Argv::entry(key, picked_entry(app)?)),
        Pane::Consumers => Some(match &app.group_screen.tree_row {
            Some(TreeRow::Consumer(Some(name))) => {
                Argv::of(&[b"XPENDING", key.bytes(), group.bytes(), b"-", b"+", b"10", name.bytes()])
            }
            Some(TreeRow::Entry(id)) => Argv::entry(key, *id),
            _ => Argv::of(&[b"XINFO", b"CONSUMERS", key.bytes(), group.bytes()]),
        }),
        Pane::Symptoms => Some(app.picked_finding()?.check.clone()),
    }
}

/// The entry picked on the strip.
fn picked_entry(app: &App) -> Option<EntryId> {
    app.group_screen.entry.or_else(|| app.group().map(|seen| seen.group.facts.cursor))
}

fn walk(app: &mut App, step: isize) {
    let Some(seen) = app.group() else { return };
    match app.group_screen.pane {
        Pane::Consumers => {
            let mut rows = branches(app, seen.group);
            rows.retain(|row| !matches!(row, Branch::More(_)));
            let picked = app.group_screen.tree_row.as_ref();
            let at = picked.and_then(|id| rows.iter().position(|row| row.is(id))).unwrap_or(0);
            let row = rows.get(moved(at, step, rows.len()));
            let (id, holder) = (row.and_then(Branch::id), row.and_then(Branch::holder));
            app.group_screen.tree_row = id;
            app.group_screen.holder = holder;
            app.group_screen.unfold = false;
        }
        Pane::Symptoms => {
            let keys: Vec<FindingKey> = seen.findings().map(Finding::key).collect();
            let at = finding_index(app, &keys).unwrap_or(0);
            app.group_screen.finding = keys.into_iter().nth(moved(at, step, seen.findings().count()));
        }
        Pane::Strip => pick_entry(app, step),
    }
}

/// Where the picked finding stands among all; `None` if it is over.
pub fn finding_index(app: &App, keys: &[FindingKey]) -> Option<usize> {
    match &app.group_screen.finding {
        Some(picked) => keys.iter().position(|key| key == picked),
        None => (!keys.is_empty()).then_some(0),
    }
}

/// The picked row stays the same one while things change: an entry whose owner changed is followed to its new owner, and one that is
/// pending no longer gives way to who held it.
pub fn keep_selection(app: &mut App) {
    let Some(seen) = app.group() else { return };
    let new = |name: &&Name| !app.group_screen.held.contains(*name);
    let holds = seen.group.consumers().iter().filter(|facts| facts.pending > 0).map(|facts| &facts.name);
    let held: Vec<Name> = holds.filter(new).cloned().collect();
    app.group_screen.held.extend(held);
    let Some(seen) = app.group() else { return };
    let id = match &app.group_screen.tree_row {
        Some(TreeRow::Entry(id)) => *id,
        // it is one of those that share a row now
        Some(TreeRow::Consumer(Some(name))) if !app.group_screen.idle_open && idle_row_of(app, seen.group, name) => {
            app.group_screen.tree_row = Some(TreeRow::Idle);
            return;
        }
        _ => return,
    };
    match seen.group.pel.row(id).map(|row| row.owner.clone()) {
        Some(owner) => {
            if app.group_screen.holder != owner {
                app.group_screen.open.insert(owner.clone());
                app.group_screen.holder = owner;
            }
        }
        // rows that were not read this time may still be there
        None if !seen.group.pel.is_known(id) => {}
        None => app.group_screen.tree_row = Some(TreeRow::Consumer(app.group_screen.holder.clone())),
    }
}

/// Chooses a row among the consumers; true if it was the chosen one before.
pub fn pick(app: &mut App, index: usize) -> bool {
    let picked = app.group().and_then(|seen| {
        let rows = branches(app, seen.group);
        let row = rows.get(index)?;
        Some((row.id()?, row.holder()))
    });
    let Some((row, holder)) = picked else { return false };
    let screen = &mut app.group_screen;
    let same = screen.pane == Pane::Consumers && screen.tree_row.as_ref() == Some(&row);
    screen.pane = Pane::Consumers;
    (screen.tree_row, screen.holder, screen.unfold) = (Some(row), holder, false);
    same
}

fn pick_entry(app: &mut App, step: isize) {
    let Some(JudgedGroup { stream, group, .. }) = app.group() else { return };
    let ids: Vec<EntryId> = group.cells(stream).iter().map(|cell| cell.id).collect();
    let at = app.group_screen.entry.unwrap_or(group.facts.cursor);
    let index = ids.partition_point(|id| *id < at).min(ids.len().saturating_sub(1));
    app.group_screen.entry = ids.get(moved(index, step, ids.len())).copied();
}

/// To the entry that is pending longest: among the consumers, or on the strip.
fn oldest(app: &mut App, now: Now) {
    let found = app.group().and_then(|seen| {
        let id = seen.group.oldest_idle(now.mono).id()?;
        Some((id, seen.group.pel.row(id).and_then(|row| row.owner.clone())))
    });
    let Some((id, holder)) = found else { return };
    if app.group_screen.pane == Pane::Consumers {
        app.group_screen.open.insert(holder.clone());
        app.group_screen.tree_row = Some(TreeRow::Entry(id));
        app.group_screen.holder = holder;
        app.group_screen.unfold = false;
    } else {
        app.group_screen.pane = Pane::Strip;
        app.group_screen.entry = Some(id);
    }
}

fn sideways(app: &mut App, right: bool) {
    match (app.group_screen.pane, app.group_screen.tree_row.clone()) {
        (Pane::Strip, _) => pick_entry(app, if right { 1 } else { -1 }),
        (Pane::Symptoms, _) if right && app.picked_finding().is_some() => app.show(Overlay::Finding),
        (Pane::Consumers, Some(TreeRow::Consumer(name))) => {
            if right {
                app.group_screen.open.insert(name);
            } else {
                app.group_screen.open.remove(&name);
            }
        }
        (Pane::Consumers, Some(TreeRow::Entry(id))) if !right => {
            let owner = app.group().and_then(|seen| seen.group.pel.row(id)).map(|row| row.owner.clone());
            if let Some(owner) = owner {
                app.group_screen.open.remove(&owner);
                app.group_screen.tree_row = Some(TreeRow::Consumer(owner));
            }
        }
        _ => {}
    }
}

fn mark(app: &mut App, now: Now) {
    let id = match (app.group_screen.pane, &app.group_screen.tree_row) {
        (Pane::Strip, _) => picked_entry(app),
        (_, Some(TreeRow::Entry(id))) => Some(*id),
        _ => None,
    };
    let Some(id) = id else { return app.notify("pick a pending entry first", now, super::NOTICE_MS) };
    let marks = &mut app.group_screen.marks;
    if !marks.remove(&id) {
        marks.insert(id);
    }
    let text = format!("{} marked: C hands them over, A acknowledges them", marks.len());
    app.notify(text, now, super::NOTICE_MS);
    walk(app, 1);
}

fn mark_all(app: &mut App, now: Now) {
    let Some(JudgedGroup { stream, group, .. }) = app.group() else { return };
    let owner = match &app.group_screen.tree_row {
        Some(TreeRow::Consumer(name)) => Some(name.clone()),
        Some(TreeRow::Entry(id)) => group.pel.row(*id).map(|row| row.owner.clone()),
        Some(TreeRow::Idle) | None => None,
    };
    let of_finding = app.picked_finding().filter(|_| app.group_screen.pane == Pane::Symptoms);
    let ids: BTreeSet<EntryId> = match (app.group_screen.pane, owner) {
        (Pane::Symptoms, _) => of_finding.map(|finding| meant_by(finding, stream, group)).unwrap_or_default(),
        (Pane::Strip, _) => {
            group.cells(stream).iter().map(|cell| cell.id).filter(|id| group.pel.row(*id).is_some()).collect()
        }
        (_, Some(owner)) => group.pel.of(owner.as_ref()).map(|row| row.id).collect(),
        (_, None) => BTreeSet::new(),
    };
    if ids.is_empty() {
        return app.notify("no pending entry is known here", now, super::NOTICE_MS);
    }
    // of how many: the known rows may be a part of them only
    let of_all = group.facts.pending.value().map_or(String::new(), |pending| format!(" of {pending} pending"));
    let marks = &mut app.group_screen.marks;
    if ids.is_subset(marks) {
        marks.retain(|id| !ids.contains(id));
    } else {
        marks.extend(ids);
    }
    let count = marks.len() as i64;
    let text = format!("{}{of_all} marked: C hands them over, A acknowledges them", entries(count));
    app.notify(text, now, super::NOTICE_MS);
}

/// The pending entries that a finding is about, as far as their rows were read: those without payload, those that it names, or those of its
/// consumer.
fn meant_by(finding: &Finding, stream: &StreamState, group: &GroupState) -> BTreeSet<EntryId> {
    let is_meant = |row: &&PendingRow| match (finding.id, &finding.consumer) {
        ("payload-gone", _) => stream.has_entry(row.id) == Some(false),
        _ if !finding.entries.is_empty() => finding.entries.contains(&row.id),
        (_, Some(consumer)) => row.owner.as_ref() == Some(consumer),
        (_, None) => false,
    };
    group.pel.rows.iter().filter(is_meant).map(|row| row.id).collect()
}

fn next_group(app: &mut App, step: isize) {
    if let Some(row) = overview::group_after(app, step) {
        enter(app, row);
    }
}

fn open(app: &mut App, effects: &mut Vec<Effect>) {
    match app.group_screen.pane {
        Pane::Consumers => {
            let row = app
                .group_screen
                .tree_row
                .clone()
                .or_else(|| app.group().and_then(|seen| branches(app, seen.group).first().and_then(Branch::id)));
            match row {
                Some(TreeRow::Consumer(name)) => {
                    if !app.group_screen.open.remove(&name) {
                        app.group_screen.open.insert(name.clone());
                    }
                    app.group_screen.tree_row = Some(TreeRow::Consumer(name));
                }
                Some(TreeRow::Idle) => app.group_screen.idle_open = !app.group_screen.idle_open,
                Some(TreeRow::Entry(id)) => show_entry(app, id, effects),
                None => {}
            }
        }
        Pane::Strip => {
            if let Some(id) = picked_entry(app) {
                show_entry(app, id, effects);
            }
        }
        Pane::Symptoms => {
            let thing = app.picked_finding().map(Finding::thing);
            go_to(app, thing, effects);
        }
    }
}

/// To what a finding is about: the entry with its payload, or the consumer with what it holds; else the finding in full.
pub fn go_to(app: &mut App, thing: Option<Thing>, effects: &mut Vec<Effect>) {
    match thing {
        Some(Thing::Entry(id)) => show_entry(app, id, effects),
        Some(Thing::Consumer(name)) => {
            app.overlay = None;
            app.group_screen.pane = Pane::Consumers;
            app.group_screen.idle_open |= app.group().is_some_and(|seen| idle_row_of(app, seen.group, &name));
            app.group_screen.tree_row = Some(TreeRow::Consumer(Some(name.clone())));
            app.group_screen.open.insert(Some(name));
            app.group_screen.unfold = false;
        }
        Some(Thing::Group) => app.show(Overlay::Finding),
        None => {}
    }
}

fn show_entry(app: &mut App, id: EntryId, effects: &mut Vec<Effect>) {
    let Place::Group { key, .. } = &app.place else { return };
    let key = key.clone();
    effects.push(Effect::FetchEntry { key: key.clone(), id });
    app.show(Overlay::Entry { key, id, payload: None });
}
