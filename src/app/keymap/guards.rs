//! Why a key can do nothing now, as a sentence for the footer; `None` where it can.

use crate::app::{App, Overlay, Pane};

pub fn box_open(app: &App) -> Option<&'static str> {
    // the list of what can be done closes by itself
    let open = app.overlay.as_ref().is_some_and(|overlay| !matches!(overlay, Overlay::Commands(_)));
    open.then_some("close the box first")
}

pub fn no_group_picked(app: &App) -> Option<&'static str> {
    app.subject().is_none().then_some("pick a group first")
}

pub fn group_missing(app: &App) -> Option<&'static str> {
    app.group().is_none().then_some("the group is not there")
}

pub fn nothing_pending(app: &App) -> Option<&'static str> {
    let known = app.group().is_some_and(|seen| seen.group.oldest_idle(seen.group.at).id().is_some());
    (!known).then_some("no pending entry is known here")
}

pub fn consumers_unknown(app: &App) -> Option<&'static str> {
    let group = app.subject().and_then(|(key, name)| Some(app.watch.store.group(&key, &name)?.1));
    let known = group.is_some_and(|group| group.consumers.value.is_some());
    (!known).then_some("the consumers of this group are not known yet")
}

pub fn no_entries_here(app: &App) -> Option<&'static str> {
    let here = matches!(app.group_screen.pane, Pane::Strip | Pane::Consumers);
    (!here).then_some("entries are marked on the strip or among the consumers")
}

pub fn nothing_to_mark(app: &App) -> Option<&'static str> {
    let on_finding = app.group_screen.pane == Pane::Symptoms;
    if on_finding { app.picked_finding().is_none().then_some("there is no finding here") } else { no_entries_here(app) }
}

pub fn nothing_marked(app: &App) -> Option<&'static str> {
    app.group_screen.marks.is_empty().then_some("no entry is marked: v marks one")
}

pub fn no_consumer_picked(app: &App) -> Option<&'static str> {
    let picked = app.group_screen.pane == Pane::Consumers && app.picked_consumer().is_some();
    (!picked).then_some("pick a consumer first")
}

pub fn no_finding_picked(app: &App) -> Option<&'static str> {
    let here = app.group_screen.pane == Pane::Symptoms || app.overlay == Some(Overlay::Finding);
    (!here || app.picked_finding().is_none()).then_some("choose a finding first: Tab leads to the symptoms of a group")
}

pub fn nothing_rolled_up(app: &App) -> Option<&'static str> {
    let none = !app.overview.lists_all && !app.ranked().is_rolled_up() && app.overview.filter.text.is_empty();
    none.then_some("no rows of one pattern here: eight streams whose names differ in a number, or --roll-up")
}

pub fn no_events(app: &App) -> Option<&'static str> {
    let none = app.watch.store.events.is_empty() && app.session.actions.is_empty() && app.session.journal.is_empty();
    (none && !matches!(app.overlay, Some(Overlay::Log(_)))).then_some("nothing happened so far")
}
