//! The only writer of [`App`]: one message in, effects out.

use super::{
    App, LinkState, Notice, Overlay, Pane, Place, RowId,
    dialog::{self, Stage},
    effect::{Effect, Polling},
    key::Key,
    keymap::{self, Action},
    msg::Msg,
    tree::{Branch, TreeRow, branches},
};
use crate::core::{
    command::Argv,
    id::EntryId,
    sample::EntryPayload,
    store::{Reading, RowState},
    time::{Mono, Now},
    watch::JudgedGroup,
};

/// A notice stays for so long.
const NOTICE_MS: u64 = 3000;
/// Intervals that `+` and `-` step through, in milliseconds.
const INTERVALS_MS: [u64; 9] = [100, 250, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];
/// No more than this goes to the clipboard: terminals drop longer sequences, some after showing them.
const COPY_BYTES: usize = 64 * 1024;

/// Takes a message in.
pub fn update(app: &mut App, msg: Msg, now: Now) -> Vec<Effect> {
    let before = (app.focus(), app.interval_ms, app.place.clone());
    let mut effects = Vec::new();
    let mut sampled = false;
    let ticked = matches!(msg, Msg::Tick);
    match msg {
        Msg::Key(key) if app.dialog.is_some() => dialog::press(app, key, now, &mut effects),
        Msg::Key(key) => press(app, key, now, &mut effects),
        Msg::Paste(text) => {
            if let Some(dialog) = &mut app.dialog {
                dialog::paste(dialog, &text);
            } else if app.typing {
                app.filter.extend(text.chars().filter(|c| !c.is_control()).take(100));
            }
        }
        Msg::Sampled { sample, interval_ms } => {
            app.watch.take(*sample, now, Reading::Tick);
            app.kept_interval_ms = interval_ms;
            app.link = LinkState::Up;
            sampled = true;
        }
        Msg::Down { why, retry_at } => {
            let since = match &app.link {
                LinkState::Down { since, .. } => *since,
                LinkState::Up => app.watch.store.sampled.map_or(now.mono, |at| at.mono),
            };
            app.link = LinkState::Down { since, why, retry_at };
        }
        Msg::Entry(entry) => take_entry(app, entry),
        Msg::Planned(id, plan) => dialog::planned(app, id, plan),
        Msg::Progress(id, claimed, removed) => {
            let running =
                app.dialog.as_mut().filter(|dialog| dialog.id == id && matches!(dialog.stage, Stage::Running(..)));
            if let Some(dialog) = running {
                dialog.stage = Stage::Running(claimed, removed);
            }
        }
        Msg::Ended(id, outcome) => dialog::ended_with(app, id, outcome, now, &mut effects),
        Msg::Resized(columns, rows) => {
            app.size = (columns, rows);
            effects.push(Effect::Redraw);
        }
        Msg::Tick => {
            if app.notice.as_ref().is_some_and(|notice| notice.until <= now.mono) {
                app.notice = None;
            }
        }
        Msg::Terminate => effects.push(Effect::Quit { printing: false }),
    }
    // beyond its end, the way back would seem to do nothing
    if app.scroll > 0 {
        app.scroll = app.scroll.min(super::screen::most_scroll(app, now));
    }
    keep_selection(app);
    let after = app.focus();
    let refocused = before.0 != after;
    app.unplanned |= refocused;
    // who walks through thousands of rows passes over most: one plan a tick of the screen, not one a key
    let walking = app.watch.store.is_sliced() && app.place == Place::Overview && before.2 == app.place;
    if sampled || before.1 != app.interval_ms || app.unplanned && (ticked || !walking) {
        app.unplanned = false;
        let seen = if app.watch.store.is_sliced() { app.seen() } else { std::collections::BTreeSet::new() };
        let request = app.watch.store.wants_seen(&after, &seen, now.mono);
        effects.push(Effect::Poll(Box::new(Polling { request, interval_ms: app.interval_ms })));
    }
    // a stream just found, or a group just opened, must not wait a whole interval for its first numbers; walking through the overview
    // asks for nothing by itself
    let incomplete = app.watch.store.is_searching()
        || app.watch.store.streams.values().any(|stream| stream.state == RowState::Loading);
    let opened = refocused && (before.2 != app.place || matches!(app.place, Place::Group { .. }));
    if opened || (sampled && incomplete) {
        effects.push(Effect::PollNow);
    }
    effects
}

/// The picked row must exist, and there must be one as soon as there are rows.
fn keep_selection(app: &mut App) {
    if app.unfold {
        unfold(app);
    }
    if app.place == Place::Overview {
        app.selected = app.picked_row();
    }
}

