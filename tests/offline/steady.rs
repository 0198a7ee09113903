use crate::scenes::{Scene, World, id, text, timed, trouble, troubled};
use pelwatch::{
    app::{Overlay, Pane, TreeRow, effect::Effect, key::Key},
    core::{id::EntryId, name::Name},
    tui::Theme,
};

fn drawn(scene: &mut Scene) -> String {
    text(&scene.draw((120, 40), Theme::full()))
}

/// The row with the mark of the picked one.
fn marked(screen: &str) -> String {
    screen.lines().find(|line| line.contains("│▌ ")).unwrap_or_default().to_owned()
}

/// Workers whose pending entries, idle times and names at the top change each second.
fn busy() -> Scene {
    let mut world = World::new("redis", "8.2.3");
    let group = world.stream("jobs", timed(400, 10, 1000)).group("workers", "0-0");
    for name in ["a", "b", "c", "d"] {
        group.consumer(name, 50, Some(50));
    }
    let mut scene = Scene::new(world);
    scene.ticks(2);
    scene
}

/// One second of the workers: each entry is acknowledged after a while, and now and then one changes hands.
fn work(world: &mut World, at: i64) {
    let ids: Vec<EntryId> = world.streams[&Name::from("jobs")].ids.iter().copied().collect();
    let group = world.group("jobs", "workers");
    group.pending.clear();
    for worker in &mut group.consumers {
        worker.seen = at - 20;
        worker.got = Some(at - 20);
    }
    for step in 0..12 {
        let entry = ids[(at as usize / 1000 * 5 + step) % ids.len()];
        let owner = ["a", "b", "c", "d"][(at as usize / 1000 + step * step) % 4];
        group.holds(owner, &entry.to_string(), -at + 10, 1);
    }
}

#[test]
fn in_the_overview_a_key_acts_on_the_row_that_was_shown_whatever_ticked() {
    let mut scene = troubled();
    scene.keys("gj");
    let shown = marked(&drawn(&mut scene));
    let subject = scene.app.subject();
    for _ in 0..30 {
        scene.run(1, trouble);
        assert_eq!(scene.app.subject(), subject);
        let row = marked(&drawn(&mut scene));
        let name = shown.split_whitespace().nth(2).unwrap();
        assert!(row.contains(name), "{row} is not {shown}");
    }
}

#[test]
fn rows_keep_their_order_while_only_numbers_change() {
    let mut scene = troubled();
    // by pending: numbers change each second, the rows do not move until a key asks
    scene.keys("sss");
    let order = |scene: &Scene| scene.app.rows().iter().map(pelwatch::app::overview::Row::id).collect::<Vec<_>>();
    let levels = |scene: &Scene| {
        let rows = scene.app.rows();
        let mut levels: Vec<_> = rows.iter().map(|row| (row.id().key, row.level())).collect();
        levels.sort();
        levels
    };
    let (mut before, mut steady) = ((order(&scene), levels(&scene)), 0);
    for _ in 0..20 {
        scene.run(1, |world, at| {
            trouble(world, at);
            let newest: Vec<EntryId> =
                world.streams[&Name::from("orders")].ids.iter().rev().take(250).copied().collect();
            let group = world.streams.get_mut(&Name::from("orders")).unwrap().groups.values_mut().next().unwrap();
            for entry in newest {
                group.holds("w1", &entry.to_string(), 100 - at, 1);
            }
        });
        let now = (order(&scene), levels(&scene));
        if now.1 == before.1 {
            assert_eq!(now.0, before.0, "rows moved although no level changed");
            steady += 1;
        }
        before = now;
    }
    assert!(steady > 10, "the levels changed too often to see anything: {steady}");
    scene.keys("r");
    let pending: Vec<i64> = scene
        .app
        .rows()
        .iter()
        .map(|row| row.group.map_or(0, |group| group.facts.pending.value().unwrap_or(0)))
        .collect();
    assert!(pending.is_sorted_by(|a, b| a >= b), "r puts them in order: {pending:?}");
}

#[test]
fn consumers_keep_their_places_on_a_busy_group() {
    let mut scene = busy();
    scene.keys("<Enter>2");
    let names = |screen: &str| -> Vec<String> {
        let rows = screen.lines().filter(|line| line.contains("▸ ") || line.contains("▾ "));
        rows.filter_map(|line| line.split(['▸', '▾']).nth(1)?.split_whitespace().next().map(str::to_owned)).collect()
    };
    for _ in 0..20 {
        scene.run(1, work);
        let screen = drawn(&mut scene);
        let shown = names(&screen);
        assert!(shown.is_sorted(), "{shown:?}\n{screen}");
    }
}

#[test]
fn a_picked_entry_is_followed_to_its_new_owner_and_given_up_when_it_is_acknowledged() {
    let mut world = World::new("redis", "8.2.3");
    let group = world.stream("jobs", (1..=9).map(|n| id(&format!("{n}-0")))).group("workers", "9-0");
    group.consumer("a", 50, Some(50)).consumer("b", 50, Some(50));
    group.holds("a", "3-0", 100, 1).holds("a", "4-0", 100, 1).holds("b", "5-0", 100, 1);
    let mut scene = Scene::new(world);
    scene.ticks(3).keys("<Enter>2gljj");
    assert_eq!(scene.app.group_screen.tree_row, Some(TreeRow::Entry(id("4-0"))));
    scene.run(1, |world, at| {
        world.group("jobs", "workers").holds("b", "4-0", -at, 2);
    });
    let row = marked(&drawn(&mut scene));
    assert!(row.contains("4-0"), "still on it, among the entries of b: {row}");
    scene.keys("v");
    assert!(scene.app.group_screen.marks.contains(&id("4-0")));
    scene.keys("k").run(1, |world, _| {
        world.group("jobs", "workers").pending.retain(|entry, _| *entry != id("4-0"));
    });
    let picked = scene.app.group_screen.tree_row.clone();
    assert_ne!(picked, Some(TreeRow::Entry(id("4-0"))));
    assert!(marked(&drawn(&mut scene)).contains("▌"), "something that is on the screen is picked: {picked:?}");
}

