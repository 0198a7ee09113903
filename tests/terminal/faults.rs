//! A missing key, a wrong type or a missing permission shows in its own row and affects nothing else.

use crate::session::{LIMIT, seed_orders, shown, start, wait_lag, wait_pending, watch};
use pelwatch::testing::{
    TestServer, each_server, newest_from,
    pty::{Terminal, text_of},
};

const PASSWORD: &str = "sesame";

#[track_caller]
fn wait_row(terminal: &Terminal, name: &str, words: &str) {
    terminal.wait_for(&format!("{name} with {words:?}"), LIMIT, |screen| {
        text_of(screen).lines().any(|line| line.contains(name) && line.contains(words))
    });
}

#[test]
fn a_stream_that_is_missing_or_none_has_a_row_that_says_so() {
    each_server(|server, _| {
        seed_orders(server);
        server.run("SET text 1");
        let terminal = watch(server, &["--stream", "Orders", "--stream", "nosuch", "--stream", "text"]);
        wait_pending(&terminal, "workers", "2");
        wait_row(&terminal, "nosuch", "no such key");
        wait_row(&terminal, "text", "not a stream");

        server.run("XADD nosuch * n 1");
        server.run("XGROUP CREATE nosuch readers 0");
        wait_lag(&terminal, "readers", "1");
        server.run("DEL text");
        wait_row(&terminal, "text", "no such key");
        server.run("DEL nosuch");
        wait_row(&terminal, "nosuch", "no such key");
        server.run("SET nosuch 1");
        wait_row(&terminal, "nosuch", "not a stream");
        wait_pending(&terminal, "workers", "2");
    });
}

/// Watches as a user who may read everything except what `rules` takes away.
fn watch_as(server: &TestServer, rules: &str, more: &[&str]) -> Terminal {
    server.run(&format!("ACL SETUSER eye reset on >{PASSWORD} ~* +@all {rules}"));
    let socket = server.socket();
    let mut args = vec!["-s", socket.to_str().unwrap(), "--interval", "100ms", "--user", "eye"];
    args.extend(more);
    start(&args, (120, 40), &[("REDISCLI_AUTH", PASSWORD)])
}

#[test]
fn a_forbidden_command_costs_its_own_column_and_nothing_else() {
    each_server(|server, found| {
        if found.compat() < (6, 0, 0) {
            return;
        }
        seed_orders(server);
        for command in ["time", "multi", "exec", "hello", "info", "client", "xrange", "xpending"] {
            println!("without {command}");
            let terminal = watch_as(server, &format!("-{command}"), &[]);
            terminal.wait_for(&format!("pending without {command}"), LIMIT, |screen| {
                shown(screen, "workers", "pending").as_deref() == Some("2")
            });
            terminal.wait_text("● live", LIMIT);
        }
    });
}

#[test]
fn a_server_that_forbids_looking_for_streams_shows_those_that_are_named() {
    let Some(found) = newest_from((6, 0, 0)) else { return };
    let server = TestServer::start(&found);
    seed_orders(&server);
    let terminal = watch_as(&server, "-scan", &[]);
    terminal.wait_text("Streams cannot be looked for: no permission.", LIMIT);
    terminal.wait_text("pelwatch --stream NAME", LIMIT);
    let terminal = watch_as(&server, "-scan", &["--stream", "Orders"]);
    wait_lag(&terminal, "workers", "2");
}

#[test]
fn a_forbidden_xinfo_or_key_is_said_in_the_row() {
    // rules for single subcommands
    let Some(found) = newest_from((7, 0, 0)) else { return };
    let server = TestServer::start(&found);
    seed_orders(&server);
    server.run("XADD secret * n 1");
    let terminal = watch_as(&server, "-xinfo|groups", &[]);
    wait_row(&terminal, "Orders", "no permission");
    terminal.wait_text("● live", LIMIT);

    let terminal = watch_as(&server, "resetkeys ~Orders", &[]);
    wait_lag(&terminal, "workers", "2");
    wait_row(&terminal, "secret", "no permission");

    // permission granted meanwhile: no restart is needed
    server.run("ACL SETUSER eye ~secret");
    wait_row(&terminal, "secret", "no groups");
}