/// The largest holder is what one came for: unfolded and picked as soon as it is known.
fn unfold(app: &mut App) {
    let Some(JudgedGroup { group, .. }) = app.group() else { return };
    if group.consumers.value.is_none() {
        return;
    }
    let holders = branches(app, group).into_iter().filter_map(|row| match row {
        Branch::Consumer { name, pending, .. } if pending > 0 => Some((pending, name.cloned())),
        _ => None,
    });
    let largest = holders.reduce(|most, next| if next.0 > most.0 { next } else { most }).map(|(_, name)| name);
    app.unfold = false;
    if let Some(name) = largest {
        app.tree_row = Some(TreeRow::Consumer(name.clone()));
        app.open.insert(name);
    }
}

fn press(app: &mut App, key: Key, now: Now, effects: &mut Vec<Effect>) {
    if app.typing && type_filter(app, key) {
        return;
    }
    let Some(action) = keymap::action(app, key) else { return };
    if let Some(reason) = keymap::disabled_reason(app, action) {
        notify(app, reason.to_owned(), now);
        return;
    }
    act(app, action, now, effects);
}

/// Keys while the filter is typed; false for those that mean something else.
fn type_filter(app: &mut App, key: Key) -> bool {
    match key {
        Key::Enter => app.typing = false,
        Key::Esc => {
            app.typing = false;
            app.filter.clear();
        }
        Key::Backspace => {
            app.filter.pop();
        }
        Key::Ctrl('u') => app.filter.clear(),
        Key::Char(c) => app.filter.push(c),
        _ => return false,
    }
    true
}

fn notify(app: &mut App, text: String, now: Now) {
    app.notice = Some(Notice { text, until: Mono(now.mono.0 + NOTICE_MS) });
}

fn act(app: &mut App, action: Action, now: Now, effects: &mut Vec<Effect>) {
    match action {
        Action::Down => walk(app, 1),
        Action::Up => walk(app, -1),
        Action::PageDown => walk(app, isize::from(app.size.1 as i16 / 2).max(1)),
        Action::PageUp => walk(app, -isize::from(app.size.1 as i16 / 2).max(1)),
        Action::First => walk(app, isize::MIN / 2),
        Action::Last => walk(app, isize::MAX / 2),
        Action::Right | Action::Left => sideways(app, action == Action::Right),
        Action::Open => open(app, now, effects),
        Action::Back => back(app),
        Action::NextPane => app.pane = app.pane.after(1),
        Action::PreviousPane => app.pane = app.pane.after(-1),
        Action::Zoom => app.zoom = app.zoom.next(),
        Action::NextGroup => next_group(app, 1),
        Action::PreviousGroup => next_group(app, -1),
        Action::Filter => app.typing = true,
        Action::Sort => {
            app.order = app.order.next();
            notify(app, format!("sorted by {}", app.order.word()), now);
        }
        Action::Reverse => app.reversed = !app.reversed,
        Action::Prepare(action) => dialog::prepare(app, action, now, effects),
        Action::Mark => mark(app, now),
        Action::Pause => {
            app.frozen = match app.frozen {
                Some(_) => None,
                None => Some(Box::new((app.watch.clone(), now))),
            };
        }
        Action::Poll => effects.push(Effect::PollNow),
        Action::Faster => change_interval(app, -1, now),
        Action::Slower => change_interval(app, 1, now),
        Action::CopyName => copy(app, name_of_row(app), now, effects),
        Action::CopyCommand => copy(app, command_of_row(app), now, effects),
        Action::Events => app.overlay = toggled(app.overlay.as_ref(), Overlay::Events),
        Action::Help => app.overlay = toggled(app.overlay.as_ref(), Overlay::Help),
        Action::Redraw => effects.push(Effect::Redraw),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::QuitPrinting => effects.push(Effect::Quit { printing: true }),
        Action::Quit => effects.push(Effect::Quit { printing: false }),
    }
    if matches!(action, Action::Events | Action::Help) {
        app.scroll = 0;
    }
}

fn toggled(old: Option<&Overlay>, new: Overlay) -> Option<Overlay> {
    if old == Some(&new) { None } else { Some(new) }
}

fn change_interval(app: &mut App, step: isize, now: Now) {
    let index = INTERVALS_MS.iter().position(|ms| *ms >= app.interval_ms).unwrap_or(INTERVALS_MS.len() - 1);
    // a set interval between two steps counts as the longer one when going up, so that a press always changes it
    let at_step = INTERVALS_MS[index] == app.interval_ms;
    let next = if step > 0 && !at_step { index } else { index.saturating_add_signed(step).min(INTERVALS_MS.len() - 1) };
    app.interval_ms = INTERVALS_MS[next];
    notify(app, format!("one poll every {}", crate::core::time::age(app.interval_ms as i64)), now);
}

fn moved(index: usize, step: isize, len: usize) -> usize {
    index.saturating_add_signed(step).min(len.saturating_sub(1))
}

