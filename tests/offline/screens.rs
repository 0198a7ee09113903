//! Every screen in its states, as text and as styles, drawn into memory. A change shows as a difference in `tests/offline/snapshots`, to
//! be read line by line.

use crate::scenes::*;
use pelwatch::{
    app::{key::Key, msg::Msg},
    core::{
        name::Name,
        sample::{EntryPayload, Fault},
    },
    tui::Theme,
};

const LARGE: (u16, u16) = (120, 40);
const USUAL: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 15);
const TINY: (u16, u16) = (20, 5);
const ALL: [(u16, u16); 4] = [LARGE, USUAL, SMALL, TINY];
const MAIN: [(u16, u16); 2] = [LARGE, USUAL];

fn is_stale(scene: &Scene) -> bool {
    matches!(scene.app.link, pelwatch::app::LinkState::Down { .. })
}

/// Compares the scene with its snapshots at some sizes, and checks the rules for every screen at all sizes.
fn see(name: &str, scene: &mut Scene, sizes: &[(u16, u16)]) {
    let theme = Theme::full();
    for size in ALL {
        assert_sound(&scene.draw(size, theme), is_stale(scene));
    }
    let pictures: Vec<String> =
        sizes.iter().map(|size| format!("{}x{}\n{}", size.0, size.1, text(&scene.draw(*size, theme)))).collect();
    compare(name, &pictures.join("\n"));
}

fn see_styles(name: &str, scene: &mut Scene, theme: Theme) {
    let drawn = scene.draw(USUAL, theme);
    compare(&format!("{name}_styles"), &styles(&drawn));
}

fn compare(name: &str, picture: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, picture));
}

fn scene(world: World, ticks: usize) -> Scene {
    let mut scene = Scene::new(world);
    scene.ticks(ticks);
    scene
}

#[test]
fn before_the_first_sample() {
    see("loading", &mut Scene::new(World::default()), &ALL);
}

#[test]
fn streams_found_but_not_sampled() {
    see("loading_streams", &mut scene(seed(), 1), &MAIN);
}

#[test]
fn a_database_without_streams() {
    see("empty", &mut scene(World::new("redis", "7.2.6"), 2), &ALL);
}

#[test]
fn all_is_well() {
    let mut scene = Scene::new(healthy());
    scene.run(14, |world, at| {
        trouble(world, at);
        for stream in world.streams.values_mut() {
            let last = stream.last_generated;
            for group in stream.groups.values_mut() {
                group.pending.clear();
                group.cursor = last;
            }
        }
    });
    see("healthy", &mut scene, &ALL);
    see_styles("healthy", &mut scene, Theme::full());
}

#[test]
fn every_level_of_trouble() {
    let mut scene = troubled();
    see("troubled", &mut scene, &ALL);
    see_styles("troubled", &mut scene, Theme::full());
    see_styles("troubled_plain", &mut scene, Theme::plain());
}

#[test]
fn the_group_with_the_worst_trouble() {
    let mut scene = troubled();
    scene.keys("<Enter>").ticks(1);
    see("troubled_group", &mut scene, &MAIN);
    scene.keys("n").ticks(1);
    see("troubled_group_next", &mut scene, &MAIN);
}

#[test]
fn keys_that_cannot_be_shown() {
    see("faulty", &mut faulty(), &ALL);
}

#[test]
fn a_cluster_and_one_that_lacks_a_node() {
    see("cluster", &mut cluster(), &MAIN);
    see("cluster_node_gone", &mut cluster_without_a_node(), &ALL);
    let mut world = seed();
    world.server.cluster = true;
    see("cluster_one_node", &mut scene(world, 2), &ALL);
}

#[test]
fn scan_is_refused() {
    let mut world = seed();
    world.scan_fault = Some(Fault::Denied("NOPERM this user has no permissions to run the 'scan' command".into()));
    see("scan_denied", &mut scene(world, 2), &MAIN);
}

#[test]
fn a_filter_being_typed_and_kept() {
    let mut scene = troubled();
    scene.keys("/!or");
    see("filter_typed", &mut scene, &ALL);
    scene.keys("<Enter>");
    see("filter_kept", &mut scene, &MAIN);
    scene.keys("/zzz<Enter>");
    see("filter_nothing", &mut scene, &MAIN);
}

