//! What goes wrong with consumer groups, as a user meets it: the right first words by themselves, and few keys to the cause and to the act.
//! With `PELWATCH_DRILLS=FILE` each drill adds its row to the table of docs/drills.md (scripts/drills).

use crate::{
    actions::watch_in,
    session::{LIMIT, SIZE, newest, start, wait_pending},
};
use pelwatch::testing::{
    TestServer,
    pty::{Terminal, keys, text_of},
};
use redis::{Connection, Value};
use std::{
    io::Write,
    sync::atomic::{AtomicBool, Ordering},
    thread::{self, Scope},
    time::{Duration, Instant},
};

/// The size of a terminal that nobody made larger.
const SMALL: (u16, u16) = (80, 24);

/// Ends the workload when the drill ends, also with a failure.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a step of a workload so often, until it is told to stop: the workload's own pace, on which no check waits.
fn work<'scope>(
    scope: &'scope Scope<'scope, '_>,
    server: &TestServer,
    stop: &'scope AtomicBool,
    every: Duration,
    mut step: impl FnMut(&mut Connection, u64) + Send + 'scope,
) {
    let mut db = server.connect().unwrap();
    scope.spawn(move || {
        let mut round = 0;
        while !stop.load(Ordering::Relaxed) {
            step(&mut db, round);
            round += 1;
            thread::sleep(every);
        }
    });
}

fn run(db: &mut Connection, line: &str) -> Value {
    let mut command = redis::Cmd::new();
    for word in line.split(' ') {
        command.arg(word);
    }
    command.query(db).unwrap()
}

/// Reads up to `count` new entries and returns their ids.
fn read(db: &mut Connection, consumer: &str, count: u64) -> Vec<String> {
    type Read = Option<Vec<(String, Vec<(String, Value)>)>>;
    let line = format!("XREADGROUP GROUP workers {consumer} COUNT {count} STREAMS jobs >");
    let read: Read = redis::from_redis_value(run(db, &line)).unwrap();
    read.into_iter().flatten().flat_map(|(_, entries)| entries).map(|(id, _)| id).collect()
}

fn acknowledge(db: &mut Connection, ids: &[String]) {
    if !ids.is_empty() {
        run(db, &format!("XACK jobs workers {}", ids.join(" ")));
    }
}

/// A drill under way, and what it took.
struct Drill {
    name: &'static str,
    began: Instant,
    words: String,
    words_s: f64,
    cause_keys: usize,
    act_keys: Option<usize>,
}

impl Drill {
    /// Begins with the trouble or with the program, whichever comes last.
    fn begin(name: &'static str) -> Self {
        Self { name, began: Instant::now(), words: String::new(), words_s: 0.0, cause_keys: 0, act_keys: None }
    }

    /// The first words that somebody sees, without a key.
    #[track_caller]
    fn first_words(&mut self, terminal: &Terminal, words: &str, limit: Duration) {
        terminal.wait_text(words, limit);
        (self.words, self.words_s) = (words.to_owned(), self.began.elapsed().as_secs_f64());
    }

    /// Adds a row to the table, if one is being made.
    fn end(&self) {
        let Some(path) = std::env::var_os("PELWATCH_DRILLS") else { return };
        let act = self.act_keys.map_or("-".to_owned(), |keys| keys.to_string());
        let row = format!("| {} | {} | {:.1} | {} | {act} |\n", self.name, self.words, self.words_s, self.cause_keys);
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(row.as_bytes()).unwrap();
    }
}

fn watch_small(server: &TestServer, more: &[&str]) -> Terminal {
    let socket = server.socket();
    let mut args = vec!["-s", socket.to_str().unwrap()];
    args.extend(more);
    start(&args, SMALL, &[])
}

