//! The one update function: what each key does in each place, what it asks the edge for, and what it never does.

use crate::scenes::*;
use pelwatch::{
    app::{
        App, LinkState, Order, Overlay, Pane, Picked, Place, RowId, TreeRow, Zoom,
        dialog::Action as Prepared,
        effect::Effect,
        key::Key,
        keymap::{self, Action, BINDINGS, Scope},
        msg::Msg,
    },
    core::{
        cluster::{ClusterFacts, NodeFacts},
        known::Known,
        name::Name,
        sample::{EntryPayload, Fault, Sample},
        store::{Focus, Settings},
        summary::Summary,
        time::Mono,
    },
};

/// Names of effects, in a match without a rest: an effect that is new must be placed here, among those that only look or
/// among those that write.
fn is_harmless(effect: &Effect) -> bool {
    match effect {
        Effect::Poll(_)
        | Effect::PollNow
        | Effect::FetchEntry { .. }
        | Effect::Copy(_)
        | Effect::Redraw
        | Effect::Ring
        | Effect::Suspend
        | Effect::MakePlan { .. }
        | Effect::StopAction
        | Effect::Quit { .. } => true,
        Effect::Execute { .. } => false,
    }
}

fn row(key: &str, group: &str) -> RowId {
    RowId { key: key.into(), group: Some(group.into()) }
}

fn ids(app: &App) -> Vec<String> {
    app.rows()
        .iter()
        .map(|row| format!("{}/{}", row.stream.key, row.group.map_or("-".into(), |g| g.name().shown())))
        .collect()
}

/// The overview with three streams and four groups.
fn overview() -> Scene {
    let mut scene = Scene::new(healthy());
    scene.ticks(3);
    scene
}

/// Every place a user can be in, with a word for it.
fn everywhere() -> Vec<(&'static str, Scene)> {
    let build = |scene: &Scene, keys: &str| {
        let mut next = scene.clone();
        next.keys(keys);
        next
    };
    let (overview, group) = (overview(), seed_group());
    let mut absent = seed_group();
    absent.run(2, |world, _| world.streams.clear());
    vec![
        ("nothing known", Scene::new(World::default())),
        ("overview", overview.clone()),
        ("overview, filter", build(&overview, "/or<Enter>")),
        ("overview, typing", build(&overview, "/or")),
        ("overview, help", build(&overview, "?")),
        ("overview, faulty row", faulty()),
        ("consumers", group.clone()),
        ("consumers, entry picked", build(&group, "j")),
        ("strip", build(&group, "<BackTab>")),
        ("strip, entry picked", build(&group, "<BackTab>l")),
        ("symptoms", build(&group, "<Tab>")),
        ("group, help", build(&group, "?")),
        ("entry", build(&group, "j<Enter>")),
        ("finding", build(&group, "<Tab><Enter>")),
        ("absent", absent.clone()),
        ("absent, events", build(&absent, "e")),
        ("paused", build(&group, " ")),
        ("odd", odd_pending()),
        ("crowd", crowd()),
    ]
}

fn all_keys() -> Vec<Key> {
    let mut keys: Vec<Key> = (' '..='~').map(Key::Char).chain(['é', '日'].map(Key::Char)).collect();
    keys.extend(('a'..='z').map(Key::Ctrl));
    keys.extend([
        Key::Enter,
        Key::Esc,
        Key::Tab,
        Key::BackTab,
        Key::Backspace,
        Key::Home,
        Key::End,
        Key::PageUp,
        Key::PageDown,
    ]);
    keys.extend([Key::Up, Key::Down, Key::Left, Key::Right]);
    keys.extend((1..=12).map(Key::F));
    keys
}

#[test]
fn no_key_in_any_place_asks_for_a_write() {
    for (place, scene) in everywhere() {
        for key in all_keys() {
            let effects = scene.clone().press(key);
            assert!(effects.iter().all(is_harmless), "{key} in {place}: {effects:?}");
        }
    }
}

#[test]
fn a_request_has_no_word_for_a_write() {
    // what a plan can ask for, in full: a new field has to be judged here
    for (_, mut scene) in everywhere() {
        for effect in scene.tick() {
            let Effect::Poll(polling) = effect else {
                continue;
            };
            let pelwatch::core::sample::Request { streams, scan: _, clients: _, server: _, condition: _, census: _ } =
                polling.request;
            for pelwatch::core::sample::StreamRequest { key: _, facts: _, ttl: _, groups, ranges: _ } in streams {
                for pelwatch::core::sample::GroupRequest { name: _, consumers: _, summary: _, pages } in groups {
                    assert!(pages.iter().all(|page| page.count <= 1000));
                }
            }
        }
    }
}