#[test]
fn orders_and_workers_in_three_zooms() {
    let mut scene = seed_group();
    see("seed_entries", &mut scene, &ALL);
    see_styles("seed_entries", &mut scene, Theme::full());
    see_styles("seed_entries_plain", &mut scene, Theme::plain());
    scene.keys("z");
    see("seed_cells", &mut scene, &ALL);
    scene.keys("z");
    see("seed_stream", &mut scene, &ALL);
}

#[test]
fn the_strip_of_the_seed_reads_as_it_must() {
    let mut scene = seed_group();
    let picture = text(&scene.draw(LARGE, Theme::full()));
    let rows: Vec<&str> = picture.lines().collect();
    let words: Vec<&str> = rows[2].split_whitespace().collect();
    assert_eq!(words, ["│", "✓1-0", "✓2-0", "◆3-0", "◆4-0", "┃", "·5-0", "·6-0", "│"]);
    let words: Vec<&str> = rows[3].split_whitespace().collect();
    assert_eq!(words, ["│", "c1", "c2", "▲", "cursor", "4-0", "│"]);
}

#[test]
fn each_pane_in_focus() {
    let mut scene = seed_group();
    scene.keys("<BackTab>h");
    see("focus_strip", &mut scene, &MAIN);
    scene.keys("<BackTab>");
    see("focus_symptoms", &mut scene, &[LARGE, USUAL, SMALL]);
}

#[test]
fn three_hundred_consumers() {
    let mut scene = crowd();
    see("crowd", &mut scene, &ALL);
    scene.keys("zz");
    see("crowd_stream", &mut scene, &[LARGE]);
    scene.keys("G");
    see("crowd_end", &mut scene, &[LARGE]);
}

#[test]
fn odd_pending_entries() {
    let mut scene = odd_pending();
    see("odd_pending", &mut scene, &ALL);
    see_styles("odd_pending", &mut scene, Theme::full());
}

#[test]
fn what_is_acked_counts_no_entry_that_is_gone() {
    // 1-0 is acknowledged, 3-0 was deleted while it was pending, 9-0 is pending ahead of the cursor
    let mut scene = odd_pending();
    assert!(
        text(&scene.draw(LARGE, Theme::full())).contains("11 retained of 12 added   ✓ 1 acked   ◆ 7 pending   · 5 new")
    );
}

#[test]
fn every_kind_of_lag() {
    let mut scene = lags();
    see("lags", &mut scene, &ALL);
    for (name, place) in [("at_least_or_exact", 1), ("reported", 2), ("negative", 3), ("nil", 4), ("beyond", 5)] {
        let mut group = scene.clone();
        group.keys("s").keys("g").keys(&"j".repeat(place)).keys("<Enter>").tick();
        see(&format!("lag_{name}"), &mut group, &[USUAL]);
    }
}

#[test]
fn a_server_without_lag_and_inactive() {
    let mut scene = old_server();
    see("old_server", &mut scene, &MAIN);
    scene.keys("<Enter>").ticks(3);
    see("old_server_group", &mut scene, &MAIN);
}

#[test]
fn names_long_wide_and_hostile() {
    let mut scene = scene(names(), 3);
    see("names", &mut scene, &ALL);
    let rows = scene.app.rows().len();
    for row in 0..rows {
        let mut group = scene.clone();
        group.keys(&"j".repeat(row)).keys("<Enter>").ticks(2);
        see(&format!("names_group_{row}"), &mut group, &[USUAL]);
        for keys in ["?", "<Tab><Enter>", "<BackTab><Enter>", "e", "y", "Y"] {
            let mut over = group.clone();
            over.keys(keys);
            for size in [LARGE, USUAL, SMALL, (81, 25), (79, 23), (41, 10), (99, 30), (100, 30)] {
                assert_sound(&over.draw(size, Theme::full()), false);
            }
        }
    }
}

#[test]
fn the_server_is_gone() {
    let mut scene = seed_group();
    scene.down(4000, 3200);
    see("stale_group", &mut scene, &ALL);
    see_styles("stale_group", &mut scene, Theme::full());
    see_styles("stale_group_plain", &mut scene, Theme::plain());
    scene.keys("<Esc>");
    see("stale_overview", &mut scene, &MAIN);
}

#[test]
fn never_reached() {
    let mut scene = Scene::new(World::default());
    scene.down(4000, 3200);
    see("never_reached", &mut scene, &MAIN);
}

#[test]
fn standing_still() {
    let mut scene = seed_group();
    scene.keys(" ").ticks(5);
    see("paused", &mut scene, &MAIN);
}

