//! The only writer of [`App`]: one message in, effects out.

use super::{
    App, LinkState, NOTICE_MS, Overlay, Place,
    commands::{self, Commands},
    dialog::{self, Stage},
    effect::{Effect, Polling},
    group_screen,
    key::Key,
    keymap::{self, Action},
    known,
    log::Log,
    msg::{Msg, Target},
    overlay, overview,
};
use crate::core::{
    store::{Reading, RowState},
    symptoms::{Finding, Thing},
    time::{Now, age},
};
use std::collections::BTreeSet;

/// Intervals that `+` and `-` step through, in milliseconds.
const INTERVALS_MS: [u64; 9] = [100, 250, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];
/// No more than this goes to the clipboard: terminals drop longer sequences, some after showing them.
const COPY_BYTES: usize = 64 * 1024;

/// Takes a message in.
pub fn update(app: &mut App, msg: Msg, now: Now) -> Vec<Effect> {
    let before = (app.focus(), app.interval_ms, app.place.clone());
    let mut effects = Vec::new();
    // a sample of one part is planned for at once
    let (mut sampled, mut planning) = (false, matches!(msg, Msg::Planning));
    let ticked = matches!(msg, Msg::Clock);
    match msg {
        Msg::Key(key) if app.dialog().is_some() => dialog::press(app, key, now, &mut effects),
        Msg::Key(key) => press(app, key, now, &mut effects),
        Msg::Click(target) if app.overlay.is_none() => click(app, target, now, &mut effects),
        Msg::Paste(text) => {
            if let Some(Overlay::Dialog(dialog)) = &mut app.overlay {
                dialog::paste(dialog, &text);
            } else if let Some(Overlay::Commands(commands)) = &mut app.overlay {
                commands.paste(&text);
            } else if let Some(Overlay::Log(Log { filter, .. })) = &mut app.overlay
                && filter.typing
            {
                filter.paste(&text);
            } else if app.overview.filter.typing {
                app.overview.filter.paste(&text);
            } else if app.group_screen.filter.typing {
                app.group_screen.filter.paste(&text);
            } else if app.group_screen.search.typing {
                app.group_screen.search.paste(&text);
                group_screen::find(app);
            }
        }
        Msg::Sampled { sample, interval_ms } => {
            if let LinkState::Down { since, .. } = &app.link
                && app.watch.store.ticks > 0
            {
                app.watch.find_link(now.mono.since(*since), now);
            }
            sampled = sample.later == 0;
            planning = sampled;
            app.watch.take(*sample, now, Reading::Tick);
            app.session.follow(app.watch.store.reached.as_ref());
            app.kept_interval_ms = interval_ms;
            app.link = LinkState::Up;
        }
        Msg::Streams { streams, at, is_last } => {
            app.watch.take_streams(streams, at, now);
            sampled = is_last;
        }
        Msg::Planning | Msg::Click(_) => {}
        Msg::Down { failing_over, why, retry_at } => {
            let since = match &app.link {
                LinkState::Down { since, .. } => *since,
                LinkState::Up => {
                    app.watch.lose_link(&why, now);
                    app.watch.store.sampled.map_or(now.mono, |at| at.mono)
                }
            };
            app.link = LinkState::Down { failing_over, since, why, retry_at };
        }
        Msg::Entry(entry) => overlay::take_entry(app, entry),
        Msg::Planned(id, plan) => dialog::planned(app, id, plan),
        Msg::Progress(id, claimed, removed) => {
            if let Some(dialog) = app.dialog_mut(id).filter(|dialog| matches!(dialog.stage, Stage::Running(..))) {
                dialog.stage = Stage::Running(claimed, removed);
            }
        }
        Msg::Ended(id, outcome) => dialog::ended_with(app, id, outcome, now, &mut effects),
        Msg::Resized(columns, rows) => {
            app.size = (columns, rows);
            effects.push(Effect::Redraw);
        }
        Msg::Clock => {
            if app.notice.as_ref().is_some_and(|notice| notice.until <= now.mono) {
                app.notice = None;
            }
        }
        Msg::Terminate => effects.push(Effect::Quit { printing: false }),
    }
    if sampled {
        app.overview.settled = app.watch.store.folds;
    }
    // beyond its end, the way back would seem to do nothing
    if app.scroll > 0 {
        app.scroll = app.scroll.min(super::screen::most_scroll(app, now));
    }
    group_screen::unfold(app);
    group_screen::keep_selection(app);
    overview::keep_selection(app);
    if sampled {
        let critical = app.count_critical();
        if critical > std::mem::replace(&mut app.critical, critical) {
            effects.push(Effect::Ring);
        }
    }
    let after = app.focus();
    let refocused = before.0 != after;
    app.unplanned |= refocused;
    // who walks through thousands of rows passes over most: one plan a tick of the screen, not one a key
    let walking = app.watch.store.is_sliced() && app.place == Place::Overview && before.2 == app.place;
    if planning || before.1 != app.interval_ms || app.unplanned && (ticked || !walking) {
        app.unplanned = false;
        let seen = if app.watch.store.is_sliced() { app.seen() } else { BTreeSet::new() };
        let request = app.watch.store.next_request_with(&after, &seen, now.mono);
        effects.push(Effect::Poll(Box::new(Polling { request, interval_ms: app.interval_ms })));
    }
    // a stream just found, or a group just opened, must not wait a whole interval for its first numbers; walking through the overview
    // asks for nothing by itself
    let incomplete = app.watch.store.is_searching()
        || app.watch.store.has_unread_holders()
        || app.watch.store.streams.values().any(|stream| stream.state == RowState::Loading);
    let opened = refocused && (before.2 != app.place || matches!(app.place, Place::Group { .. }));
    if opened || (planning && incomplete) {
        effects.push(Effect::PollNow);
    }
    effects
}

