//! Keys that people bring from other programs: back and quit, the list of everything, panes, marks, and keys without a meaning.

use crate::scenes::*;
use pelwatch::app::{
    Order, Overlay, Pane, Place,
    dialog::{Part, Stage},
    effect::Effect,
    key::Key,
    keymap::{self, BINDINGS},
};

fn notice(scene: &Scene) -> &str {
    scene.app.notice.as_ref().map_or("", |notice| notice.text.as_str())
}

fn drawn(scene: &mut Scene) -> String {
    text(&scene.draw((120, 40), pelwatch::tui::Theme::full()))
}

#[test]
fn q_goes_one_step_back_and_quits_in_the_overview() {
    let mut scene = seed_group();
    scene.keys("<Tab>l");
    assert_eq!(scene.app.overlay, Some(Overlay::Finding));
    for (overlay, place) in [(None, false), (None, true)] {
        assert_eq!(scene.press(Key::Char('q')), []);
        assert_eq!((scene.app.overlay.clone(), scene.app.place == Place::Overview), (overlay, place));
    }
    assert_eq!(scene.press(Key::Char('q')), [Effect::Quit { printing: false }]);
}

#[test]
fn a_key_without_a_meaning_is_answered() {
    let mut scene = seed_group();
    scene.keys("w");
    assert_eq!(notice(&scene), "w does nothing here: ? shows the keys, : everything that can be done");
    scene.keys("<Tab>lw");
    assert_eq!(notice(&scene), "w does nothing in this box: Esc closes it");
    scene.keys("z");
    assert_eq!(notice(&scene), "z does nothing in this box: Esc closes it");
    scene.keys("<Esc>?<Enter>");
    assert_eq!(notice(&scene), "that does nothing in this box: Esc closes it");
}

#[test]
fn everything_that_can_be_done_is_found_by_typing() {
    let mut scene = seed_group();
    scene.keys(":");
    let all = drawn(&mut scene);
    assert!(all.contains("What can be done here") && all.contains("prepare a claim"), "{all}");
    assert!(!all.contains("close the box"), "the list itself is in nobody's way: {all}");
    assert!(all.contains("(no entry is marked: v marks one)"), "{all}");
    scene.keys("whole stream");
    let one = drawn(&mut scene);
    assert!(one.contains("zoom of the strip") && !one.contains("prepare a claim"), "{one}");
    scene.keys("<Enter>");
    assert_eq!((scene.app.overlay.clone(), scene.app.group_screen.zoom), (None, pelwatch::app::Zoom::Cells));
    // a key finds its own row, q is typed and never quits, and nothing fits nonsense
    scene.keys(":q");
    assert!(drawn(&mut scene).contains("one step back"));
    scene.keys("qqq<Enter>");
    assert!(drawn(&mut scene).contains("Nothing here fits"));
    scene.keys("<Esc>");
    assert_eq!(scene.app.overlay, None);
    assert!(matches!(scene.app.place, Place::Group { .. }));
}

#[test]
fn each_row_of_the_list_does_what_its_key_does() {
    for scene in [seed_group(), troubled()] {
        for (index, binding) in BINDINGS.iter().filter(|binding| binding.scope.includes(&scene.app.place)).enumerate() {
            if binding.action == keymap::Action::Commands {
                continue;
            }
            let (mut by_key, mut by_list) = (scene.clone(), scene.clone());
            let pressed = by_key.press(binding.keys[0]);
            by_list.keys(":");
            let Some(Overlay::Commands(list)) = &by_list.app.overlay else { panic!("no list") };
            let row = list.fitting().iter().position(|row| row.action == binding.action).unwrap();
            assert!(row <= index);
            for _ in 0..row {
                by_list.press(Key::Down);
            }
            assert_eq!(by_list.press(Key::Enter), pressed, "{:?}", binding.action);
            assert_eq!(
                (by_list.app.overlay.clone(), by_list.app.place.clone()),
                (by_key.app.overlay.clone(), by_key.app.place.clone())
            );
        }
    }
}

#[test]
fn a_pane_is_chosen_by_number_and_shown_alone() {
    let mut scene = seed_group();
    scene.keys("3");
    assert_eq!(scene.app.group_screen.pane, Pane::Symptoms);
    let both = drawn(&mut scene);
    scene.keys("f");
    let alone = drawn(&mut scene);
    assert!(both.contains(" Consumers ") && !alone.contains(" Consumers "), "{alone}");
    scene.keys("2");
    assert!(drawn(&mut scene).contains(" Consumers "));
    scene.keys("<Esc>");
    assert!(!scene.app.group_screen.alone && matches!(scene.app.place, Place::Group { .. }));
}

#[test]
fn all_entries_of_a_consumer_are_marked_and_unmarked() {
    let mut scene = troubled();
    scene.keys("/payments<Enter><Enter>2V");
    let count = scene.app.group_screen.marks.len();
    assert!(count > 1 && notice(&scene).contains("pending marked"), "{count}: {}", notice(&scene));
    scene.keys("V");
    assert!(scene.app.group_screen.marks.is_empty());
}

