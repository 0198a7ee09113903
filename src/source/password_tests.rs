#![allow(clippy::unwrap_used)]

use super::*;

fn door() -> Door {
    Door { host: "10.0.0.1".into(), port: 6379, user: "ops".into() }
}

/// As while the screen is taken.
fn command(line: &str) -> Passwords {
    let passwords = Passwords::of_command(line.to_owned(), None);
    passwords.ask_no_more();
    passwords
}

#[tokio::test]
async fn one_newline_is_cut_and_the_command_knows_the_door() {
    for (line, expected) in [
        ("echo secret", "secret"),
        ("printf secret", "secret"),
        ("printf 'secret\\n\\n'", "secret\n"),
        ("printf 'secret\\r\\n'", "secret"),
        ("echo \"$USER@$HOST:$PORT\"", "ops@10.0.0.1:6379"),
        ("echo two | tr a-z A-Z", "TWO"),
    ] {
        assert_eq!(command(line).get(&door()).await.as_deref(), Ok(expected), "{line}");
    }
}

#[tokio::test]
async fn what_fails_is_a_sentence_without_what_it_printed() {
    for (line, expected) in [
        ("echo secret; echo 'permission \\033denied' >&2; exit 3", "ended with 3: permission"),
        ("echo secret; exit 1", "ended with 1"),
        ("true", "printed nothing"),
        ("/nonexistent/vault read", "ended with 127"),
        ("printf '\\377\\376'", "printed no text"),
    ] {
        let why = command(line).get(&door()).await.unwrap_err();
        assert!(why.contains(expected) && !why.contains("secret") && !why.contains('\u{1b}'), "{line}: {why}");
        assert!(why.starts_with("the command of --password-command"), "{why}");
    }
    let why = Passwords::of_file("/nonexistent/secret".into()).get(&door()).await.unwrap_err();
    assert!(why.starts_with("--password-file /nonexistent/secret: "), "{why}");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_does_not_end_is_given_up() {
    let why = command("exec sleep 600").get(&door()).await.unwrap_err();
    assert_eq!(why, "the command of --password-command did not end within 10s");
}

#[tokio::test]
async fn connections_at_once_share_one_run_and_a_refused_password_is_looked_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let passwords = command(&format!("echo x >> {0}; wc -l < {0}", runs.display()));
    let here = door();
    let (a, b, c) = tokio::join!(passwords.get(&here), passwords.get(&here), passwords.get(&here));
    let trimmed = |found: Result<String, String>| found.unwrap().trim().to_owned();
    assert_eq!([trimmed(a), trimmed(b), trimmed(c)], ["1", "1", "1"]);
    passwords.forget().await;
    assert_eq!(trimmed(passwords.get(&here).await), "2");
}

#[tokio::test]
async fn a_file_is_read_at_each_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("password");
    std::fs::write(&path, "one\n").unwrap();
    let passwords = Passwords::of_file(path.clone());
    assert_eq!(passwords.get(&door()).await.as_deref(), Ok("one"));
    std::fs::write(&path, "two\n").unwrap();
    passwords.forget().await;
    assert_eq!(passwords.get(&door()).await.as_deref(), Ok("two"));
}

#[tokio::test]
async fn a_password_that_ends_is_renewed_before_and_never_waited_for() {
    let passwords = Passwords::of_command("echo new".to_owned(), Some(Duration::from_millis(50)));
    passwords.ask_no_more();
    let mut renewal = Renewal::new(&passwords, door()).unwrap();
    assert_eq!(renewal.ready().await, None, "not yet");
    let found = loop {
        if let Some(found) = renewal.ready().await {
            break found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(found, "new");
    assert!(Renewal::new(&command("echo x"), door()).is_none(), "without an end there is nothing to renew");
}
