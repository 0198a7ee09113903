use crate::scenes::{Scene, World, id, text, troubled};
use pelwatch::{
    app::{effect::Effect, screen::Screen},
    core::fault::Fault,
    tui::Theme,
};

fn drawn(scene: &mut Scene) -> String {
    text(&scene.draw((120, 40), Theme::full()))
}

/// Two streams with a group each; the first group disappears.
fn one_lost() -> Scene {
    let mut world = World::new("redis", "8.2.3");
    for key in ["a", "b"] {
        world.stream(key, (1..=3).map(|n| id(&format!("{n}-0")))).group("g", "3-0");
    }
    let mut scene = Scene::new(world);
    scene.ticks(3);
    scene.world.streams.get_mut(&"a".into()).unwrap().groups.clear();
    scene.ticks(2);
    scene
}

#[test]
fn the_log_is_about_the_row_one_stands_on_and_a_shows_everything() {
    let mut scene = one_lost();
    scene.keys("e");
    assert!(drawn(&mut scene).contains("group g of a is gone"), "before a row was chosen it is about everything");
    scene.keys("e/b<Enter><Enter>e");
    let screen = drawn(&mut scene);
    assert!(screen.contains("Log of b › g") && screen.contains("a shows what happened elsewhere"), "{screen}");
    scene.keys("a");
    let screen = drawn(&mut scene);
    assert!(screen.contains("Log of everything") && screen.contains("group g of a is gone"), "{screen}");
    scene.keys("a");
    assert!(!drawn(&mut scene).contains("group g of a is gone"));
    assert!(scene.app.overlay.is_some(), "a says nothing about findings while the log is open");
}

#[test]
fn what_earlier_runs_did_is_shown_on_demand() {
    let mut scene = one_lost();
    scene.app.session.journal =
        vec!["2026-12-01T01:00:00.000Z claim a/g on 10.0.0.1:6379: 5 entries claimed".to_owned()];
    scene.keys("e");
    assert!(!drawn(&mut scene).contains("10.0.0.1"));
    scene.keys("p");
    let screen = drawn(&mut scene);
    assert!(screen.contains("on 10.0.0.1:6379: 5 entries claimed") && screen.contains("earlier runs"), "{screen}");
}

#[test]
fn the_link_is_in_the_log_of_every_row() {
    let mut scene = one_lost();
    scene.down(5000, 1000);
    scene.keys("/b<Enter><Enter>e");
    assert!(drawn(&mut scene).contains("the server no longer answers"));
}

#[test]
fn the_title_of_the_terminal_says_the_verdict_and_escapes_names() {
    let title = |scene: &Scene| Screen::of(&scene.app, scene.now(), "12:00:00").title;
    let mut scene = troubled();
    assert_eq!(title(&scene), "2 critical, 2 warn: audit/archive trimmed-unread - pelwatch unix:/run/redis.sock");
    scene.down(5000, 1000);
    assert!(title(&scene).starts_with("not known since "), "{}", title(&scene));
    let mut world = World::new("redis", "8.2.3");
    world.faulty("gone", Fault::Missing);
    world.stream("\u{1b}]0;owned\u{7}", [id("1-0")]).group("g", "9-0");
    let mut scene = Scene::new(world);
    scene.ticks(3);
    assert!(!title(&scene).chars().any(char::is_control), "{}", title(&scene));
    assert!(title(&scene).contains("owned"), "{}", title(&scene));
}

#[test]
fn the_bell_rings_once_when_something_becomes_critical() {
    let mut scene = troubled();
    let rings = |scene: &mut Scene| scene.tick().iter().filter(|effect| **effect == Effect::Ring).count();
    assert_eq!(rings(&mut scene), 0, "it was critical before");
    scene.app.critical = 0;
    assert_eq!((rings(&mut scene), rings(&mut scene)), (1, 0));
}
