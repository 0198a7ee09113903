//! The main flow, on every server.

use crate::session::{LIMIT, frame_is_closed, open_group, seed_orders, wait_lag, wait_pending, watch, watch_orders};
use pelwatch::testing::{each_server, pty::text_of};

#[test]
fn the_numbers_follow_what_happens_on_the_server() {
    each_server(|server, _| {
        server.run("XADD jobs * n 1");
        server.run("XGROUP CREATE jobs readers 0");
        let terminal = watch(server, &[]);
        wait_lag(&terminal, "readers", "1");
        wait_pending(&terminal, "readers", "0");
        terminal.wait_text("● live 0.1s", LIMIT);

        server.run("XADD jobs * n 2");
        server.run("XADD jobs * n 3");
        wait_lag(&terminal, "readers", "3");
        server.run("XREADGROUP GROUP readers r1 COUNT 2 STREAMS jobs >");
        wait_lag(&terminal, "readers", "1");
        wait_pending(&terminal, "readers", "2");
        server.run("XGROUP CREATE jobs late 0");
        wait_lag(&terminal, "late", "3");
        server.run("XADD other * n 1");
        terminal.wait_text("no groups", LIMIT);
    });
}

#[test]
fn an_empty_server_says_so_and_its_first_stream_shows_up() {
    each_server(|server, _| {
        let terminal = watch(server, &[]);
        terminal.wait_text("There is no stream in this database.", LIMIT);
        seed_orders(server);
        wait_lag(&terminal, "workers", "2");
        wait_pending(&terminal, "workers", "2");
    });
}

#[test]
fn the_strip_shows_who_has_which_entry_and_where_the_cursor_is() {
    each_server(|server, _| {
        seed_orders(server);
        let mut terminal = watch_orders(server);
        open_group(&mut terminal);
        terminal.wait_for("the strip, exactly", LIMIT, |screen| {
            let text = text_of(screen);
            let mut lines = text.lines().skip(1);
            let title = text.lines().nth(1).unwrap_or_default();
            let (entries, owners) = (lines.nth(1).unwrap_or_default(), lines.next().unwrap_or_default());
            title.starts_with("┌ Orders › workers ─")
                && title.contains(" lag 2  pending 2 ")
                && inside(entries) == "✓1-0  ✓2-0  ◆3-0  ◆4-0  ┃ ·5-0  ·6-0"
                && inside(owners) == "c1    c2   ▲ cursor 4-0"
                && below(entries, "◆3-0", owners, "c1")
                && below(entries, "◆4-0", owners, "c2")
                && below(entries, "┃", owners, "▲")
                && text.contains("6 retained")
                // before 7.0 the server does not count what a group read, so "acked" has a reservation
                && text.contains("✓ 2 acked")
                && text.contains("   ◆ 2 pending   · 2 new")
                && frame_is_closed(screen)
        });

        // c2 takes one more entry and acknowledges everything it has; another entry arrives
        server.run("XREADGROUP GROUP workers c2 COUNT 1 STREAMS Orders >");
        server.run("XACK Orders workers 4-0 5-0");
        server.run("XADD Orders 7-0 n 7");
        terminal.wait_for("the strip after more", LIMIT, |screen| {
            let text = text_of(screen);
            text.contains("✓1-0  ✓2-0  ◆3-0  ✓4-0  ✓5-0  ┃ ·6-0  ·7-0") && text.contains("▲ cursor 5-0")
        });
    });
}

fn inside(line: &str) -> &str {
    line.trim_matches('│').trim()
}

/// Whether `lower` starts below `upper` or one cell to its right, where an id begins after its glyph.
fn below(line: &str, upper: &str, next: &str, lower: &str) -> bool {
    let column = |line: &str, part: &str| Some(line[..line.find(part)?].chars().count());
    match (column(line, upper), column(next, lower)) {
        (Some(upper), Some(lower)) => lower == upper || lower == upper + 1,
        _ => false,
    }
}