#[test]
fn the_sorted_column_is_marked_and_chosen() {
    let mut scene = troubled();
    for (keys, order, mark) in [
        (">>", Order::Lag, "▾lag"),
        (">", Order::Pending, "▾pending"),
        ("<<", Order::Name, "stream▾"),
        ("S", Order::Name, "stream▴"),
    ] {
        scene.keys(keys);
        assert_eq!(scene.app.overview.order, order);
        let screen = drawn(&mut scene);
        assert!(screen.contains(mark), "{screen}");
    }
}

#[test]
fn who_quits_while_an_action_is_under_way_is_asked_once() {
    for key in [Key::Char('q'), Key::Ctrl('c')] {
        let mut scene = seed_group();
        scene.keys("c");
        let Some(Overlay::Dialog(dialog)) = &mut scene.app.overlay else { panic!("no dialog") };
        dialog.stage = Stage::Running(0, 0);
        assert_eq!(scene.press(Key::Esc), [Effect::StopAction]);
        assert_eq!(scene.press(key), []);
        assert!(notice(&scene).contains("once more stops it after its batch and quits"), "{}", notice(&scene));
        assert_eq!(scene.press(key), [Effect::Quit { printing: false }]);
    }
}

#[test]
fn what_cannot_be_confirmed_yet_is_answered() {
    for part in [Part::Confirm, Part::Do] {
        let mut scene = seed_group();
        scene.app.session.may_act = true;
        scene.keys("c");
        let Some(Overlay::Dialog(dialog)) = &mut scene.app.overlay else { panic!("no dialog") };
        dialog.part = part;
        scene.keys("<Enter>");
        let screen = drawn(&mut scene);
        assert!(screen.contains("the preview is not there yet: wait for it, and read it first"), "{screen}");
        scene.keys("<Tab>");
        assert!(!drawn(&mut scene).contains("is not there yet"), "the next key takes it away");
    }
}

#[test]
fn every_list_is_filtered_as_one_types() {
    let mut scene = crowd();
    scene.keys("<Enter>/");
    let (all, name) = {
        let group = scene.app.group().unwrap().group;
        (group.consumers().len(), group.consumers()[0].name.shown())
    };
    scene.keys(&name);
    let screen = drawn(&mut scene);
    assert!(
        screen.contains(&format!("/{name}▏")) && screen.contains(&format!("matching {name}, of {all}")),
        "{screen}"
    );
    scene.keys("zzz");
    assert!(drawn(&mut scene).contains("no consumer matches"), "nothing fits is said");
    scene.keys("<Esc>");
    assert!(!drawn(&mut scene).contains("matching"), "Esc takes the filter away and stays");
    // the log
    let mut scene = troubled();
    scene.down(5000, 1000);
    scene.keys("e/no longer");
    let screen = drawn(&mut scene);
    assert!(screen.contains("no longer answers") && !screen.contains("finding-began"), "{screen}");
    scene.keys("<Esc>");
    assert!(drawn(&mut scene).contains("finding-began"), "Esc takes the filter away first");
    // help is searched in the list of everything
    scene.keys("<Esc>?/cursor");
    let screen = drawn(&mut scene);
    assert!(screen.contains("prepare a move") && !screen.contains("prepare a claim"), "{screen}");
}

#[test]
fn help_is_grouped_by_what_one_wants() {
    let mut scene = troubled();
    scene.keys("?");
    let screen = drawn(&mut scene);
    for title in ["Looking closer", "Acting: each shows a plan first", "Moving about"] {
        assert!(screen.contains(title), "{title}: {screen}");
    }
}

#[test]
fn all_entries_that_a_finding_is_about_are_marked() {
    let mut scene = troubled();
    scene.keys("/payments<Enter><Enter>3");
    while scene.app.picked_finding().map(|finding| finding.id) != Some("payload-gone") {
        let before = scene.app.picked_finding().map(pelwatch::core::symptoms::Finding::key);
        scene.keys("j");
        assert_ne!(
            scene.app.picked_finding().map(pelwatch::core::symptoms::Finding::key),
            before,
            "there is no such finding"
        );
    }
    scene.keys("V");
    assert_eq!(scene.app.group_screen.marks.len(), 5, "{}", notice(&scene));
    assert!(notice(&scene).contains("5 entries of 5 pending marked"), "{}", notice(&scene));
}

#[test]
fn a_search_among_the_symptoms_picks_one_and_hides_none() {
    let mut scene = troubled();
    scene.keys("/payments<Enter><Enter>3");
    let all: Vec<&str> = scene.app.group().unwrap().findings().map(|finding| finding.id).collect();
    assert!(all.len() > 1, "{all:?}");
    let last = *all.last().unwrap();
    scene.keys(&format!("/{last}"));
    assert!(drawn(&mut scene).contains(&format!("/{last}▏")));
    assert_eq!(scene.app.picked_finding().map(|finding| finding.id), Some(last));
    scene.keys("<Enter>");
    assert!(all.iter().all(|id| drawn(&mut scene).contains(id)), "none is hidden");
    scene.keys("/zzz<Esc>");
    assert_eq!(scene.app.picked_finding().map(|finding| finding.id), Some(last), "nothing found, nothing moved");
    scene.keys("<Esc>");
    assert_eq!(scene.app.place, Place::Overview);
}