fn press(app: &mut App, key: Key, now: Now, effects: &mut Vec<Effect>) {
    if app.overlay.is_none() && app.group_screen.search.press(key) {
        group_screen::find(app);
        return;
    }
    if app.overlay.is_none() && (app.overview.filter.press(key) || app.group_screen.filter.press(key)) {
        return;
    }
    if app.overlay == Some(Overlay::Help) && key == Key::Char('/') {
        return app.show(Overlay::Commands(Commands::here(app)));
    }
    if let Some(Overlay::Commands(commands)) = &mut app.overlay {
        match commands.press(key) {
            commands::Pressed::Taken => return,
            commands::Pressed::Chosen(action) => {
                app.overlay = None;
                return press_action(app, action, now, effects);
            }
            commands::Pressed::Other => {}
        }
    }
    if let Some(Overlay::Log(log)) = &mut app.overlay
        && log.press(key)
    {
        app.scroll = 0;
        return;
    }
    let Some(action) = keymap::action(app, key) else {
        let text = match &app.overlay {
            Some(_) => format!("{key} does nothing in this box: Esc closes it"),
            None => format!("{key} does nothing here: ? shows the keys, : everything that can be done"),
        };
        return app.notify(text, now, NOTICE_MS);
    };
    press_action(app, action, now, effects);
}

/// The first click chooses, a second one on the same opens.
fn click(app: &mut App, target: Target, now: Now, effects: &mut Vec<Effect>) {
    let opens = match target {
        Target::Row(index) => overview::pick(app, index),
        Target::Consumer(index) => group_screen::pick(app, index),
        Target::Pane(pane) => {
            app.group_screen.pane = pane;
            false
        }
    };
    if opens {
        press_action(app, Action::Open, now, effects);
    }
}

fn press_action(app: &mut App, action: Action, now: Now, effects: &mut Vec<Effect>) {
    if let Some(reason) = keymap::disabled_reason(app, action) {
        return app.notify(reason, now, NOTICE_MS);
    }
    act(app, action, now, effects);
}