#[test]
fn help_in_both_places() {
    let mut scene = troubled();
    scene.keys("?");
    see("help_overview", &mut scene, &MAIN);
    scene.keys("?<Enter>?");
    see("help_group", &mut scene, &[LARGE, USUAL, SMALL]);
    scene.keys("jjjjjjjj");
    see("help_scrolled", &mut scene, &[USUAL]);
}

#[test]
fn what_happened() {
    let mut scene = seed_group();
    scene.run(1, |world, _| {
        world.group("Orders", "workers").cursor = id("2-0");
    });
    scene.run(1, |world, _| {
        let group = world.group("Orders", "workers");
        group.consumers.remove(0);
        group.pending.remove(&id("3-0"));
    });
    scene.run(1, |world, _| {
        world.streams.get_mut(&"Orders".into()).unwrap().groups.clear();
    });
    see("absent_group", &mut scene, &ALL);
    scene.keys("e");
    see("events", &mut scene, &MAIN);
    scene.run(1, |world, _| world.streams.clear());
    scene.keys("e");
    see("absent_stream", &mut scene, &MAIN);
}

#[test]
fn an_entry_in_every_form() {
    let mut scene = seed_group();
    scene.keys("j<Enter>");
    see("entry_fetching", &mut scene, &MAIN);
    let field = |name: &[u8], value: &[u8]| (name.to_vec(), value.to_vec());
    let json = br#"{"order":4711,"customer":{"id":12345678901234567890123,"name":"J\u00fcrgen"},"lines":[{"sku":"A-1","qty":2},{"sku":"B-7","qty":1}],"paid":false}"#;
    let binary: Vec<u8> = (0..70).map(|n| n as u8 ^ 0xa5).collect();
    let hostile = hostile_name();
    for (name, fields) in [
        ("json", Ok(Some(vec![field(b"event", b"created"), field(b"payload", json)]))),
        (
            "text",
            Ok(Some(vec![
                field(b"line", "Grüße, 世界".as_bytes()),
                field(b"note", b"two\nlines\tand a tab"),
                field(b"", b""),
            ])),
        ),
        ("binary", Ok(Some(vec![field(b"blob", &binary), field(hostile.bytes(), hostile.bytes())]))),
        ("large", Ok(Some(vec![field(b"text", &b"word ".repeat(8000))]))),
        ("gone", Ok(None)),
        ("denied", Err(Fault::Denied("NOPERM".into()))),
    ] {
        let payload = EntryPayload { key: "Orders".into(), id: id("3-0"), fields };
        scene.send(Msg::Entry(payload));
        see(&format!("entry_{name}"), &mut scene, if name == "json" { &[LARGE, USUAL, SMALL] } else { &[USUAL] });
    }
}

#[test]
fn a_finding_in_full() {
    let mut scene = seed_group();
    scene.keys("<Tab><Enter>");
    see("finding", &mut scene, &[LARGE, USUAL, SMALL]);
    see_styles("finding", &mut scene, Theme::full());
}

#[test]
fn a_replica_without_its_primary() {
    see("replica", &mut replica(), &ALL);
}

#[test]
fn a_word_for_a_moment() {
    let mut scene = seed_group();
    scene.keys("Y");
    see("copied", &mut scene, &MAIN);
}

#[test]
fn slow_replies_are_said() {
    let mut scene = scene(seed(), 3);
    scene.app.kept_interval_ms = 5000;
    see("slow", &mut scene, &MAIN);
}

/// All scenes with only ASCII names.
fn plain_scenes() -> Vec<Scene> {
    let mut scenes = vec![
        Scene::new(World::default()),
        scene(World::new("redis", "7.2.6"), 2),
        troubled(),
        faulty(),
        seed_group(),
        crowd(),
        odd_pending(),
        lags(),
        old_server(),
        replica(),
    ];
    for index in 0..scenes.len() {
        for keys in [
            "?",
            "<Enter>",
            "<Enter>z",
            "<Enter>zz",
            "<Enter>zzz<BackTab>",
            "<Tab><Enter>",
            "e",
            " ",
            "/text",
            "S",
            "+",
        ] {
            let mut next = scenes[index].clone();
            next.keys(keys).ticks(1);
            scenes.push(next.clone());
            next.down(5000, 2000);
            scenes.push(next);
        }
    }
    scenes
}

