use std::time::Duration;

use crate::{
    actions::{ALLOWED, Scene, TO_CONFIRM, confirm, open_claim_for_c2},
    session::{LIMIT, SIZE, newest, start},
};
use pelwatch::testing::{TestServer, pty::keys, relay::Relay, wait_until};

#[test]
fn what_was_claimed_is_followed_until_it_is_handled() {
    let scene = Scene::new();
    let mut terminal = scene.watch(ALLOWED);
    open_claim_for_c2(&mut terminal);
    confirm(&mut terminal);
    terminal.wait_text("done: 1 entry claimed", LIMIT);
    terminal.send(keys::ESC);
    terminal.wait_text("1 entry given to c2 ", LIMIT);
    terminal.wait_text("0 handled; it gets them only when it reads its history", LIMIT);
    // it reads its history: now it has the entry, and nothing is called redelivered
    wait_until("the entry is idle for longer than the move is settled", LIMIT, || {
        let rows: Vec<(String, String, i64, i64)> =
            redis::from_redis_value(scene.server.run("XPENDING Orders workers 3-0 3-0 1")).unwrap();
        rows[0].2 > 2_500
    });
    scene.server.run("XREADGROUP GROUP workers c2 STREAMS Orders 0");
    terminal.wait_text("it got 1 of them since", LIMIT);
    assert!(
        !terminal.text().contains("! claim-ping-pong") && !terminal.text().contains("! redelivered"),
        "{}",
        terminal.text()
    );
    scene.server.run("XACK Orders workers 3-0");
    terminal.wait_gone("given to c2", LIMIT);
}

/// Entries of a consumer that is gone: enough for many batches.
const STUCK: usize = 4_000;

#[test]
fn a_terminal_that_is_closed_during_a_claim_ends_its_line_in_the_journal() {
    let scene = Scene { server: TestServer::start(&newest()), state: tempfile::tempdir().unwrap() };
    let server = &scene.server;
    server.run("XGROUP CREATE jobs g 0 MKSTREAM");
    (1..=STUCK).for_each(|id| drop(server.run(&format!("XADD jobs {id}-0 n 1"))));
    server.run(&format!("XREADGROUP GROUP g gone COUNT {STUCK} STREAMS jobs >"));
    let ids: Vec<String> = (1..=STUCK).map(|id| format!("{id}-0")).collect();
    server.run(&format!("XCLAIM jobs g gone 0 {} IDLE 900000 JUSTID", ids.join(" ")));
    server.run("XGROUP CREATECONSUMER jobs g here");
    let claimed = || {
        let rows: Vec<Vec<redis::Value>> = redis::from_redis_value(server.run("XINFO CONSUMERS jobs g")).unwrap();
        let here =
            rows.iter().find(|row| redis::from_redis_value::<String>(row[1].clone()).unwrap() == "here").unwrap();
        redis::from_redis_value::<usize>(here[3].clone()).unwrap()
    };
    let way = Relay::to(&server.socket(), Duration::from_millis(20));
    let port = way.port().to_string();
    let state = scene.state.path().to_str().unwrap().to_owned();
    let args = ["-p", &port, "--interval", "200ms", "--allow-actions"];
    let mut terminal = start(&args, SIZE, &[("XDG_STATE_HOME", &state)]);
    terminal.wait_text(&STUCK.to_string(), LIMIT);
    terminal.wait_text("2/2", LIMIT);
    terminal.send("c");
    terminal.wait_text("▌[ Cancel ]", LIMIT);
    terminal.wait_text("4000 entries idle for", LIMIT);
    terminal.wait_text("would move to here", LIMIT);
    terminal.send(&format!("{TO_CONFIRM}g\r"));
    terminal.wait_text("▌[ Do it ]", LIMIT);
    terminal.send("\r");
    wait_until("the claim is under way", LIMIT, || claimed() > 200);
    // 0 by the hang-up, 1 where drawing failed first; never that of a panic
    let code = terminal.close(LIMIT);
    assert!(code <= 1, "{code}");
    let moved = claimed();
    assert!(moved < STUCK, "it was cut short");
    let journal = scene.journal();
    let lines: Vec<serde_json::Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{journal}");
    let end = &lines[1];
    assert_eq!((&end["event"], &end["after"]["claimed"]), (&"end".into(), &moved.into()), "{end}");
    assert!(end["text"].as_str().unwrap().contains("stopped at "), "{end}");
}
