//! The dialogs of claims and moves: every write needs a preview, the typed name and a confirmation.

use std::path::Path;

use tempfile::TempDir;

use crate::session::{LIMIT, SIZE, newest, open_group, polls, seed_orders, start, text, wait_consumers, wait_pending};
use pelwatch::testing::{
    TestServer, newest_from,
    pty::{Terminal, keys, text_of},
    wait_until,
};

/// A server with Orders, an entry of c1 that is old enough to claim, and a folder for the journal.
pub struct Scene {
    pub server: TestServer,
    pub state: TempDir,
}

impl Scene {
    pub fn new() -> Self {
        let server = TestServer::start(&newest());
        seed_orders(&server);
        server.run("XCLAIM Orders workers c1 0 3-0 IDLE 900000 RETRYCOUNT 7 JUSTID");
        Self { server, state: tempfile::tempdir().unwrap() }
    }

    /// The dashboard with `workers` picked and its consumers loaded.
    pub fn watch(&self, flags: &[&str]) -> Terminal {
        let terminal = watch_in(&self.server, self.state.path(), flags);
        wait_pending(&terminal, "workers", "2");
        wait_consumers(&terminal, "workers", "/2");
        terminal
    }

    /// How often anything was written to a group.
    fn writes(&self) -> u64 {
        let stats = text(&self.server, "INFO commandstats");
        let writing = ["xclaim", "xautoclaim", "xack", "xgroup"];
        let calls = stats.lines().filter(|line| {
            let name = line.strip_prefix("cmdstat_").unwrap_or_default();
            writing
                .iter()
                .any(|command| name.starts_with(&format!("{command}:")) || name.starts_with(&format!("{command}|")))
        });
        calls.filter_map(|line| line.split("calls=").nth(1)?.split(',').next()?.parse::<u64>().ok()).sum()
    }

    pub fn journal(&self) -> String {
        std::fs::read_to_string(self.state.path().join("pelwatch/journal.jsonl")).unwrap_or_default()
    }

    /// Owner and count of a pending entry.
    fn held(&self, id: &str) -> Option<(String, i64)> {
        let line = format!("XPENDING Orders workers {id} {id} 1");
        let rows: Vec<(String, String, i64, i64)> = redis::from_redis_value(self.server.run(&line)).unwrap();
        rows.into_iter().next().map(|(_, owner, _, count)| (owner, count))
    }

    fn cursor(&self) -> String {
        let groups: Vec<std::collections::BTreeMap<String, redis::Value>> =
            redis::from_redis_value(self.server.run("XINFO GROUPS Orders")).unwrap();
        redis::from_redis_value(groups[0]["last-delivered-id"].clone()).unwrap()
    }

    /// Waits until the typed keys are processed, then checks that nothing was written to the server or the journal.
    #[track_caller]
    fn wait_nothing_written(&self, writes: u64) {
        let before = polls(&self.server);
        wait_until("it was polled", LIMIT, || polls(&self.server) > before + 6);
        assert_eq!(self.writes(), writes);
        assert_eq!(self.journal(), "");
    }
}

pub fn watch_in(server: &TestServer, state: &Path, flags: &[&str]) -> Terminal {
    let socket = server.socket();
    let mut args = vec!["-s", socket.to_str().unwrap(), "--interval", "100ms"];
    args.extend(flags);
    start(&args, SIZE, &[("XDG_STATE_HOME", state.to_str().unwrap())])
}

pub const ALLOWED: &[&str] = &["--allow-actions"];

/// From Cancel, where each dialog starts, to the field for the name.
pub const TO_CONFIRM: &str = keys::BACK_TAB;

/// Types the name of the group in the field for it, and carries the plan out.
pub fn confirm(terminal: &mut Terminal) {
    terminal.send("workers\r");
    terminal.wait_text("▌[ Do it ]", LIMIT);
    terminal.send("\r");
}

