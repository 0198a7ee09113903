//! Any size, and any number of changes.

use vt100::Screen;

use crate::session::{LIMIT, SIZE, frame_is_closed, newest, open_group, seed_orders, watch_orders};
use pelwatch::testing::{TestServer, pty::text_of};

/// The group screen fits its size: the frame is closed, header and strip are visible.
fn complete(screen: &Screen) -> bool {
    let text = text_of(screen);
    text.starts_with("pelwatch")
        && text.contains("◆3-0  ◆4-0  ┃ ·5-0")
        && text.contains("● live")
        && frame_is_closed(screen)
        && text.lines().last().is_some_and(|line| line.contains("? help"))
}

#[test]
fn the_screen_is_complete_after_every_change_of_its_size() {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    let mut terminal = watch_orders(&server);
    open_group(&mut terminal);
    for _ in 0..3 {
        for (columns, rows) in [(80, 24), (40, 15), (200, 60), SIZE] {
            terminal.resize(columns, rows);
            terminal.wait_for(&format!("a screen of {columns}x{rows}"), LIMIT, complete);
        }
        terminal.resize(20, 5);
        terminal.wait_text("pelwatch needs", LIMIT);
        terminal.resize(1, 1);
        terminal.wait_for("the message's first letter", LIMIT, |screen| text_of(screen) == "p");
        terminal.resize(SIZE.0, SIZE.1);
        terminal.wait_for("the full screen again", LIMIT, complete);
    }
}

#[test]
fn a_window_dragged_through_a_hundred_sizes_ends_up_complete() {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    let mut terminal = watch_orders(&server);
    open_group(&mut terminal);
    for step in 0..100 {
        terminal.resize(1 + step * 37 % 150, 1 + step * 11 % 50);
    }
    terminal.resize(SIZE.0, SIZE.1);
    terminal.wait_for("the full screen again", LIMIT, complete);
    terminal.send("qq");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
}

#[test]
fn ctrl_l_redraws_a_screen_that_another_program_wrote_over() {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    let mut terminal = watch_orders(&server);
    open_group(&mut terminal);
    let before = terminal.raw().len();
    terminal.send("\x0c");
    let whole = SIZE.0 as usize * 3;
    pelwatch::testing::wait_until("everything is written again", LIMIT, || {
        let raw = terminal.raw();
        let new = String::from_utf8_lossy(&raw[before..]).into_owned();
        new.contains("\x1b[2J") && new.contains("┃") && new.len() > whole
    });
    terminal.wait_for("a complete screen", LIMIT, complete);
}
