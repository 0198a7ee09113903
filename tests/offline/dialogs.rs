use crate::scenes::{Scene, World, id, text, troubled};
use pelwatch::{
    app::effect::Effect,
    core::{action::Ask, name::Name},
    tui::Theme,
};

fn drawn(scene: &mut Scene) -> String {
    text(&scene.draw((120, 40), Theme::full()))
}

/// A holder that was not seen for 60 s, its three entries, and a busy consumer with one.
fn holder_gone() -> Scene {
    let mut world = World::new("redis", "8.2.3");
    let group = world.stream("jobs", (1..=10).map(|n| id(&format!("{n}-0")))).group("workers", "10-0");
    group.consumer("dead", 60_000, Some(60_000)).consumer("busy", 100, Some(200));
    for (entry, idle) in [("4-0", 61_000), ("5-0", 60_000), ("6-0", 63_000)] {
        group.holds("dead", entry, idle, 1);
    }
    group.holds("busy", "9-0", 50, 1);
    let mut scene = Scene::new(world);
    scene.run(6, |world, at| {
        world.group("jobs", "workers").consumers[1].seen = at - 100;
    });
    scene
}

/// What the dialog asks for first.
fn asked(effects: &[Effect]) -> &Ask {
    let ask = effects.iter().find_map(|effect| match effect {
        Effect::MakePlan { ask, .. } => Some(&**ask),
        _ => None,
    });
    ask.expect("a plan is asked for")
}

#[test]
fn a_claim_begins_with_the_entries_of_the_holder_that_is_gone() {
    for way in ["", "<Enter>", "<Enter>3"] {
        let mut scene = holder_gone();
        scene.keys(way);
        let effects = scene.press(pelwatch::app::key::Key::Char('c'));
        let Ask::Claim(claim) = asked(&effects) else { panic!("not a claim") };
        assert_eq!((&claim.from, &claim.target), (&Some(Name::from("dead")), &Name::from("busy")));
        // the youngest of them is not left behind, and what is younger is not meant
        assert!((60_000..=66_000).contains(&claim.min_idle_ms), "{}", claim.min_idle_ms);
        let screen = drawn(&mut scene);
        assert!(screen.contains("these 3 entries of dead are idle for "), "{screen}");
        assert!(screen.contains("‹ dead ›") && screen.contains("‹ busy ›"), "{screen}");
    }
}

#[test]
fn whose_entries_a_claim_takes_is_chosen_and_never_the_target_itself() {
    let mut scene = holder_gone();
    // after Cancel comes the first field
    scene.keys("c<Tab>");
    let chosen = |effects: Vec<Effect>| match asked(&effects) {
        Ask::Claim(claim) => claim.from.as_ref().map(Name::shown),
        _ => panic!("not a claim"),
    };
    let key = |scene: &mut Scene, right: bool| {
        use pelwatch::app::key::Key::{Left, Right};
        scene.press(if right { Right } else { Left })
    };
    assert_eq!(chosen(key(&mut scene, true)), None);
    assert_eq!(chosen(key(&mut scene, false)), Some("dead".to_owned()));
    key(&mut scene, false);
    let screen = drawn(&mut scene);
    assert!(screen.contains("busy holds them already, and a claim to itself moves nothing"), "{screen}");
}

#[test]
fn without_such_a_finding_a_claim_asks_for_anybodys_entries() {
    let mut scene = troubled();
    scene.keys("/mail<Enter>");
    let effects = scene.press(pelwatch::app::key::Key::Char('c'));
    let Ask::Claim(claim) = asked(&effects) else { panic!("not a claim") };
    assert_eq!(claim.from, None);
    assert!(claim.min_idle_ms >= 10_000);
}