/// Opens a claim and chooses c2 as its target. The focus ends on the field for the name.
pub fn open_claim_for_c2(terminal: &mut Terminal) {
    terminal.send("c");
    terminal.wait_text("Claim idle entries", LIMIT);
    terminal.wait_text("▌[ Cancel ]", LIMIT);
    terminal.send("\t\t");
    terminal.wait_text("▌ from ", LIMIT);
    terminal.send("\t");
    terminal.wait_text("▌ to ", LIMIT);
    for _ in 0..2 {
        if !terminal.text().contains("‹ c2 ›") {
            terminal.send(keys::RIGHT);
            terminal.wait_gone("‹ c1 ›", LIMIT);
        }
    }
    terminal.wait_text("1 entry idle for", LIMIT);
    terminal.wait_text("would move to c2", LIMIT);
    for _ in 0..4 {
        terminal.send(keys::BACK_TAB);
    }
    terminal.wait_text("▌ Type", LIMIT);
}

#[test]
fn keys_typed_ahead_never_write() {
    let scene = Scene::new();
    let writes = scene.writes();
    // all keys after the first are typed before its dialog opens; each sequence ends with the group open
    for ahead in ["cworkers\r\r", "m0\r\r\r", "mworkers\r\r", "cc\r\r", "c5m\rworkers\r"] {
        let mut terminal = scene.watch(ALLOWED);
        terminal.send(ahead);
        terminal.wait_text("┌ Orders › workers", LIMIT);
        scene.wait_nothing_written(writes);
    }
    // tabs lead to the button or into other fields, so the name is typed where it does not count
    for ahead in ["c\t\rworkers\r\r", "m\tworkers\r\r\r", "c\t\tworkers\r\r", "m\x1b[Z\x1b[Zworkers\t\r\r"] {
        let mut terminal = scene.watch(ALLOWED);
        terminal.send(ahead);
        terminal.wait_text(" Do it ]", LIMIT);
        scene.wait_nothing_written(writes);
    }
}

#[test]
fn pasted_text_never_confirms() {
    let scene = Scene::new();
    let writes = scene.writes();
    let mut terminal = scene.watch(ALLOWED);
    open_claim_for_c2(&mut terminal);
    for pasted in ["workers", "workers\r\r", "\r\rworkers\r\r"] {
        terminal.send(&format!("\x1b[200~{pasted}\x1b[201~\r\r"));
        // the field for the name is still empty
        terminal.send("x");
        terminal.wait_text(" x▏ ", LIMIT);
        terminal.send(keys::BACKSPACE);
        terminal.wait_gone(" x▏ ", LIMIT);
        scene.wait_nothing_written(writes);
    }
    // an open group must not read pasted text as keys either
    terminal.send(keys::ESC);
    terminal.wait_gone("Claim idle entries", LIMIT);
    terminal.send("\x1b[200~c\x1b[Zworkers\r\r\x1b[201~");
    scene.wait_nothing_written(writes);
    assert!(!terminal.text().contains("Claim idle entries"));
}

#[test]
fn only_the_right_name_claims_and_the_entries_can_be_given_back() {
    let scene = Scene::new();
    let writes = scene.writes();
    let mut terminal = scene.watch(ALLOWED);
    open_claim_for_c2(&mut terminal);
    for wrong in ["worker", "Workers", "workers ", "workersx", "c2", "Orders", ""] {
        // Enter in the field and on the button
        terminal.send(&format!("\x15{wrong}\r\r"));
        terminal.send("\t\t\r\r");
        terminal.wait_text("▌[ Do it ]", LIMIT);
        let answer =
            if wrong.is_empty() { "nothing is typed so far: type workers" } else { "\" is not workers: Ctrl-U" };
        terminal.wait_text(answer, LIMIT);
        terminal.send(&format!("{}{}", keys::BACK_TAB, keys::BACK_TAB));
        terminal.wait_text("▌ Type", LIMIT);
    }
    scene.wait_nothing_written(writes);
    terminal.send("\x15workers\r");
    terminal.wait_text("▌[ Do it ]", LIMIT);
    scene.wait_nothing_written(writes);
    terminal.send("\r");
    terminal.wait_text("done: 1 entry claimed", LIMIT);
    // before and after, counted
    terminal.wait_text("c1 holds 1 -> 0, c2 holds 1 -> 2", LIMIT);
    assert_eq!(scene.held("3-0"), Some(("c2".to_owned(), 7)));
    assert_eq!(scene.held("4-0").unwrap().0, "c2");
    let journal = scene.journal();
    assert_eq!(journal.lines().count(), 2, "{journal}");

    terminal.send("b");
    terminal.wait_text("Give claimed entries back", LIMIT);
    terminal.wait_text("1 entry would go back from c2", LIMIT);
    terminal.wait_text("▌[ Cancel ]", LIMIT);
    terminal.send(&format!("{TO_CONFIRM}workers\r"));
    terminal.wait_text("▌[ Do it ]", LIMIT);
    terminal.send("\r");
    terminal.wait_text("done: 1 entry claimed", LIMIT);
    assert_eq!(scene.held("3-0"), Some(("c1".to_owned(), 7)));
    assert_eq!(scene.journal().lines().count(), 4);
    terminal.send(keys::ESC);
    terminal.wait_gone("done: ", LIMIT);
}

