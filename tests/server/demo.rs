//! The demo with real servers: it is private, it works, and nothing of it remains.

use std::{
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
    time::Duration,
};

use pelwatch::{
    demo::{DemoError, PrivateServer, run},
    testing::{found_servers, process_exists, wait_until},
};
use redis::{Client, ConnectionAddr, FromRedisValue, Value};
use tokio::runtime::Builder;

const LIMIT: Duration = Duration::from_secs(20);

/// Runs a command on a separate connection; `None` if there is no such answer yet.
fn ask<T: FromRedisValue>(socket: &Path, line: &str) -> Option<T> {
    let mut connection = Client::open(ConnectionAddr::Unix(socket.to_owned())).ok()?.get_connection().ok()?;
    let mut command = redis::Cmd::new();
    line.split_whitespace().for_each(|word| {
        command.arg(word);
    });
    command.query(&mut connection).ok()
}

/// The number of pending entries of a group; `None` if there is no such group.
fn pending(socket: &Path, stream: &str, group: &str) -> Option<i64> {
    let (total, ..): (i64, Value, Value, Value) = ask(socket, &format!("XPENDING {stream} {group}"))?;
    Some(total)
}

/// Runs the workload as pelwatch does, on a runtime of one thread.
fn in_background(socket: PathBuf) -> JoinHandle<DemoError> {
    thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let Err(error) = runtime.block_on(run(socket));
        error
    })
}

#[test]
fn the_private_server_is_private_and_leaves_nothing_behind() {
    for found in found_servers() {
        println!("on {found}");
        let server = PrivateServer::start_with(&found.bin).unwrap();
        let (folder, pid) = (server.folder().to_owned(), server.pid());
        assert!(server.socket().starts_with(&folder) && server.socket().exists());
        for (setting, value) in [("port", "0"), ("save", ""), ("appendonly", "no")] {
            let answer: Vec<String> = ask(server.socket(), &format!("CONFIG GET {setting}")).unwrap();
            assert_eq!(answer, [setting, value], "{found}");
        }
        assert!(process_exists(pid));

        drop(server);
        assert!(!process_exists(pid), "{found} still runs");
        assert!(!folder.exists(), "{found} left {}", folder.display());
    }
}

#[test]
fn the_workload_runs_until_the_server_goes_away() {
    for found in found_servers() {
        println!("on {found}");
        let server = PrivateServer::start_with(&found.bin).unwrap();
        let socket = server.socket().to_owned();
        let workload = in_background(socket.clone());

        wait_until("the streams and groups are there", LIMIT, || {
            ask::<i64>(&socket, "XLEN orders").is_some_and(|length| length >= 40)
                && pending(&socket, "orders", "billing").is_some()
                && pending(&socket, "orders", "analytics").is_some_and(|held| held > 0)
                && pending(&socket, "emails", "mailer").is_some_and(|held| held > 0)
        });
        let seeded = pending(&socket, "emails", "mailer").unwrap();
        wait_until("unacknowledged emails pile up", LIMIT, || {
            pending(&socket, "emails", "mailer").is_some_and(|held| held > seeded + 5)
        });
        wait_until("orders are added and handled", LIMIT, || {
            ask::<i64>(&socket, "XLEN orders").is_some_and(|length| length > 70)
                && pending(&socket, "orders", "billing").is_some_and(|held| held < 30)
        });
        assert!(!workload.is_finished());

        drop(server);
        wait_until("the workload notices that the server is gone", LIMIT, || workload.is_finished());
        let error = workload.join().unwrap();
        assert!(matches!(error, DemoError::Workload(_)), "{error}");
    }
}