fn walk(app: &mut App, step: isize) {
    if app.overlay.is_some() {
        app.scroll = app.scroll.saturating_add_signed(step).min(10_000);
        return;
    }
    match (&app.place, app.pane) {
        (Place::Overview, _) => {
            let rows = app.rows();
            let index = moved(app.selected_index(&rows), step, rows.len());
            app.selected = rows.get(index).map(super::overview::Row::id);
            app.chosen = true;
        }
        (Place::Group { .. }, Pane::Consumers) => {
            let Some(JudgedGroup { group, .. }) = app.group() else { return };
            let mut rows = branches(app, group);
            rows.retain(|row| !matches!(row, Branch::More(_)));
            let at = app.tree_row.as_ref().and_then(|id| rows.iter().position(|row| row.is(id))).unwrap_or(0);
            app.tree_row = rows.get(moved(at, step, rows.len())).and_then(Branch::id);
            app.unfold = false;
        }
        (Place::Group { .. }, Pane::Symptoms) => {
            let count = app.group().map_or(0, |seen| seen.findings().count());
            app.finding = moved(app.finding, step, count);
        }
        (Place::Group { .. }, Pane::Strip) => pick_entry(app, step),
    }
}

fn pick_entry(app: &mut App, step: isize) {
    let Some(JudgedGroup { stream, group, .. }) = app.group() else { return };
    let ids: Vec<EntryId> = group.cells(stream).iter().map(|cell| cell.id).collect();
    let at = app.entry.unwrap_or(group.facts.cursor);
    let index = ids.partition_point(|id| *id < at).min(ids.len().saturating_sub(1));
    app.entry = ids.get(moved(index, step, ids.len())).copied();
}

fn sideways(app: &mut App, right: bool) {
    match (app.pane, &app.tree_row) {
        (Pane::Strip, _) => pick_entry(app, if right { 1 } else { -1 }),
        (Pane::Consumers, Some(TreeRow::Consumer(name))) => {
            let name = name.clone();
            if right {
                app.open.insert(name);
            } else {
                app.open.remove(&name);
            }
        }
        (Pane::Consumers, Some(TreeRow::Entry(id))) if !right => {
            let id = *id;
            let owner = app.group().and_then(|seen| seen.group.pel.row(id)).map(|row| row.owner.clone());
            if let Some(owner) = owner {
                app.open.remove(&owner);
                app.tree_row = Some(TreeRow::Consumer(owner));
            }
        }
        _ => {}
    }
}

fn mark(app: &mut App, now: Now) {
    let id = match (app.pane, &app.tree_row) {
        (Pane::Strip, _) => app.entry.or_else(|| app.group().map(|seen| seen.group.facts.cursor)),
        (_, Some(TreeRow::Entry(id))) => Some(*id),
        _ => None,
    };
    let Some(id) = id else { return notify(app, "pick a pending entry first".to_owned(), now) };
    if !app.marks.remove(&id) {
        app.marks.insert(id);
    }
    notify(app, format!("{} marked: C hands them over, A acknowledges them", app.marks.len()), now);
    walk(app, 1);
}

fn enter_group(app: &mut App, row: RowId) {
    let Some(group) = row.group.clone() else { return };
    app.place = Place::Group { key: row.key.clone(), group };
    app.selected = Some(row);
    app.entry = None;
    app.tree_row = None;
    app.finding = 0;
    app.marks.clear();
    app.open.clear();
    app.chosen = true;
    app.unfold = true;
    unfold(app);
}

fn next_group(app: &mut App, step: isize) {
    let rows: Vec<RowId> = app.rows().iter().map(super::overview::Row::id).filter(|row| row.group.is_some()).collect();
    let at = app.selected.as_ref().and_then(|row| rows.iter().position(|id| id == row)).unwrap_or(0) as isize;
    if rows.is_empty() {
        return;
    }
    let next = (at + step).rem_euclid(rows.len() as isize) as usize;
    enter_group(app, rows[next].clone());
}

fn open(app: &mut App, now: Now, effects: &mut Vec<Effect>) {
    if app.overlay.is_some() {
        return;
    }
    match (&app.place, app.pane) {
        (Place::Overview, _) => match app.selected.clone() {
            Some(row) if row.group.is_some() => enter_group(app, row),
            Some(_) => notify(app, "there is no group to open in this row".to_owned(), now),
            None => {}
        },
        (Place::Group { .. }, Pane::Consumers) => {
            let row = app
                .tree_row
                .clone()
                .or_else(|| app.group().and_then(|seen| branches(app, seen.group).first().and_then(Branch::id)));
            match row {
                Some(TreeRow::Consumer(name)) => {
                    if !app.open.remove(&name) {
                        app.open.insert(name.clone());
                    }
                    app.tree_row = Some(TreeRow::Consumer(name));
                }
                Some(TreeRow::Entry(id)) => show_entry(app, id, effects),
                None => {}
            }
        }
        (Place::Group { .. }, Pane::Strip) => {
            let picked = app.entry.or_else(|| app.group().map(|seen| seen.group.facts.cursor));
            if let Some(id) = picked {
                show_entry(app, id, effects);
            }
        }
        (Place::Group { .. }, Pane::Symptoms) => {
            let any = app.group().is_some_and(|seen| seen.findings().next().is_some());
            if any {
                app.overlay = Some(Overlay::Finding);
                app.scroll = 0;
            }
        }
    }
}