/// The first line of the screen.
fn header(terminal: &Terminal) -> String {
    text_of(&terminal.screen()).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_dead_workers_entries_are_claimed_by_a_living_one_and_followed() {
    let server = TestServer::start(&newest());
    (1..=30).for_each(|n| drop(server.run(&format!("XADD jobs {n}-0 n {n}"))));
    server.run("XGROUP CREATE jobs workers 0");
    server.run("XREADGROUP GROUP workers dead COUNT 5 STREAMS jobs >");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ending = Ending(&stop);
        work(scope, &server, &stop, Duration::from_millis(200), |db, round| {
            let ids = read(db, "alive", 1);
            acknowledge(db, &ids);
            run(db, &format!("XADD jobs * n {round}"));
        });
        let state = tempfile::tempdir().unwrap();
        let mut terminal = watch_in(&server, state.path(), &["--allow-actions", "--gone-after", "10s"]);
        let mut drill = Drill::begin("a worker dies with 5 entries");
        drill.first_words(&terminal, "dead holds 5 entries, not seen for", LIMIT * 2);
        // from the overview: claim, back to the field for the name, the name, on to the button, do it
        terminal.send("c");
        terminal.wait_text("these 5 entries of dead are idle for", LIMIT);
        terminal.wait_text("would move to alive", LIMIT);
        terminal.send(keys::BACK_TAB);
        terminal.wait_text("▌ Type workers to confirm", LIMIT);
        terminal.send("workers");
        terminal.send("\r");
        terminal.wait_text("▌[ Do it ]", LIMIT);
        terminal.send("\r");
        terminal.wait_text("5 entries claimed", LIMIT);
        drill.act_keys = Some(4);
        terminal.send(keys::ESC);
        terminal.wait_text("given to alive", LIMIT);
        assert!(drill.act_keys <= Some(6));
        drill.end();
    });
}

#[test]
fn a_poisoned_entry_is_two_keys_from_the_overview() {
    let server = TestServer::start(&newest());
    (1..=9).for_each(|n| drop(server.run(&format!("XADD jobs {n}-0 order broken-{n}"))));
    server.run("XGROUP CREATE jobs workers 0");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ending = Ending(&stop);
        let mut db = server.connect().unwrap();
        let ids = read(&mut db, "w1", 9);
        acknowledge(&mut db, &ids[..6]);
        run(&mut db, "XCLAIM jobs workers w1 0 8-0 RETRYCOUNT 30");
        work(scope, &server, &stop, Duration::from_millis(200), |db, _| {
            read(db, "w1", 1);
        });
        let mut drill = Drill::begin("one entry fails each time");
        let mut terminal = watch_small(&server, &[]);
        drill.first_words(&terminal, "delivered 5 times or more: 8-0", LIMIT);
        drill.cause_keys = 2;
        terminal.send("\r");
        terminal.wait_text("was delivered 5", LIMIT);
        terminal.send("\r");
        terminal.wait_text("broken-8", LIMIT);
        drill.end();
    });
}

#[test]
fn entries_that_nobody_acknowledges_are_named_with_their_holder() {
    let server = TestServer::start(&newest());
    server.run("XGROUP CREATE jobs workers 0 MKSTREAM");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ending = Ending(&stop);
        work(scope, &server, &stop, Duration::from_millis(50), |db, round| {
            run(db, &format!("XADD jobs * n {round}"));
            read(db, "w1", 5);
        });
        let mut drill = Drill::begin("nothing is acknowledged");
        // large enough for the chart
        let socket = server.socket();
        let mut terminal = start(&["-s", socket.to_str().unwrap()], SIZE, &[]);
        drill.first_words(&terminal, "! never-acked", LIMIT * 2);
        drill.cause_keys = 1;
        terminal.send("\r");
        terminal.wait_text("why: ", LIMIT);
        // the chart is about what the finding is about
        terminal.wait_text("(never-acked)", LIMIT);
        drill.end();
    });
}

#[test]
fn one_burst_that_drains_is_no_alarm() {
    let server = TestServer::start(&newest());
    server.run("XGROUP CREATE jobs workers 0 MKSTREAM");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ending = Ending(&stop);
        for consumer in ["w1", "w2"] {
            work(scope, &server, &stop, Duration::from_millis(20), move |db, _| {
                let ids = read(db, consumer, 5);
                acknowledge(db, &ids);
            });
        }
        let mut drill = Drill::begin("4,000 entries come at once");
        let terminal = watch_small(&server, &[]);
        terminal.wait_text("✓ quiet", LIMIT);
        let mut burst = redis::pipe();
        for n in 0..4000 {
            burst.cmd("XADD").arg("jobs").arg("*").arg("n").arg(n);
        }
        burst.exec(&mut server.connect().unwrap()).unwrap();
        let is_read = |screen: &_| {
            let text = text_of(screen);
            let row: Vec<&str> =
                text.lines().find(|line| line.starts_with("│▌")).unwrap_or_default().split_whitespace().collect();
            row.iter().position(|word| *word == "workers").and_then(|at| row.get(at + 1)) == Some(&"0")
        };
        terminal.wait_for("the burst", LIMIT, |screen| !is_read(screen));
        let before = terminal.raw().len();
        terminal.wait_for("it is read", LIMIT * 2, is_read);
        drill.first_words(&terminal, "✓ quiet", LIMIT);
        let seen = String::from_utf8_lossy(&terminal.raw()[before..]).into_owned();
        for word in ["! falling-behind", "critical", " warn"] {
            assert!(!seen.contains(word), "{word} was said of a burst that drained");
        }
        drill.end();
    });
}

