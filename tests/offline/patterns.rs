use crate::scenes::{Scene, World, fleet, id, text};
use pelwatch::{
    app::{Overlay, Picked, Place, RollUp, overview::Listed},
    core::{name::Name, pattern::Given, sample::Fault},
    tui::Theme,
};

fn drawn(scene: &mut Scene, size: (u16, u16)) -> String {
    text(&scene.draw(size, Theme::full()))
}

/// What the lines are about.
fn listed(scene: &Scene) -> Vec<String> {
    let group = |name: Option<&Name>| name.map_or(String::new(), |name| format!(" {}", name.shown()));
    let line = |listed: Listed| match listed {
        Listed::Row { row, is_member } => {
            let lead = if is_member { "  " } else { "" };
            format!("{lead}{}{}", row.stream.key.shown(), group(row.id().group.as_ref()))
        }
        Listed::Pattern(pattern) => format!(
            "{} {}{}",
            if pattern.is_open { "-" } else { "+" },
            pattern.id.pattern.shown(),
            group(pattern.id.group.as_ref())
        ),
    };
    scene.app.listed().into_iter().map(line).collect()
}

const CLOSED: [&str; 3] = ["+ shop:*:orders billing", "audit archive", "+ shop:*:orders mailer"];

#[test]
fn streams_of_one_pattern_are_one_row_with_the_worst_verdict_and_the_sum() {
    let mut scene = fleet();
    scene.ticks(20);
    assert_eq!(listed(&scene), CLOSED);
    for size in [(80, 24), (120, 40), (200, 60)] {
        let screen = drawn(&mut scene, size);
        let row = screen.lines().find(|line| line.contains("▸ shop:*:orders ") && line.contains("billing")).unwrap();
        assert!(row.contains('▲') && row.contains(" 0  ") && row.contains(" 5 "), "{row}");
        assert!(row.contains("holder-gone"), "{row}");
        assert!((size.0 < 120 || row.contains("12/13")), "{row}");
        assert!(screen.contains("shop:07:orders: w2 holds 5 entries"), "{screen}");
        assert!(screen.contains("1 of 25 needs a look"), "groups are counted, not rows:\n{screen}");
        assert!(size.1 < 40 || screen.contains("✓ 11 quiet"), "{screen}");
    }
}

#[test]
fn the_row_of_a_pattern_opens_and_leads_to_its_worst_group() {
    let mut scene = fleet();
    scene.keys("<Enter>");
    assert_eq!(
        listed(&scene)[..3],
        ["- shop:*:orders billing", "  shop:07:orders billing", "  shop:00:orders billing"]
    );
    assert_eq!(scene.app.overview.row().map(|row| row.key.shown()), Some("shop:07:orders".to_owned()));
    scene.keys("<Enter>");
    assert!(matches!(&scene.app.place, Place::Group { key, .. } if key.shown() == "shop:07:orders"));
    // back at the same row, then out of the pattern
    scene.keys("<Esc>");
    assert_eq!(scene.app.overview.row().map(|row| row.key.shown()), Some("shop:07:orders".to_owned()));
    scene.keys("<Esc>");
    assert_eq!(listed(&scene), CLOSED);
    assert!(matches!(&scene.app.overview.selected, Some(Picked::Pattern(id)) if id.pattern.shown() == "shop:*:orders"));
    scene.keys("<Enter>k<Enter>");
    assert_eq!(listed(&scene), CLOSED, "Enter on an open one closes it");
}

#[test]
fn the_next_group_can_be_one_that_is_rolled_up_and_its_row_is_open_afterwards() {
    let mut scene = fleet();
    scene.keys("<Enter><Enter>");
    for _ in 0..12 {
        scene.keys("n");
    }
    assert!(matches!(&scene.app.place, Place::Group { key, .. } if key.shown() == "audit"));
    scene.keys("n<Esc>");
    assert_eq!(scene.app.overview.row().map(|row| row.key.shown()), Some("shop:00:orders".to_owned()));
    assert!(listed(&scene).contains(&"- shop:*:orders mailer".to_owned()));
}

