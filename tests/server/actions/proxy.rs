//! A socket between pelwatch and its server that cuts the connection at a chosen command: before the command reaches the server, or after
//! the server has run it and before its reply arrives.

use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The command does not reach the server.
    Before,
    /// The command runs; its reply is lost with the connection.
    After,
    /// The command runs, and no reply ever arrives.
    Silence,
}

pub struct Proxy {
    folder: TempDir,
    seen: Arc<AtomicUsize>,
}

impl Proxy {
    /// Cuts once, at the `nth` request with this word in it. A request that only asks about the command (DRYRUN, COMMAND
    /// INFO) does not count.
    pub fn to(server: &Path, word: &'static str, nth: usize, cut: Cut) -> Self {
        let folder = tempfile::Builder::new().prefix("cut-").tempdir_in("/tmp").unwrap();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        let seen = Arc::new(AtomicUsize::new(0));
        let (server, count) = (server.to_owned(), Arc::clone(&seen));
        thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                let upstream = UnixStream::connect(&server).unwrap();
                let count = Arc::clone(&count);
                thread::spawn(move || serve(client, upstream, word, nth, cut, &count));
            }
        });
        Self { folder, seen }
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    /// How many requests with the word were seen so far.
    pub fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }
}

/// Passes requests and replies in turn, in the way that each connection of pelwatch sends them.
fn serve(mut client: UnixStream, mut upstream: UnixStream, word: &str, nth: usize, cut: Cut, count: &AtomicUsize) {
    let (mut back_in, mut back_out) = (upstream.try_clone().unwrap(), client.try_clone().unwrap());
    let (muted, mute) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (is_muted, replied) = (Arc::clone(&muted), Arc::clone(&mute));
    let replies = thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = back_in.read(&mut buffer) {
            if is_muted.load(Ordering::SeqCst) > 0 {
                replied.store(1, Ordering::SeqCst);
            } else if back_out.write_all(&buffer[..length]).is_err() {
                return;
            }
        }
        let _ = back_out.shutdown(Shutdown::Both);
    });
    let mut buffer = vec![0; 1 << 20];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
        let meant = request.contains(word) && !request.contains("DRYRUN") && !request.contains("COMMAND");
        if meant && count.fetch_add(1, Ordering::SeqCst) + 1 == nth {
            if cut != Cut::Before {
                muted.store(1, Ordering::SeqCst);
                upstream.write_all(&buffer[..length]).unwrap();
                while mute.load(Ordering::SeqCst) == 0 {
                    thread::yield_now();
                }
            }
            if cut != Cut::Silence {
                let _ = client.shutdown(Shutdown::Both);
                let _ = upstream.shutdown(Shutdown::Both);
                return;
            }
        } else if upstream.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = upstream.shutdown(Shutdown::Both);
    let _ = replies.join();
}