/// What means the same everywhere is done here; the rest belongs to what is in front.
fn act(app: &mut App, action: Action, now: Now, effects: &mut Vec<Effect>) {
    match action {
        Action::Prepare(action) => dialog::prepare(app, action, now, effects),
        Action::Pause => {
            app.frozen = match app.frozen {
                Some(_) => None,
                None => Some(Box::new((app.watch.clone(), now))),
            };
        }
        Action::MarkKnown => known::mark(app, now),
        Action::Poll => {
            app.overview.forget_order();
            effects.push(Effect::PollNow);
        }
        Action::Faster => change_interval(app, -1, now),
        Action::Slower => change_interval(app, 1, now),
        Action::CopyName => copy(app, picked_name(app), now, effects),
        Action::CopyCommand => copy(app, picked_command(app), now, effects),
        Action::Log => overlay::toggle(app, Overlay::Log(Log::default())),
        Action::Help => overlay::toggle(app, Overlay::Help),
        Action::Commands => app.show(Overlay::Commands(Commands::here(app))),
        // from the box, from the group screen; from the overview there is no way back
        Action::Leave if app.overlay.is_some() || app.place != Place::Overview => {
            act(app, Action::Back, now, effects);
        }
        Action::Redraw => effects.push(Effect::Redraw),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::QuitPrinting => effects.push(Effect::Quit { printing: true }),
        Action::Leave | Action::Quit => effects.push(Effect::Quit { printing: false }),
        Action::Open if app.overlay == Some(Overlay::Finding) => {
            let thing = app.picked_finding().map(Finding::thing).filter(|thing| *thing != Thing::Group);
            if thing.is_none() {
                app.notify("it is about the group as a whole: Esc closes this", now, NOTICE_MS);
            }
            group_screen::go_to(app, thing, effects);
        }
        _ if app.overlay.is_some() => {
            if !overlay::act(app, action) {
                app.notify("that does nothing in this box: Esc closes it", now, NOTICE_MS);
            }
        }
        _ => match app.place {
            Place::Overview => {
                if let Some(group) = overview::act(app, action, now) {
                    group_screen::enter(app, group);
                }
            }
            Place::Group { .. } => group_screen::act(app, action, now, effects),
        },
    }
}

fn change_interval(app: &mut App, step: isize, now: Now) {
    let index = INTERVALS_MS.iter().position(|ms| *ms >= app.interval_ms).unwrap_or(INTERVALS_MS.len() - 1);
    // a set interval between two steps counts as the longer one when going up, so that a press always changes it
    let at_step = INTERVALS_MS[index] == app.interval_ms;
    let next = if step > 0 && !at_step { index } else { index.saturating_add_signed(step).min(INTERVALS_MS.len() - 1) };
    app.interval_ms = INTERVALS_MS[next];
    app.notify(format!("one poll every {}", age(app.interval_ms as i64)), now, NOTICE_MS);
}

fn copy(app: &mut App, text: Option<String>, now: Now, effects: &mut Vec<Effect>) {
    let said = match text {
        Some(text) if text.len() <= COPY_BYTES => {
            let said = format!("copied: {}", super::cells::cut(&text, 60));
            effects.push(Effect::Copy(text));
            said
        }
        Some(_) => "too long for the terminal's clipboard".to_owned(),
        None => "nothing to copy here".to_owned(),
    };
    app.notify(said, now, NOTICE_MS);
}

/// Name or id of what is picked.
fn picked_name(app: &App) -> Option<String> {
    app.overlay.as_ref().and_then(|overlay| overlay.name(app)).or_else(|| match app.place {
        Place::Overview => overview::name(app),
        Place::Group { .. } => group_screen::name(app),
    })
}

/// The redis-cli command that shows what is picked; it only reads.
fn picked_command(app: &App) -> Option<String> {
    let command = app.overlay.as_ref().and_then(Overlay::command).or_else(|| match app.place {
        Place::Overview => overview::command(app),
        Place::Group { .. } => group_screen::command(app),
    })?;
    Some(if app.session.cli_words.is_empty() {
        format!("redis-cli {command}")
    } else {
        format!("redis-cli {} {command}", app.session.cli_words)
    })
}