#[test]
fn another_target_asks_for_the_name_again() {
    let scene = Scene::new();
    let writes = scene.writes();
    let mut terminal = scene.watch(ALLOWED);
    open_claim_for_c2(&mut terminal);
    terminal.send("workers");
    terminal.wait_text("workers▏", LIMIT);
    // away and back again: the screen no longer shows what was confirmed
    terminal.send("\t\t\t\t");
    terminal.wait_text("▌ to ", LIMIT);
    terminal.send(keys::RIGHT);
    terminal.wait_text("‹ c1 ›", LIMIT);
    terminal.send(keys::RIGHT);
    terminal.wait_text("would move to c2", LIMIT);
    terminal.send(&format!("{}{}\r\r", keys::BACK_TAB, keys::BACK_TAB));
    terminal.wait_text("▌[ Do it ]", LIMIT);
    scene.wait_nothing_written(writes);
    assert!(!terminal.text().contains("workers▏"));
}

/// Opens a move to this place. The focus ends on the field for the name.
fn open_seek(terminal: &mut Terminal, place: &str) {
    terminal.send("m");
    terminal.wait_text("Move the cursor", LIMIT);
    terminal.wait_text("▌[ Cancel ]", LIMIT);
    terminal.send(&format!("{}{}\x15{place}\r", keys::BACK_TAB, keys::BACK_TAB));
    terminal.wait_text("▌ Type", LIMIT);
}

#[test]
fn a_cursor_that_moves_while_one_types_is_not_overwritten_until_that_is_accepted() {
    let scene = Scene::new();
    let mut terminal = scene.watch(ALLOWED);
    open_seek(&mut terminal, "0");
    terminal.wait_text("4 entries would be delivered again: 2 acknowledged", LIMIT);
    scene.server.run("XREADGROUP GROUP workers c1 COUNT 1 STREAMS Orders >");
    terminal.send("workers\r\r");
    terminal.wait_text("the cursor moved from 4-0 to 5-0", LIMIT);
    assert_eq!(scene.cursor(), "5-0");
    terminal.wait_text("5 entries would be delivered again", LIMIT);
    terminal.wait_text("▌ [ ]", LIMIT);
    // the name is asked for again, and without the tick a moving cursor is refused once more
    terminal.send("\t\r\r");
    scene.server.run("XREADGROUP GROUP workers c1 COUNT 1 STREAMS Orders >");
    terminal.send("workers\r\r");
    terminal.wait_text("the cursor moved from 5-0 to 6-0", LIMIT);
    assert_eq!(scene.cursor(), "6-0");
    terminal.wait_text("6 entries would be delivered again", LIMIT);
    terminal.send(" ");
    terminal.wait_text("[x]", LIMIT);
    scene.server.run("XADD Orders 7-0 n 7");
    scene.server.run("XREADGROUP GROUP workers c1 COUNT 1 STREAMS Orders >");
    terminal.send("\tworkers\r");
    terminal.wait_text("▌[ Do it ]", LIMIT);
    terminal.send("\r");
    terminal.wait_text("done: the cursor is at 0-0, lag 7, counted", LIMIT);
    assert_eq!(scene.cursor(), "0-0");
    // the way back leads to the cursor at the moment of the move, not at the preview
    terminal.send("b");
    terminal.wait_text("from 0-0 to 7-0", LIMIT);
    terminal.wait_text("▌[ Cancel ]", LIMIT);
    terminal.send(&format!("{TO_CONFIRM}workers\r"));
    terminal.wait_text("▌[ Do it ]", LIMIT);
    terminal.send("\r");
    terminal.wait_text("done: the cursor is at 7-0, lag 7 -> 0, counted", LIMIT);
    assert_eq!(scene.cursor(), "7-0");
}

