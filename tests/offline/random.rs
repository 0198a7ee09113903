//! Random keys, samples and sizes: nothing panics, every screen follows the rules, and the strip keeps its width.

use crate::scenes::*;
use pelwatch::{
    app::{
        Zoom,
        cells::width,
        key::Key,
        msg::Msg,
        screen::{Body, Screen},
    },
    core::{
        id::EntryId,
        known::Known,
        model::FATAL_DELIVERIES,
        name::Name,
        sample::{EntryPayload, Fault},
        time::Mono,
    },
    tui::Theme,
};
use proptest::{collection::vec, prelude::*, sample::select};

/// A change on the server.
#[derive(Clone, Debug)]
enum Change {
    Add { key: usize, count: u64 },
    Delete { key: usize, nth: usize },
    Trim { key: usize, keep: usize },
    DropStream { key: usize },
    FaultStream { key: usize, fault: usize },
    Create { key: usize, group: usize },
    DropGroup { key: usize, group: usize },
    Read { key: usize, group: usize, consumer: usize, count: usize },
    Ack { key: usize, group: usize, nth: usize },
    Claim { key: usize, group: usize, consumer: usize },
    Release { key: usize, group: usize, fatal: bool },
    Seek { key: usize, group: usize, to: u64 },
    DropConsumer { key: usize, group: usize },
    Lag { key: usize, group: usize, lag: Known<i64>, read: Known<i64> },
    Denied { key: usize, group: usize },
}

/// An event in pelwatch.
#[derive(Clone, Debug)]
enum Step {
    Change(Change),
    Tick,
    Wait(u64),
    Press(Key),
    Paste(String),
    Down,
    Payload(Vec<u8>),
    Draw(u16, u16),
}