#[test]
fn ascii_means_every_cell() {
    let theme = Theme::choose(pelwatch::tui::Look::Auto, pelwatch::tui::When::Never, true, |_| None);
    for scene in &mut plain_scenes() {
        for size in ALL {
            let drawn = scene.draw(size, theme);
            for cell in &drawn.content {
                assert!(cell.symbol().is_ascii(), "{:?} in\n{}", cell.symbol(), text(&drawn));
            }
        }
    }
    let mut scene = troubled();
    scene.keys("<Enter>").ticks(1);
    compare("ascii", &text(&scene.draw(LARGE, theme)));
}

#[test]
fn without_colour_there_is_none() {
    for scene in &mut plain_scenes() {
        for cell in &scene.draw(LARGE, Theme::plain()).content {
            assert_eq!(cell.fg, ratatui::style::Color::Reset);
        }
    }
}

#[test]
fn every_scene_is_sound_at_odd_sizes() {
    for scene in &mut plain_scenes() {
        // a box over old data is bright: the user has just opened it
        let stale = is_stale(scene) && scene.app.overlay.is_none();
        for size in [(40, 10), (41, 11), (57, 17), (99, 29), (100, 30), (101, 31), (200, 60), (39, 10), (40, 9), (1, 1)]
        {
            assert_sound(&scene.draw(size, Theme::full()), stale);
        }
    }
}

#[test]
fn a_name_is_never_taken_for_another() {
    let mut scene = scene(names(), 3);
    let shown = text(&scene.draw((400, 40), Theme::full()));
    assert!(shown.contains("\\x28empty)") && shown.contains("(empty)"));
    assert!(!shown.contains('\u{1b}'));
    assert_eq!(scene.press(Key::Char('y')).len(), 1);
    let _: &Name = &scene.app.overview.row().unwrap().key;
}

#[test]
fn a_box_cuts_no_wide_letter_in_half() {
    let mut world = World::new("redis", "8.2.3");
    let group = world.stream("注文", counted(60)).group("請求", "50-0");
    for n in 1..=40 {
        let name = format!("{}{}", "a".repeat(n % 2), "消".repeat(30));
        group.consumer(format!("{name}{n}").as_str(), 100, None).holds(
            format!("{name}{n}").as_str(),
            &format!("{n}-0"),
            200,
            1,
        );
    }
    let mut scene = scene(world, 3);
    scene.keys("<Enter>").ticks(2);
    for keys in ["j<Enter>", "<BackTab><Enter>"] {
        let mut over = scene.clone();
        over.keys(keys);
        for columns in 40..130 {
            assert_sound(&over.draw((columns, 24), Theme::full()), false);
        }
    }
}

#[test]
fn a_large_pel_with_a_walk_under_way_and_complete() {
    for (name, steps) in [("census_under_way", 3), ("census_complete", 1000)] {
        let mut world = World::new("redis", "8.2.3");
        world.census_steps = steps;
        let stream = world.stream("jobs", counted(2000));
        // the first hundred were trimmed while they were pending
        stream.ids.retain(|entry| entry.ms > 100);
        let group = stream.group("workers", "1990-0");
        group.consumer("c1", 400, Some(700)).consumer("c2", 86_400_000 * 3, Some(86_400_000 * 3));
        for n in 1..=1200_i64 {
            let (owner, idle) = if n <= 300 { ("c2", 86_400_000 * 3) } else { ("c1", (1200 - n) * 700) };
            group.holds(owner, &format!("{n}-0"), idle, 1 + i64::from(n % 40 == 0) * (n / 100));
        }
        let mut scene = Scene::new(world);
        scene.ticks(3).keys("<Enter>").ticks(3);
        see(name, &mut scene, &[LARGE, USUAL, SMALL]);
    }
}

#[test]
fn each_refused_command_blanks_its_own_part() {
    let refused = || Some(Fault::Denied("NOPERM".into()));
    for name in ["stream", "range", "consumers", "pending"] {
        let mut world = seed();
        let stream = world.streams.get_mut(&Name::from("Orders")).unwrap();
        match name {
            "stream" => stream.facts_fault = refused(),
            "range" => stream.range_fault = refused(),
            "consumers" => stream.groups.get_mut(&Name::from("workers")).unwrap().consumers_fault = refused(),
            _ => stream.groups.get_mut(&Name::from("workers")).unwrap().pending_fault = refused(),
        }
        let mut scene = Scene::new(world);
        scene.ticks(3).keys("<Enter>").ticks(3);
        see(&format!("refused_{name}"), &mut scene, &[USUAL]);
    }
}
