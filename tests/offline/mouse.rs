use crate::scenes::{Scene, crowd, text, troubled};
use pelwatch::{
    app::{
        Pane, Place,
        msg::{Msg, Target},
        screen::Screen,
    },
    tui::{self, Theme},
};

/// What is drawn at that place.
fn target(scene: &mut Scene, size: (u16, u16), column: u16, row: u16) -> Option<Target> {
    scene.draw(size, Theme::full());
    let screen = Screen::of(&scene.app, scene.now(), "12:00:00");
    tui::target(&screen, size, column, row)
}

#[test]
fn a_click_chooses_the_row_that_stands_there_and_a_second_one_opens_it() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut scene = troubled();
        let screen = text(&scene.draw(size, Theme::full()));
        let mut clicked = 0;
        for (row, line) in screen.lines().enumerate() {
            let Some(target) = target(&mut scene, size, 8, row as u16) else { continue };
            let Target::Row(index) = target else { panic!("{target:?}") };
            let id = scene.app.rows()[index].id();
            assert!(line.contains(&id.key.shown()), "{line} is not {id:?}");
            scene.send(Msg::Click(target));
            assert_eq!(scene.app.overview.row(), Some(&id));
            assert_eq!(scene.app.place, Place::Overview);
            scene.send(Msg::Click(target));
            let group = id.group.unwrap();
            assert_eq!(scene.app.place, Place::Group { key: id.key, group });
            scene.keys("<Esc>");
            clicked += 1;
        }
        assert_eq!(clicked, scene.app.rows().len(), "{size:?}\n{screen}");
    }
}

#[test]
fn among_consumers_a_click_chooses_also_far_down_and_a_pane_takes_the_keys() {
    let size = (120, 40);
    let mut scene = crowd();
    scene.keys("<Enter>2G");
    let screen = text(&scene.draw(size, Theme::full()));
    let mut clicked = 0;
    for (row, line) in screen.lines().enumerate() {
        let Some(Target::Consumer(index)) = target(&mut scene.clone(), size, 10, row as u16) else { continue };
        let mut at = scene.clone();
        at.send(Msg::Click(Target::Consumer(index)));
        let name = at.app.picked_consumer().expect("a consumer").shown();
        assert!(line.contains(&name), "{line} is not {name}");
        clicked += 1;
    }
    assert!(clicked > 10, "{clicked}\n{screen}");
    let strip = target(&mut scene, size, 10, 3);
    assert_eq!(strip, Some(Target::Pane(Pane::Strip)));
    scene.send(Msg::Click(strip.unwrap()));
    assert_eq!(scene.app.group_screen.pane, Pane::Strip);
}

#[test]
fn a_click_beside_everything_or_under_a_box_does_nothing() {
    let mut scene = troubled();
    assert_eq!(target(&mut scene, (120, 40), 8, 0), None, "the header");
    assert_eq!(target(&mut scene, (120, 40), 8, 39), None, "the footer");
    assert_eq!(target(&mut scene, (30, 8), 8, 3), None, "too small");
    scene.keys("?");
    assert_eq!(target(&mut scene, (120, 40), 8, 3), None);
    let before = scene.app.overview.selected.clone();
    scene.send(Msg::Click(Target::Row(1)));
    assert_eq!(scene.app.overview.selected, before);
}