#[test]
fn esc_and_odd_keys_never_quit() {
    for (place, scene) in everywhere() {
        for key in all_keys() {
            let typing = scene.app.overview.filter.typing && !matches!(key, Key::Ctrl(_));
            let quits = scene.clone().press(key).iter().any(|effect| matches!(effect, Effect::Quit { .. }));
            let at_home = scene.app.place == Place::Overview && scene.app.overlay.is_none();
            let expected = match key {
                Key::Char('q') => !typing && at_home,
                Key::Char('Q') => !typing,
                Key::Ctrl('c') => true,
                _ => false,
            };
            assert_eq!(quits, expected, "{key} in {place}");
        }
        let mut scene = scene;
        for _ in 0..5 {
            assert!(!scene.press(Key::Esc).iter().any(|effect| matches!(effect, Effect::Quit { .. })), "{place}");
        }
        assert_eq!((scene.app.place, scene.app.overlay), (Place::Overview, None), "Esc leads home from {place}");
    }
}

/// A place in which a binding holds and can be seen to work.
fn place_for(binding: &keymap::Binding) -> Scene {
    let mut scene = match binding.scope {
        Scope::Overview | Scope::Everywhere => overview(),
        Scope::Group => seed_group(),
    };
    match binding.action {
        Action::Back => scene = seed_group(),
        Action::Right | Action::Left => {
            scene.keys("<BackTab>l");
        }
        Action::Up | Action::First | Action::PageUp => {
            scene.keys("G");
        }
        Action::NextGroup | Action::PreviousGroup => {
            scene = overview();
            scene.keys("<Enter>");
        }
        Action::Mark => {
            scene.keys("<BackTab>");
        }
        Action::Show(pane) => {
            scene.keys(if pane == Pane::Strip { "3" } else { "1" });
        }
        Action::Prepare(Prepared::HandOver | Prepared::Acknowledge) => {
            scene.keys("<BackTab>v");
        }
        Action::RollUp => scene = fleet(),
        Action::MarkKnown => {
            scene = troubled();
            scene.keys("<Enter>3");
        }
        Action::Log => {
            scene = seed_group();
            scene.run(1, |world, _| world.streams.clear()).keys("<Esc>");
        }
        _ => {}
    }
    scene
}

/// Whether the action did what its help says.
fn did(action: Action, before: &App, after: &App, effects: &[Effect]) -> bool {
    let index = |app: &App| app.selected_index(&app.listed());
    let last = before.listed().len().saturating_sub(1);
    match action {
        Action::Open => matches!(after.place, Place::Group { .. }),
        Action::Back => after.place == Place::Overview,
        Action::Down => index(after) == index(before) + 1,
        Action::Up => index(after) + 1 == index(before),
        Action::Right => after.group_screen.entry > before.group_screen.entry,
        Action::Left => after.group_screen.entry < before.group_screen.entry,
        Action::First | Action::PageUp => index(after) == 0 && index(before) > 0,
        Action::Last | Action::PageDown => index(after) == last && index(before) < last,
        Action::NextPane => after.group_screen.pane == Pane::Symptoms,
        Action::PreviousPane => after.group_screen.pane == Pane::Strip,
        Action::Oldest => matches!(after.group_screen.tree_row, Some(TreeRow::Entry(_))),
        Action::Zoom => after.group_screen.zoom == Zoom::Cells,
        Action::NextGroup | Action::PreviousGroup => after.place != before.place && after.place != Place::Overview,
        Action::Filter => after.overview.filter.typing,
        Action::Sort | Action::SortRight => after.overview.order == Order::Name,
        Action::Reverse => after.overview.reversed,
        Action::RollUp => after.overview.lists_all && !before.overview.lists_all,
        Action::Prepare(_) => after.dialog().is_some() && matches!(effects, [Effect::MakePlan { .. }]),
        Action::Mark => after.group_screen.marks.len() == 1,
        Action::MarkAll => !after.group_screen.marks.is_empty(),
        Action::Show(pane) => after.group_screen.pane == pane && before.group_screen.pane != pane,
        Action::Alone => after.group_screen.alone,
        Action::SortLeft => after.overview.order == Order::Oldest,
        Action::Commands => matches!(after.overlay, Some(Overlay::Commands(_))),
        Action::MarkKnown => after.watch.verdicts.known() == 1 && before.watch.verdicts.known() == 0,
        Action::Pause => after.frozen.is_some(),
        Action::Poll => effects == [Effect::PollNow],
        Action::Faster => after.interval_ms == 500,
        Action::Slower => after.interval_ms == 2000,
        Action::CopyName => effects == [Effect::Copy("workers".into())],
        Action::CopyCommand => effects == [Effect::Copy("redis-cli -s /run/redis.sock XINFO GROUPS mail".into())],
        Action::Log => matches!(after.overlay, Some(Overlay::Log(_))),
        Action::Help => after.overlay == Some(Overlay::Help),
        Action::Redraw => effects == [Effect::Redraw],
        Action::Suspend => effects == [Effect::Suspend],
        Action::QuitPrinting => effects == [Effect::Quit { printing: true }],
        Action::Leave | Action::Quit => effects == [Effect::Quit { printing: false }],
    }
}