#[test]
fn while_entries_are_being_lost_the_header_stays_critical_and_the_log_says_it() {
    let server = TestServer::start(&newest());
    server.run("XGROUP CREATE jobs workers 0 MKSTREAM");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ending = Ending(&stop);
        work(scope, &server, &stop, Duration::from_millis(5), |db, round| {
            run(db, &format!("XADD jobs MAXLEN 100 * n {round}"));
        });
        work(scope, &server, &stop, Duration::from_millis(50), |db, _| {
            let ids = read(db, "slow", 1);
            acknowledge(db, &ids);
        });
        let mut drill = Drill::begin("a slow group's entries are trimmed");
        let mut terminal = watch_small(&server, &[]);
        drill.first_words(&terminal, "removed before workers read them", LIMIT);
        terminal.wait_text("▲ 1 critical", LIMIT);
        let from = Instant::now();
        terminal.wait_for("ten seconds of it", LIMIT * 2, |screen| {
            let header = text_of(screen).lines().next().unwrap_or_default().to_owned();
            assert!(header.contains("▲ 1 critical"), "{header}");
            from.elapsed() > Duration::from_secs(10)
        });
        drill.cause_keys = 1;
        terminal.send("\r");
        terminal.wait_text("why: ", LIMIT);
        terminal.send("e");
        terminal.wait_text("trimmed-unread", LIMIT);
        assert!(header(&terminal).contains("▲ 1 critical"));
        drill.end();
    });
}

#[test]
fn one_dead_worker_among_sixty_streams_stands_in_the_first_row() {
    let server = TestServer::start(&newest());
    let mut seed = redis::pipe();
    for n in 0..60 {
        let key = format!("shop:{n:02}:orders:events");
        seed.cmd("XADD").arg(&key).arg("1-0").arg("n").arg("1");
        for group in ["billing", "search"] {
            seed.cmd("XGROUP").arg("CREATE").arg(&key).arg(group).arg("0");
            seed.cmd("XREADGROUP").arg("GROUP").arg(group).arg("w").arg("STREAMS").arg(&key).arg(">");
            if (n, group) != (42, "search") {
                seed.cmd("XACK").arg(&key).arg(group).arg("1-0");
            }
        }
    }
    seed.exec(&mut server.connect().unwrap()).unwrap();
    let died = Instant::now();
    pelwatch::testing::wait_until("it is gone for 11 s", LIMIT * 2, || died.elapsed() > Duration::from_secs(11));
    let mut drill = Drill::begin("one dead worker in a fleet of 60 streams");
    let mut terminal = watch_small(&server, &["--gone-after", "10s"]);
    drill.first_words(&terminal, "shop:42:orders:events: w holds 1 entry, not seen for", LIMIT);
    let picked = |words: &[&'static str]| {
        let words = words.to_vec();
        move |screen: &_| {
            let text = text_of(screen);
            let row = text.lines().find(|line| line.starts_with("│▌")).unwrap_or_default();
            words.iter().all(|word| row.contains(word))
        }
    };
    // the streams are one row, which says the worst; the first below it is the one that it is about
    terminal.wait_for("one row for all", LIMIT, picked(&["▸ shop:*", "search", "holder-gone"]));
    drill.cause_keys = 2;
    terminal.send("\r");
    terminal.wait_for("the row of the stream", LIMIT, picked(&["42", "search"]));
    terminal.send("\r");
    terminal.wait_text("why: ", LIMIT);
    drill.end();
}

#[test]
fn an_entry_whose_exception_was_swallowed_is_a_leftover_of_a_living_worker() {
    let server = TestServer::start(&newest());
    server.run("XGROUP CREATE jobs workers 0 MKSTREAM");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ending = Ending(&stop);
        let mut at_work: Vec<String> = Vec::new();
        work(scope, &server, &stop, Duration::from_millis(300), move |db, round| {
            // what was read before is handled by now; the handler of the tenth raises, and nobody notices
            if round != 10 {
                acknowledge(db, &at_work);
            }
            run(db, &format!("XADD jobs * n {round}"));
            at_work = read(db, "w1", 5);
        });
        let mut terminal = watch_small(&server, &["--interval", "100ms"]);
        wait_pending(&terminal, "workers", "2");
        let mut drill = Drill::begin("an exception is swallowed once");
        drill.first_words(&terminal, "w1 is alive, has got newer entries since", LIMIT * 5);
        drill.cause_keys = 2;
        terminal.send("\r3");
        terminal.wait_text("why: ", LIMIT);
        drill.end();
    });
}