fn names() -> [Name; 6] {
    [
        "orders".into(),
        "注文ストリーム消費".into(),
        hostile_name(),
        "".into(),
        "k".repeat(300).as_str().into(),
        "b 'x'".into(),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let (key, group, consumer) = (0..6usize, 0..6usize, 0..6usize);
    let number = prop_oneof![
        Just(Known::Undetermined),
        Just(Known::Unsupported),
        any::<i64>().prop_map(Known::Is),
        (-5..50i64).prop_map(Known::Is)
    ];
    let place = (key, group);
    prop_oneof![
        4 => (place.0.clone(), 1..120u64).prop_map(|(key, count)| Change::Add { key, count }),
        1 => (place.0.clone(), 0..200usize).prop_map(|(key, nth)| Change::Delete { key, nth }),
        1 => (place.0.clone(), 0..50usize).prop_map(|(key, keep)| Change::Trim { key, keep }),
        1 => place.0.clone().prop_map(|key| Change::DropStream { key }),
        1 => (place.0.clone(), 0..5usize).prop_map(|(key, fault)| Change::FaultStream { key, fault }),
        3 => place.clone().prop_map(|(key, group)| Change::Create { key, group }),
        1 => place.clone().prop_map(|(key, group)| Change::DropGroup { key, group }),
        4 => (place.clone(), consumer.clone(), 1..80usize)
            .prop_map(|((key, group), consumer, count)| Change::Read { key, group, consumer, count }),
        2 => (place.clone(), 0..100usize).prop_map(|((key, group), nth)| Change::Ack { key, group, nth }),
        1 => (place.clone(), consumer).prop_map(|((key, group), consumer)| Change::Claim { key, group, consumer }),
        1 => (place.clone(), any::<bool>()).prop_map(|((key, group), fatal)| Change::Release { key, group, fatal }),
        1 => (place.clone(), prop_oneof![0..500u64, any::<u64>()]).prop_map(|((key, group), to)| Change::Seek { key, group, to }),
        1 => place.clone().prop_map(|(key, group)| Change::DropConsumer { key, group }),
        1 => (place.clone(), number.clone(), number).prop_map(|((key, group), lag, read)| Change::Lag { key, group, lag, read }),
        1 => place.prop_map(|(key, group)| Change::Denied { key, group }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let bound: Vec<Key> =
        pelwatch::app::keymap::BINDINGS.iter().flat_map(|binding| binding.keys.iter().copied()).collect();
    let key = prop_oneof![
        6 => select(bound),
        1 => any::<char>().prop_map(Key::Char),
        1 => select(vec![Key::Backspace, Key::Enter, Key::Esc, Key::Ctrl('u')]),
    ];
    prop_oneof![
        6 => change().prop_map(Step::Change),
        8 => Just(Step::Tick),
        1 => prop_oneof![0..20_000u64, any::<u32>().prop_map(u64::from)].prop_map(Step::Wait),
        12 => key.prop_map(Step::Press),
        1 => any::<String>().prop_map(Step::Paste),
        1 => Just(Step::Down),
        1 => vec(any::<u8>(), 0..200).prop_map(Step::Payload),
        4 => (1..=200u16, 1..=60u16).prop_map(|(columns, rows)| Step::Draw(columns, rows)),
    ]
}

fn fault(index: usize) -> Option<Fault> {
    [
        None,
        Some(Fault::Missing),
        Some(Fault::WrongType),
        Some(Fault::Denied("NOPERM".into())),
        Some(Fault::Other("LOADING".into())),
    ][index]
        .clone()
}

/// Changes the world as a server would. A change to something that does not exist is ignored.
fn apply(world: &mut World, change: &Change, at: i64) {
    let names = names();
    if let Change::Add { key, .. } | Change::Create { key, .. } = change
        && !world.streams.contains_key(&names[*key])
    {
        world.stream(names[*key].clone(), []);
    }
    let (Change::Add { key, .. }
    | Change::Delete { key, .. }
    | Change::Trim { key, .. }
    | Change::DropStream { key }
    | Change::FaultStream { key, .. }
    | Change::Create { key, .. }
    | Change::DropGroup { key, .. }
    | Change::Read { key, .. }
    | Change::Ack { key, .. }
    | Change::Claim { key, .. }
    | Change::Release { key, .. }
    | Change::Seek { key, .. }
    | Change::DropConsumer { key, .. }
    | Change::Lag { key, .. }
    | Change::Denied { key, .. }) = change;
    let key = &names[*key];
    if matches!(change, Change::DropStream { .. }) {
        world.streams.remove(key);
        return;
    }
    let Some(stream) = world.streams.get_mut(key) else {
        return;
    };
    match change {
        Change::Add { count, .. } => {
            for _ in 0..*count {
                let next = EntryId::new(stream.last_generated.ms + 1, 0);
                stream.add(next);
            }
        }
        Change::Delete { nth, .. } => {
            if let Some(entry) = stream.ids.iter().nth(*nth).copied() {
                stream.ids.remove(&entry);
                stream.max_deleted = Known::Is(stream.max_deleted.value().unwrap_or_default().max(entry));
            }
        }
        Change::Trim { keep, .. } => {
            while stream.ids.len() > *keep {
                stream.ids.pop_first();
            }
        }
        Change::FaultStream { fault: index, .. } => stream.fault = fault(*index),
        Change::Create { group, .. } => {
            stream.group(names[*group].clone(), "0-0");
        }
        Change::DropGroup { group, .. } => {
            stream.groups.remove(&names[*group]);
        }
        Change::Read { group, consumer, count, .. } => {
            let Some(group) = stream.groups.get_mut(&names[*group]) else {
                return;
            };
            let entries: Vec<EntryId> =
                stream.ids.range(group.cursor..).filter(|entry| **entry > group.cursor).take(*count).copied().collect();
            if !group.consumers.iter().any(|worker| worker.name == names[*consumer]) {
                group.consumer(names[*consumer].clone(), -at, None);
            }
            for entry in entries {
                group.cursor = entry;
                group.holds(names[*consumer].clone(), &entry.to_string(), -at, 1);
            }
        }
        Change::Ack { group, nth, .. } => {
            let Some(group) = stream.groups.get_mut(&names[*group]) else {
                return;
            };
            if let Some(entry) = group.pending.keys().nth(*nth).copied() {
                group.pending.remove(&entry);
            }
        }
        Change::Claim { group, consumer, .. } => {
            let Some(group) = stream.groups.get_mut(&names[*group]) else {
                return;
            };
            for held in group.pending.values_mut() {
                (held.owner, held.delivered, held.count) =
                    (Some(names[*consumer].clone()), at, held.count.saturating_add(1));
            }
        }
        Change::Release { group, fatal, .. } => {
            let Some(group) = stream.groups.get_mut(&names[*group]) else {
                return;
            };
            if let Some(held) = group.pending.values_mut().next() {
                (held.owner, held.count) = (None, if *fatal { FATAL_DELIVERIES } else { held.count });
            }
        }
        Change::Seek { group, to, .. } => {
            let Some(group) = stream.groups.get_mut(&names[*group]) else {
                return;
            };
            group.cursor = EntryId::new(*to, 0);
        }
        Change::DropConsumer { group, .. } => {
            let Some(group) = stream.groups.get_mut(&names[*group]) else {
                return;
            };
            if let Some(worker) = group.consumers.pop() {
                group.pending.retain(|_, held| held.owner.as_ref() != Some(&worker.name));
            }
        }
        Change::Lag { group, lag, read, .. } => {
            let Some(group) = stream.groups.get_mut(&names[*group]) else {
                return;
            };
            (group.lag, group.read) = (Some(*lag), Some(*read));
        }
        Change::Denied { group, .. } => {
            let Some(group) = stream.groups.get_mut(&names[*group]) else {
                return;
            };
            group.consumers_fault = Some(Fault::Denied("NOPERM".into()));
            group.pending_fault = Some(Fault::Denied("NOPERM".into()));
        }
        Change::DropStream { .. } => {}
    }
}

/// The strip must fit after every step.
fn assert_strip_fits(scene: &Scene) {
    let screen = Screen::of(&scene.app, scene.now(), "12:04:07");
    let Body::Group(view) = &screen.body else {
        return;
    };
    if scene.app.size.0 < 40 {
        return;
    }
    let room = usize::from(scene.app.size.0) - 4;
    // the counts in words may be cut; the pictures above them may not
    let pictures = view.strip.len().saturating_sub(1).min(3);
    for line in view.strip.iter().take(pictures) {
        let cells: usize = line.iter().map(|span| width(&span.text)).sum();
        let text: String = line.iter().map(|span| span.text.as_str()).collect();
        assert!(cells <= room, "{cells} cells of {room} in {:?}: {text:?}", view.zoom);
    }
}

fn play(steps: Vec<Step>) {
    let mut world = seed();
    world.server.version = "8.8.0".into();
    let mut scene = Scene::new(world);
    let theme = Theme::full();
    let ascii = Theme::choose(pelwatch::tui::Look::Auto, pelwatch::tui::When::Never, true, |_| None);
    for step in steps {
        match step {
            Step::Change(change) => apply(&mut scene.world, &change, scene.at as i64),
            Step::Tick => {
                scene.tick();
            }
            Step::Wait(ms) => {
                scene.at += ms;
                scene.send(Msg::Clock);
            }
            Step::Press(key) => {
                scene.press(key);
            }
            Step::Paste(text) => {
                scene.send(Msg::Paste(text));
            }
            Step::Down => {
                let retry_at = Mono(scene.at + 1000);
                scene.send(Msg::Down { failing_over: false, why: "reset by peer".into(), retry_at });
            }
            Step::Payload(bytes) => {
                if let Some(pelwatch::app::Overlay::Entry { key, id, .. }) = scene.app.overlay.clone() {
                    scene.send(Msg::Entry(EntryPayload { key, id, fields: Ok(Some(vec![(bytes.clone(), bytes)])) }));
                }
            }
            Step::Draw(columns, rows) => {
                assert_sound(&scene.draw((columns, rows), theme), false);
                assert_strip_fits(&scene);
                scene.draw((columns, rows), ascii);
            }
        }
    }
    for size in [(200, 60), (120, 40), (80, 24), (40, 10), (41, 11), (1, 1), (3, 2)] {
        assert_sound(&scene.draw(size, theme), false);
        assert_strip_fits(&scene);
    }
}

/// A few cases by default; `PROPTEST_CASES=5000` searches longer.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_sequence_of_keys_samples_and_sizes_panics(steps in vec(step(), 1..80)) {
        play(steps);
    }

    #[test]
    fn the_strip_keeps_its_width(
        entries in vec((1..400u64, 0..3u8), 1..120),
        cursor in 0..450u64,
        columns in 40..=200u16,
        zoom in 0..3usize,
        wide in any::<bool>(),
        picked in 0..6usize,
        base in select(vec![0u64, 1_764_504_000_000, u64::MAX - 1000]),
    ) {
        let mut world = World::new("redis", "8.8.0");
        let ids: Vec<EntryId> = entries.iter().map(|(ms, _)| EntryId::new(base + ms, 0)).collect();
        let owner = if wide { "消費者その一と二と三" } else { "c" };
        let group = world.stream("s", ids.clone()).group("g", &EntryId::new(base + cursor, 0).to_string());
        group.consumer(owner, 100, None);
        for (entry, (_, held)) in ids.iter().zip(&entries) {
            match held {
                0 => { group.holds(owner, &entry.to_string(), 5000, 1); }
                1 => { group.released(&entry.to_string(), 2); }
                _ => {}
            }
        }
        let mut scene = Scene::new(world);
        scene.ticks(3).keys("<Enter><BackTab>").ticks(3);
        scene.keys(&"z".repeat(zoom)).keys(&"h".repeat(picked));
        let theme = Theme::full();
        let buffer = scene.draw((columns, 24), theme);
        assert_sound(&buffer, false);
        assert_strip_fits(&scene);
        prop_assert_eq!(scene.app.group_screen.zoom, [Zoom::Entries, Zoom::Cells, Zoom::Stream][zoom]);
    }
}