#[test]
fn every_key_of_the_table_does_what_its_help_says() {
    for binding in BINDINGS {
        for key in binding.keys {
            let mut scene = place_for(binding);
            let before = scene.app.clone();
            assert_eq!(keymap::action(&before, *key), Some(binding.action), "{key}");
            let effects = scene.press(*key);
            assert!(
                did(binding.action, &before, &scene.app, &effects),
                "{key}: {:?} ({}) gave {effects:?}",
                binding.action,
                binding.help
            );
        }
    }
}

#[test]
fn a_binding_holds_in_its_scope_and_nowhere_else() {
    for (place, scene) in everywhere() {
        let (in_group, over) = (scene.app.place != Place::Overview, scene.app.overlay.is_some());
        for binding in BINDINGS {
            let expected = match binding.scope {
                Scope::Everywhere => true,
                Scope::Overview => !in_group && !over,
                Scope::Group => in_group && !over,
            };
            for key in binding.keys {
                let found = keymap::action(&scene.app, *key) == Some(binding.action);
                assert_eq!(found, expected, "{key} in {place}");
            }
        }
    }
}

#[test]
fn the_selection_sticks_to_its_row_when_the_order_changes() {
    let mut scene = overview();
    scene.keys("jj");
    let picked = scene.app.overview.selected.clone().unwrap();
    assert_eq!(picked, Picked::Row(row("orders", "shipping")));
    for keys in ["s", "s", "s", "S", "s", "s", "S"] {
        scene.keys(keys).tick();
        assert_eq!(scene.app.overview.selected, Some(picked.clone()));
        let listed = scene.app.listed();
        assert_eq!(listed[scene.app.selected_index(&listed)].id(), picked);
    }
    scene.run(1, |world, _| {
        world.stream("aaa", counted(3)).group("g", "1-0");
    });
    scene.at += 6000;
    scene.ticks(3);
    assert_eq!(ids(&scene.app).len(), 5, "a new stream shows up by itself");
    assert_eq!(scene.app.overview.selected, Some(picked));
}

#[test]
fn a_row_that_vanishes_hands_the_selection_to_one_that_is_there() {
    let mut scene = overview();
    scene.keys("jj");
    scene.run(1, |world, _| {
        world.streams.get_mut(&"orders".into()).unwrap().groups.remove(&"shipping".into());
    });
    let rows = scene.app.rows();
    assert!(scene.app.overview.row().is_some_and(|picked| rows.iter().any(|row| row.id() == *picked)));
    scene.run(1, |world, _| {
        world.streams.get_mut(&"orders".into()).unwrap().groups.clear();
    });
    assert!(ids(&scene.app).contains(&"orders/-".to_owned()), "a stream keeps its row");
    scene.keys("/zzz<Enter>");
    assert_eq!(scene.app.overview.selected, None);
    scene.keys("<Enter>yYjkgG");
    assert_eq!(scene.app.place, Place::Overview);
    scene.keys("<Esc>");
    assert!(scene.app.overview.selected.is_some());
}

#[test]
fn on_the_group_screen_a_group_that_vanishes_leaves_its_place() {
    let mut scene = seed_group();
    scene.run(2, |world, _| {
        world.streams.get_mut(&"Orders".into()).unwrap().groups.clear();
    });
    assert_eq!(scene.app.place, Place::Group { key: "Orders".into(), group: "workers".into() });
    assert!(scene.app.group().is_none());
    scene.keys("jkhlgGzyY<Enter>3<Enter>3<Enter>");
    assert!(matches!(scene.app.place, Place::Group { .. }));
    scene.run(2, |world, _| {
        world.streams.get_mut(&"Orders".into()).unwrap().group("workers", "0-0");
    });
    assert!(scene.app.group().is_some(), "it shows up again by itself");
}