fn show_entry(app: &mut App, id: EntryId, effects: &mut Vec<Effect>) {
    let Place::Group { key, .. } = &app.place else { return };
    let key = key.clone();
    effects.push(Effect::FetchEntry { key: key.clone(), id });
    app.overlay = Some(Overlay::Entry { key, id, payload: None });
    app.scroll = 0;
}

fn take_entry(app: &mut App, entry: EntryPayload) {
    if let Some(Overlay::Entry { key, id, payload }) = &mut app.overlay
        && *key == entry.key
        && *id == entry.id
    {
        *payload = Some(entry);
    }
}

fn back(app: &mut App) {
    if app.overlay.take().is_some() {
        return;
    }
    match app.place {
        Place::Group { .. } if app.entry.is_some() && app.pane == Pane::Strip => app.entry = None,
        Place::Group { .. } => app.place = Place::Overview,
        Place::Overview => app.filter.clear(),
    }
}

fn copy(app: &mut App, text: Option<String>, now: Now, effects: &mut Vec<Effect>) {
    match text {
        Some(text) if text.len() <= COPY_BYTES => {
            notify(app, format!("copied: {}", super::cells::cut(&text, 60)), now);
            effects.push(Effect::Copy(text));
        }
        Some(_) => notify(app, "too long for the terminal's clipboard".to_owned(), now),
        None => notify(app, "nothing to copy here".to_owned(), now),
    }
}

fn name_of_row(app: &App) -> Option<String> {
    match (&app.overlay, &app.place, app.pane) {
        (Some(Overlay::Entry { id, .. }), ..) => Some(id.to_string()),
        (_, Place::Overview, _) => app.selected.as_ref().map(|row| row.group.as_ref().unwrap_or(&row.key).shown()),
        (_, Place::Group { .. }, Pane::Strip) => {
            app.entry.or(app.group().map(|seen| seen.group.facts.cursor)).map(|id| id.to_string())
        }
        (_, Place::Group { group, .. }, Pane::Consumers) => match &app.tree_row {
            Some(TreeRow::Consumer(Some(name))) => Some(name.shown()),
            Some(TreeRow::Entry(id)) => Some(id.to_string()),
            _ => Some(group.shown()),
        },
        (_, Place::Group { .. }, Pane::Symptoms) => super::screen::finding_at(app).map(|finding| finding.text.clone()),
    }
}

/// The redis-cli command that looks at what the row shows; it only reads.
fn command_of_row(app: &App) -> Option<String> {
    use crate::core::name::Name;
    let entry = |key: &Name, id: EntryId| {
        let id = id.to_string();
        Argv::of(&[b"XRANGE", key.bytes(), id.as_bytes(), id.as_bytes()])
    };
    let parts = match (&app.overlay, &app.place, app.pane) {
        (Some(Overlay::Entry { key, id, .. }), ..) => entry(key, *id),
        (_, Place::Overview, _) => {
            let row = app.selected.as_ref()?;
            Argv::of(&[b"XINFO", if row.group.is_some() { &b"GROUPS"[..] } else { &b"STREAM"[..] }, row.key.bytes()])
        }
        (_, Place::Group { .. }, Pane::Symptoms) => super::screen::finding_at(app)?.check.clone(),
        (_, Place::Group { key, .. }, Pane::Strip) => {
            entry(key, app.entry.or(app.group().map(|seen| seen.group.facts.cursor))?)
        }
        (_, Place::Group { key, group }, Pane::Consumers) => match &app.tree_row {
            Some(TreeRow::Consumer(Some(name))) => {
                Argv::of(&[b"XPENDING", key.bytes(), group.bytes(), b"-", b"+", b"10", name.bytes()])
            }
            Some(TreeRow::Entry(id)) => entry(key, *id),
            _ => Argv::of(&[b"XINFO", b"CONSUMERS", key.bytes(), group.bytes()]),
        },
    };
    let line = parts;
    Some(if app.cli_words.is_empty() {
        format!("redis-cli {line}")
    } else {
        format!("redis-cli {} {line}", app.cli_words)
    })
}