#[test]
fn a_session_that_only_reads_says_why_and_copies_the_command() {
    // XCLAIM names each entry, so a claim of no entries has no command
    if newest_from((6, 2, 0)).is_none() {
        return;
    }
    let scene = Scene::new();
    let writes = scene.writes();
    for (flags, why) in [
        (&[][..], "This session only reads; to carry plans out, start it with --allow-actions"),
        (&["--read-only"][..], "This session only reads (--read-only)"),
        (&["--allow-actions", "--read-only"][..], "This session only reads (--read-only)"),
        (&["--read-only", "--allow-actions"][..], "This session only reads (--read-only)"),
    ] {
        let mut terminal = scene.watch(flags);
        terminal.send("c");
        terminal.wait_text(why, LIMIT);
        terminal.wait_text("▌[ Close ]", LIMIT);
        terminal.wait_text("XAUTOCLAIM Orders workers", LIMIT);
        assert!(!terminal.text().contains("Do it"));
        terminal.send("y");
        wait_until("the command is copied", LIMIT, || String::from_utf8_lossy(&terminal.raw()).contains("\x1b]52;c;"));
        terminal.send(&format!("{}workers\r\r\tworkers\r\r", keys::BACK_TAB));
        terminal.send(keys::ESC);
        scene.wait_nothing_written(writes);
    }
}

#[test]
fn marked_entries_are_handed_over_or_acknowledged() {
    let scene = Scene::new();
    let mut terminal = scene.watch(ALLOWED);
    terminal.send("A");
    open_group(&mut terminal);
    terminal.send("A");
    terminal.wait_text("no entry is marked", LIMIT);
    terminal.send("j");
    terminal.wait_for("3-0 is picked", LIMIT, |screen| {
        text_of(screen).lines().any(|line| line.starts_with("│▌") && line.contains("3-0"))
    });
    terminal.send("v");
    terminal.wait_text("1 marked", LIMIT);
    terminal.send("C");
    terminal.wait_text("Hand 1 marked entry over", LIMIT);
    terminal.wait_text("▌[ Cancel ]", LIMIT);
    terminal.send("\t\t");
    terminal.wait_text("▌ to ", LIMIT);
    if !terminal.text().contains("‹ c2 ›") {
        terminal.send(keys::RIGHT);
    }
    terminal.wait_text("1 of 1 marked entry would go to c2", LIMIT);
    terminal.send(&format!("{}{}{}", keys::BACK_TAB, keys::BACK_TAB, keys::BACK_TAB));
    terminal.wait_text("▌ Type", LIMIT);
    terminal.send("workers\r\r");
    terminal.wait_text("done: 1 entry claimed", LIMIT);
    assert_eq!(scene.held("3-0"), Some(("c2".to_owned(), 7)));
    terminal.send(keys::ESC);
    terminal.wait_gone("done: ", LIMIT);

    terminal.send("A");
    terminal.wait_text("Acknowledge 1 marked entry", LIMIT);
    terminal.wait_text("there is no way back but moving its cursor", LIMIT);
    terminal.wait_text("▌[ Cancel ]", LIMIT);
    terminal.send(&format!("{TO_CONFIRM}workers\r\r"));
    terminal.wait_text("done: 1 acknowledged", LIMIT);
    assert_eq!(scene.held("3-0"), None);
    assert_eq!(scene.held("4-0").unwrap().0, "c2");
}