#[test]
fn the_filter_takes_what_holds_the_text_or_with_a_mark_what_does_not() {
    let all = ["mail/workers", "orders/billing", "orders/shipping", "payments/workers"];
    let table: &[(&str, &[usize])] = &[
        ("", &[0, 1, 2, 3]),
        ("orders", &[1, 2]),
        ("ORD", &[1, 2]),
        ("work", &[0, 3]),
        ("!work", &[1, 2]),
        ("!", &[0, 1, 2, 3]),
        ("zzz", &[]),
        ("!zzz", &[0, 1, 2, 3]),
        ("pay", &[3]),
    ];
    for (filter, expected) in table {
        let mut scene = overview();
        scene.keys("s/").keys(filter);
        let expected: Vec<&str> = expected.iter().map(|index| all[*index]).collect();
        assert_eq!(ids(&scene.app), expected, "{filter}, while it is typed");
        scene.keys("<Enter>");
        assert_eq!(ids(&scene.app), expected, "{filter}, kept");
        assert!(!scene.app.overview.filter.typing);
        scene.keys("<Esc>");
        assert_eq!(ids(&scene.app), all, "Esc clears it");
    }
}

#[test]
fn what_is_typed_into_the_filter_is_no_action() {
    let mut scene = overview();
    let before = scene.app.clone();
    scene.keys("/");
    for key in (' '..='~').map(Key::Char) {
        let effects = scene.press(key);
        assert!(effects.iter().all(|effect| matches!(effect, Effect::Poll(_) | Effect::PollNow)), "{key}: {effects:?}");
    }
    let app = &scene.app;
    assert_eq!(app.overview.filter.text, (' '..='~').collect::<String>());
    assert_eq!(
        (app.overview.order, app.overview.reversed, app.interval_ms, app.frozen.is_some()),
        (before.overview.order, before.overview.reversed, before.interval_ms, false)
    );
    assert_eq!((&app.place, &app.overlay), (&before.place, &before.overlay));
    scene.press(Key::Backspace);
    assert!(scene.app.overview.filter.text.ends_with('}'));
    scene.press(Key::Ctrl('u'));
    assert_eq!(scene.app.overview.filter.text, "");
    scene.keys("x<Esc>");
    assert_eq!((scene.app.overview.filter.typing, scene.app.overview.filter.text.as_str()), (false, ""));
    assert!(
        Scene::clone(&scene).keys("/").press(Key::Ctrl('c')).contains(&Effect::Quit { printing: false }),
        "Ctrl-C ends it even then"
    );
}

#[test]
fn pasted_text_goes_to_the_filter_only() {
    for (place, mut scene) in everywhere() {
        let (typing, before) = (scene.app.overview.filter.typing, scene.app.clone());
        let effects = scene.send(Msg::Paste("qQ\n\x1b[201~c\r".into()));
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Quit { .. } | Effect::Copy(_))), "{place}");
        if typing {
            assert_eq!(scene.app.overview.filter.text, format!("{}qQ[201~c", before.overview.filter.text), "{place}");
        } else {
            assert_eq!(
                (&scene.app.overview.filter, &scene.app.place, &scene.app.overlay),
                (&before.overview.filter, &before.place, &before.overlay),
                "{place}"
            );
        }
    }
    let mut scene = overview();
    scene.keys("/").send(Msg::Paste("x".repeat(100_000)));
    assert!(scene.app.overview.filter.text.len() <= 100, "a paste is bounded");
}

/// Groups with lags of every kind, by name: zero, unknown, one, many, no group.
fn lags_to_sort() -> Scene {
    let mut world = World::new("redis", "7.4.1");
    world.stream("b-zero", counted(5)).group("g", "5-0");
    world.stream("a-zero", counted(5)).group("g", "5-0");
    world.stream("z-unknown", counted(5)).group("g", "900-0");
    world.stream("c-one", counted(5)).group("g", "4-0");
    let many = world.stream("d-many", counted(50)).group("g", "10-0");
    many.consumer("c", 100, None).holds("c", "2-0", 9000, 1).holds("c", "3-0", 100, 1);
    world.stream("e-held", counted(5)).group("g", "5-0").consumer("c", 0, None).holds("c", "1-0", 20_000, 1);
    world.stream("f-none", counted(5));
    let mut scene = Scene::new(world);
    scene.ticks(4);
    scene
}

#[test]
fn orders_are_what_they_say() {
    let table =
        [(Order::Name, "abcdefz"), (Order::Lag, "dczabef"), (Order::Pending, "deabczf"), (Order::Oldest, "edabcfz")];
    let mut scene = lags_to_sort();
    let firsts = |app: &App| ids(app).iter().map(|id| id.chars().next().unwrap()).collect::<String>();
    assert_eq!(firsts(&scene.app).chars().next(), Some('z'), "the worst first: a cursor beyond the end");
    for (order, expected) in table {
        scene.keys("s");
        assert_eq!((scene.app.overview.order, firsts(&scene.app).as_str()), (order, expected));
        let mut turned = scene.clone();
        turned.keys("S");
        assert_eq!(firsts(&turned.app), expected.chars().rev().collect::<String>(), "{order:?} turned round");
    }
    scene.keys("s");
    assert_eq!(scene.app.overview.order, Order::Level);
}

