//! The dashboard through a command: a bastion that goes away and comes back, and a command that would write on the screen.

use crate::session::{LIMIT, newest, seed_orders, start, wait_lag};
use pelwatch::testing::{TestServer, bastion::Bastion, relay::Relay};
use std::time::Duration;

#[test]
fn a_bastion_that_goes_away_is_a_sentence_and_the_first_attempt_after_it_is_back_succeeds() {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    let port = Relay::to(&server.socket(), Duration::ZERO).port().to_string();
    let mut bastion = Bastion::start();
    let via = bastion.via();
    let args = ["-h", "127.0.0.1", "-p", &port, "--via", &via, "--interval", "100ms"];
    let mut terminal = start(&args, (80, 24), &[]);
    wait_lag(&terminal, "workers", "2");
    bastion.stop();
    terminal.wait_text("○ no answer for", LIMIT);
    terminal.resize(200, 24);
    terminal.wait_text("the command of --via says: ", LIMIT);
    terminal.resize(80, 24);
    bastion.start_again();
    terminal.wait_text("● live", LIMIT);
    server.run("XADD Orders 7-0 n 7");
    wait_lag(&terminal, "workers", "3");
    // nothing but the program itself wrote on the screen
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(!raw.contains("Warning: Permanently added"), "{raw}");
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
}

#[test]
fn a_command_never_writes_on_the_screen_nor_reads_keys() {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    let relay = Relay::to(&server.socket(), Duration::ZERO);
    let port = relay.port().to_string();
    let folder = tempfile::tempdir().unwrap();
    // at the first start it may ask, later it tries to
    let script = folder.path().join("via.sh");
    let count = folder.path().join("count");
    let text = format!(
        "#!/usr/bin/env bash\necho x >> {count}\n\
         if [ $(wc -l < {count}) -gt 1 ]; then\n\
         (echo INTRUDER > /dev/tty) 2>/dev/null\n(read -r key < /dev/tty) 2>/dev/null\necho no way today >&2\nsleep 0.05\nexit 1\nfi\n\
         exec 3<>/dev/tcp/$1/$2 4<&0; cat <&4 >&3 & exec cat <&3\n",
        count = count.display()
    );
    std::fs::write(&script, text).unwrap();
    let via = format!("bash {} %h %p", script.display());
    let args = ["-h", "127.0.0.1", "-p", &port, "--via", &via, "--interval", "100ms", "--timeout", "300ms"];
    let mut terminal = start(&args, (120, 24), &[]);
    wait_lag(&terminal, "workers", "2");
    relay.set_deaf(true);
    terminal.wait_text("the command of --via says: no way today", LIMIT);
    // keys still reach the program
    terminal.send("?");
    terminal.wait_text("Keys here", LIMIT);
    terminal.send("?");
    terminal.wait_gone("Keys here", LIMIT);
    assert!(!String::from_utf8_lossy(&terminal.raw()).contains("INTRUDER"));
    assert!(std::fs::read_to_string(&count).unwrap().lines().count() > 1);
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
}