#[test]
fn a_consumer_that_holds_entries_is_not_deleted() {
    let scene = Scene::new();
    // reading its own history creates a consumer on every version
    scene.server.run("XREADGROUP GROUP workers idler STREAMS Orders 0");
    let terminal = &mut watch_in(&scene.server, scene.state.path(), ALLOWED);
    wait_pending(terminal, "workers", "2");
    wait_consumers(terminal, "workers", "/3");
    let writes = scene.writes();
    open_group(terminal);
    terminal.send("D");
    terminal.wait_text("Delete the consumer c1", LIMIT);
    terminal.wait_text("c1 holds 1 pending entry", LIMIT);
    // what is refused cannot even be confirmed
    terminal.send(&format!("{TO_CONFIRM}workers\t\t"));
    terminal.wait_text("▌[ Close ]", LIMIT);
    assert!(!terminal.text().contains("Do it") && !terminal.text().contains("to confirm"));
    scene.wait_nothing_written(writes);
    terminal.send(keys::ESC);
    terminal.wait_gone("Delete the consumer", LIMIT);
    terminal.send("G");
    terminal.wait_for("idler is picked", LIMIT, |screen| {
        text_of(screen).lines().any(|line| line.starts_with("│▌") && line.contains("idler"))
    });
    terminal.send("D");
    terminal.wait_text("Delete the consumer idler", LIMIT);
    terminal.wait_text("idler would be deleted", LIMIT);
    terminal.send(&format!("{TO_CONFIRM}workers\r\r"));
    terminal.wait_text("the consumer idler is deleted", LIMIT);
    assert_eq!(scene.held("3-0").unwrap().0, "c1");
}

#[test]
fn without_a_journal_nothing_is_written() {
    let scene = Scene::new();
    let writes = scene.writes();
    let blocked = scene.state.path().join("a-file");
    std::fs::write(&blocked, "").unwrap();
    let mut terminal = watch_in(&scene.server, &blocked, ALLOWED);
    wait_pending(&terminal, "workers", "2");
    wait_consumers(&terminal, "workers", "/2");
    open_claim_for_c2(&mut terminal);
    terminal.send("workers\r\r");
    terminal.wait_text("not done: nothing was written: the journal cannot be written", LIMIT);
    assert_eq!(scene.writes(), writes);
    assert_eq!(scene.held("3-0").unwrap().0, "c1");
}

#[test]
fn the_demo_may_act() {
    let state = tempfile::tempdir().unwrap();
    let bin = newest().bin;
    let env = [("XDG_STATE_HOME", state.path().to_str().unwrap()), ("PELWATCH_SERVER_BIN", bin.to_str().unwrap())];
    let mut terminal = start(&["demo"], SIZE, &env);
    terminal.wait_text("mailer", LIMIT);
    terminal.send("m");
    terminal.wait_text("Move the cursor", LIMIT);
    terminal.wait_text(" Do it ]", LIMIT);
    terminal.send("\r");
    terminal.wait_gone("Move the cursor", LIMIT);
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
}

#[test]
fn a_group_is_deleted_only_when_it_is_typed_out_that_it_is_in_use() {
    let scene = Scene::new();
    let mut terminal = scene.watch(ALLOWED);
    let writes = scene.writes();
    terminal.send("X");
    terminal.wait_text("Delete the group workers", LIMIT);
    terminal.wait_text("2 pending entries would be lost", LIMIT);
    terminal.wait_text("▌[ Close ]", LIMIT);
    assert!(!terminal.text().contains("Do it"), "what is refused cannot be confirmed");
    assert_eq!(scene.writes(), writes);
    terminal.send(&format!("{}in use\r", keys::BACK_TAB));
    terminal.wait_text("the way back restores the cursor only", LIMIT);
    terminal.wait_text("XGROUP DESTROY Orders workers", LIMIT);
    terminal.wait_text("▌ Type", LIMIT);
    // the plan of what was typed, not the refused one
    terminal.wait_text("2 pending entries would be dropped unprocessed", LIMIT);
    confirm(&mut terminal);
    terminal.wait_text("done: the group workers is deleted", LIMIT);
    terminal.wait_text("the way back: XGROUP CREATE Orders workers 4-0", LIMIT);
    assert!(scene.journal().contains("\"action\":\"delete-group\""), "{}", scene.journal());
    assert_eq!(text(&scene.server, "EXISTS Orders"), "1");
}