#[test]
fn an_unknown_lag_stands_before_the_zeros() {
    let mut scene = lags_to_sort();
    scene.keys("ss");
    let rows = ids(&scene.app);
    let at = |name: &str| rows.iter().position(|id| id.starts_with(name)).unwrap();
    assert!(at("z-unknown") < at("a-zero") && at("z-unknown") < at("b-zero"), "{rows:?}");
}

fn plans(effects: &[Effect]) -> Vec<&pelwatch::core::sample::Request> {
    effects
        .iter()
        .filter_map(|effect| if let Effect::Poll(polling) = effect { Some(&polling.request) } else { None })
        .collect()
}

#[test]
fn a_change_of_focus_is_planned_and_an_opened_group_is_polled_at_once() {
    let mut scene = overview();
    for (keys, moved) in [
        ("j", true),
        ("k", true),
        ("k", false),
        ("?", false),
        ("?", false),
        ("/", false),
        ("<Esc>", false),
        ("<Enter>", true),
        ("<Tab>", false),
        ("z", false),
        ("n", true),
        ("<Esc>", false),
    ] {
        let key = parse_keys(keys)[0];
        let (focus, place) = (scene.app.focus(), scene.app.place.clone());
        let effects = scene.press(key);
        let refocused = focus != scene.app.focus();
        // walking through the overview asks for nothing by itself: forty rows are not forty polls
        let opened = refocused && (place != Place::Overview || scene.app.place != Place::Overview);
        assert_eq!(effects.contains(&Effect::PollNow), opened, "{keys}");
        assert_eq!(plans(&effects).len(), usize::from(refocused), "{keys}");
        // opening a group may open its largest holder, which is a new focus; the rest is as told
        assert!(refocused == moved || keys == "<Enter>" || keys == "<Esc>", "{keys}: {refocused}");
    }
}

#[test]
fn the_plan_asks_for_the_group_in_focus_and_the_strip() {
    let mut scene = seed_group();
    let effects = scene.tick();
    let plan = plans(&effects)[0];
    let group = &plan.streams[0].groups[0];
    assert_eq!((&group.name, group.consumers), (&Name::from("workers"), true));
    assert!(!group.pages.is_empty());
    assert!(!effects.contains(&Effect::PollNow), "a sample that brings nothing new is no reason to hurry");
    scene.keys("<BackTab>");
    let effects = scene.press(Key::Char('l'));
    assert!(effects.contains(&Effect::PollNow));
    assert!(matches!(scene.app.focus(), Focus::Group { strip_at: Some(_), .. }));
}

#[test]
fn a_stream_just_found_is_polled_at_once() {
    let mut scene = Scene::new(seed());
    let effects = scene.tick();
    assert!(effects.contains(&Effect::PollNow));
    let effects = scene.tick();
    assert_eq!(plans(&effects).len(), 1);
    assert!(scene.app.overview.selected.is_some());
}

#[test]
fn while_it_stands_still_the_store_goes_on() {
    let mut scene = seed_group();
    scene.keys(" ");
    let shown = text(&scene.draw((120, 40), pelwatch::tui::Theme::full()));
    let body = |picture: &str| picture.lines().skip(1).collect::<Vec<_>>().join("\n");
    scene.run(5, |world, at| {
        let stream = world.streams.get_mut(&"Orders".into()).unwrap();
        stream.add(pelwatch::core::id::EntryId::new(at as u64, 0));
    });
    let (_, live) = scene.app.watch.store.group(&"Orders".into(), &"workers".into()).unwrap();
    assert_eq!(live.lag.value, Some(7));
    let frozen = scene.app.group().unwrap().group;
    assert_eq!(frozen.lag.value, Some(2));
    let still = text(&scene.draw((120, 40), pelwatch::tui::Theme::full()));
    assert_eq!(body(&still), body(&shown));
    assert!(still.contains("PAUSED, 5.0s old"));
    scene.keys(" ");
    assert_eq!(scene.app.group().unwrap().group.lag.value, Some(7));
    assert!(scene.app.frozen.is_none());
}

