//! `pelwatch claim` and `pelwatch seek` from a shell: exit codes, JSON, text, and the journal.

use std::{
    ffi::OsStr,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    desk::{cursor, holdings, id, state},
    proxy::{Cut, Proxy},
};
use pelwatch::testing::{FoundServer, TestServer, each_server, found_servers, newest_from};

struct Shell {
    socket: PathBuf,
    folder: TempDir,
}

impl Shell {
    fn on(socket: &Path) -> Self {
        Self { socket: socket.to_owned(), folder: tempfile::tempdir().unwrap() }
    }

    fn command(&self) -> Command {
        let mut command = pelwatch::testing::command(env!("CARGO_BIN_EXE_pelwatch"), self.folder.path());
        command.env("XDG_STATE_HOME", self.folder.path());
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        self.run_words(&words)
    }

    fn run_words(&self, words: &[&OsStr]) -> (i32, String, String) {
        let Output { status, stdout, stderr } =
            self.command().args(words).arg("-s").arg(&self.socket).output().unwrap();
        (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }

    /// Runs it with `--json` and returns the exit code and the document.
    #[track_caller]
    fn json(&self, words: &[&str]) -> (i32, Value) {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        let (code, out, err) = self.run(&words);
        (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}")))
    }

    fn journal(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.journal_path()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn journal_path(&self) -> PathBuf {
        self.folder.path().join("pelwatch/journal.jsonl")
    }
}

fn seed(server: &TestServer) {
    server.run("FLUSHALL");
    for ms in 1..=6 {
        server.run(&format!("XADD k {ms}-0 f v"));
    }
    server.run("XGROUP CREATE k g 0");
    server.run("XREADGROUP GROUP g a COUNT 4 STREAMS k >");
    server.run("XREADGROUP GROUP g b COUNT 4 STREAMS k 0");
    let _ = server.try_command(&[b"XGROUP", b"CREATECONSUMER", b"k", b"g", b"b"]);
    server.run("XACK k g 2-0");
    for at in ["1-0", "3-0", "4-0"] {
        server.run(&format!("XCLAIM k g a 0 {at} IDLE 900000 RETRYCOUNT 3 JUSTID"));
    }
}

fn newest() -> (TestServer, Shell) {
    started(&found_servers().into_iter().max_by_key(FoundServer::compat).unwrap())
}

fn started(found: &FoundServer) -> (TestServer, Shell) {
    let server = TestServer::start(found);
    seed(&server);
    let shell = Shell::on(&server.socket());
    (server, shell)
}

fn name(text: &str) -> Value {
    json!({"text": text, "hex": null})
}

#[test]
fn a_claim_is_shown_then_done_as_the_interface_says() {
    each_server(|server, found| {
        seed(server);
        let shell = Shell::on(&server.socket());
        let untouched = state(server);
        let (code, plan) = shell.json(&["claim", "k", "g", "--to", "b", "--limit", "2"]);
        assert_eq!((code, state(server) == untouched), (0, true));
        assert_eq!(plan["schema"], "pelwatch.claim/1");
        assert_eq!((&plan["stream"], &plan["group"], &plan["target"]), (&name("k"), &name("g"), &name("b")));
        assert_eq!(
            (&plan["target_exists"], &plan["min_idle_ms"], &plan["justid"]),
            (&json!(true), &json!(300_000), &json!(true))
        );
        assert_eq!(plan["would_move"], json!({"kind": "exact", "value": 2}));
        assert_eq!(plan["would_remove"], json!({"kind": "exact", "value": 0}));
        assert_eq!((&plan["first_id"], &plan["last_id"]), (&json!("1-0"), &json!("3-0")));
        assert_eq!((&plan["from"][0]["consumer"], &plan["from"][0]["entries"]), (&name("a"), &json!(2)));
        assert!(plan["from"][0]["oldest_idle_ms"].as_i64().unwrap() >= 900_000);
        assert_eq!((&plan["refused"], &plan["outcome"]), (&Value::Null, &Value::Null));
        let command = if found.compat() >= (6, 2, 0) {
            json!([["XAUTOCLAIM", "k", "g", "b", "300000", "0-0", "COUNT", "2", "JUSTID"]])
        } else {
            json!([["XCLAIM", "k", "g", "b", "300000", "1-0", "3-0", "JUSTID"]])
        };
        assert_eq!(plan["commands"], command);
        assert!(
            plan["warnings"]
                .as_array()
                .unwrap()
                .iter()
                .all(|warning| warning["id"].is_string() && warning["text"].is_string())
        );
        assert_eq!(shell.journal(), Vec::<Value>::new());

        let (code, done) = shell.json(&["claim", "k", "g", "--to", "b", "--limit", "2", "--execute", "--confirm", "g"]);
        let outcome = &done["outcome"];
        assert_eq!(
            (code, &outcome["claimed"], &outcome["removed"], &outcome["unknown"]),
            (0, &json!(2), &json!(0), &json!(false))
        );
        let owners: Vec<String> =
            holdings(server).into_iter().map(|(_, owner, _)| owner.unwrap().to_string()).collect();
        assert_eq!(owners, ["b", "b", "a"]);
        assert_eq!(outcome["undo"].as_array().unwrap().len(), 2);
        assert_eq!(outcome["undo"][0][3], "a");
        let lines = shell.journal();
        assert_eq!(lines.iter().map(|line| line["event"].as_str().unwrap()).collect::<Vec<_>>(), ["begin", "end"]);
        assert_eq!((&lines[0]["action"], &lines[0]["commands"]), (&json!("claim"), &command));
        assert_eq!((&lines[1]["outcome"], &lines[1]["after"]["claimed"]), (&json!("done"), &json!(2)));
        assert_eq!(std::fs::metadata(shell.journal_path()).unwrap().permissions().mode() & 0o777, 0o600);
    });
}

#[test]
fn a_seek_is_shown_then_done_as_the_interface_says() {
    each_server(|server, _| {
        seed(server);
        let shell = Shell::on(&server.socket());
        let untouched = state(server);
        let (code, plan) = shell.json(&["seek", "k", "g", "--to", "-3"]);
        assert_eq!((code, state(server) == untouched), (0, true));
        assert_eq!((&plan["schema"], &plan["guard"]), (&json!("pelwatch.seek/1"), &json!("eval")));
        assert_eq!(
            (&plan["cursor"], &plan["target"], &plan["direction"]),
            (&json!("4-0"), &json!("1-0"), &json!("back"))
        );
        let redelivered = &plan["redelivered"];
        assert_eq!((&redelivered["kind"], &redelivered["value"]), (&json!("exact"), &json!(3)));
        assert_eq!((&redelivered["acked"], &redelivered["pending"]), (&json!(1), &json!(2)));
        assert_eq!((&plan["pending_untouched"], &plan["entries_read"]), (&json!(1), &Value::Null));
        assert_eq!(plan["command"], json!(["XGROUP", "SETID", "k", "g", "1-0"]));
        assert_eq!(plan["undo"], json!(["XGROUP", "SETID", "k", "g", "4-0"]));

        let (_, plan) = shell.json(&["seek", "k", "g", "--to", "$"]);
        let skipped = &plan["skipped"];
        assert_eq!(
            (&plan["direction"], &plan["target"], &skipped["value"]),
            (&json!("forward"), &json!("6-0"), &json!(2))
        );
        assert_eq!((&skipped["first_id"], &skipped["last_id"]), (&json!("5-0"), &json!("6-0")));

        let (code, done) =
            shell.json(&["seek", "k", "g", "--to", "0", "--execute", "--confirm", "g", "--expect-cursor", "4-0"]);
        assert_eq!((code, &done["outcome"]["cursor"], &done["outcome"]["unknown"]), (0, &json!("0-0"), &json!(false)));
        assert_eq!(cursor(server), id("0-0"));
        let lines = shell.journal();
        assert_eq!(
            (lines.len(), &lines[0]["before"]["cursor"], &lines[1]["after"]["cursor"]),
            (2, &json!("4-0"), &json!("0-0"))
        );
        assert_eq!(lines[1]["undo"], json!([["XGROUP", "SETID", "k", "g", "4-0"]]));
    });
}

#[test]
fn what_is_refused_exits_with_4_says_why_and_writes_nothing() {
    let (server, shell) = newest();
    let untouched = state(&server);
    let execute = ["--execute", "--confirm", "g"];
    let cases: [(&[&str], &str); 11] = [
        (&["claim", "k", "g", "--to", "nobody"], "nobody is not a consumer"),
        (&["claim", "k", "none", "--to", "b"], "no group none"),
        (&["claim", "none", "g", "--to", "b"], "no stream none"),
        (&["claim", "k", "g", "--to", "b", "--expect-pending", "2"], "2 pending entries were expected, found: 3"),
        (&["claim", "k", "g", "--to", "b", "--execute", "--confirm", "G"], "--confirm does not name the group"),
        (&["claim", "k", "g", "--to", "b", "--min-idle", "1day", "--execute", "--confirm", "g"], "nothing qualifies"),
        (&["seek", "k", "g", "--to", "7-0"], "past the last id"),
        (&["seek", "k", "g", "--to", "0", "--expect-cursor", "3-0"], "expected at 3-0, it is at 4-0"),
        (&["seek", "k", "g", "--to", "0", "--execute", "--confirm", "workers"], "--confirm does not name the group"),
        (&["seek", "k", "none", "--to", "0"], "no group none"),
        (&["seek", "k", "g", "--to", "+200000"], "more than 100000 entries"),
    ];
    for (words, why) in cases {
        let mut all = words.to_vec();
        if !words.contains(&"--execute") {
            all.extend(execute);
        }
        let (code, document) = shell.json(&all);
        let refused = document["refused"].as_str().unwrap_or_default();
        assert_eq!((code, &document["outcome"]), (4, &Value::Null), "{words:?}");
        assert!(refused.contains(why), "{words:?}: {refused}");
        let (code, out, err) = shell.run(&all);
        assert_eq!(code, 4);
        assert!(out.contains(why) && err.contains(why), "{out}{err}");
        assert!(!out.contains("--execute --confirm GROUP does it"), "{out}");
        assert!(state(&server) == untouched, "{words:?}");
    }
    // a plan without a write and a plan that holds are not refusals
    assert_eq!(shell.json(&["claim", "k", "g", "--to", "b", "--expect-pending", "3"]).0, 0);
    assert_eq!(shell.json(&["seek", "k", "g", "--to", "7-0", "--beyond-end"]).0, 0);
    assert!(state(&server) == untouched);
}

#[test]
fn bad_usage_exits_with_2_and_a_server_that_is_not_there_with_3() {
    let (server, shell) = newest();
    let untouched = state(&server);
    let cases: [&[&str]; 9] = [
        &["claim", "k", "g", "--to", "b", "--execute"],
        &["seek", "k", "g", "--to", "0", "--execute"],
        &["claim", "k", "g"],
        &["claim", "k", "--to", "b"],
        &["seek", "k", "g", "--to", "yesterday"],
        &["seek", "k", "g", "--to", "0", "--expect-cursor", "here"],
        &["claim", "k", "g", "--to", "b", "--min-idle", "long"],
        &["claim", "hex:6", "g", "--to", "b"],
        &["claim", "k", "g", "--to", "b", "--execute", "--confirm", "hex:zz"],
    ];
    for words in cases {
        let (code, out, err) = shell.run(words);
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}: {err}");
        assert!(!err.is_empty());
    }
    assert!(state(&server) == untouched);
    let nowhere = Shell::on(&shell.folder.path().join("none"));
    assert_eq!(nowhere.run(&["claim", "k", "g", "--to", "b"]).0, 3);
}

#[test]
fn an_unknown_outcome_exits_with_5() {
    // XAUTOCLAIM
    let Some(found) = newest_from((6, 2, 0)) else { return };
    let (server, _) = started(&found);
    for (word, words, found) in [
        ("XAUTOCLAIM", &["claim", "k", "g", "--to", "b", "--execute", "--confirm", "g"][..], "b holds 3 now"),
        ("MISMATCH", &["seek", "k", "g", "--to", "0", "--execute", "--confirm", "g"][..], "the cursor is at 0-0"),
    ] {
        seed(&server);
        let proxy = Proxy::to(&server.socket(), word, 1, Cut::After);
        let shell = Shell::on(&proxy.socket());
        let (code, document) = shell.json(words);
        assert_eq!((code, &document["outcome"]["unknown"]), (5, &json!(true)));
        assert!(document["outcome"]["text"].as_str().unwrap().contains(found), "{document}");
        let lines = shell.journal();
        assert_eq!((lines.len(), &lines[1]["outcome"]), (2, &json!("unknown")));
        assert_eq!(proxy.seen(), 1);
    }
}

#[test]
fn names_of_any_bytes_are_given_as_they_are_or_in_hex() {
    let (server, shell) = newest();
    let (key, group, holder, target): (&[u8], &[u8], &[u8], &[u8]) = (b"k\xff\n", b"-g\x01", b"a\x00", b"b\xfe");
    server.command(&[b"XADD", key, b"1-0", b"f", b"v"]);
    server.command(&[b"XGROUP", b"CREATE", key, group, b"0"]);
    server.command(&[b"XREADGROUP", b"GROUP", group, holder, b"STREAMS", key, b">"]);
    // reading its own history creates a consumer on every version
    server.command(&[b"XREADGROUP", b"GROUP", group, target, b"STREAMS", key, b"0"]);
    let words: [&[u8]; 13] = [
        b"claim",
        b"--to",
        b"b\xfe",
        b"--min-idle",
        b"0",
        b"--from",
        b"hex:6100",
        b"--json",
        b"--execute",
        b"--confirm",
        group,
        b"--",
        b"k\xff\n",
    ];
    let words: Vec<&OsStr> = words.into_iter().map(OsStr::from_bytes).collect();
    let output = shell
        .command()
        .arg("claim")
        .arg("-s")
        .arg(&shell.socket)
        .args(&words[1..])
        .arg(OsStr::from_bytes(group))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&document["stream"]["hex"], &document["group"]["hex"]), (&json!("6bff0a"), &json!("2d6701")));
    assert_eq!((&document["from"][0]["consumer"]["hex"], &document["target"]["hex"]), (&json!("6100"), &json!("62fe")));
    assert_eq!((&document["commands"][0][0], &document["commands"][0][1]["hex"]), (&json!("XCLAIM"), &json!("6bff0a")));
    assert_eq!(document["outcome"]["claimed"], 1);
    let (code, document) =
        shell.json(&["seek", "hex:6bff0a", "hex:2d6701", "--to", "0", "--execute", "--confirm", "hex:2d6701"]);
    assert_eq!((code, &document["outcome"]["cursor"]), (0, &json!("0-0")));
}