#[test]
fn idle_consumers_share_a_row_that_opens() {
    let mut world = World::new("redis", "8.2.3");
    let group = world.stream("jobs", (1..=9).map(|n| id(&format!("{n}-0")))).group("workers", "9-0");
    group.consumer("busy", 50, Some(50));
    group.holds("busy", "9-0", 50, 1);
    for n in 0..6 {
        group.consumer(format!("old-{n}").as_str(), 900_000, Some(900_000));
    }
    let mut scene = Scene::new(world);
    scene.ticks(3).keys("<Enter>2");
    let screen = drawn(&mut scene);
    assert!(screen.contains("6 idle, hold nothing") && !screen.contains("old-3"), "{screen}");
    scene.keys("G<Enter>");
    assert!(drawn(&mut scene).contains("old-3"));
    scene.keys("j");
    assert_eq!(scene.app.group_screen.tree_row, Some(TreeRow::Consumer(Some("old-0".into()))));
    scene.keys("k<Enter>");
    assert!(!drawn(&mut scene).contains("old-3"));
}

#[test]
fn a_finding_leads_to_what_it_is_about_and_from_there_to_the_act() {
    // the entry that is poisoned, in two keys from the overview
    let mut world = World::new("redis", "8.2.3");
    let group = world.stream("jobs", (1..=9).map(|n| id(&format!("{n}-0")))).group("workers", "9-0");
    group.consumer("a", 50, Some(50)).holds("a", "7-0", 500, 40);
    let mut scene = Scene::new(world);
    scene.run(6, |world, at| world.group("jobs", "workers").consumers[0].seen = at);
    scene.keys("<Enter>");
    assert_eq!(scene.app.group_screen.pane, Pane::Symptoms);
    let effects = scene.press(Key::Enter);
    assert!(effects.contains(&Effect::FetchEntry { key: "jobs".into(), id: id("7-0") }), "{effects:?}");
    assert!(matches!(scene.app.overlay, Some(Overlay::Entry { .. })));
    // a holder that is gone: its row, unfolded
    let mut scene = troubled();
    scene.keys("/payments<Enter><Enter>3<Enter>");
    assert_eq!(scene.app.group_screen.tree_row, Some(TreeRow::Consumer(Some("w9".into()))));
    assert_eq!(scene.app.group_screen.pane, Pane::Consumers);
    assert!(scene.app.group_screen.open.contains(&Some("w9".into())));
}

#[test]
fn the_finding_that_was_picked_stays_picked_when_another_one_begins() {
    let mut scene = troubled();
    scene.keys("/payments<Enter><Enter>3j");
    let picked = scene.app.picked_finding().unwrap().key();
    for _ in 0..5 {
        scene.run(1, |world, at| {
            // another holder goes away
            let group = world.group("payments", "workers");
            group.consumers.iter_mut().for_each(|worker| worker.seen = at - 100_000);
        });
        assert_eq!(scene.app.picked_finding().map(pelwatch::core::symptoms::Finding::key), Some(picked.clone()));
    }
}

#[test]
fn o_goes_to_the_entry_that_is_pending_longest() {
    let mut scene = troubled();
    scene.keys("/payments<Enter><Enter>1o");
    let oldest = scene.app.group().unwrap().group.oldest_idle(scene.now().mono).id();
    assert!(oldest.is_some());
    assert_eq!(scene.app.group_screen.entry, oldest);
    scene.keys("2o");
    assert_eq!(scene.app.group_screen.tree_row, oldest.map(TreeRow::Entry));
}

#[test]
fn why_and_what_to_do_stand_wherever_there_is_room() {
    let mut scene = troubled();
    // beside the list, or below a short one
    for size in [(200, 50), (120, 40)] {
        let roomy = text(&scene.draw(size, Theme::full()));
        assert!(roomy.contains("why: ") && roomy.contains("do:  "), "{roomy}");
    }
    let small = text(&scene.draw((80, 20), Theme::full()));
    assert!(!small.contains("why: "), "{small}");
    scene.keys("<Enter>");
    assert!(drawn(&mut scene).contains("why: "), "on the group screen the picked one says it at every width");
}

#[test]
fn what_was_not_read_of_the_pending_list_is_drawn_as_not_known_never_as_acknowledged() {
    let mut world = World::new("redis", "8.2.3");
    let ids = timed(5000, 10, 1000);
    let group = world.stream("jobs", ids.iter().copied()).group("workers", &ids[4990].to_string());
    group.consumer("a", 50, Some(50));
    for entry in &ids[..4990] {
        group.holds("a", &entry.to_string(), 500, 1);
    }
    let mut scene = Scene::new(world);
    scene.ticks(2).keys("<Enter>").ticks(1);
    for zoom in ["", "z", "z"] {
        scene.keys(zoom);
        let screen = drawn(&mut scene);
        let bar = screen.lines().find(|line| line.contains('┃') && line.contains('▓')).unwrap_or_default().to_owned();
        assert!(bar.contains("????????") && !bar.contains('━'), "{bar}\n{screen}");
    }
}