#[test]
fn the_interval_steps_between_a_tenth_of_a_second_and_a_minute() {
    let mut scene = overview();
    let mut seen = vec![scene.app.interval_ms];
    for _ in 0..5 {
        let effects = scene.press(Key::Char('+'));
        if scene.app.interval_ms != *seen.last().unwrap() {
            assert!(
                matches!(effects.first(), Some(Effect::Poll(polling)) if polling.interval_ms == scene.app.interval_ms)
            );
            seen.push(scene.app.interval_ms);
        }
    }
    assert_eq!(seen, [1000, 500, 250, 100], "never below 100 ms");
    for _ in 0..12 {
        scene.press(Key::Char('-'));
    }
    assert_eq!(scene.app.interval_ms, 60_000);
    for (set, slower, faster) in [(1500, 2000, 1000), (100, 250, 100), (120_000, 60_000, 30_000), (50, 100, 100)] {
        let mut at = overview();
        at.app.interval_ms = set;
        let mut other = at.clone();
        at.press(Key::Char('-'));
        other.press(Key::Char('+'));
        assert_eq!((at.app.interval_ms, other.app.interval_ms), (slower, faster), "from {set}");
    }
}

#[test]
fn a_lost_connection_is_dated_from_the_last_sample_and_ends_with_the_next() {
    let mut scene = seed_group();
    let last = scene.at;
    scene.down(4000, 1000);
    let since = |app: &App| if let LinkState::Down { since, .. } = &app.link { Some(*since) } else { None };
    assert_eq!(since(&scene.app), Some(Mono(last)));
    scene.at += 2000;
    scene.send(Msg::Down { failing_over: false, why: "still gone".into(), retry_at: Mono(scene.at + 500) });
    assert_eq!(since(&scene.app), Some(Mono(last)), "the start does not move with the tries");
    let before = scene.app.watch.store.ticks;
    scene.keys("jkz?<Esc>");
    assert_eq!(scene.app.watch.store.ticks, before);
    scene.tick();
    assert_eq!(scene.app.link, LinkState::Up);
}

#[test]
fn only_the_entry_that_is_open_is_shown() {
    let mut scene = seed_group();
    let effects = scene.keys("j").press(Key::Enter);
    assert!(effects.contains(&Effect::FetchEntry { key: "Orders".into(), id: id("3-0") }));
    let payload = |key: &str, entry: &str| EntryPayload { key: key.into(), id: id(entry), fields: Ok(None) };
    let shown = |app: &App| matches!(&app.overlay, Some(Overlay::Entry { payload: Some(_), .. }));
    for (key, entry) in [("Orders", "4-0"), ("Other", "3-0"), ("orders", "3-0")] {
        scene.send(Msg::Entry(payload(key, entry)));
        assert!(!shown(&scene.app), "{key} {entry}");
    }
    scene.send(Msg::Entry(payload("Orders", "3-0")));
    assert!(shown(&scene.app));
    scene.keys("<Esc>").send(Msg::Entry(payload("Orders", "3-0")));
    assert_eq!(scene.app.overlay, None, "an answer that comes late opens nothing");
    scene.keys("?").send(Msg::Entry(payload("Orders", "3-0")));
    assert_eq!(scene.app.overlay, Some(Overlay::Help));
}