#[test]
fn the_text_says_what_would_happen_and_how_it_is_done() {
    // XAUTOCLAIM
    let Some(found) = newest_from((6, 2, 0)) else { return };
    let (_server, shell) = started(&found);
    let (code, out, err) = shell.run(&["claim", "k", "g", "--to", "b"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.starts_with(
            "3 entries idle for 5 min or longer would move to b\n  ids 1-0 to 4-0\n  3 from a, the oldest idle for 15 min"
        ),
        "{out}"
    );
    assert!(
        out.contains("nothing was written; --execute --confirm GROUP does it, by this command:\n  redis-cli -s "),
        "{out}"
    );
    assert!(out.ends_with("XAUTOCLAIM k g b 300000 0-0 COUNT 100 JUSTID\n"), "{out}");
    let (_, out, _) = shell.run(&["seek", "k", "g", "--to", "0"]);
    assert!(
        out.starts_with("the cursor would go from 4-0 to 0-0\n4 entries would be delivered again: 1 acknowledged"),
        "{out}"
    );
    let (code, out, _) = shell.run(&["seek", "k", "g", "--to", "0", "--execute", "--confirm", "g"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("the cursor is at 0-0, lag 2 -> 6, counted\nthe way back:\n  redis-cli -s ")
            && out.ends_with("XGROUP SETID k g 4-0\n"),
        "{out}"
    );
}

#[test]
fn without_a_journal_nothing_is_written() {
    let (server, shell) = newest();
    let untouched = state(&server);
    let blocked = shell.folder.path().join("a-file");
    std::fs::write(&blocked, "").unwrap();
    let full = shell.folder.path().join("no-file");
    std::fs::create_dir_all(full.join("pelwatch/journal.jsonl")).unwrap();
    for place in [Some(blocked), Some(full), None] {
        let mut command = shell.command();
        command
            .args(["claim", "k", "g", "--to", "b", "--execute", "--confirm", "g", "--json", "-s"])
            .arg(&shell.socket);
        match &place {
            Some(place) => command.env("XDG_STATE_HOME", place),
            None => command.env_remove("XDG_STATE_HOME").env_remove("HOME"),
        };
        let output = command.output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(4));
        assert!(document["refused"].as_str().unwrap().contains("the journal cannot be written"), "{document}");
        assert!(state(&server) == untouched);
    }
}

#[test]
fn many_at_once_keep_whole_lines_in_one_journal() {
    let (_server, shell) = newest();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for to in ["0", "$", "-2"] {
                    let (code, ..) = shell.run(&["seek", "k", "g", "--to", to, "--execute", "--confirm", "g"]);
                    assert!(code == 0 || code == 4, "{code}");
                }
            });
        }
    });
    let lines = shell.journal();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    assert_eq!((of("begin"), of("end")), (24, 24));
    for line in lines.iter().filter(|line| line["event"] == "end") {
        let begun = lines.iter().filter(|other| other["event"] == "begin" && other["pid"] == line["pid"]).count();
        assert_eq!(begun, 1, "each end has its beginning");
    }
}