#[test]
fn a_key_lists_every_row_and_rolls_up_again() {
    let mut scene = fleet();
    scene.keys("u");
    assert_eq!(listed(&scene).len(), 25);
    scene.keys("u");
    assert_eq!(listed(&scene), CLOSED);
    scene.app.overview.roll_up(RollUp::Nothing);
    scene.ticks(1);
    assert_eq!(listed(&scene).len(), 25);
}

#[test]
fn a_filter_looks_among_all_rows() {
    let mut scene = fleet();
    scene.keys("/07<Enter>");
    assert_eq!(listed(&scene), ["shop:07:orders billing", "shop:07:orders mailer"]);
    scene.keys("<Esc>");
    assert_eq!(listed(&scene), CLOSED);
}

#[test]
fn a_given_pattern_rolls_up_from_two_rows_on() {
    let mut world = World::new("redis", "8.2.3");
    for name in ["orders:events:acme", "orders:events:globex", "orders:other"] {
        world.stream(name, [id("1-0")]).group("workers", "1-0").consumer("w", 100, Some(100));
    }
    let mut scene = Scene::new(world);
    let mut plain = scene.clone();
    assert_eq!(listed(plain.ticks(3)).len(), 3);
    let given = Given::new(Name::from("orders:events:{tenant}")).unwrap();
    scene.app.overview.roll_up(RollUp::Patterns(vec![given]));
    scene.ticks(3);
    assert_eq!(listed(&scene), ["+ orders:events:{tenant} workers", "orders:other workers"]);
}

#[test]
fn rows_hold_still_when_a_pattern_opens_and_when_numbers_change() {
    let mut scene = fleet();
    scene.keys("j");
    let before = listed(&scene);
    scene.run(10, |world, at| {
        let group = world.group("shop:03:orders", "mailer");
        group.pending.clear();
        group.holds("w1", "1-0", 100 - at, 1);
    });
    assert_eq!(listed(&scene), before);
    assert_eq!(scene.app.overview.row().map(|row| row.key.shown()), Some("audit".to_owned()));
    scene.keys("G<Enter>");
    assert_eq!(listed(&scene)[..2], before[..2]);
}

#[test]
fn a_stream_that_cannot_be_read_keeps_a_row_of_its_own() {
    let mut scene = fleet();
    scene.world.faulty("shop:03:orders", Fault::Denied("NOPERM no".into()));
    scene.at += 6000;
    scene.ticks(3);
    assert!(listed(&scene).contains(&"shop:03:orders".to_owned()), "{:?}", listed(&scene));
    assert!(drawn(&mut scene, (120, 40)).contains("11 streams"));
}

#[test]
fn while_nobody_answers_a_pattern_is_not_quiet() {
    let mut scene = fleet();
    scene.down(20_000, 1000);
    let screen = drawn(&mut scene, (120, 40));
    let row = screen.lines().find(|line| line.contains("shop:*:orders") && line.contains("mailer")).unwrap();
    assert!(row.contains('?') && !row.contains('✓'), "{row}");
}

#[test]
fn the_log_of_a_pattern_is_that_of_its_streams() {
    let mut scene = fleet();
    scene.keys("jkk").run(2, |world, _| {
        for key in ["shop:03:orders", "audit"] {
            world.streams.remove(&Name::from(key));
        }
    });
    scene.keys("gea").keys("a");
    assert!(matches!(scene.app.overlay, Some(Overlay::Log(_))));
    let screen = drawn(&mut scene, (120, 40));
    let (_, log) = screen.split_once("Log of shop:*:orders › billing").unwrap();
    assert!(log.contains("shop:03:orders") && !log.contains("audit"), "{screen}");
}

#[test]
fn a_claim_and_a_copied_command_need_one_group() {
    let mut scene = fleet();
    scene.keys("gc");
    assert!(scene.app.dialog().is_none());
    assert_eq!(scene.app.notice.as_ref().map(|notice| notice.text.as_str()), Some("pick a group first"));
    scene.keys("Y");
    assert_eq!(scene.app.notice.as_ref().map(|notice| notice.text.as_str()), Some("nothing to copy here"));
}
