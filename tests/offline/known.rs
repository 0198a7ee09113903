use crate::scenes::{Scene, text, troubled};
use pelwatch::{
    core::{
        fault::Fault,
        summary::Summary,
        symptoms::{Finding, Level},
    },
    tui::Theme,
};

fn picked(scene: &Scene) -> Finding {
    scene.app.picked_finding().unwrap().clone()
}

fn drawn(scene: &mut Scene) -> String {
    text(&scene.draw((120, 40), Theme::full()))
}

#[test]
fn a_known_finding_is_quiet_for_an_hour_then_for_eight_then_loud_and_always_visible() {
    let mut scene = troubled();
    scene.keys("<Enter>3");
    let level = picked(&scene).level;
    assert!(level > Level::Info);
    let quiet_for = |scene: &Scene| picked(scene).known_until_ms.map(|until| (until - scene.now().wall_ms) / 3_600_000);
    scene.keys("a");
    assert_eq!(quiet_for(&scene), Some(1));
    scene.tick();
    assert_eq!((picked(&scene).level, picked(&scene).counts_as()), (level, Level::Info));
    assert!(drawn(&mut scene).contains("known, quiet until "), "{}", drawn(&mut scene));
    scene.keys("a");
    assert_eq!(quiet_for(&scene), Some(8));
    scene.keys("a").tick();
    assert_eq!(picked(&scene).counts_as(), level);
}

#[test]
fn when_all_is_known_the_header_says_so_and_is_not_green() {
    let mut scene = troubled();
    // by name, so that no row moves when its finding is marked
    scene.keys("sg<Enter>3");
    let groups = scene.app.rows().iter().filter(|row| row.group.is_some()).count();
    for _ in 0..groups {
        scene.keys("g");
        for _ in 0..scene.app.group().unwrap().findings().count() {
            if picked(&scene).counts_as() > Level::Info {
                scene.keys("a");
            }
            scene.keys("j");
        }
        scene.keys("n");
    }
    scene.keys("<Esc>");
    let screen = drawn(&mut scene);
    assert!(scene.app.watch.summary() <= Summary::Info, "{screen}");
    assert!(screen.contains(" known, else quiet") && !screen.contains("✓ quiet"), "{screen}");
    assert!(!screen.contains("critical") && !screen.contains(" warn"), "{screen}");
    assert!(screen.contains("(known)"), "{screen}");
}

#[test]
fn on_a_screen_that_stands_still_the_mark_shows_at_once() {
    let mut scene = troubled();
    scene.keys("<Enter>3 a");
    assert!(picked(&scene).known_until_ms.is_some());
    scene.keys(" ").tick();
    assert!(picked(&scene).known_until_ms.is_some());
}

#[test]
fn groups_that_went_with_their_stream_are_named_in_the_header_for_an_hour() {
    let mut scene = troubled();
    let says_lost = |scene: &mut Scene| drawn(scene).lines().next().unwrap().contains(" lost ");
    assert!(!says_lost(&mut scene));
    let key = scene.app.subject().unwrap().0;
    scene.world.faulty(&key.shown(), Fault::Missing);
    scene.tick();
    assert!(says_lost(&mut scene), "{}", drawn(&mut scene));
    for _ in 0..61 {
        scene.at += 60_000;
        scene.tick();
    }
    assert!(!says_lost(&mut scene), "it was long ago");
}