fn copied(scene: &mut Scene, key: char) -> String {
    match scene.press(Key::Char(key)).as_slice() {
        [Effect::Copy(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// What a shell makes of a line: the words, byte for byte.
fn shell_words(line: &str) -> Vec<Vec<u8>> {
    let script = format!("set -- {line}\nfor word; do printf '%s\\0' \"$word\"; done");
    let output = std::process::Command::new("bash").args(["-c", &script]).output().expect("bash runs");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let mut words: Vec<Vec<u8>> = output.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    words.pop();
    words
}

#[test]
fn a_copied_command_is_exact_for_every_name() {
    let mut scene = Scene::new(names());
    scene.ticks(3).keys("s");
    for index in 0..scene.app.rows().len() {
        let mut at = scene.clone();
        at.keys("g").keys(&"j".repeat(index));
        let RowId { key, group } = at.app.overview.row().cloned().unwrap();
        let group = group.unwrap();
        let words = shell_words(&copied(&mut at, 'Y'));
        assert_eq!(words[..3], [b"redis-cli".to_vec(), b"-s".to_vec(), b"/run/redis.sock".to_vec()]);
        assert_eq!(words[3..], [b"XINFO".to_vec(), b"GROUPS".to_vec(), key.bytes().to_vec()]);
        at.keys("<Enter>2").ticks(2);
        let Some(TreeRow::Consumer(Some(consumer))) = at.app.group_screen.tree_row.clone() else {
            panic!("the holder is picked")
        };
        let words = shell_words(&copied(&mut at, 'Y'));
        let range = [b"-".to_vec(), b"+".to_vec(), b"10".to_vec(), consumer.bytes().to_vec()];
        assert_eq!(words[3..6], [b"XPENDING".to_vec(), key.bytes().to_vec(), group.bytes().to_vec()]);
        assert_eq!(words[6..], range);
    }
}

#[test]
fn what_is_copied_is_what_the_row_shows() {
    let mut scene = seed_group();
    let cli = "redis-cli -s /run/redis.sock";
    assert_eq!(copied(&mut scene, 'y'), "c1");
    assert_eq!(copied(&mut scene, 'Y'), format!("{cli} XPENDING Orders workers - + 10 c1"));
    scene.keys("j");
    assert_eq!(copied(&mut scene, 'y'), "3-0");
    assert_eq!(copied(&mut scene, 'Y'), format!("{cli} XRANGE Orders 3-0 3-0"));
    scene.keys("<Enter>");
    assert_eq!(copied(&mut scene, 'y'), "3-0");
    assert_eq!(copied(&mut scene, 'Y'), format!("{cli} XRANGE Orders 3-0 3-0"));
    scene.keys("<Esc><BackTab>");
    assert_eq!(copied(&mut scene, 'y'), "4-0", "the cursor, as long as no entry is picked");
    scene.keys("l");
    assert_eq!(copied(&mut scene, 'y'), "5-0");
    scene.keys("<BackTab>");
    let paragraph = copied(&mut scene, 'y');
    for part in [
        "Orders/workers on unix:",
        "holder-gone, since 20",
        ": c1 holds 1 entry",
        "Likely cause: ",
        "To do: ",
        "First check: XPENDING",
    ] {
        assert!(paragraph.contains(part), "{part}: {paragraph}");
    }
    assert!(!paragraph.contains('\n'));
    assert_eq!(copied(&mut scene, 'Y'), format!("{cli} XPENDING Orders workers - + 10 c1"));
    scene.keys("<Esc>");
    assert_eq!(copied(&mut scene, 'y'), "workers");
    assert_eq!(copied(&mut scene, 'Y'), format!("{cli} XINFO GROUPS Orders"));
    let mut faulty = faulty();
    faulty.keys("/cart<Enter>");
    assert_eq!(copied(&mut faulty, 'y'), "cart");
    assert_eq!(copied(&mut faulty, 'Y'), format!("{cli} XINFO STREAM cart"));
}

#[test]
fn nothing_to_copy_and_too_much_are_said() {
    let mut scene = Scene::new(World::default());
    assert_eq!(scene.press(Key::Char('y')), []);
    assert_eq!(scene.app.notice.as_ref().unwrap().text, "nothing to copy here");
    let mut world = World::new("redis", "7.4.1");
    world.stream("k".repeat(70_000).as_str(), counted(1));
    let mut scene = Scene::new(world);
    scene.ticks(2);
    assert_eq!(scene.press(Key::Char('Y')), []);
    assert!(scene.app.notice.as_ref().unwrap().text.contains("too long"));
    scene.at += 3000;
    scene.send(Msg::Clock);
    assert_eq!(scene.app.notice, None, "a word is there for three seconds");
}

#[test]
fn opening_a_group_shows_what_its_largest_holder_holds() {
    let mut world = seed();
    world.group("Orders", "workers").holds("c2", "2-0", 10, 1).holds("c2", "1-0", 10, 1);
    let mut scene = Scene::new(world);
    scene.ticks(3).keys("<Enter>2");
    assert_eq!(scene.app.group_screen.tree_row, Some(TreeRow::Consumer(Some("c2".into()))));
    assert!(scene.app.group_screen.open.contains(&Some("c2".into())));
    scene.keys("<Enter>");
    assert!(scene.app.group_screen.open.is_empty(), "Enter folds it up");
    scene.keys("l");
    assert_eq!(scene.app.group_screen.open.len(), 1);
    scene.keys("jh");
    assert_eq!(
        (scene.app.group_screen.tree_row.clone(), scene.app.group_screen.open.len()),
        (Some(TreeRow::Consumer(Some("c2".into()))), 0),
        "h leads from an entry to its holder"
    );
}

#[test]
fn a_box_scrolls_to_its_end_and_straight_back() {
    let mut scene = overview();
    scene.send(Msg::Resized(80, 24));
    scene.keys("?G");
    let end = scene.app.scroll;
    assert!(end > 0 && end < 40);
    scene.keys("jjj");
    assert_eq!(scene.app.scroll, end);
    scene.keys("k");
    assert_eq!(scene.app.scroll, end - 1);
    scene.keys("g");
    assert_eq!(scene.app.scroll, 0);
    scene.keys("G").send(Msg::Resized(120, 50));
    assert_eq!(scene.app.scroll, 0, "all of it fits now");
}

#[test]
fn what_is_not_there_is_said_in_place_of_being_done() {
    let mut scene = overview();
    scene.keys("e");
    assert_eq!(scene.app.overlay, None);
    assert_eq!(scene.app.notice.as_ref().unwrap().text, "nothing happened so far");
}

#[test]
fn a_cursor_that_goes_back_and_a_group_that_is_lost_become_events() {
    let mut scene = seed_group();
    scene.run(1, |world, _| {
        world.group("Orders", "workers").cursor = id("1-0");
    });
    scene.run(1, |world, _| {
        world.streams.get_mut(&"Orders".into()).unwrap().groups.clear();
    });
    let seen: Vec<&str> = scene.app.watch.store.events.iter().map(|event| event.id).collect();
    assert_eq!(seen, ["cursor-went-back", "group-lost"]);
}

#[test]
fn only_the_groups_asked_for_have_rows() {
    let settings = Settings { groups: vec!["billing".into()], ..Settings::default() };
    let mut scene = Scene::watching(healthy(), settings);
    scene.ticks(3);
    assert!(ids(&scene.app).contains(&"orders/billing".to_owned()));
    assert_eq!(ids(&scene.app), ["orders/billing"], "a stream without any of them has no row");
    let keys = vec!["mail".into()];
    let mut named =
        Scene::watching(healthy(), Settings { groups: vec!["billing".into()], keys, ..Settings::default() });
    named.ticks(3);
    assert_eq!(ids(&named.app), ["mail/-"], "one that is asked for by name says that it has none");
}

#[test]
fn an_empty_sample_changes_nothing_that_is_shown() {
    let mut scene = seed_group();
    let before = ids(&scene.app);
    scene
        .send(Msg::Sampled { sample: Box::new(Sample { at: Mono(scene.at), ..Sample::default() }), interval_ms: 1000 });
    assert_eq!(ids(&scene.app), before);
    assert!(scene.app.group().is_some());
}

#[test]
fn the_signal_to_end_ends() {
    for (_, mut scene) in everywhere() {
        assert!(scene.send(Msg::Terminate).contains(&Effect::Quit { printing: false }));
    }
}

#[test]
fn lag_zero_is_never_made_of_nothing() {
    let mut world = World::new("redis", "7.4.1");
    let stream = world.stream("s", counted(3));
    stream.ids.remove(&id("2-0"));
    stream.max_deleted = Known::Is(id("2-0"));
    let group = stream.group("g", "1-0");
    (group.lag, group.read) = (Some(Known::Undetermined), Some(Known::Is(1)));
    let mut scene = Scene::new(world);
    scene.ticks(2);
    let (_, group) = scene.app.watch.store.groups().next().unwrap();
    assert_ne!(group.lag.value, Some(0));
}

#[test]
fn a_group_that_is_ignored_is_shown_and_never_judged() {
    let mut world = healthy();
    world.group("mail", "workers").holds("w9", "1-0", 9_000_000, 1).consumer("w9", 9_000_000, Some(9_000_000));
    let found_in = |world: &World, ignored: &[&str]| {
        let ignored = ignored.iter().map(|name| Name::from(*name)).collect();
        let mut scene = Scene::watching(world.clone(), Settings { ignored, ..Settings::default() });
        scene.ticks(8);
        scene
    };
    assert!(found_in(&world, &[]).app.watch.groups().any(|seen| !seen.judgement.findings.is_empty()));
    // nor is it reported that something about it cannot be read
    world.group("mail", "workers").pending_fault = Some(Fault::Denied("NOPERM".to_owned()));
    let summary = |ignored: &[&str]| found_in(&world, ignored).app.watch.summary();
    assert!(summary(&[]) >= Summary::Unknown && summary(&["workers"]) < Summary::Reading);
    let scene = found_in(&world, &["workers"]);
    assert!(ids(&scene.app).contains(&"mail/workers".to_owned()));
    assert!(scene.app.watch.groups().all(|seen| seen.judgement.findings.is_empty()));
}

#[test]
fn a_cluster_with_a_node_that_does_not_answer_is_never_quiet() {
    let node = |name: &str, trouble: Option<&str>| NodeFacts { name: name.into(), trouble: trouble.map(str::to_owned) };
    let summary = |trouble| {
        let nodes = vec![node("h:1", None), node("h:2", trouble)];
        let world = World { cluster: Some(ClusterFacts { nodes, all_known: true, all_searched: true }), ..healthy() };
        let mut scene = Scene::new(world);
        scene.ticks(8);
        scene.app.watch.summary()
    };
    assert_eq!((summary(None), summary(Some("no answer"))), (Summary::Quiet, Summary::Unknown));
}
